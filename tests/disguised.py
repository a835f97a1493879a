"""Statements that write in disguise, by engine, and who is to refuse each.

docs/own/your-own-database.md has them as a table, which a test compares with these.
"""

from __future__ import annotations

from dataclasses import dataclass

WORDS, SERVER = "check of the text", "the server"


@dataclass(frozen=True)
class Disguised:
    """A statement that writes.

    Attributes:
        engine: That it is asked of.
        text: The statement, in one line.
        refused_by: Who refuses it.
        server_alone: Whether the server, told to read only, would have refused it, too.
    """

    engine: str
    text: str
    refused_by: str = WORDS
    server_alone: bool = True


def _of(engine: str, *texts: str, **more: object) -> list[Disguised]:
    return [Disguised(engine, text, **more) for text in texts]  # type: ignore[arg-type]


POSTGRESQL = [
    *_of(
        "postgresql",
        "insert into ledger values (9, 9)",
        "with gone as (delete from ledger returning *) select count(*) from gone",
        "with one as (select 1 as n) update ledger set paid = one.n from one",
        "merge into ledger using (values (1)) as v (id) on false when not matched then insert"
        " values (8, 8)",
        "select * into copied from ledger",
        "select paid from ledger where id = 1 for update",
        "select nextval('numbers')",
        "select setval('numbers', 1)",
        "explain analyze insert into ledger values (9, 9)",
        "explain (costs off, analyze) delete from ledger",
        "copy (delete from ledger returning *) to stdout",
        "create index on ledger (paid)",
        "truncate ledger",
    ),
    *_of(
        "postgresql",
        "select lo_create(4711)",
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'",
        "select pg_advisory_lock(1)",
        "copy (select 1) to program 'touch /tmp/assay-was-here'",
        "vacuum ledger",
        "notify ledger",
        server_alone=False,
    ),
    *_of(
        "postgresql",
        "set transaction read write",
        "set session characteristics as transaction read write; delete from ledger",
        "select set_config('default_transaction_read_only', 'off', false); delete from ledger",
        "begin read write; delete from ledger; commit",
        "call pay()",
        "select set_config(concat('default_transaction_', 'read_only'), 'off', false)",
        'select U&"pg_advisory_loc\\006B"(1)',
        server_alone=False,
    ),
    *_of(
        "postgresql",
        "do $$ begin delete from ledger; end $$",
        "prepare gone as delete from ledger; execute gone",
        "select 1; /* harmless */ delete from ledger",
        "select U&\"n\\0065xtval\"('numbers')",
        "select query_to_xml('delete from ledger returning *', true, true, '')",
    ),
    *_of(
        "postgresql",
        "select paying()",
        "select count(*) from payments",
        "select sum(lying(id)) from ledger",
        "select run('delete from ledger')",
        refused_by=SERVER,
    ),
]
MARIADB = [
    *_of(
        "mariadb",
        "/*!50000 delete */ from ledger",
        "select 1 --1 from ledger for update",
        "replace into ledger values (1, 9)",
        "update ledger as l join (select 1 as n) as one set l.paid = one.n",
        "analyze format=json delete from ledger",
        "select next value for numbers",
        "truncate ledger",
        "set statement max_statement_time = 10 for delete from ledger",
    ),
    *_of(
        "mariadb",
        "set session transaction read write",
        "set global max_connections = 7",
        "call pay()",
        "analyze table ledger",
        "select get_lock('ledger', 0)",
        server_alone=False,
    ),
    *_of("mariadb", "select paying()", refused_by=SERVER),
]
SQLITE = [
    *_of(
        "sqlite",
        "/* /* */ delete from ledger -- */",
        "with one as (select 1) insert into ledger select 9, 9 from one",
        "pragma user_version = 7",
        "vacuum",
        "create index paid on ledger (paid)",
    ),
    *_of("sqlite", "pragma query_only = 0", "explain pragma query_only = 0", server_alone=False),
]
DUCKDB = _of(
    "duckdb",
    "insert into ledger by name select 9 as id, 9 as paid",
    "explain analyze delete from ledger",
    "select nextval('numbers')",
    "create or replace table ledger as select 1 as id",
    "set log_query_path = '/tmp/assay-was-here'",
    "from enable_logging(storage = 'file', storage_path = '/tmp/assay-was-here')",
)
EVERY = [*POSTGRESQL, *MARIADB, *SQLITE, *DUCKDB]


def table() -> list[str]:
    """Rows of the table in the documentation."""
    return [
        f"| {row.engine} | `{row.text}` | {row.refused_by} |"
        f" {'yes' if row.server_alone else 'no'} | unchanged |"
        for row in EVERY
    ]
