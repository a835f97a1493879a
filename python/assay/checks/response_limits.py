"""Checks that the 90th percentile of each type's latency is within its response time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.load.summary import summarise_load
from assay.model.units import seconds_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "response_limits"


def check(run: Run) -> CheckResult:
    """Return invalid if the 90th percentile of a type's latency is above its limit."""
    limits_s: dict[str, float] = run.facts["workload"].get("limits_s", {})
    load = summarise_load(run) if limits_s else None
    if not limits_s or load is None:
        reason = "response times were not checked: the workload declares no limits"
        if limits_s:
            reason = "response times were not checked: the limits apply to a load with clients"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    p90_s = {
        name: operation.latency.p90
        for name, operation in load.by_name.items()
        if name in limits_s and operation.latency.p90 is not None
    }
    if not p90_s:
        reason = "response times were not checked: too few operations succeeded"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    name, p90 = max(p90_s.items(), key=lambda entry: entry[1] / limits_s[entry[0]])
    limit_s = limits_s[name]
    if p90 > limit_s:
        reason = (
            f"the response time of {name} exceeds its limit: the 90th percentile may be "
            f"{seconds_text(limit_s)} at most, and is {seconds_text(p90)}"
        )
        return CheckResult(NAME, Verdict.INVALID, reason, value=p90, threshold=limit_s)
    reason = (
        "90 % of each transaction type are within its time limit; the closest to its limit is "
        f"{name}: {seconds_text(p90)}"
    )
    return CheckResult(NAME, Verdict.VALID, reason, value=p90, threshold=limit_s)
