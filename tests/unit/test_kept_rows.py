"""Rows that a part of a scan's condition keeps: what is counted, and what indexes it decides on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import missing_index
from assay.analysis.findings.indexes.conditions import indexable, served_part, single_parts
from assay.analysis.findings.indexes.index_use import unused_index
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.catalogue import Index, KeptRows
from assay.model.plan import PlanNode
from assay.model.sql import statement_of
from assay.running.kept_rows import kept_rows
from tests.cases import node, plan
from tests.unit.test_findings_plans import planned

ROWS, KEPT = 1_000_000, 100
RANGE, STATE = "(lines.day < '2026-01-01'::date)", "(lines.state <> 'sent'::text)"
BOTH = f"filter ({RANGE} AND {STATE})"
SELECTIVE = "(lines.amount > 999.00)"


@pytest.mark.parametrize(
    ("condition", "served", "singles"),
    [
        (BOTH, RANGE, (RANGE, STATE)),
        ("filter (lines.day = 7)", None, ()),
        ("(day >= 1 and day < 3 and lower(name) = 'x')", "day >= 1 and day < 3", None),
        ("((lines.day = 7) AND (lines.state = 'new'))", None, None),
        (f"filter ({STATE} AND (lower(lines.name) = 'x'::text))", None, None),
        ("((name = 'a and b') AND (lower(state) = ')'))", "(name = 'a and b')", None),
    ],
)
def test_parts_of_conditions(
    condition: str, served: str | None, singles: tuple[str, ...] | None
) -> None:
    assert served_part(condition, "lines") == served
    if singles is not None:
        assert single_parts(condition, "lines") == singles


class Reader:
    """Returns given counts, and refuses other conditions."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._rows = rows
        self.asked: list[str] = []

    def count_rows(self, scan: PlanNode, condition: str, limit_s: float) -> int | None:
        assert (scan.object, limit_s) == ("lines", 5.0)
        self.asked.append(condition)
        return self._rows.get(condition)


def scan(condition: str = BOTH, **facts: object) -> PlanNode:
    details = {"rows": KEPT, "removed_rows": ROWS - KEPT, "seconds": 1.0}
    return node(object="lines", condition=condition, **details | facts)


def test_parts_of_a_wasteful_scan_are_counted() -> None:
    reader = Reader({RANGE: 7})
    made = kept_rows(reader, plan(scan()), ["lines"])
    assert made == [KeptRows("q1", 0, "lines", RANGE, 7)]
    assert reader.asked == [RANGE, STATE]


def test_aliases_are_replaced_by_the_table() -> None:
    reader, text = Reader({RANGE: 7}), "select * from lines as l where l.day < date '2026-01-01'"
    aliased = replace(plan(scan(BOTH.replace("lines.", "l."))), text=text)
    assert kept_rows(reader, aliased, ["lines", "others"])[0].condition == RANGE


@pytest.mark.parametrize(
    "facts",
    [
        {"rows": ROWS / 2, "removed_rows": ROWS / 2},
        {"seconds": 9.0},
        {"condition": "filter (lines.day = 7)"},
        {"condition": "filter ((lines.day = (SubPlan 1)) AND (lines.state = 'x'))"},
        {"condition": None},
    ],
    ids=["keeps many", "long", "one comparison", "subquery", "none"],
)
def test_nothing_is_counted_of_other_scans(facts: dict[str, object]) -> None:
    reader = Reader({})
    assert kept_rows(reader, plan(scan(**facts)), ["lines"]) == []
    assert reader.asked == []


def counted(condition: str, rows: Mapping[str, int]) -> Case:
    made = planned(0.3, scan(condition))
    (name,) = made.plans
    kept = tuple(KeptRows(name, 0, "lines", part, count) for part, count in rows.items())
    return replace(made, kept_rows=kept)


def test_without_a_count_an_index_for_a_part_is_suspected() -> None:
    (finding,) = missing_index.find(counted(BOTH, {}))
    assert finding.settle == (
        "measure how many rows day alone keeps: other conditions remove rows, too"
    )


def test_a_part_that_keeps_few_rows_is_sure() -> None:
    (finding,) = missing_index.find(counted(BOTH, {RANGE: 2_000}))
    assert finding.settle is None
    assert finding.advice is not None
    assert finding.advice.values["columns"] == "day"
    assert "counted: 2 k rows fulfil the conditions on day" in [
        evidence.says for evidence in finding.evidence
    ]


def test_a_part_that_keeps_some_rows_stays_suspected_with_a_smaller_share() -> None:
    (few,), (some,) = (missing_index.find(counted(BOTH, {RANGE: rows})) for rows in (2_000, 90_000))
    assert some.settle is not None
    assert some.effect_share == pytest.approx(few.effect_share * 0.91 / 0.998)


