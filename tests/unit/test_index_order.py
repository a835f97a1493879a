"""An index has to begin with the columns that are compared for equality."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import index_filter, missing_index
from assay.model.catalogue import Index
from tests.cases import case, node, operation, plan, plans

DEVICE_AND_RANGE = "filter events.device = 77 and events.at between 100000 and 150000"


def scan_of(condition: str, *columns: str) -> Case:
    scan = node("scan", object="events", condition=condition, rows=50.0, removed_rows=3e5)
    index = Index("events", "events_index", columns)
    query_plans = plans(plan(replace(scan, seconds=1.0)))
    whole = operation(overrides={"seconds": 1.0})
    return case(whole, plans=query_plans, indexes={"events": (index,)})


def test_an_index_that_begins_with_the_range_does_not_serve() -> None:
    """The range has a sixth of all rows, so the index (at, device) is rightly not used."""
    (finding,) = missing_index.find(scan_of(DEVICE_AND_RANGE, "at", "device"))
    assert finding.advice is not None
    assert finding.advice.values == {"columns": "device,at"}
    assert "no index that begins with device" in finding.evidence[0].says
    assert finding.settle is None


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        (DEVICE_AND_RANGE, ("device",)),
        (DEVICE_AND_RANGE, ("device", "at")),
        ("filter events.at between 1 and 2", ("at", "device")),
        ("(events.at > 5)", ("at",)),
    ],
)
def test_an_index_that_begins_as_it_has_to_is_not_missing(
    condition: str, columns: tuple[str, ...]
) -> None:
    assert missing_index.find(scan_of(condition, *columns)) == []


def test_two_bounds_of_one_column_are_one_range() -> None:
    condition = "((events.at >= 1) AND (events.at <= 9) AND (events.device = 77))"
    (finding,) = missing_index.find(scan_of(condition, "note"))
    assert finding.settle is None


def test_ranges_of_two_columns_are_not_served_by_one_index() -> None:
    (finding,) = missing_index.find(scan_of("((events.at <= 9) AND (events.to_at >= 9))", "note"))
    assert finding.settle is not None


@pytest.mark.parametrize(
    "condition",
    [
        "filter <in_optimizer>(events.device,<exists>(subquery#2))",
        "(NOT (ANY (events.device = (SubPlan 1).col1)))",
    ],
)
def test_no_index_contains_the_result_of_a_subquery(condition: str) -> None:
    assert missing_index.find(scan_of(condition, "note")) == []


def test_beside_a_subquery_an_index_may_be_missing() -> None:
    condition = "((events.device = 7) AND (NOT (ANY (events.id = (SubPlan 1).col1))))"
    (finding,) = missing_index.find(scan_of(condition, "note"))
    assert finding.advice is not None
    assert finding.settle is not None


def test_a_filter_behind_an_index_needs_its_equal_column_first() -> None:
    condition = f"(events.kind = 3); {DEVICE_AND_RANGE}"
    scan = node("index scan", object="events", index="kinds", condition=condition, seconds=1.0)
    scan = replace(scan, rows=50.0, removed_rows=3e5)
    indexes = (Index("events", "kinds", ("kind",)), Index("events", "times", ("at",)))
    run_case = case(operation(), plans=plans(plan(scan)), indexes={"events": indexes})
    (finding,) = index_filter.find(run_case)
    assert finding.advice is not None
    assert finding.advice.values == {"columns": "kind,device,at"}
