"""Checks that no other programs used the CPUs during the disk trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.ceiling.trials import DIRECT, read_ceiling
from assay.checks.thresholds import BACKGROUND_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "other_cpu"


def check(run: Run) -> CheckResult:
    """Return unknown if other processes used more of the CPUs than the threshold.

    Only trials that bypass the page cache count, because the kernel's work for them is charged to
    Assay's threads, except interrupts.
    """
    trials = read_ceiling(run).disk.filter(cache=DIRECT, operation="read")
    cpus = (run.environment.get("host") or {}).get("cpu", {}).get("online")
    if trials.is_empty() or not cpus:
        reason = "not measured: there are no trials of the disk"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    others = pl.col("host_busy_ns").sum() - (pl.col("user_ns") + pl.col("system_ns")).sum()
    share = trials.select(others / (pl.col("elapsed_ns").sum() * cpus)).item()
    share = max(0.0, share)
    seen = f"other processes and interrupts used {percent_text(share)} of the CPUs"
    if share > BACKGROUND_SHARE_MAX:
        reason = (
            f"{seen}: the host can do more than these figures; repeat the trials while it is idle"
        )
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=share, threshold=BACKGROUND_SHARE_MAX
        )
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=BACKGROUND_SHARE_MAX)
