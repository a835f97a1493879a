"""Checks that the probes covered the whole run, and that their cost was small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.operations import NS, window_of
from assay.analysis.summarise import probe_core_shares
from assay.checks.thresholds import PROBE_CORE_SHARE_MAX, PROBE_GAP_INTERVALS_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "probes"
# The cost of these probes depends on the request: samples per second, or every request of a disk.
ASKED_FOR = ("profile", "requests")


def check(run: Run) -> CheckResult:
    """Return unknown if a probe failed, left a gap, or cost more than its threshold."""
    probes = run.facts.get("probes")
    meter_error = (run.driver_report or {}).get("meter_error")
    if meter_error:
        reason = f"counters around operations are incomplete: {meter_error}"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    if not probes:
        return CheckResult(
            NAME, Verdict.UNKNOWN, ("no probe ran, so the use of resources was not measured")
        )
    # Probes that query the engine end when it is killed; their samples until then are judged.
    killed = run.facts.get("fault") is not None
    for name, probe in probes.items():
        if probe["error"] and not killed:
            reason = f"probe {name} failed: {probe['error']}"
            return CheckResult(NAME, Verdict.UNKNOWN, reason)
    gaps = [
        (_longest_gap_s(run, probe["stream"]), PROBE_GAP_INTERVALS_MAX * _interval_s(run, probe))
        for probe in probes.values()
    ]
    gap_s, limit_s = max(gaps, key=lambda gap: gap[0] / gap[1])
    if gap_s > limit_s:
        reason = f"a probe took no sample for {gap_s:.1f} s, so that time is not covered"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=gap_s, threshold=limit_s)
    shares = probe_core_shares(run)
    share = sum(cost for name, cost in shares.items() if name not in ASKED_FOR) if shares else None
    share_max = PROBE_CORE_SHARE_MAX
    if share is not None and share > share_max:
        reason = (
            f"the probes used {percent_text(share)} of a core, more than {percent_text(share_max)}:"
            " a longer --probe-interval costs less"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=share_max)
    cost = "cost not measured" if share is None else f"{percent_text(share)} of a core"
    reason = f"{len(probes)} probes, no gap over {gap_s:.1f} s, {cost}"
    return CheckResult(NAME, Verdict.VALID, reason, value=gap_s, threshold=limit_s)


def _interval_s(run: Run, probe: dict[str, Any]) -> float:
    """Return the seconds between samples of a probe: its own interval, or that of the run."""
    return float(probe.get("interval_s") or run.facts["request"]["probe_interval_s"])


def _longest_gap_s(run: Run, stream: str) -> float:
    """Return the longest time without a sample during the measured part, including its edges."""
    window = window_of(run)
    if window is None:
        return 0.0
    begun, ended = window
    if not run.has(stream):
        return (ended - begun) * NS
    times = run.table(stream)["time_ns"].unique().sort()
    inside = times.filter((times > begun) & (times < ended))
    edges = pl.concat([pl.Series([begun]), inside, pl.Series([ended])])
    longest = edges.diff().max()
    return float(longest) * NS if isinstance(longest, int) else 0.0
