"""Queries made at random, without their computation and without each part: they run and count."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.workloads.rewriting import parts, without, without_computation

DIALECTS = ("postgresql",)
TABLES = {"t": ("a", "b", "c"), "u": ("k", "d")}
CONNECTION = duckdb.connect()
CONNECTION.execute("create table t as select i % 7 as a, i % 3 as b, i as c from range(50) r(i)")
CONNECTION.execute("create table u as select i as k, i * 2 as d from range(5) r(i)")
EXPRESSIONS = {
    "t": ["a", "b", "c", "a * b", "b + c * 2", "case when a > 2 then c else b end"],
    "u": ["d", "k", "d * k"],
}
AGGREGATES = ["sum", "min", "avg", "count"]
CONDITIONS = {
    "t": ["a > 1", "b = 1", "c between 3 and 40", "c in (select k from u where d < 7)"],
    "u": ["d > 1", "k in (1, 2, 3)", "exists (select * from t where a = k)"],
}


@dataclass
class Made:
    """A query, and the same tables and conditions without anything else."""

    text: str
    body: str


@st.composite
def queries(draw: st.DrawFn) -> Made:
    tables = draw(st.sampled_from([["t"], ["u"], ["t", "u"]]))
    usable = [expression for table in tables for expression in EXPRESSIONS[table]]
    lines = [expression for table in tables for expression in CONDITIONS[table]]
    conditions = draw(st.lists(st.sampled_from(lines), unique=True, max_size=3))
    joined = ["a = k"] if len(tables) > 1 else []
    body = f"from {', '.join(tables)}"
    if joined + conditions:
        body += f" where {' and '.join(joined + conditions)}"
    keys = draw(st.lists(st.sampled_from(usable), unique=True, max_size=2))
    made = st.tuples(st.sampled_from(AGGREGATES), st.sampled_from(usable))
    aggregates = [
        f"{f}({expression})" for f, expression in draw(st.lists(made, min_size=1, max_size=3))
    ]
    shown = [f"{expression} as x{place}" for place, expression in enumerate([*keys, *aggregates])]
    text = f"select {', '.join(shown)} {body}"
    if keys:
        text += f" group by {', '.join(keys)}"
    if draw(st.booleans()):
        text += f" having {draw(st.sampled_from(aggregates))} > 0"
    if draw(st.booleans()):
        text += " order by x0 limit 3"
    if draw(st.booleans()):
        names = ", ".join(f"max(x{place})" for place in range(len(shown)))
        text = " ".join(["select", names, "from (", text, ") as inner_rows"])
        return Made(text, body if "limit" not in text else "")
    return Made(text, body)


def rows(text: str) -> list[tuple[object, ...]]:
    return CONNECTION.execute(text).fetchall()


@given(queries())
@settings(max_examples=60, deadline=None)
def test_touches_count_all_rows_that_are_chosen(made: Made) -> None:
    rows(made.text)
    query = without_computation(made.text, DIALECTS, TABLES)
    (counted,) = rows(query.text)
    if made.body:
        ((chosen,),) = rows(f"select count(*) {made.body}")
        assert set(counted) == {chosen}
        assert query.stays == ()


@given(queries())
@settings(max_examples=40, deadline=None)
def test_each_part_can_go_and_what_is_left_can_be_taken_apart_again(made: Made) -> None:
    for part in parts(made.text, DIALECTS, TABLES):
        left = without(made.text, DIALECTS, [part.name], TABLES)
        rows(left.text)
        assert [study_part.name for study_part in left.removed] == [part.name]
        parts(left.text, DIALECTS, TABLES)


@pytest.mark.parametrize("text", ["select sum(a) from t", "select a from t order by b"])
def test_the_same_text_is_rewritten_alike(text: str) -> None:
    first, second = (without_computation(text, DIALECTS, TABLES) for _ in range(2))
    assert first == second
