"""Checks that the server's sessions were sampled often enough to split their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.observed.statements import looks_taken, weighted_looks
from assay.analysis.operations import window_of
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "looks"
# With this number of samples of working sessions, shares are known to about 18 percentage points at
# 95 % confidence.
SEEN_MIN = 30


def check(run: Run) -> CheckResult:
    """Return unknown if too few samples show a working session."""
    window = window_of(run)
    if window is None:
        return CheckResult(
            NAME, Verdict.UNKNOWN, ("no sample of the server was taken"), measured=False
        )
    looks = run.table("looks")
    number, seen = looks_taken(looks, window), weighted_looks(looks, window).height
    summary = f"{number:,} samples saw {seen:,} active sessions"
    if seen < SEEN_MIN:
        reason = (
            f"{summary}, which is too few to show where time went: observe for longer with --time"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=float(seen), threshold=SEEN_MIN)
    return CheckResult(NAME, Verdict.VALID, summary, value=float(seen), threshold=SEEN_MIN)
