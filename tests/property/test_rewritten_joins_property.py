"""Joins and counts in another form return the same rows, on random data with nulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.workloads.rewriting import without
from tests.in_memory import ENGINES, tables_in

TABLES = {"t": ("a", "b", "c"), "u": ("k", "d", "e")}
Row = tuple[int | None, str | None, int | None]
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from(["x", "y", "z"]),
        st.none() | st.integers(-1, 2),
    ),
    max_size=8,
)
JOINS = ["t.a = u.k", "t.b = u.d", "c = e", "u.e = t.a + t.c", "(t.a = u.k and u.e > 0)"]
CONDITIONS = {
    "t": ["t.a > 1", "b = 'x'", "t.c is null", "t.a in (select k from u where d <> 'y')"],
    "u": ["u.k < 3", "d is not null", "u.e in (0, 1)"],
    "both": ["t.a <= u.k", "(t.c is null or u.e = 1)", "coalesce(t.c, 0) + coalesce(u.e, 0) < 3"],
    "more": ["exists (select 1 from t as s where s.b = u.d and s.c > t.c)"],
}
KEPT = ["t.a", "b", "t.c as x", "coalesce(t.a, -1) + 1", "case when t.c > 0 then t.b end as y"]
SHOWN = [*KEPT, "u.k", "d as z", "t.a + u.e", "u.e"]
GROUPED = ["count(*)", "sum(u.e)", "max(t.b)", "count(distinct d)", "min(t.a + u.k)"]


@dataclass
class Data:
    """The rows of two tables."""

    t: Sequence[Row]
    u: Sequence[Row]

    def check(self, part: str, asked: str) -> None:
        """Assert that the query with the join in another form returns the same rows."""
        for engine in ENGINES:
            rewritten = without(asked, (engine,), [part], TABLES).text
            with tables_in(engine, self.tables) as connected:
                assert sorted_rows(connected, rewritten) == sorted_rows(connected, asked), rewritten

    @property
    def tables(self) -> dict[str, tuple[str, Sequence[Row]]]:
        """The definition and the rows of each table."""
        return {
            table: (
                f"create table {table} ({first} integer, {second} varchar, {third} integer)",
                getattr(self, table),
            )
            for table, (first, second, third) in TABLES.items()
        }


def sorted_rows(connected: Any, sql: str) -> list[str]:
    """Execute a query; return its rows as sorted texts."""
    return sorted(map(repr, connected.execute(sql).fetchall()))


DATA = st.builds(Data, ROWS, ROWS)


def some(lines: Sequence[str], least: int = 0, most: int = 3) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(lines), unique=True, min_size=least, max_size=most)


@st.composite
def placed(draw: st.DrawFn, join: str, conditions: Sequence[str]) -> str:
    """Return FROM and WHERE of a join, with its condition in one of both."""
    if draw(st.booleans()):
        return f"from t join u on {join}" + (
            f" where {' and '.join(conditions)}" if conditions else ""
        )
    return f"from t, u where {' and '.join([*conditions, f'({join})'])}"


@st.composite
def distinct_joins(draw: st.DrawFn) -> str:
    conditions = draw(some([line for lines in CONDITIONS.values() for line in lines]))
    body = draw(placed(" and ".join(draw(some(JOINS, 1, 2))), conditions))
    return f"select distinct {', '.join(draw(some(KEPT, 1)))} {body}"


@st.composite
def either_joins(draw: st.DrawFn) -> str:
    conditions = draw(some([line for lines in CONDITIONS.values() for line in lines]))
    body = draw(placed(" or ".join(draw(some(JOINS, 2, 4))), conditions))
    shown = draw(some(SHOWN, 1))
    if draw(st.booleans()):
        return f"select {draw(st.sampled_from(['', 'distinct ']))}{', '.join(shown)} {body}"
    aggregates = draw(some(GROUPED, 1))
    keys = [item.partition(" as ")[0] for item in shown]
    if draw(st.booleans()):
        return f"select {', '.join(aggregates)} {body}"
    having = draw(st.sampled_from(["", " having count(*) > 1"]))
    return (
        f"select {', '.join([*shown, *aggregates])} {body} group by {', '.join(keys)}{having}"
        f" order by {', '.join(str(place) for place in range(1, len(shown) + 1))}"
    )


@given(DATA, distinct_joins())
@settings(max_examples=80, deadline=None)
def test_exists_returns_the_rows_of_a_distinct_join(data: Data, asked: str) -> None:
    data.check("distinct-join", asked)


@given(DATA, either_joins())
@settings(max_examples=80, deadline=None)
def test_a_union_returns_the_rows_of_a_join_by_alternatives(data: Data, asked: str) -> None:
    data.check("either-join", asked)


COMPARED = ["> 0", ">= 1", "<> 0", "= 0", "<= 0", "< 1"]
ANSWERS = ["count(*) {}", "case when count(1) {} then 'y' else 'n' end as z", "not (count(*) {})"]


@st.composite
def counts(draw: st.DrawFn) -> str:
    conditions = draw(some([line for lines in CONDITIONS.values() for line in lines]))
    body = draw(placed(" and ".join(draw(some(JOINS, 1, 2))), conditions))
    shown = [answer.format(draw(st.sampled_from(COMPARED))) for answer in draw(some(ANSWERS, 1))]
    return f"select {', '.join(shown)} {body}"


@given(DATA, counts())
@settings(max_examples=80, deadline=None)
def test_exists_returns_the_row_of_a_count_that_is_compared_with_zero(
    data: Data, asked: str
) -> None:
    data.check("counted-rows", asked)
