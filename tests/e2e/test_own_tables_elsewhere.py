"""One's own tables on PostgreSQL 15, MariaDB and MySQL: from slow statements to a change made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from assay.engines.contract import Address, Place
from assay.engines.discovery import find_engine
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.e2e.conftest import Lab, reachable_directory, server_laboratory
from tests.e2e.test_running_server import folder_of
from tests.products import obtained

PASSWORD = "secret"  # noqa: S105 - made up, and gone with the server
KEY = "missing-index:by_customer"
# Long enough for about ten passes beside other load: of three, an interval excludes little.
BRIEF = ["--min-time", "1s"]
QUERIES = {
    "by_customer": "select order_id, amount from sales.orders where customer_id = 4711",
    "by_region": "select region, count(*) from sales.customers group by region",
    "range": "select order_id, amount from sales.orders where order_id between 1000 and 1100",
    "ranked": (
        "select max(place) from (select row_number() over (order by note) as place"
        " from sales.orders where order_id < 3000) as o"
    ),
    "named": (
        "select c.name, o.amount from sales.orders as o join sales.customers as c"
        " on c.customer_id = o.customer_id where o.order_id < 20"
    ),
}
TABLES = (
    "create table sales.customers (customer_id int primary key, name varchar(20), region int)",
    """create table sales.orders (order_id int primary key, customer_id int not null,
    amount decimal(10, 2) not null, note varchar(100) not null)""",
    # Another table of the name, with the index that the first one lacks.
    "create table archive.orders (order_id int primary key, customer_id int)",
    "create index by_customer on archive.orders (customer_id)",
)
ROWS = (
    "insert into sales.customers {numbers} select i, concat('c', i), i % 10 from n where i <= 5000",
    """insert into sales.orders {numbers}
    select i, i % 5000, i % 977, concat(i % 89, repeat('x', 60)) from n""",
)
COUNT = "select count(*) from sales.orders"
# Functions that hide a write.
EMPTYING = {
    "postgresql": "create function sales.emptying() returns int language plpgsql as"
    " $$ begin delete from sales.orders; return 1; end $$",
    "mysql": "create function sales.emptying() returns int deterministic modifies sql data"
    " begin delete from sales.orders; return 1; end",
}
NUMBERS = {
    "postgresql@15": "with n(i) as (select generate_series(1, 80000))",
    "mariadb": "with n as (select seq as i from mysql.seq_1_to_80000)",
    "mysql": "with recursive n(i) as (select 1 union all select i + 1 from n where i < 80000)",
}
OWNERS = {
    "postgresql@15": (
        f"create role owner login password '{PASSWORD}'",
        "create database shop owner owner",
    ),
    "mariadb": (
        "create database shop",
        "create database sales",
        "create database archive",
        f"create user owner@'127.0.0.1' identified by '{PASSWORD}'",
        "grant all on shop.* to owner@'127.0.0.1'",
        "grant all on sales.* to owner@'127.0.0.1'",
        "grant select on archive.* to owner@'127.0.0.1'",
    ),
}
INDEXES = {
    "postgresql": "select indexname from pg_indexes where schemaname = 'sales'"
    " and indexname like 'assay%'",
    "mysql": "select distinct index_name from information_schema.statistics"
    " where table_schema = 'sales' and index_name like 'assay%'",
}
MAKE = {
    "postgresql@15": 'create index concurrently "assay_orders_customer_id"'
    ' on "sales"."orders" ("customer_id");',
    "mariadb": "create index `assay_orders_customer_id` on `sales`.`orders` (`customer_id`)"
    " algorithm=inplace lock=none;",
}
MAKE["mysql"] = MAKE["mariadb"]
OWNERS["mysql"] = OWNERS["mariadb"]


@dataclass(frozen=True)
class Own:
    """Tables on a server that runs. `owner` executes a statement as their owner would paste it."""

    name: str
    dsn: str
    owner: Callable[[str], list[tuple[Any, ...]]]

    def indexes(self) -> list[tuple[Any, ...]]:
        """Indexes that Assay advised, and that are there."""
        return self.owner(INDEXES["postgresql" if self.name.startswith("p") else "mysql"])


def on_postgresql(address: Address) -> Own:
    port = re.search(r"port=(\d+)", address["dsn"])
    assert port is not None
    dsn = f"postgresql://owner:{PASSWORD}@127.0.0.1:{port[1]}/shop"

    def asked(whole: str, *statements: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(whole, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    name = "postgresql@15"
    asked(address["dsn"], *OWNERS[name])
    rows = (text.format(numbers=NUMBERS[name]) for text in ROWS)
    asked(dsn, "create schema sales", "create schema archive", *TABLES, *rows)
    asked(dsn, EMPTYING["postgresql"], "analyze")
    return Own(name, dsn, lambda statement: asked(dsn, statement))


def on_mysql(name: str, address: Address) -> Own:
    def asked(user: str, password: str, *statements: str) -> list[tuple[Any, ...]]:
        # No database is chosen: a statement that names none is refused.
        connection = pymysql.connect(
            host="127.0.0.1", port=address["port"], user=user, password=password, autocommit=True
        )
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    rows = (text.format(numbers=NUMBERS[name]) for text in ROWS)
    more = ["set cte_max_recursion_depth = 100000"] if name == "mysql" else []
    made = [*OWNERS[name], *TABLES, *more, "use sales", *rows]
    made += [EMPTYING["mysql"], "analyze table sales.orders, sales.customers"]
    asked(address["user"], address["password"], *made)
    dsn = f"{name}://owner:{PASSWORD}@127.0.0.1:{address['port']}/shop"
    return Own(name, dsn, lambda statement: asked("owner", PASSWORD, statement))


@pytest.fixture(scope="module", params=["postgresql@15", "mariadb", "mysql"])
def own(request: pytest.FixtureRequest) -> Iterator[Own]:
    name, _, version = request.param.partition("@")
    engine = find_engine(name).engine()
    product = obtained(name, version=version or None, engine=engine)
    with reachable_directory() as folder, Guardian("own", folder / "instances") as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, folder / "server.log")
        launcher.own(data)
        settings = {"fsync": "off"} if version else {"innodb_flush_log_at_trx_commit": "0"}
        address = engine.start(product, Place(data, launcher.scratch), settings, launcher)
        yield on_postgresql(address) if version else on_mysql(name, address)
        launcher.stop()


@pytest.fixture(scope="module")
def journey(
    own: Own, server_place: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lab, list[str], dict[str, Any]]]:
    """A laboratory with one run of five statements, of which one lacks an index."""
    folder = folder_of(tmp_path_factory.mktemp("own"), **QUERIES)
    arguments = [str(folder), "--dsn", own.dsn, *BRIEF]
    with server_laboratory(server_place) as lab:
        yield lab, arguments, lab.document("run", *arguments)


def finding_of(document: dict[str, Any]) -> dict[str, Any]:
    (finding,) = [finding for finding in document["findings"] if finding["key"] == KEY]
    return finding


def test_the_cause_has_a_qualified_statement_to_paste_and_one_to_undo_it(journey, own) -> None:
    change = finding_of(journey[2])["change"]
    assert " ".join(change["sql"].split()) == MAKE[own.name]
    assert re.search(r"drop index .*[\"`]sales[\"`]", change["undo"])
    assert change["costs"]


def test_no_other_index_is_advised(journey) -> None:
    advised = [finding["key"] for finding in journey[2]["findings"] if finding["change"]]
    assert [key for key in advised if "index" in key or "order" in key] == [KEY]


def test_without_leave_nothing_is_changed(journey, own) -> None:
    lab, _, document = journey
    refused = lab.assay("try", document["run"], KEY, "--dsn", own.dsn)
    assert refused.returncode == 1
    assert MAKE[own.name] in refused.stderr
    assert own.indexes() == []


def test_with_leave_it_is_made_measured_and_taken_back(journey, own) -> None:
    lab, _, document = journey
    told = lab.document(
        "try", document["run"], KEY, "--dsn", own.dsn, "--allow-changes", "--repeat", "1"
    )
    (operation,) = [row for row in told["operations"] if row["operation"] == "by_customer"]
    assert operation["gain"]["share"] > 0.5
    assert own.indexes() == []


def test_pasted_it_is_seen_by_the_same_command_and_undone_as_printed(journey, own) -> None:
    lab, arguments, document = journey
    change = finding_of(document)["change"]
    own.owner(change["sql"])
    try:
        after = lab.assay("run", *arguments)
    finally:
        own.owner(change["undo"])
    assert after.returncode == 0, after.stderr
    table = after.stderr.partition("Before and after")[2]
    for operation in QUERIES:
        assert re.search(rf"^  {operation} +\d", table, re.MULTILINE), operation
    assert "times as fast" in table
    assert "assay_orders_customer_id" in " ".join(table.split())
    assert own.indexes() == []


def test_a_statement_that_writes_is_refused_by_its_words(own, server_place, tmp_path) -> None:
    folder = folder_of(tmp_path, gone="delete from sales.orders")
    with server_laboratory(server_place) as lab:
        refused = lab.assay("run", str(folder), "--dsn", own.dsn, *BRIEF)
    assert refused.returncode == 1
    assert "delete" in refused.stderr
    assert own.owner(COUNT) == [(80_000,)]


def test_a_function_that_writes_is_refused_by_the_server(own, server_place, tmp_path) -> None:
    folder = folder_of(tmp_path, hidden="select sales.emptying()")
    with server_laboratory(server_place) as lab:
        document = lab.document("run", str(folder), "--dsn", own.dsn, *BRIEF, code=3)
    (operation,) = document["operations"]
    assert operation["outcome"] != "ok"
    assert own.owner(COUNT) == [(80_000,)]


def test_answers_are_kept_and_compared(journey, own) -> None:
    lab, arguments, document = journey
    (check,) = [check for check in document["checks"] if check["check"] == "answers"]
    assert PASSWORD not in check["reason"]
    kept = lab.document("answers", arguments[0], "--dsn", own.dsn, "--keep")
    assert kept["kept"]
    after = lab.document("run", *arguments)
    (check,) = [check for check in after["checks"] if check["check"] == "answers"]
    assert check["reason"].startswith("5 of 5 answers right"), check
