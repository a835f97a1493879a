"""Relates findings to the cause of the same time, whose change is the one to make."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import overlaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

LOG_FULL, LOCK_WAIT, TAIL = "log-full", "lock-wait", "tail"
# Findings of waits that a full log may cause: for the log itself, and for latches of those who
# write pages.
BY_FULL_LOG = ("stalls", "lock-wait")
# A cause of at least this part of another finding's time explains that finding.
MOST = 0.5
# A statement as times of statements name it: its position, its verb and its table.
_NAMED = re.compile(r"\d+ (\w+) ([\w.`\"]+)")


def related(case: Case, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, those that a cause explains with its key and without advice of their own."""
    explained = {
        finding.key: cause.key
        for finding in findings
        if (cause := _cause(case, finding, findings)) is not None
    }
    return [_with_cause(finding, explained) for finding in findings]


def _with_cause(finding: Finding, explained: Mapping[str, str]) -> Finding:
    """Return a finding with the key of the cause that explains it; a cause without those keys."""
    cause = explained.get(finding.key)
    others = tuple(key for key in finding.shares_with if explained.get(key) != finding.key)
    if cause is None:
        return replace(finding, shares_with=others)
    shares_with = tuple(dict.fromkeys((cause, *others)))
    return replace(finding, shares_with=shares_with, to_try=None, advice=None, change=None)


def _cause(case: Case, finding: Finding, findings: Iterable[Finding]) -> Finding | None:
    """Return the cause of a finding's time that another finding names; None without one."""
    for cause in findings:
        if cause.tells != "cause" or cause is finding:
            continue
        if cause.method == LOG_FULL and finding.method in BY_FULL_LOG:
            is_most = cause.effect_share >= MOST * finding.effect_share
            if is_most and overlaps(case, finding, cause):
                return cause
        if cause.method == LOCK_WAIT and finding.method == TAIL and _waits(case, finding, cause):
            return cause
    return None


def _waits(case: Case, finding: Finding, cause: Finding) -> bool:
    """Return True if the statement of a slow tail is the one that waits for a lock most often."""
    operation = finding.operations[0] if finding.operations else ""
    times = case.statement_times.get(operation)
    if times is None or times.tail is None or operation not in cause.fractions:
        return False
    named = _NAMED.match(times.tail.statement)
    statements = [
        (blocker.waiting_statement or "").lower()
        for blocker in case.blockers or ()
        if blocker.own and blocker.waiting_statement
    ]
    if named is None or not statements:
        return False
    verb, table = named[1].lower(), named[2].strip('`"').lower()
    most = max(statements, key=statements.count)
    return (
        most.lstrip().startswith(verb) and re.search(rf"\b{re.escape(table)}\b", most) is not None
    )
