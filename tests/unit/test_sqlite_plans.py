"""Plans that SQLite tells of small tables, in words that are no engine's."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from assay.engines.plan_reading import Explained, PlanAsked, PlanReader
from assay.engines.sqlite.explaining import OF_TRANSACTIONS
from assay.engines.sqlite.plans import normalised
from assay.model.plan import OPERATORS, Plan, PlanNode
from tests import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = """
create table t (a integer, b integer);
create index t_a on t (a);
create table u (a integer primary key, b integer);
insert into t
with recursive n (i) as (select 1 union all select i + 1 from n where i < 100)
select i, i % 7 from n;
insert into u select a, b from t;
"""
ENDLESS = "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n"
Shape = tuple[object, ...]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[PlanReader]:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, SCHEMA)
        made = engine.plan_reader(instance)
        yield made
        made.close()


def asked(reader: PlanReader, text: str, *values: object) -> Explained:
    (explanation,) = reader.explain([(text, values)], 60)
    return explanation


def plan(reader: PlanReader, text: str, *values: object) -> Plan:
    explanation = asked(reader, text, *values)
    assert explanation.native is not None, explanation.reason
    return normalised(explanation.native, "q", 0, "q-0.json")


def shape(node: PlanNode) -> Shape:
    """Operator and table, then the shapes of the inputs."""
    return ((node.operator, node.object), *(shape(child) for child in node.children))


T, U = ("scan", "t"), ("scan", "u")
SHAPES = [
    ("select * from t", (T,)),
    ("select * from t where a = 1", (("index scan", "t"),)),
    ("select 1", (("values", None),)),
    (
        "select * from t as x, u where u.a = x.b",
        (("nested loop", None), (T,), (("index scan", "u"),)),
    ),
    ("select b, count(*) from t group by b", (("aggregate", None), (T,))),
    ("select * from t order by b", (("sort", None), (T,))),
    (
        "select b, count(*) from t group by b order by 2",
        (("sort", None), (("aggregate", None), (T,))),
    ),
    (
        "select * from t where b > (select avg(b) from u)",
        (T, (("subquery", None), (U,))),
    ),
    (
        "with x as (select max(a) n from t group by b) select 1 from x where n = (select 1 from x)",
        (
            ("scan", "x"),
            (("cte", "x"), (("aggregate", None), (T,))),
            (("subquery", None), (("scan", "x"),)),
        ),
    ),
    (
        "select a from t union all select a from u",
        (("set operation", None), (("index scan", "t"),), (U,)),
    ),
    (
        "select * from t where a = 1 or a = 2 and b = 3",
        (("bitmap scan", "t"), (("index scan", "t"),), (("index scan", "t"),)),
    ),
    ("update u set b = $1 where a = 1", (("modify", "u"), (("index scan", "u"),))),
    ("insert into u values ($1, 2)", (("modify", "u"),)),
    ("delete from t", (("modify", "t"),)),
]


@pytest.mark.parametrize(("text", "expected"), SHAPES, ids=[text for text, _ in SHAPES])
def test_what_it_tells_is_a_tree(reader: PlanReader, text: str, expected: Shape) -> None:
    assert shape(plan(reader, text, *([200] if "$1" in text else [])).root) == expected


def test_nothing_that_was_not_counted_is_a_number(reader: PlanReader) -> None:
    query_plan = plan(reader, "select * from t, u where u.a = t.b order by t.b")
    assert not query_plan.timed
    for node in query_plan.root.walk():
        assert node.operator in OPERATORS
        counted = (node.rows, node.estimated_rows, node.seconds, node.loops, node.removed_rows)
        assert counted == (None,) * 5


def test_an_index_is_told_with_what_is_looked_up(reader: PlanReader) -> None:
    node = plan(reader, "select * from t where a > 3 and a < 7").root
    assert (node.index, node.condition) == ("t_a", "a>? AND a<?")
    assert node.native == "SEARCH USING INDEX"


def test_a_row_by_its_key_has_no_index(reader: PlanReader) -> None:
    node = plan(reader, "select * from u where a = 3").root
    assert (node.index, node.condition) == (None, "rowid=?")
    assert node.native == "SEARCH USING INTEGER PRIMARY KEY"


def test_a_table_is_told_by_its_own_name(reader: PlanReader) -> None:
    node = plan(reader, "select * from t as late where b = 3").root
    assert (node.object, node.details) == ("t", {"alias": "late"})


def test_what_is_counted_of_the_statement_is_told(reader: PlanReader) -> None:
    query_plan = plan(reader, "select * from t order by b")
    assert query_plan.details["fullscan_step"] == 99
    assert query_plan.details["sort"] == 1
    assert query_plan.execution_s is not None


def test_the_reason_says_what_is_not_told(reader: PlanReader) -> None:
    assert asked(reader, "select 1").reason == "SQLite tells neither rows nor times of operators"


def test_nothing_is_changed_and_later_statements_see_earlier_ones(reader: PlanReader) -> None:
    statements = [
        ("begin", ()),
        ("delete from t", ()),
        ("select count(*) from t where b >= 0", ()),
        ("commit", ()),
    ]
    first, _, counted, last = reader.explain(statements, 60)
    assert [explanation.native for explanation in (first, last)] == [None, None]
    assert "transaction" in (first.reason or "")
    assert json.loads(counted.native or "")["counted"]["fullscan_step"] == 0
    assert plan(reader, "select * from t").details["fullscan_step"] == 99


def test_what_takes_too_long_is_cancelled_and_told_with_its_plan(reader: PlanReader) -> None:
    first, second = reader.explain([(ENDLESS, ()), ("select 1", ())], 0.2)
    assert first.reason == "it was cancelled after 0.2 s"
    query_plan = normalised(first.native or "", "q", 0, "q-0.json")
    assert (query_plan.execution_s, query_plan.root.operator) == (None, "scan")
    assert (second.native, second.reason) == (None, "a statement before it failed")


def test_what_sqlite_refuses_is_a_reason(reader: PlanReader) -> None:
    explanation = asked(reader, "select nosuch from t")
    assert (explanation.native, explanation.reason) == (None, "SQLite said: no such column: nosuch")


@pytest.mark.parametrize("text", ["[]", "{}", '{"plan": [{"id": 1, "parent": 9, "detail": "x"}]}'])
def test_other_texts_are_no_plan(text: str) -> None:
    with pytest.raises(ValueError, match="the text is not an SQLite plan"):
        normalised(text, "q", 0, "q-0.json")


def test_columns_are_those_that_its_program_takes_out_of_rows(reader: PlanReader) -> None:
    (scan,) = (node for node in plan(reader, "select b from t where a = 1").root.walk())
    assert scan.columns == ("b",)
    # What changes a row writes it whole, so it takes all of it.
    changed = plan(reader, "update u set b = b + 1 where a = 7").root
    assert [node.columns for node in changed.walk() if node.operator == "index scan"] == [
        ("a", "b")
    ]


def test_rows_of_scans_are_counted(reader: PlanReader) -> None:
    reads = plan(reader, "select sum(b) from t").reads
    assert reads is not None
    assert (reads.scan_rows, reads.index_rows) == (99, None)


def test_what_is_played_is_answered_and_undone(reader: PlanReader) -> None:
    asked = [
        PlanAsked("begin immediate", [], explained=True),
        PlanAsked("insert into u values ($1, $2)", [1001, Decimal("2.5")], explained=True),
        PlanAsked("update u set b = 0 where a > $1 returning a", [99], explained=False),
        PlanAsked("insert into u values (1001, 0)", [], explained=True),
    ]
    begun, put, changed, refused = reader.play(asked, 60)  # type: ignore[attr-defined]
    assert begun.explained.reason == OF_TRANSACTIONS
    assert (put.explained.native is None, put.count, put.error) == (False, 1, None)
    # It was put in once, though it was executed for its plan, too.
    assert (changed.explained, changed.rows, changed.count) == (None, [(100,), (1001,)], 2)
    assert "UNIQUE" in refused.error
    (counted,) = reader.play(  # type: ignore[attr-defined]
        [PlanAsked("select count(*), max(a) from u", [], explained=False)], 60
    )
    assert counted.rows == [(100, 100)]


def test_a_literal_whose_value_is_not_shown_is_not_known(reader: PlanReader) -> None:
    """Its value stands in the program as a number that this build does not print."""
    explanations = list(reader.explain([("select 1 where 0.05 < random() / 7.0", [])], 10.0))
    assert [explanation.native is not None for explanation in explanations] == [True]
