"""What is refused before anything is played: writes without leave, and wrong statements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.engines.checking import KnownTable, Refusal, Trial, Tried
from assay.engines.contract import Instance
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.options import options_of
from assay.running.asked.played import PlayedStatement, played_statements
from assay.running.asked.preflight import preflight
from assay.running.asked.understanding import request_of
from tests.disguised import EVERY, POSTGRESQL, table
from tests.style.sources import ROOT

DSN = "postgresql://nobody@127.0.0.1:1/none"
KNOWN = [
    KnownTable("public", "orders", ("order_id", "customer_id", "Total")),
    KnownTable("public", "customers", ("customer_id", "name")),
    KnownTable("archive", "invoices", ("id",), visible=False),
]


def asked_of(folder: Path, text: str = "", **keys: Any):
    """A run of a folder with one operation."""
    folder.mkdir(exist_ok=True)
    if text:
        (folder / "q.sql").write_text(text)
    keys = {"workload": str(folder), **keys}
    return considered(request_of(options_of(keys), list(keys)))


class Server:
    """An engine that refuses statements by what stands in them."""

    def __init__(self, **refusals: Refusal) -> None:
        self._refusals = refusals
        self.asked: list[list[Trial]] = []

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        del instance
        self.asked = [list(trials) for trials in operations]
        return [[self._tried(trial) for trial in trials] for trials in operations]

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        del instance
        return KNOWN

    def _tried(self, trial: Trial) -> Tried:
        wrong = (found for word, found in self._refusals.items() if word in trial.text)
        return Tried(next(wrong, None), cost=7.0, rows=2.0)


def statement(text: str, line: int = 1) -> PlayedStatement:
    return PlayedStatement("q", text, (), "queries/q.sql", line)


def refused(text: str, **refusals: Refusal) -> list[str]:
    """The lines of what is refused."""
    with pytest.raises(UsageError) as error:
        preflight([[statement(text, 3)]], Server(**refusals), Instance({}, None))
    return [line.strip() for line in str(error.value).splitlines()[1:]]


@pytest.mark.parametrize(
    ("text", "refusal", "line"),
    [
        (
            "select o.x,\n custmer_id from orders",
            Refusal("column", 'column "custmer_id" does not exist', "custmer_id", 13),
            (
                'queries/q.sql:4: column "custmer_id" does not exist;'
                ' the nearest name is "customer_id" of table orders'
            ),
        ),
        (
            "select totl from orders",
            Refusal("column", "no such column: o.totl", "o.totl"),
            'queries/q.sql:3: no such column: o.totl; the nearest name is "Total" of table orders',
        ),
        (
            "select zzz from customers",
            Refusal("column", "no such column: zzz", "zzz"),
            "queries/q.sql:3: no such column: zzz; table customers has customer_id, name",
        ),
        (
            "select 1 from ordrs",
            Refusal("table", 'relation "ordrs" does not exist', "ordrs"),
            'queries/q.sql:3: relation "ordrs" does not exist; the nearest name is "orders"',
        ),
        (
            "select 1 from invoices",
            Refusal("table", "no invoices", "invoices"),
            'queries/q.sql:3: no invoices; it is in schema "archive": write archive.invoices',
        ),
        (
            "select 1 from xyz",
            Refusal("table", "no xyz", "xyz"),
            "queries/q.sql:3: no xyz; there are orders, customers, invoices",
        ),
        (
            "select 1 from orders",
            Refusal("permission", "denied", "orders", None, "grant select on orders to me"),
            "queries/q.sql:3: denied; what is missing: grant select on orders to me",
        ),
        (
            "select 1 from ordrs",
            Refusal("permission", "denied", "ordrs", None, "grant select on ordrs to me"),
            (
                "queries/q.sql:3: denied; what is missing: grant select on ordrs to me;"
                ' if there is no such table: the nearest name is "orders"'
            ),
        ),
    ],
)
def test_a_refusal_is_one_line_with_its_place_and_the_nearest_name(
    text: str, refusal: Refusal, line: str
) -> None:
    assert refused(text, select=refusal) == [line]


def test_what_is_guessed_is_told_and_what_an_operation_makes_is_no_mistake() -> None:
    missing = Refusal("table", "no made", "made")
    operations = [
        [statement("create temp table made (n int)"), statement("table made")],
        [statement("select 1")],
    ]
    facts = preflight(operations, Server(made=missing), Instance({}, None))
    assert [row["cost"] for row in facts["statements"]] == [7.0, 7.0, 7.0]
    assert [row["untried"] is None for row in facts["statements"]] == [False, False, True]
    assert facts["seconds"] >= 0
    assert preflight(operations, object(), Instance({}, None))["reason"]


def test_statements_have_their_lines_and_one_draw_of_their_values(tmp_path: Path) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "workload.toml").write_text(
        'arrival = "closed"\n[operations.q.parameters.n]\ninteger = [5, 5]\n'
    )
    text = "-- first\nselect ${n};\n\n/* second\n*/ select 2,\n 3;\n"
    asked = asked_of(folder, text, dsn=DSN)
    (statements,) = played_statements(asked)
    assert [one.values for one in statements] == [(5,), ()]
    assert [one.place() for one in statements] == [f"{folder}/q.sql:2", f"{folder}/q.sql:5"]
    second = statements[1]
    assert second.place(second.text.index("3")) == f"{folder}/q.sql:6"


@pytest.mark.parametrize(
    ("text", "keys", "words"),
    [
        ("insert into t values (1)", {}, ["q.sql:1: insert adds rows", "--roll-back"]),
        ("call f()", {}, ["q.sql:1: call runs a procedure"]),
        ("vacuum t", {"roll_back": True}, ["PostgreSQL cannot roll back", "q.sql:1: vacuum"]),
        ("commit", {"roll_back": True}, ["commit begins or ends a transaction"]),
        (
            "select 1",
            {"roll_back": True, "allow_writes": True},
            ["--allow-writes keeps what operations write, and --roll-back reverts it: remove one"],
        ),
        ("select 1", {"dsn": None, "roll_back": True}, ["--roll-back needs --dsn"]),
        ("select 1", {"dsn": None, "allow_writes": True}, ["--allow-writes needs --dsn"]),
        (
            "insert into t values (1)",
            {"dsn": "trino://me@127.0.0.1:1/a/b", "roll_back": True},
            ["no transactions"],
        ),
        ("create table x (a int)", {"dsn": "mysql://a@b/c", "roll_back": True}, ["create commits"]),
        (
            "create table x (a int)",
            {"dsn": "jdbc:unheard://x", "roll_back": True},
            ["create commits"],
        ),
        ("select 1 from customers", {"dsn": None}, ["customers does not exist", "--dsn ADDRESS"]),
    ],
)
def test_what_needs_leave_is_refused(
    tmp_path: Path, text: str, keys: dict[str, Any], words: list[str]
) -> None:
    keys = {key: value for key, value in {"dsn": DSN, **keys}.items() if value is not None}
    with pytest.raises(UsageError) as error:
        asked_of(tmp_path / "queries", text, **keys)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize(
    ("text", "keys", "leave", "told"),
    [
        ("select 1", {"dsn": DSN}, "read only", "default_transaction_read_only=on"),
        ("selec 1", {"dsn": DSN}, "read only", "default_transaction_read_only=on"),
        ("select 1", {"dsn": "mariadb://a@b/c"}, "read only", "tx_read_only=1"),
        ("select 1", {"dsn": "trino://a@b/c/d"}, "read only", None),
        ("delete from t", {"dsn": DSN, "roll_back": True}, "rolled back", None),
        ("delete from t", {"dsn": DSN, "allow_writes": True}, "allowed", None),
    ],
)
def test_the_record_tells_what_a_run_may_do(
    tmp_path: Path, text: str, keys: dict[str, Any], leave: str, told: str | None
) -> None:
    asked = asked_of(tmp_path / "queries", text, **keys)
    writes = asked.facts()["writes"]
    assert (writes["leave"], writes["server_told"]) == (leave, told)
    texts = [one.text for one in asked.script.operations[0].statements]
    assert texts == (["begin", text, "rollback"] if leave == "rolled back" else [text])


def test_what_a_rollback_keeps_is_in_the_record(tmp_path: Path) -> None:
    asked = asked_of(tmp_path / "queries", "select nextval('s')", dsn=DSN, roll_back=True)
    (kept,) = asked.facts()["writes"]["kept"]
    assert kept == {"operation": "q", "reason": "nextval() takes a number from a sequence"}


def test_tables_of_ours_need_no_leave() -> None:
    request = request_of(options_of({"workload": "tpcc", "dsn": DSN}), ["workload", "dsn"])
    assert considered(request).facts()["writes"] is None
    asked = {"workload": "tpcc", "dsn": DSN, "allow_writes": True}
    with pytest.raises(UsageError, match="which needs no permission"):
        considered(request_of(options_of(asked), list(asked)))


def test_tables_that_queries_make_or_the_system_has_are_there(tmp_path: Path) -> None:
    text = (
        "create table made as select 1 as n; with w as (select * from made) select * from w;"
        " select * from information_schema.tables; select * from 'some.parquet';"
        " select * from range(3), duckdb_tables()"
    )
    asked_of(tmp_path / "queries", text)


def test_the_page_has_every_statement_that_was_tried() -> None:
    page = (ROOT / "docs" / "own" / "your-own-database.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line in table()] == table()
    assert len(EVERY) >= 30
    assert len(POSTGRESQL) >= 20
