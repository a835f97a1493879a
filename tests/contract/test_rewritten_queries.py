"""All queries of TPC-H without each of their parts, on real data: they run and are what is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from assay.workloads.answers import answers_folder
from assay.workloads.choosing import without_parts
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload
from assay.workloads.generate import table_rows
from assay.workloads.rewriting import Rewritten

DUCKDB, POSTGRESQL = ("duckdb", "postgresql"), ("postgresql",)
SCALE = 0.01
TPCH = find_workload("tpch")
QUERIES = sorted(TPCH.facts.order)
# They end with a limit, so that without their order they would be other rows.
LIMITED = ("q02", "q03", "q10", "q18", "q21")


@pytest.fixture(scope="module")
def loaded() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for text in TPCH.setup(DUCKDB, SCALE).values():
            connection.execute(text)
        row_facts = TPCH.row_facts(SCALE)
        for table in TPCH.facts.tables:
            connection.register("made", pa.table(table_rows(row_facts, table, 1)))
            connection.table("made").insert_into(table)
        yield connection


def without(*parts: str, workload: Workload = TPCH) -> Workload:
    return without_parts(workload, parts)


def text(query: str, *parts: str, dialects: tuple[str, ...] = DUCKDB) -> str:
    return without(*parts).statement(query, dialects, SCALE).text


def named(query: str, dialects: tuple[str, ...] = DUCKDB) -> list[str]:
    return [part.name for part in TPCH.parts(query, dialects, SCALE)]


def rows(loaded: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return loaded.execute(sql).fetchall()


@pytest.mark.parametrize("query", QUERIES)
def test_each_part_can_be_taken_away_and_what_is_left_runs(
    loaded: duckdb.DuckDBPyConnection, query: str
) -> None:
    parts = named(query)
    assert parts[0] == "computation"
    assert len(parts) == len(set(parts))
    asked = text(query)
    for part in parts:
        left = text(query, part)
        assert left != asked
        rows(loaded, left)


@pytest.mark.parametrize("query", QUERIES)
def test_without_computation_there_is_one_row_that_touches_what_was_read(
    loaded: duckdb.DuckDBPyConnection, query: str
) -> None:
    statement = without("computation").statement(query, DUCKDB, SCALE)
    assert len(rows(loaded, statement.text)) == 1
    assert statement.rewritten is not None
    assert [removed_part["name"] for removed_part in statement.rewritten["removed"]] == [
        "computation"
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_touches_of_postgresql_count_the_rows_that_are_chosen(
    loaded: duckdb.DuckDBPyConnection, query: str
) -> None:
    """No column of TPC-H is null, so each count is that of all rows but those of an outer join."""
    (counted,) = rows(loaded, text(query, "computation", dialects=POSTGRESQL))
    numbers = [touch_count for touch_count in counted if not isinstance(touch_count, bool)]
    assert numbers
    if query != "q13":
        assert len(set(numbers)) == 1
    chosen = any(cell is not None for row in rows(loaded, text(query)) for cell in row)
    assert (max(numbers) > 0) == chosen


@pytest.mark.parametrize("query", [name for name in QUERIES if "order by" in text(name)])
def test_without_its_order_a_query_gives_the_same_rows(
    loaded: duckdb.DuckDBPyConnection, query: str
) -> None:
    whole = Counter(rows(loaded, text(query)))
    unordered = Counter(rows(loaded, text(query, "sort")))
    if query in LIMITED:
        assert sum(unordered.values()) >= sum(whole.values())
    else:
        assert unordered == whole


@pytest.mark.parametrize("query", LIMITED)
def test_without_its_limit_a_query_gives_all_rows(
    loaded: duckdb.DuckDBPyConnection, query: str
) -> None:
    whole, every = (Counter(rows(loaded, text(query, *parts))) for parts in ((), ("limit",)))
    assert whole <= every


def test_without_having_more_groups_are_left(loaded: duckdb.DuckDBPyConnection) -> None:
    whole, every = (Counter(rows(loaded, text("q11", *parts))) for parts in ((), ("having",)))
    assert whole < every


def test_other_aggregates_stay_as_they_were(loaded: duckdb.DuckDBPyConnection) -> None:
    whole = rows(loaded, text("q01"))
    fewer = rows(loaded, text("q01", "aggregate:4"))
    assert [row[:5] + row[6:] for row in whole] == [row[:9] for row in fewer]


def test_without_groups_sums_are_of_all_rows(loaded: duckdb.DuckDBPyConnection) -> None:
    whole = rows(loaded, text("q01"))
    (all_rows,) = rows(loaded, text("q01", "group"))
    assert all_rows[0] == sum(row[2] for row in whole)
    assert all_rows[7] == sum(row[9] for row in whole)


def test_a_table_leaves_with_what_is_said_of_it(loaded: duckdb.DuckDBPyConnection) -> None:
    left = text("q03", "join:customer")
    assert "customer" not in left.lower()
    assert "c_" not in left
    assert "orders" in left
    rows(loaded, left)


def test_a_table_that_holds_others_together_cannot_leave() -> None:
    assert "join:orders" not in named("q03")
    assert {"join:customer", "join:lineitem"} <= set(named("q03"))


def test_a_join_by_alternatives_is_a_union_with_the_same_rows(
    loaded: duckdb.DuckDBPyConnection,
) -> None:
    assert [query for query in QUERIES if "either-join" in named(query)] == ["q19"]
    assert rows(loaded, text("q19", "either-join")) == rows(loaded, text("q19"))


def test_several_parts_go_together(loaded: duckdb.DuckDBPyConnection) -> None:
    left = text("q03", "predicate:1", "join:lineitem", "sort")
    assert "BUILDING" not in left
    assert "ORDER BY" not in left
    rows(loaded, left)


@pytest.mark.parametrize(
    ("query", "stays"),
    [
        ("q01", ()),
        ("q11", ()),
        ("q13", ()),
        ("q17", ("avg(l_quantity)",)),
        ("q18", ("group by l_orderkey", "sum(l_quantity)")),
    ],
)
def test_what_rows_are_chosen_by_stays_and_is_told(query: str, stays: tuple[str, ...]) -> None:
    rewritten = without("computation").statement(query, DUCKDB, SCALE).rewritten
    assert rewritten is not None
    assert tuple(rewritten["stays"]) == stays


def test_the_scans_of_duckdb_read_the_same_columns(loaded: duckdb.DuckDBPyConnection) -> None:
    """`count` would not read them: it is answered from what is known of nulls."""

    def touched(sql: str) -> int:
        all_rows = loaded.execute(f"explain (format json) {sql}").fetchall()[0][1]
        return sum(
            f"l_{name}" in all_rows.split('"Projections"')[-1] for name in ("tax", "quantity")
        )

    assert touched(text("q01", "computation")) == 2
    counts = text("q01", "computation", dialects=POSTGRESQL)
    assert "COUNT(l_tax)" in counts
    assert touched(counts) == 0


def test_it_is_told_what_a_rewritten_query_is() -> None:
    assert Rewritten("x", ()).facts() == {"removed": [], "stays": []}
    assert TPCH.statement("q01", DUCKDB, SCALE).rewritten is None
    assert answers_folder(without("computation"), SCALE) is None
