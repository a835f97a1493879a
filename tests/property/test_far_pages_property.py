"""Pages whose keys are found first have the rows of pages by offset, with nulls and ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.workloads.rewriting import without
from assay.workloads.rewriting.declared import declared_tables
from tests.in_memory import ENGINES, tables_in

TABLE = (
    "create table t (id integer not null primary key, a integer, b varchar not null, c integer not"
    " null, d varchar, e varchar, unique (b, c))"
)
Row = tuple[int, int | None, str, int, str | None]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.none() | st.integers(0, 2),
        st.sampled_from(["x", "y", "Z"]),
        st.integers(0, 3),
        st.none() | st.sampled_from(["p", "q"]),
    ),
    max_size=10,
    unique_by=(lambda row: row[0], lambda row: row[2:4]),
)
SHOWN = ["*", "d", "t.a as b", "coalesce(a, 7) as n", "upper(t.b)", "(select count(*) from t as s)"]
FIRST = ["", "a desc", "d", "t.a, d desc nulls last", "c"]
KEYS = ["id", "t.id desc", "t.b, t.c desc", "c, t.b", "c, id"]
CONDITIONS = ["", "where a > 0 or d is null", "where t.id in (select s.id from t s where s.c > 0)"]


@st.composite
def pages(draw: st.DrawFn) -> str:
    shown = draw(st.lists(st.sampled_from(SHOWN), unique=True, min_size=1, max_size=3))
    order = [key for key in (draw(st.sampled_from(FIRST)), draw(st.sampled_from(KEYS))) if key]
    condition, rows = draw(st.sampled_from(CONDITIONS)), draw(st.integers(0, 4))
    page = f"limit {rows} offset {draw(st.integers(0, 6))}"
    named = ", ".join([*shown, "e as last"])
    return " ".join(("select", named, "from t", condition, "order by", ", ".join(order), page))


def rows_of(connected: Any, sql: str) -> list[tuple[object, ...]]:
    return list(connected.execute(sql).fetchall())


@given(ROWS, pages())
@settings(max_examples=100, deadline=None)
def test_a_look_up_returns_the_rows_of_a_page_in_their_order(
    rows: Sequence[Row], asked: str
) -> None:
    filled = {"t": (TABLE, [(*row, 7) for row in rows])}
    for engine in ENGINES:
        tables = declared_tables((TABLE,), (engine,))
        rewritten = without(asked, (engine,), ["far-page"], tables).text
        assert "page_key" in rewritten
        with tables_in(engine, filled) as connected:
            assert rows_of(connected, rewritten) == rows_of(connected, asked), rewritten
