"""Joins by alternatives that compare all pairs of rows, and joins that find their rows."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.indexes import either_join
from assay.model.finding import Finding
from tests.cases import case, node, operation, plan, plans

EITHER = "((phone = phone) OR (mail = mail))"


def found(condition: str = EITHER, operator: str = "nested loop", **facts: Any) -> list[Finding]:
    """A thousand leads are each compared with 30,000 contacts."""
    outer = node("scan", object="leads", rows=facts.pop("leads", 1_000.0), seconds=0.0)
    inner = node(facts.pop("inner", "scan"), object="contacts", rows=30_000.0, seconds=0.1)
    about: dict[str, Any] = {"rows": 370.0, "seconds": 0.9, "condition": condition} | facts
    join = node(operator, outer, inner, **about)
    joined = operation(overrides={"seconds": 1.0})
    return either_join.find(case(joined, plans=plans(plan(join, execution_s=1.0))))


@pytest.mark.parametrize(
    "condition",
    [
        EITHER,
        "((c.phone = l.phone) OR ((c.mail)::text = (l.mail)::text))",
        "c.phone = l.phone or c.mail = l.mail or c.fax = l.fax",
        "((c.phone = l.phone) OR (c.mail = l.mail)) AND (c.since <= l.received)",
    ],
)
def test_pairs_that_are_compared_by_alternatives_are_suspected(condition: str) -> None:
    (finding,) = found(condition)
    assert finding.effect_share == pytest.approx(1.0)
    assert "compares 30 M pairs of rows to find 370" in finding.claim
    assert finding.settle is not None
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("union-of-joins", "q1")
    assert "`assay try a-run either-join:q1` measures it" in (finding.to_try or "")


@pytest.mark.parametrize(
    "twin",
    [
        # Another equality finds the rows, or no alternative is an equality of two columns.
        {"condition": "(c.town = l.town) AND ((c.phone = l.phone) OR (c.mail = l.mail))"},
        {"condition": "((c.phone = 'or') OR (c.mail = l.mail))"},
        {"condition": "((c.since < l.since) OR (c.until > l.until))"},
        {"condition": "c.since < l.received"},
        # A hash table or an index finds the rows.
        {"operator": "hash join"},
        {"inner": "bitmap scan"},
        # Few pairs, or most of them are wanted.
        {"leads": 3.0},
        {"rows": 10_000_000.0},
    ],
)
def test_its_twins_are_silent(twin: dict[str, Any]) -> None:
    assert found(**twin) == []
