"""Finds the statement that makes an operation's slowest executions slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.statement import EARLIER
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "tail"
PERCENT = 100.0
# A statement causes a tail if it has this share of the slowest executions' extra time.
BLAMED_MIN = 0.5
# A tail with a smaller share of the operation's time is not reported as a finding.
EXCESS_MIN = 0.02
RETRIES = "use fewer clients on the same rows, or transactions that hold their locks for less time"
LONGER = "find the waits of this statement: locks, reads, or the log if it is the commit"


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation with slow executions caused by a statement or retries."""
    findings = []
    for operation, times in case.statement_times.items():
        tail = times.tail
        if tail is None or tail.share < BLAMED_MIN or tail.excess_share < EXCESS_MIN:
            continue
        again = tail.statement == EARLIER
        what = "Attempts that failed before" if again else f"Statement {tail.statement}"
        verb = "make" if again else "makes"
        claim = (
            f"{what} {verb} the tail latency of {operation}: {percent_text(tail.share)} of the "
            f"extra time of the slowest {PERCENT * tail.tail_share:g} % (above "
            f"{seconds_text(tail.beyond_s)})"
        )
        evidence = Evidence(
            f"{seconds_text(tail.typical_s)} in a typical {operation}, "
            f"{seconds_text(tail.tail_s)} in one of the slowest",
            "statements",
        )
        findings.append(
            case.finding(
                METHOD,
                claim,
                {operation: tail.excess_share},
                tells="shape",
                to_try=RETRIES if again else LONGER,
                evidence=[evidence],
            )
        )
    return findings
