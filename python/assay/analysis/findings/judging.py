"""Judges how certain each cause is, and limits the share of time that it may claim.

A cause is `seen` if two independent witnesses support it, and `suspected` if one does.
Contradicting evidence rules the cause out. A cause claims at most the time of its node in the time
tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import overlaps
from assay.analysis.findings.plans.captured_plan import doubt_of_plan
from assay.analysis.findings.same_time import related
from assay.analysis.findings.size import is_large

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

WITNESSES_MIN = 2
# Role of the setting for the engine's cache, and the part of a finding's time that decides on it.
CACHE, MOST = "cache", 0.5
# Findings of statements that read rows of which they need few.
READ_IN_VAIN = ("unused-groups", "filter-after-recursion")
MISSING_WITNESS = {
    "plan": "measure with --profile: CPU samples would confirm or refute the plan",
    "wait": "take more samples of waiting sessions, with a longer --time or --min-time",
    "sample": "record the plan of the operation, or the engine's counters around it",
}
ESTIMATED = "record the plan with actual rows (explain analyze), because these rows are estimates"
TO_SETTLE = "measure the same cause a second time with an independent method"


@dataclass(frozen=True)
class Judged:
    """Findings with their certainty, and the causes that were ruled out.

    Attributes:
        findings: Findings for the report.
        silenced: Causes that are ruled out because evidence contradicts them.
    """

    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...]


def judged(case: Case, findings: Iterable[Finding]) -> Judged:
    """Return findings with their certainty, and the causes that were ruled out."""
    given = list(findings)
    silenced = tuple(
        finding for finding in given if finding.tells == "cause" and finding.contradictions
    )
    kept = [
        _with_certainty(case, _within_node(case, finding)) if finding.tells == "cause" else finding
        for finding in given
        if finding not in silenced
    ]
    kept = [finding for finding in kept if finding.tells != "cause" or is_large(case, finding)]
    kept = [_after_fewer_reads(case, finding, kept) for finding in kept]
    return Judged(tuple(related(case, _with_alternatives(case, kept))), silenced)


def _within_node(case: Case, finding: Finding) -> Finding:
    """Return a finding with its time shares limited to those of its cause in the time tree."""
    if finding.part is None or not finding.fractions:
        return finding
    part = finding.part
    fractions = {
        name: min(fraction, case.trees[name].share_of(part)) if name in case.trees else fraction
        for name, fraction in finding.fractions.items()
    }
    effect = case.of_run(fractions)
    saved = finding.saved
    if saved is not None:
        saved = (min(saved[0], effect), max(saved[1], effect))
    return replace(finding, fractions=fractions, effect_share=effect, saved=saved)


def _with_certainty(case: Case, finding: Finding) -> Finding:
    reason = _reason_to_doubt(case, finding)
    if reason is None:
        return replace(finding, certainty="seen", settle=None)
    return replace(finding, certainty="suspected", settle=reason)


def _after_fewer_reads(case: Case, finding: Finding, findings: Iterable[Finding]) -> Finding:
    """Return a cache that is too small as suspected if another change avoids most of its misses.

    An operation with an index does not read the pages that its scan reads. Neither does a statement
    that makes only the rows that it keeps. So such a change in most of the finding's time saves
    more than a larger cache.
    """
    if finding.advice is None or finding.advice.subject != CACHE or not finding.fractions:
        return finding
    for other in findings:
        first = _change_with_fewer_reads(other)
        if first is None:
            continue
        within = {name: finding.fractions.get(name, 0.0) for name in other.fractions}
        is_most = case.of_run(within) >= MOST * finding.effect_share
        if is_most and other.effect_share > finding.effect_share:
            reason = f"{first} first ({other.key}): the operation then reads fewer pages"
            return replace(finding, certainty="suspected", settle=reason)
    return finding


def _change_with_fewer_reads(finding: Finding) -> str | None:
    """Return the change of a finding after which fewer pages are read; None for others."""
    if finding.method in READ_IN_VAIN:
        return "change the statement"
    is_index = finding.advice is not None and finding.advice.kind == "index"
    return "make the index" if is_index else None


def _reason_to_doubt(case: Case, finding: Finding) -> str | None:
    """Return the evidence that would confirm a suspected cause; None if the cause is seen."""
    if finding.settle is not None:
        return finding.settle
    witnesses = finding.witnesses
    if "plan" in witnesses and finding.operations:
        doubt = doubt_of_plan(case, finding.operations[0])
        if case.is_observed:
            return None if "counter" in witnesses else ESTIMATED
        if doubt is not None:
            return f"record the plan of the timed executions themselves: {doubt}"
    if len(witnesses) < WITNESSES_MIN:
        missing = [MISSING_WITNESS.get(witness, TO_SETTLE) for witness in witnesses]
        return missing[0] if missing else TO_SETTLE
    return None


def _with_alternatives(case: Case, findings: list[Finding]) -> list[Finding]:
    """Return causes, each with the keys of larger causes that claim the same time."""
    order = sorted(
        (finding for finding in findings if finding.tells == "cause" and finding.part),
        key=lambda finding: (finding.certainty != "seen", -finding.effect_share, finding.key),
    )
    claimed: list[Finding] = []
    others: dict[str, tuple[str, ...]] = {}
    for finding in order:
        others[finding.key] = tuple(
            larger.key for larger in claimed if overlaps(case, finding, larger)
        )
        claimed.append(finding)
    return [replace(finding, shares_with=others.get(finding.key, ())) for finding in findings]
