"""Checks that no other programs used the machine during the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.summarise import window_accounts
from assay.checks.thresholds import BACKGROUND_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "background_load"
UNTOLD = (
    "the other processes include the engine if it runs on this host, because its processes are "
    "unknown; measure from another host, or an engine that reports its processes"
)


def check(run: Run) -> CheckResult:
    """Return unknown if other processes used more of the machine's CPU time than the threshold."""
    used = window_accounts(run)
    if used is None:
        reason = "background load not measured: there are no CPU samples around the measured part"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    share = used.background_s / used.capacity_s
    seen = f"other processes used {percent_text(share)} of the machine's CPU time"
    if share > BACKGROUND_SHARE_MAX:
        shared = "the engine had to share the machine; stop other programs and repeat the run"
        reason = f"{seen}: {shared if used.knows_engine else UNTOLD}"
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=share, threshold=BACKGROUND_SHARE_MAX
        )
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=BACKGROUND_SHARE_MAX)
