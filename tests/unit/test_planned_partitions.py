"""Planning of a statement that reads many partitions grows with their number."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.plans import optimiser
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans

KEYS = {"readings": ("taken",)}
TEXT = "select sum(watts) from readings where meter = 7"


def found(parts: int = 365, text: str | None = TEXT, **fields: Any) -> Any:
    scans = [
        node("index scan", object=f"readings_{at}", seconds=0.5 / parts) for at in range(parts)
    ]
    root = PlanNode("set operation", "Append", seconds=0.0, children=tuple(scans))
    captured = plans(plan(root, planning_s=0.5, text=text))
    known = {"partition_keys": KEYS} | fields
    (finding,) = optimiser.find(case(operation(), plans=captured, **known))
    return finding


def test_the_number_of_planned_partitions_is_named() -> None:
    finding = found()
    assert "q1 plans 365 partitions of readings at each execution" in finding.claim
    assert "grows with their number" in finding.claim
    assert "fewer, larger partitions" in finding.to_try
    assert "the partition key (taken)" in finding.to_try
    assert "prepare the statements" in found(can_prepare=False).to_try
    assert finding.evidence[0].at == "plan:q1"


@pytest.mark.parametrize(
    "twin",
    [
        {"parts": 12},
        {"text": None},
        {"partition_keys": None},
        {"partition_keys": {"others": ("taken",)}},
        {"text": " union all ".join(f"table readings_{at}" for at in range(365))},
    ],
    ids=["few", "unknown text", "unknown keys", "another table", "named one by one"],
)
def test_its_twin_says_nothing_of_partitions(twin: dict[str, Any]) -> None:
    finding = found(**twin)
    assert finding.claim.endswith("most in q1")
    assert "partition" not in finding.to_try


def test_only_without_partitioned_tables_planning_is_known_not_to_grow() -> None:
    assert found(partition_keys={}).claim.endswith("most in q1; it does not grow with the data")
    assert found(parts=12).claim.endswith("most in q1")
