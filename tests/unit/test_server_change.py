"""Changes of a running server: the statements, who may make them, and that they are taken back."""

from __future__ import annotations

import re
import signal
from typing import Any

import pytest

from assay.analysis.findings.changing import change_of
from assay.engines.contract import EngineError, Instance
from assay.engines.discovery import find_engine
from assay.model import sql
from assay.model.errors import RunFailedError
from assay.model.finding import Advice
from assay.running.server.changed_tables import serve_changes

INDEX = Advice("index", "orders", {"columns": "customer_id,day"})
IN_SALES = Advice("index", "orders", {"columns": "customer_id,day", "schema": "sales"})
MADE = (
    'create index concurrently "assay_orders_customer_id_day_fd3fa01a" on "sales"."orders"'
    ' ("customer_id", "day");'
)
MEMORY = Advice("setting", "work_memory", {"value": str(64 << 20)})


def sql_of(engine: str, advice: Advice) -> tuple[str, str | None]:
    facts = find_engine(engine).advice()
    assert facts is not None
    change = change_of(advice, facts)
    assert change is not None
    assert change.costs
    return " ".join(change.sql.split()), change.undo and " ".join(change.undo.split())


def index_name(table: str, columns: str) -> str:
    """Return the name of the index that a finding advises, from its statement."""
    make, _ = sql_of("sqlite", Advice("index", table, {"columns": columns}))
    return make.split('"')[1]


class TestStatements:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (("order", "items_id"), ("order_items", "id")),
            (("orders", "customer_id"), ("orders", "customer,id")),
            (("orders", "a_b,c"), ("orders", "a,b_c")),
        ],
    )
    def test_indexes_of_other_columns_have_other_names(
        self, one: tuple[str, str], other: tuple[str, str]
    ) -> None:
        """A diagnosis drops the index that a killed run left, by its name."""
        assert index_name(*one) != index_name(*other)
        assert index_name(*one).startswith(f"assay_{one[0]}_")

    def test_postgresql_makes_an_index_in_its_schema_without_keeping_writers_out(self) -> None:
        assert sql_of("postgresql", IN_SALES) == (
            MADE,
            'drop index concurrently if exists "sales"."assay_orders_customer_id_day_fd3fa01a";',
        )

    def test_a_schema_that_is_not_known_is_not_guessed(self) -> None:
        assert 'on "orders" (' in sql_of("postgresql", INDEX)[0]

    @pytest.mark.parametrize("engine", ["mysql", "mariadb"])
    def test_mysql_and_mariadb_make_it_in_place(self, engine: str) -> None:
        make, undo = sql_of(engine, INDEX)
        assert make.endswith("(`customer_id`, `day`) algorithm=inplace lock=none;")
        assert undo == "drop index `assay_orders_customer_id_day_fd3fa01a` on `orders`;"

    @pytest.mark.parametrize(
        ("engine", "make"),
        [
            ("postgresql", "alter system set work_mem = '64MB'; select pg_reload_conf();"),
            ("mysql", "set persist sort_buffer_size = 67108864;"),
            ("mariadb", "set global sort_buffer_size = 67108864;"),
        ],
    )
    def test_a_setting_is_set_as_the_engine_does_it(self, engine: str, make: str) -> None:
        assert sql_of(engine, MEMORY)[0] == make

    def test_an_engine_that_names_no_statements_has_no_change(self) -> None:
        assert change_of(INDEX, find_engine("trino").advice() or {}) is None

    @pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
    def test_in_a_file_an_index_is_made_and_dropped(self, engine: str) -> None:
        assert sql_of(engine, INDEX) == (
            (
                'create index "assay_orders_customer_id_day_fd3fa01a" on "orders"'
                ' ("customer_id", "day");'
            ),
            'drop index if exists "assay_orders_customer_id_day_fd3fa01a";',
        )

    def test_statistics_of_a_sqlite_file_are_removed_by_the_name_of_their_table(self) -> None:
        make, undo = sql_of("sqlite", Advice("statistics", "it's", {}))
        assert make == 'analyze "it\'s";'
        assert undo is not None
        assert undo.startswith("delete from sqlite_stat1 where tbl = 'it''s';")