def test_a_part_that_keeps_most_rows_needs_no_index() -> None:
    assert missing_index.find(counted(BOTH, {RANGE: 550_000, STATE: 300_000})) == []


def test_another_comparison_that_keeps_few_rows_is_indexed_instead() -> None:
    condition = f"filter ({RANGE} AND {SELECTIVE})"
    (finding,) = missing_index.find(counted(condition, {RANGE: 550_000, SELECTIVE: 150}))
    assert finding.advice is not None
    assert finding.advice.values["columns"] == "amount"
    assert finding.settle is None


@pytest.mark.parametrize(("has_partial", "count"), [(True, 1), (False, 0)])
def test_few_rows_of_a_comparison_that_no_index_searches_get_a_partial_index(
    has_partial: bool,
    count: int,
) -> None:
    made = counted(BOTH, {RANGE: 550_000, STATE: 900})
    made = replace(made, advice={**made.advice, "partial_indexes": has_partial})
    findings = missing_index.find(made)
    assert len(findings) == count
    for finding in findings:
        assert finding.advice is not None
        assert finding.advice.values == {"columns": "day", "predicate": STATE}
        assert f"only {STATE} removes most of them" in finding.claim


@pytest.mark.parametrize(
    ("condition", "column", "predicate"),
    [
        ("filter (lines.state <> 'sent'::text)", "state", "(lines.state <> 'sent'::text)"),
        ("(NOT lines.is_sent)", "is_sent", "(NOT lines.is_sent)"),
        ("((lines.state)::text <> 'sent'::text)", "state", "((lines.state)::text <> 'sent'::text)"),
        ("(lines.rest <> 0)", "rest", "(lines.rest <> 0)"),
    ],
)
def test_a_value_that_is_excluded_gets_a_partial_index(
    condition: str, column: str, predicate: str
) -> None:
    made = counted(condition, {})
    made = replace(made, advice={**made.advice, "partial_indexes": True})
    (finding,) = missing_index.find(made)
    assert finding.advice is not None
    assert finding.advice.values == {"columns": column, "predicate": predicate}


@pytest.mark.parametrize(
    "condition",
    [
        "(lines.state <> lines.other)",
        "(lower(lines.state) <> 'x')",
        "(others.state <> 'x')",
        "(lines.state !~ 'x')",
        "((lines.state <> 'a') OR (lines.rest <> 0))",
        "((lower(lines.name) = 'x') AND (lines.state <> 'sent'::text))",
    ],
)
def test_other_conditions_get_none(condition: str) -> None:
    made = counted(condition, {"(lower(lines.name) = 'x')": 1})
    made = replace(made, advice={**made.advice, "partial_indexes": True, "expressions": False})
    assert all(
        "predicate" not in (f.advice.values if f.advice else {}) for f in missing_index.find(made)
    )


@pytest.mark.parametrize("condition", ["(lines.sent IS NULL)", "(`shop`.`lines`.`sent` is null)"])
def test_rows_without_a_value_are_found_by_an_index(condition: str) -> None:
    assert indexable(condition.replace("`", "").replace("shop.", ""), "lines") == ("sent",)
    assert indexable("(lines.sent IS NOT NULL)", "lines") == ()


def test_a_partial_index_has_its_condition_and_a_name_of_its_own() -> None:
    template = "create index $name on $table$using ($columns)$where;"
    whole, part = (
        statement_of(template, "lines", ["day"], predicate=predicate) for predicate in (None, STATE)
    )
    assert whole == 'create index "assay_lines_day" on "lines" ("day");'
    assert part.startswith('create index "assay_lines_day_partial')
    assert part.endswith(f'on "lines" ("day") where {STATE};')


def test_a_range_of_two_bounds_is_no_part_of_itself() -> None:
    low, high = "(lines.day >= '2026-01-01'::date)", "(lines.day < '2026-01-02'::date)"
    made = counted(f"filter ({low} AND {high})", {low: 500_000, high: 600_000})
    (finding,) = missing_index.find(made)
    assert finding.effect_share == pytest.approx(
        missing_index.find(counted(BOTH, {RANGE: KEPT}))[0].effect_share
    )


@pytest.mark.parametrize(("rows", "is_named"), [(300, True), (700_000, False)])
def test_a_hidden_column_is_judged_by_its_own_rows(rows: int, is_named: bool) -> None:
    own = "(lower(lines.name) = 'x'::text)"
    made = counted(f"filter ({own} AND {STATE})", {own: rows})
    made = replace(made, indexes={"lines": (Index("lines", "lines_name", ("name",)),)})
    (timed,) = [timed for timed in timed_nodes(made) if timed.node.operator == "scan"]
    unused = unused_index(made, timed)
    assert (unused is not None) == is_named
    assert unused is None or unused.settle is None
