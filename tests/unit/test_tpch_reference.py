"""TPC-H's parameters and refresh sets are those of the specification's own programs.

Oracle: what these programs wrote, as values and checksums, in `tests/published/tpch`.
"""

from __future__ import annotations

import csv
import hashlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assay.model.errors import UsageError
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload
from assay.workloads.generate import table_stream

PUBLISHED = Path(__file__).parents[1] / "published" / "tpch"
TABLES = ("orders_new", "lineitem_new", "orders_old")
SETS = 3
# Of 32 consecutive keys the first 8 are of loaded orders, the next 8 of the first sets.
KEYS, KEYS_USED = 32, 8


def published(name: str) -> list[dict[str, str]]:
    lines = (PUBLISHED / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def made(table: str, scale: float, sets: int, threads: int = 2) -> pa.Table:
    return pa.table(table_stream("tpch", table, scale, threads, sets))


def of_set(rows: pa.Table, number: int) -> pa.Table:
    return rows.filter(pc.equal(rows["set_number"], number))


def keys(rows: pa.Table) -> list[int]:
    return rows.column(2).to_pylist()


@pytest.fixture(scope="module")
def tpch() -> Workload:
    return find_workload("tpch")


class TestParameters:
    QGEN = published("qgen-values.csv")

    def test_all_queries_are_compared(self, tpch: Workload) -> None:
        assert {row["operation"] for row in self.QGEN} == set(tpch.facts.order)
        assert {row["stream"] for row in self.QGEN} >= {"0", "1", "2"}

    @pytest.mark.parametrize("seed", sorted({int(row["seed"]) for row in QGEN}))
    def test_they_are_what_qgen_draws(self, tpch: Workload, seed: int) -> None:
        for row in (row for row in self.QGEN if int(row["seed"]) == seed):
            operation, stream = row["operation"], int(row["stream"])
            drawn = tpch.statement(operation, (), 1.0, seed, stream).parameters
            values = [value for values in drawn.values() for value in values]
            expected = row["values"].split("|")
            if operation == "q11":
                assert Decimal(values.pop()) == Decimal(expected.pop())
            assert values == expected, (operation, stream)


class TestRefreshSets:
    @pytest.mark.parametrize("scale", [0.1, 1.0])
    @pytest.mark.parametrize("table", TABLES)
    def test_they_are_what_dbgen_writes(self, table: str, scale: float) -> None:
        rows = made(table, scale, SETS)
        for row in published("refresh-sets.csv"):
            if (float(row["scale"]), row["table"]) == (scale, table):
                written = as_dbgen(of_set(rows, int(row["set_number"])))
                assert written.count(b"\n") == int(row["lines"])
                assert hashlib.sha256(written).hexdigest() == row["sha256"]

    @pytest.mark.parametrize("scale", [0.001, 0.01, 0.07, 0.2, 1.0])
    def test_keys_fill_the_holes_of_the_loaded_ones(self, scale: float) -> None:
        loaded = set(pa.table(table_stream("tpch", "orders", scale, 1))["o_orderkey"].to_pylist())
        new, old = (keys(made(table, scale, SETS)) for table in ("orders_new", "orders_old"))
        assert not loaded & set(new)
        assert {key % KEYS // KEYS_USED for key in new} == {1}
        assert {key % KEYS // KEYS_USED for key in old} == {0}
        assert set(old) <= loaded
        assert len(set(new)) == len(new) == len(set(old)) == len(old)

    @pytest.mark.parametrize("scale", [0.001, 0.01, 0.07, 0.29, 1.0, 2.0, 11.0])
    def test_a_set_has_as_many_orders_as_the_workload_says(
        self, tpch: Workload, scale: float
    ) -> None:
        orders = tpch.refresh_orders(scale)
        for table in ("orders_new", "orders_old"):
            rows = made(table, scale, SETS)
            for number in range(1, SETS + 1):
                table_rows = of_set(rows, number)["order_number"].to_pylist()
                assert table_rows == list(range(1, orders + 1))

    def test_lines_carry_the_number_of_their_order(self) -> None:
        orders, lines = (made(table, 0.03, SETS) for table in ("orders_new", "lineitem_new"))
        columns = ("set_number", "order_number")
        of_key = {
            row["o_orderkey"]: tuple(row[column] for column in columns)
            for row in orders.to_pylist()
        }
        for row in lines.to_pylist():
            assert tuple(row[column] for column in columns) == of_key[row["l_orderkey"]]
        assert set(lines["l_orderkey"].to_pylist()) == set(of_key)

    @pytest.mark.parametrize("table", TABLES)
    def test_more_sets_and_threads_change_no_row(self, table: str) -> None:
        few, many = made(table, 0.05, 2, threads=1), made(table, 0.05, 5, threads=3)
        assert many.slice(0, few.num_rows) == few

    @pytest.mark.parametrize(
        ("sets", "scale", "most"), [(0, 1.0, 999), (1000, 1.0, 999), (751, 0.001, 750)]
    )
    def test_so_many_sets_there_cannot_be(self, sets: int, scale: float, most: int) -> None:
        with pytest.raises(UsageError, match=f"there can be 1 to {most}$"):
            table_stream("tpch", "orders_new", scale, 1, sets)


def as_dbgen(rows: pa.Table) -> bytes:
    """Rows as lines of the reference generator: its columns, each with a bar behind it."""
    columns = rows.column_names[2:]
    table_rows: list[dict[str, Any]] = rows.to_pylist()
    lines = ("".join(f"{_text(row, column)}|" for column in columns) for row in table_rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _text(row: dict[str, Any], column: str) -> str:
    return str(int(row[column]) if column == "l_quantity" else row[column])
