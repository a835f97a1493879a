"""TPC-C's conditions hold of its data, and each of them sees what violates it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from assay.analysis.answers.comparison import read_expected
from assay.model.errors import UsageError
from assay.workloads.answers import answers_folder
from assay.workloads.choosing import with_foreign_keys
from assay.workloads.discovery import find_workload
from assay.workloads.generate import table_rows
from assay.workloads.scripts import statements
from tests.sqlite import started

TPCC = find_workload("tpcc")
CONDITIONS = [f"c{number:02}" for number in range(1, 13)]
# No condition looks at items or stock.
ASKED = ("warehouse", "district", "customer", "history", "orders", "new_order", "order_line")

Ask = Callable[[str], list[tuple[Any, ...]]]

NOBODY_PAYS = "insert into history values (0, 0, 0, 11, 1, '2026-01-01 00:00:00', 10, '')"
# An order is delivered, or is not, with all that belongs to it. Lines that cost nothing change no
# balance.
DELIVERED = (
    "update orders set o_carrier_id = 1 where o_d_id = 1 and o_id = {order}",
    """
    update order_line set ol_delivery_d = '2026-01-01 00:00:00', ol_amount = 0
    where ol_d_id = 1 and ol_o_id = {order}
    """,
)
TAKEN_OUT = "delete from new_order where no_d_id = 1 and no_o_id = {order}"
BROUGHT_BACK = (
    "update orders set o_carrier_id = null where o_d_id = 1 and o_id = {order}",
    "update order_line set ol_delivery_d = null where ol_d_id = 1 and ol_o_id = {order}",
    "insert into new_order values ({order}, 1, 1)",
)


def of_order(number: int, *texts: str) -> list[str]:
    return [text.format(order=number) for text in texts]


# Statements after which exactly one condition is violated.
PLANTED: dict[str, list[str]] = {
    "c01": ["update warehouse set w_ytd = w_ytd + 10", NOBODY_PAYS],
    "c02": ["update district set d_next_o_id = d_next_o_id + 1 where d_id = 2"],
    "c03": [*of_order(2500, *DELIVERED, TAKEN_OUT), *of_order(2100, *BROUGHT_BACK)],
    "c04": ["insert into order_line values (5000, 1, 1, 1, 1, 1, null, 5, 1, '')"],
    "c05": of_order(2999, *DELIVERED),
    "c06": [
        "update orders set o_ol_cnt = o_ol_cnt + 1 where o_d_id = 1 and o_id = 5",
        "update orders set o_ol_cnt = o_ol_cnt - 1 where o_d_id = 1 and o_id = 6",
    ],
    "c07": [
        """
        update order_line set ol_delivery_d = null
        where ol_d_id = 1 and ol_o_id = 9 and ol_number = 3
        """
    ],
    "c08": [NOBODY_PAYS],
    "c09": ["update history set h_d_id = 2 where h_d_id = 1 and h_c_id = 7"],
    "c10": [
        """
        update customer set c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1
        where c_d_id = 1 and c_id = 7
        """
    ],
    "c11": of_order(2101, *DELIVERED, TAKEN_OUT),
    "c12": [
        "update customer set c_ytd_payment = c_ytd_payment + 0.01 where c_d_id = 1 and c_id = 7"
    ],
}


def rows_of(table: str) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_stream(table_rows(TPCC.row_facts(1), table, 1))


def made(ask: Ask, dialects: tuple[str, ...]) -> None:
    for script in TPCC.setup(dialects, 1).values():
        for statement in statements(script, dialects):
            ask(statement)


@pytest.fixture(scope="module")
def in_duckdb() -> Iterator[Ask]:
    """A warehouse, with exact decimals."""
    with duckdb.connect() as connection:

        def ask(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql).fetchall()

        made(ask, ("duckdb",))
        for table in ASKED:
            rows = rows_of(table).read_all()
            connection.register("rows", rows)
            ask(f"insert into {table} select * from rows")  # noqa: S608
        yield ask


@pytest.fixture(scope="module")
def in_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Two districts of a warehouse, with money as floating point numbers."""
    with started(tmp_path_factory.mktemp("tpcc")) as (engine, instance):
        for script in TPCC.setup(("sqlite",), 1).values():
            engine.run_script(instance, script)
        for table in ASKED:
            reader = rows_of(table)
            of_two_districts = pa.RecordBatchReader.from_batches(reader.schema, islice(reader, 2))
            engine.load(instance, table, of_two_districts, 1)
        engine.finish_load(instance)
        file = instance.handle.path
    connection = sqlite3.connect(file, isolation_level=None)

    def ask(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    ask("delete from district where d_id > 2")
    ask("update warehouse set w_ytd = 60000")
    yield ask
    connection.close()


@pytest.fixture(params=["duckdb", "sqlite"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(dialect: str, request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Asks a population; what is changed is undone."""
    ask_rows: Ask = request.getfixturevalue(f"in_{dialect}")
    ask_rows("begin")
    yield ask_rows
    ask_rows("rollback")


def violated(ask: Ask, dialect: str) -> dict[str, list[tuple[Any, ...]]]:
    asked = {name: ask(TPCC.statement(name, (dialect,), 1).text) for name in CONDITIONS}
    return {name: rows for name, rows in asked.items() if rows}


class TestConditions:
    def test_they_hold_of_the_data_as_they_are_loaded(self, ask: Ask, dialect: str) -> None:
        assert violated(ask, dialect) == {}

    @pytest.mark.parametrize("condition", CONDITIONS)
    def test_what_violates_one_is_seen_by_it_alone(
        self, ask: Ask, dialect: str, condition: str
    ) -> None:
        for statement in PLANTED[condition]:
            ask(statement)
        assert list(violated(ask, dialect)) == [condition]

    def test_both_values_are_told(self, ask: Ask, dialect: str) -> None:
        ask("update warehouse set w_ytd = w_ytd + 0.01")
        ((warehouse, violations, districts),) = violated(ask, dialect)["c01"]
        assert warehouse == 1
        assert float(violations) - float(districts) == pytest.approx(0.01)

    def test_a_district_without_new_orders_violates_none_but_the_eleventh(
        self, ask: Ask, dialect: str
    ) -> None:
        """Clauses 3.3.2.2 and 3.3.2.3 leave such districts out."""
        ask("delete from new_order where no_d_id = 2")
        ask("update orders set o_carrier_id = 1 where o_d_id = 2")
        ask("update order_line set ol_delivery_d = '2026-01-01', ol_amount = 0 where ol_d_id = 2")
        assert list(violated(ask, dialect)) == ["c11"]

    def test_the_right_answer_of_each_is_no_row(self) -> None:
        folder = answers_folder(TPCC, 1)
        assert folder is not None
        for name in CONDITIONS:
            assert read_expected(folder / f"{name}.csv").rows == ()


class TestForeignKeys:
    @pytest.mark.parametrize("dialects", [("postgresql",), ("mariadb", "mysql"), ("mysql",)])
    def test_they_are_there_when_they_are_asked_for(self, dialects: tuple[str, ...]) -> None:
        linked = with_foreign_keys(TPCC)
        keys, plain = linked.keys(dialects, 1), TPCC.keys(dialects, 1)
        assert list(keys) == [*plain, "schema/foreign-keys.sql"]
        assert keys["schema/foreign-keys.sql"].count("foreign key (") == 10
        assert linked.content_hash == TPCC.content_hash

    def test_sqlite_cannot_add_them(self) -> None:
        assert list(TPCC.keys(("sqlite",), 1)) == ["schema/keys.sql", "schema/indexes.sql"]
        with pytest.raises(
            UsageError, match=r"--foreign-keys: .*this engine cannot add foreign keys"
        ):
            with_foreign_keys(TPCC).keys(("sqlite",), 1)

    def test_a_workload_without_any_says_so(self) -> None:
        with pytest.raises(UsageError, match="the workload tpch declares no foreign keys"):
            with_foreign_keys(find_workload("tpch"))


class TestScale:
    def test_warehouses_are_whole(self) -> None:
        with pytest.raises(UsageError, match=r"0\.5 warehouses: TPC-C is scaled by whole"):
            table_rows(TPCC.row_facts(0.5), "item", 1)
