"""Checks that the hypervisor took no CPU time away during the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.summarise import window_accounts
from assay.checks.thresholds import STEAL_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "steal"


def check(run: Run) -> CheckResult:
    """Return unknown if the hypervisor stole more of the machine's CPU time than the threshold."""
    used = window_accounts(run)
    if used is None or used.steal_s is None:
        reason = "stolen time not measured: there are no CPU samples around the measured part"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    share = used.steal_s / used.capacity_s
    seen = f"the hypervisor took {percent_text(share)} of the machine's CPU time"
    if share > STEAL_SHARE_MAX:
        reason = f"{seen}: measured times are too long; repeat the run on a less busy host"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=STEAL_SHARE_MAX)
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=STEAL_SHARE_MAX)
