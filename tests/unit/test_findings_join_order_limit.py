"""Joins of more tables than the optimiser orders together."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.plans.join_order_limit import find
from assay.model.catalogue import Alternative
from tests.cases import case, node, operation, plan, plans


def joined(seconds_changed: float | None, **facts: Any) -> Case:
    """A join of eleven tables, executed with the limit and with one that includes all tables."""
    values: dict[str, Any] = {
        "kind": "limit",
        "change": "join_collapse_limit",
        "value": "11",
        "differs": True,
        "summary": "Nested Loop",
        "seconds": 1.0,
        "seconds_changed": seconds_changed,
    }
    other = Alternative("q1", 0, cost=9.0, cost_changed=1.0, **(values | facts))
    return case(
        operation(overrides={"seconds": 1.0}),
        plans=plans(plan(node(seconds=1.0))),
        alternatives={"q1": (other,)},
    )


def test_what_the_raised_limit_saves_is_the_effect() -> None:
    (finding,) = find(joined(0.1))
    assert finding.effect_share == pytest.approx(0.9)
    assert "joins 11 tables" in finding.claim
    assert finding.advice is not None
    assert finding.advice.subject == "join_collapse_limit"
    assert finding.advice.values["value"] == "11"
    assert set(finding.witnesses) == {"clock", "plan"}


@pytest.mark.parametrize(
    "facts",
    [
        {"seconds_changed": 0.9},
        {"seconds_changed": None},
        {"seconds_changed": 0.1, "differs": False},
        {"seconds_changed": 0.1, "kind": "setting"},
    ],
)
def test_a_limit_that_costs_nothing_is_not_named(facts: dict[str, Any]) -> None:
    assert find(joined(**facts)) == []
