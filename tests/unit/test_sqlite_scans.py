"""What is known of SQLite's scans of whole tables, and of the indexes that could serve instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.analysis.findings.indexes.conditions import indexable
from assay.engines.plan_reading import (
    AsksAlternatives,
    PlanReader,
    TellsChangedSettings,
    TellsIndexes,
)
from assay.engines.sqlite.conditions import condition_of
from assay.engines.sqlite.plans import normalised
from assay.model.catalogue import ChangedSetting, Index
from tests import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.model.plan import PlanNode

ROWS, GROUPS = 2_000, 100
SCHEMA = """
create table t (a integer primary key, b integer, c text);
create table u (x integer, y integer);
create unique index t_c on t (c, b) where b > 5;
create index u_low on u (abs(y));
insert into t
with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)
select i, i % 100, 'row ' || i from n;
insert into u select a, b from t where a <= 50;
"""

# Statistics of a time when every row had an `a` of its own; now all have the same.
SKEWED = """
create table v (a integer, b integer, c text);
create index v_a on v (a);
create index v_b on v (b);
insert into v
with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
select i, i % 10, 'row ' || i from n;
analyze;
update v set a = 1, b = rowid;
"""


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[PlanReader]:
    with sqlite.started(tmp_path, cache_size="-4000") as (engine, instance):
        engine.run_script(instance, SCHEMA)
        made = engine.plan_reader(instance)
        yield made
        made.close()


def scan_of(reader: PlanReader, table: str, text: str, *values: object) -> PlanNode:
    (answer,) = reader.explain([(text, values)], 60)
    assert answer.native is not None, answer.reason
    root = normalised(answer.native, "q", 0, "q-0.json").root
    return next(node for node in root.walk() if node.object == table and node.operator == "scan")


FILTERED = [
    ("select count(*) from t where b = ?", (3,), "(b = ?)", ROWS / GROUPS),
    ("select count(*) from t where b < 2", (), "(b < ?)", 2 * ROWS / GROUPS),
    ("select max(c) from t where 90 <= b and c > 'row 5'", (), "(b >= ?) and (c > ?)", None),
    ("update t set b = b + 1 where c = ?", ("row 7",), "(c = ?)", 1),
]


@pytest.mark.parametrize(("text", "values", "condition", "kept"), FILTERED)
def test_a_scan_has_the_rows_it_keeps_and_removes(
    reader: PlanReader, text: str, values: tuple[object, ...], condition: str, kept: float | None
) -> None:
    scan = scan_of(reader, "t", text, *values)
    assert scan.condition == condition
    assert scan.rows is not None
    assert scan.removed_rows is not None
    assert scan.rows + scan.removed_rows == ROWS
    if kept is not None:
        assert scan.rows == kept
    assert scan.seconds is not None
    assert scan.seconds > 0


KEYS = """
pragma foreign_keys = on;
create table models (model integer primary key, brand text);
create table vehicles (vin integer primary key, model integer references models (model){action});
insert into models with recursive n (i) as (select 1 union all select i + 1 from n where i < 100)
select i, 'brand' from n;
insert into vehicles with recursive n (i) as (select 1 union all select i + 1 from n where i < 900)
select i, i % 90 + 1 from n;
"""


@pytest.mark.parametrize("action", ["", " on delete cascade"])
def test_rows_that_a_foreign_key_has_to_look_for_are_a_scan(tmp_path: Path, action: str) -> None:
    with sqlite.started(tmp_path, foreign_keys="on") as (engine, instance):
        engine.run_script(instance, KEYS.format(action=action))
        reader = engine.plan_reader(instance)
        try:
            scan = scan_of(reader, "vehicles", "delete from models where model = ?", 95)
        finally:
            reader.close()
    assert scan.condition == "(model = models.model)"
    assert (scan.removed_rows or 0.0) > 800
    assert indexable(scan.condition, "vehicles") == ("model",)


def first_rows_of(reader: PlanReader, text: str, *values: object) -> PlanNode:
    (answer,) = reader.explain([(text, values)], 60)
    return normalised(answer.native or "", "q", 0, "q-0.json").root


def test_a_sort_for_the_first_rows_has_what_it_reads_and_keeps(reader: PlanReader) -> None:
    sort = first_rows_of(reader, "select a from t where b = ? order by c desc limit 2 offset 1", 7)
    assert (sort.operator, sort.condition, sort.rows) == ("sort", "c DESC", 3)
    (scan,) = sort.children
    assert (scan.rows, scan.removed_rows) == (ROWS / GROUPS, ROWS - ROWS / GROUPS)
    assert (sort.seconds or 0.0) + (scan.seconds or 0.0) > 0


def test_a_sort_of_groups_that_an_index_has_in_order_stops_early(tmp_path: Path) -> None:
    """The first rows are in the first group, so that the scan of the index ends behind it."""
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, f"{SCHEMA} create index t_b on t (b, c); analyze;")
        reader = engine.plan_reader(instance)
        try:
            sort = first_rows_of(reader, "select b, c from t order by b desc, c limit 4")
        finally:
            reader.close()
    (scan,) = sort.children
    assert "LAST TERM" in sort.native
    assert (scan.index, sort.condition, sort.rows) == ("t_b", "b DESC, c", 4)
    assert scan.rows == pytest.approx(ROWS / GROUPS, abs=2)


def test_rows_that_an_index_finds_for_a_sort_are_counted(reader: PlanReader) -> None:
    sort = first_rows_of(reader, "select a from t where a > 1500 order by c limit 4")
    (search,) = sort.children
    assert (search.operator, search.rows, sort.rows) == ("index scan", 500, 4)


@pytest.mark.parametrize(
    "text",
    [
        "select a from t order by c",
        "select b, count(*) from t group by b order by 2 limit 3",
        "select t.a from t, u where t.a = u.x order by t.c limit 3",
    ],
)
def test_sorts_of_other_statements_are_as_they_were(reader: PlanReader, text: str) -> None:
    root = first_rows_of(reader, text)
    assert (root.rows, root.seconds) == (None, None)


def test_most_of_the_steps_of_a_selective_scan_remove_rows(reader: PlanReader) -> None:
    text = "select count(*) from t where b = 3"
    (answer,) = reader.explain([(text, ())], 60)
    plan = normalised(answer.native or "", "q", 0, "q-0.json")
    seconds = sum(node.seconds or 0.0 for node in plan.root.walk())
    assert plan.execution_s is not None
    assert 0.8 * plan.execution_s < seconds <= plan.execution_s


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from t where b = 3 or c = 'row 9'",
        "select count(*) from t where b % 7 = 3",
        "select count(*) from t where lower(c) = 'row 9'",
        "select count(*) from t where c = 'ROW 9' collate nocase",
        "select count(*) from t where b <> 3",
    ],
)
def test_conditions_of_other_forms_are_counted_by_the_text(reader: PlanReader, text: str) -> None:
    scan = scan_of(reader, "t", text)
    assert (scan.rows or 0.0) + (scan.removed_rows or 0.0) == ROWS
    assert scan.removed_rows
    assert scan.condition is not None
    assert indexable(scan.condition, "t") == ()


def test_a_scan_without_a_condition_removes_nothing(reader: PlanReader) -> None:
    assert scan_of(reader, "t", "select count(*) from t").removed_rows is None


@pytest.mark.parametrize(
    "text",
    [
        "select b from t, u where t.b = u.y",
        "select b from t where b in (select y from u)",
        "select b + $1 from t where b = $2",
        "not a statement",
    ],
)
def test_a_condition_is_read_of_statements_on_one_table_only(text: str) -> None:
    assert condition_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from u cross join t where t.b = u.y",
        "select count(*) from u as other cross join t as self where self.b = other.y",
        "select count(*) from u o cross join T S where s.b = o.y",
    ],
    ids=["no alias", "alias with as", "alias without as"],
)
def test_a_scan_in_the_inner_loop_of_a_join_is_read_for_each_outer_row(
    tmp_path: Path, text: str
) -> None:
    with sqlite.started(tmp_path, automatic_index="off") as (engine, instance):
        engine.run_script(instance, SCHEMA)
        reader = engine.plan_reader(instance)
        scan = scan_of(reader, "t", text)
        reader.close()
    assert scan.condition == "(b = u.y)"
    assert scan.loops == pytest.approx(50, rel=0.05)
    assert scan.rows == pytest.approx(50 * ROWS / GROUPS, rel=0.05)


def test_indexes_are_read_with_their_conditions(reader: PlanReader) -> None:
    assert isinstance(reader, TellsIndexes)
    assert sorted(reader.indexes(), key=lambda index: index.name) == [
        Index(
            *("t", "rowid", ("a",)),
            unique=True,
            method="btree",
            directions=("asc",),
            collations=(None,),
        ),
        Index(
            *("t", "t_c", ("c", "b")),
            unique=True,
            predicate="b > 5",
            method="btree",
            directions=("asc", "asc"),
            collations=("binary", "binary"),
        ),
        Index(
            *("u", "u_low", ("an expression",)),
            method="btree",
            directions=("asc",),
            collations=("binary",),
        ),
    ]


def test_settings_of_the_optimiser_away_from_their_default_are_known(reader: PlanReader) -> None:
    assert isinstance(reader, TellsChangedSettings)
    assert reader.changed_settings() == [ChangedSetting("cache_size", "-4000", "-2000")]


def test_a_plan_with_fresh_statistics_is_tried_and_nothing_stays(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, SKEWED)
        reader = engine.plan_reader(instance)
        assert isinstance(reader, AsksAlternatives)
        text = "select count(c) from v where a = 1 and b = 7"
        (alternative,) = reader.alternatives("q1", [(text, ())])
        assert (alternative.kind, alternative.indexes, alternative.differs) == (
            "statistics",
            ("v_b",),
            True,
        )
        assert alternative.seconds is not None
        assert alternative.seconds_changed is not None
        # The plan is again as the old statistics have it, and a change is never carried out.
        (answer,) = reader.explain([(text, ())], 60)
        assert "v_a" in (answer.native or "")
        assert reader.alternatives("q1", [("delete from v", ())]) == []
        reader.close()


UNIONS = [
    ("select a from t where a < 500 union select a from t where a >= 500", ROWS, ROWS),
    ("select b from t union select b from t", GROUPS, 2 * ROWS),
    ("select a from t where a < $1 union select a from t where a >= $1 order by a", ROWS, ROWS),
]


@pytest.mark.parametrize(("text", "kept", "whole"), UNIONS)
def test_a_union_has_the_rows_and_the_time_of_its_duplicates(
    reader: PlanReader, text: str, kept: int, whole: int
) -> None:
    (answer,) = reader.explain([(text, (500,) if "$1" in text else ())], 60)
    assert answer.native is not None, answer.reason
    root = normalised(answer.native, "q", 0, "q-0.json").root
    assert root.operator == "set operation"
    assert root.rows == kept
    assert root.removed_rows == whole - kept
    assert root.seconds is not None


@pytest.mark.parametrize(
    "text",
    [
        "select a from t union all select a from t",
        "select a from t union select a from t limit 5",
        "select count(*) from (select a from t union select a from t)",
    ],
)
def test_other_unions_are_not_measured(reader: PlanReader, text: str) -> None:
    (answer,) = reader.explain([(text, ())], 60)
    assert answer.native is not None, answer.reason
    root = normalised(answer.native, "q", 0, "q-0.json").root
    assert all(node.removed_rows is None for node in root.walk())
