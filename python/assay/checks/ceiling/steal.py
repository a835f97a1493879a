"""Checks that the hypervisor took no CPU time away during the trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.ceiling.trials import read_ceiling
from assay.checks.steal import NAME
from assay.checks.thresholds import STEAL_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run


def check(run: Run) -> CheckResult:
    """Return unknown if the hypervisor stole more of the machine's CPU time than the threshold."""
    ceiling = read_ceiling(run)
    cpus = (run.environment.get("host") or {}).get("cpu", {}).get("online")
    tables = (ceiling.disk, ceiling.memory, ceiling.core)
    elapsed_ns = sum(table["elapsed_ns"].sum() for table in tables)
    if not elapsed_ns or not cpus:
        reason = "stolen time not measured: there are no trials"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    share = sum(table["host_steal_ns"].sum() for table in tables) / (elapsed_ns * cpus)
    seen = f"the hypervisor took {percent_text(share)} of the machine's CPU time"
    if share > STEAL_SHARE_MAX:
        reason = (
            f"{seen}: the host can do more than these figures; repeat the trials on a less busy "
            "host"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=STEAL_SHARE_MAX)
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=STEAL_SHARE_MAX)
