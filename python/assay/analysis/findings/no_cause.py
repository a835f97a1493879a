"""Says that no finding explains the time of a run, and which operator takes the most of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.finding import Evidence
from assay.model.units import percent_text
from assay.record.repeating import options_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.finding import Finding

METHOD = "no-cause"
# A cause of this share of the time says what to do first.
EXPLAINED_MIN = 0.1
# Findings on other programs of the host, which say nothing about the workload.
OF_HOST = ("steal", "other-disk-load")
TO_TRY = (
    "`assay diagnose {run}` measures changes that no finding advises, such as indexes and other "
    "forms of queries"
)


def without_cause(case: Case, findings: Iterable[Finding]) -> list[Finding]:
    """Return a finding that no cause was found; empty if one was, or if no operator is large."""
    given = list(findings)
    is_explained = any(
        finding.effect_share >= EXPLAINED_MIN
        for finding in given
        if finding.tells == "cause" and finding.method not in OF_HOST
    )
    largest = _largest(case)
    if is_explained or largest is None or not any(each.tells == "bound" for each in given):
        return []
    fractions = {largest.operation: largest.fraction or 0.0}
    share = case.of_run(fractions)
    if share < EXPLAINED_MIN:
        return []
    node = largest.node
    operator = node.native if node.object is None else f"{node.native} of {node.object}"
    claim = (
        f"No cause of {percent_text(EXPLAINED_MIN)} of the time or more was found in the run; the "
        f"largest operator is {operator} in {largest.operation}, {percent_text(share)} of the time"
    )
    evidence = [Evidence(f"{operator} took {percent_text(share)}", f"plan:{largest.operation}")]
    run = f"{case.run_id}{options_words(case.request)}"
    to_try = None if case.is_observed else TO_TRY.format(run=run)
    finding = case.finding(
        METHOD, claim, fractions, tells="shape", to_try=to_try, evidence=evidence
    )
    return [finding.without_interval()]


def _largest(case: Case) -> Timed | None:
    """Return the operator with the largest share of the run's time; None without times."""
    return max(
        (timed for timed in timed_nodes(case) if timed.fraction),
        key=lambda timed: case.of_run({timed.operation: timed.fraction or 0.0}),
        default=None,
    )