class Server:
    """Runs statements; refuses those that begin with one of some words."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.ran: list[str] = []

    def settle(self, instance: Instance) -> None:
        """Has nothing to settle."""

    def prepare(self, instance: Instance, sql: str) -> None:
        self.ran.append(sql)
        if sql.startswith(self.refused or ("\0",)):
            raise EngineError(f"{sql} is refused")


class Owner:
    """The channel to whoever asked; `ends` is raised in place of a word from there."""

    def __init__(self, server: Server, ends: type[BaseException] | None = None) -> None:
        self.server, self.ends = server, ends
        self.heard: list[str] = []

    def send(self, kind: str) -> None:
        self.heard.append(kind)

    def receive(self) -> None:
        self.server.ran.append("measured")
        if self.ends is not None:
            raise self.ends


@pytest.fixture(autouse=True)
def signals():
    """Serving leaves signals ignored, for its process ends with it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def serve(server: Server, ends: type[BaseException] | None = None, make: str = "create") -> Owner:
    owner: Any = Owner(server, ends)
    job = {"make": {"index": make} if make else {}, "undo": {"index": "drop"}}
    serve_changes(owner, job, server, Instance({}, None))  # type: ignore[arg-type]
    return owner


class TestServing:
    def test_it_is_made_and_taken_back(self) -> None:
        server = Server()
        assert serve(server).heard == ["changed", "undone"]
        assert server.ran == ["drop", "create", "measured", "drop"]

    def test_it_is_taken_back_when_the_guardian_ends_it(self) -> None:
        server = Server()
        with pytest.raises(KeyboardInterrupt):
            serve(server, KeyboardInterrupt)
        assert server.ran[-1] == "drop"

    def test_what_a_refused_change_left_is_taken_back(self) -> None:
        server = Server("create")
        with pytest.raises(EngineError):
            serve(server)
        assert server.ran == ["drop", "create", "drop"]

    def test_a_refused_change_is_told_by_its_own_error(self) -> None:
        message = r"^create is refused\nIf a part of the change stayed, run: drop$"
        with pytest.raises(EngineError, match=message):
            serve(Server("create", "drop"))

    def test_what_cannot_be_taken_back_is_named_with_its_statement(self) -> None:
        with pytest.raises(
            RunFailedError, match=r"could not be reverted .*; revert it by hand: drop"
        ):
            serve(Server("drop"))

    def test_a_run_as_it_was_takes_back_what_a_killed_one_left(self) -> None:
        server = Server("drop")
        serve(server, make="")
        assert server.ran == ["drop", "measured"]

    def test_a_change_that_cannot_be_taken_back_does_not_keep_the_others(self) -> None:
        server = Server("drop b")
        owner: Any = Owner(server)
        job = {
            "make": {"a": "create a", "b": "create b", "c": "create c"},
            "undo": {"a": "drop a", "b": "drop b", "c": "drop c"},
        }
        with pytest.raises(RunFailedError, match=r"revert it by hand: drop b$"):
            serve_changes(owner, job, server, Instance({}, None))  # type: ignore[arg-type]
        assert server.ran[-4:] == ["measured", "drop c", "drop b", "drop a"]


def test_long_names_of_indexes_differ_as_their_columns_do() -> None:
    """Otherwise one index is taken back in place of another."""
    table, first = "measurements_of_all_stations_by_day", "temperature_of_the_air_at_noon"
    names = {
        sql.statement_of("$name", table, [first, last]) for last in ("station_north", "station_sou")
    }
    assert len(names) == 2
    assert all(len(name) <= sql.NAME_LETTERS_MAX + len('""') for name in names)
    assert sql.statement_of("$name", "docs", [], expression="body", method="gin") != (
        sql.statement_of("$name", "docs", ["body"])
    )


def test_an_index_has_the_directions_of_its_columns() -> None:
    template = "create index $name on $table ($columns);"
    text = sql.statement_of(template, "mail", ["rank desc", "made", "seen nulls first"])
    assert '("rank" desc, "made", "seen" nulls first)' in text
    (name,) = re.findall(r"index (\S+) on", text)
    assert name.startswith('"assay_mail_rank_desc_made_')
    assert name not in sql.statement_of(template, "mail", ["rank", "made", "seen"])
