"""Checks how much of the latency was delay in the load driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.load.summary import summarise_load
from assay.checks.thresholds import DRIVER_LAG_S_MIN, DRIVER_LAG_SHARE_MAX
from assay.model.units import percent_text, seconds_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.analysis.load.latency import Distribution
    from assay.record.reader import Run

NAME = "driver_lag"


def check(run: Run) -> CheckResult:
    """Return unknown if the driver's delay is large compared with latency."""
    load = summarise_load(run)
    if load is None or not load.all_operations.ok:
        reason = "driver lag does not apply: the driver sent one operation at a time"
        return CheckResult(NAME, Verdict.VALID, reason)
    lag = load.all_operations.driver_lag
    if lag is None:
        reason = "driver lag not measured: an older version of Assay made the run"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    lag_s, latency_s = _tail(lag), _tail(load.all_operations.latency)
    share = lag_s / latency_s if latency_s else 0.0
    seen = (
        f"the load generator's own delay is {seconds_text(lag_s)} at the 99th percentile,"
        f" {percent_text(share)} of {seconds_text(latency_s)} of latency"
    )
    verdict = Verdict.VALID
    if share > DRIVER_LAG_SHARE_MAX and lag_s > DRIVER_LAG_S_MIN:
        verdict = Verdict.UNKNOWN
        seen += ": fewer --clients, a lower --rate, or --fleet for more load generators"
    return CheckResult(NAME, verdict, seen, value=share, threshold=DRIVER_LAG_SHARE_MAX)


def _tail(times: Distribution) -> float:
    """Return the 99th percentile in seconds, or the maximum if there are too few operations."""
    tail = times.max if times.p99 is None else times.p99
    return tail or 0.0
