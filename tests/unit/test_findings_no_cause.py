"""A run without a cause says so, with the operator that takes most of its time."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.discovery import findings
from assay.analysis.findings.no_cause import METHOD
from assay.model.finding import Finding
from assay.model.secrets import HIDDEN
from tests.cases import case, node, operation, plan, plans


def run_of(*, timed: bool = True, **facts: Any) -> Case:
    seconds = 0.8 if timed else None
    root = node("aggregate", node("scan", object="sales", seconds=seconds and 0.2), seconds=seconds)
    given = {"plans": plans(plan(root, timed=timed))} | facts
    return case(operation(overrides={"seconds": 1.0}), **given)


def named(run: Case) -> list[Finding]:
    return [finding for finding in findings(run) if finding.method == METHOD]


def test_the_largest_operator_is_named() -> None:
    (finding,) = named(run_of())
    assert finding.tells == "shape"
    assert "the largest operator is Aggregate in q1, 80 % of the time" in finding.claim
    assert "assay diagnose a-run" in str(finding.to_try)


def test_a_server_with_a_password_needs_its_address_again() -> None:
    (finding,) = named(run_of(request={"dsn": f"postgresql://owner:{HIDDEN}@127.0.0.1/shop"}))
    assert "assay diagnose a-run --dsn ...`" in str(finding.to_try)


def test_observed_statements_cannot_be_diagnosed() -> None:
    (finding,) = named(run_of(is_observed=True))
    assert finding.to_try is None


@pytest.mark.parametrize("run", [run_of(timed=False), run_of(plans={})])
def test_without_times_of_operators_it_is_silent(run: Case) -> None:
    assert named(run) == []


def test_a_cause_suffices() -> None:
    spilled = node("sort", node("scan", seconds=0.2), seconds=0.8, spilled_bytes=float(1 << 30))
    run = run_of(plans=plans(plan(spilled)))
    assert any(finding.tells == "cause" for finding in findings(run))
    assert named(run) == []
