"""Whether the probes saw the whole run, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, window_ns
from assay.analysis.summary import probe_core_share
from assay.checks.thresholds import PROBE_CORE_SHARE_MAX, PROBE_GAP_INTERVALS_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "probes"
# The stream whose times stand for each probe's.
STREAMS = {"system": "system", "processes": "processes", "disks": "disks"}


def check(run: Run) -> CheckResult:
    """Unknown if a probe failed, left a gap, or cost more than its threshold."""
    told = run.facts.get("probes")
    if not told:
        return CheckResult(NAME, Verdict.UNKNOWN, "no probe ran: resources were not measured")
    for name, probe in told.items():
        if probe["error"]:
            reason = f"probe {name} failed: {probe['error']}"
            return CheckResult(NAME, Verdict.UNKNOWN, reason)
    gap_s = max(_longest_gap_s(run, name) for name in told)
    limit_s = PROBE_GAP_INTERVALS_MAX * run.facts["request"]["probe_interval_s"]
    if gap_s > limit_s:
        reason = f"a probe saw nothing for {gap_s:.1f} s: what happened meanwhile is not known"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=gap_s, threshold=limit_s)
    share = probe_core_share(run) or 0.0
    if share > PROBE_CORE_SHARE_MAX:
        reason = f"the probes used {percent_text(share)} of a core: a longer interval costs less"
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=share, threshold=PROBE_CORE_SHARE_MAX
        )
    reason = f"{len(told)} probes, no gap over {gap_s:.1f} s, {percent_text(share)} of a core"
    return CheckResult(NAME, Verdict.VALID, reason, value=gap_s, threshold=limit_s)


def _longest_gap_s(run: Run, probe: str) -> float:
    """The longest time without a sample while it was measured, its edges included."""
    stream = STREAMS.get(probe)
    window = window_ns(run.table("events"))
    if stream is None or window is None:
        return 0.0
    begun, ended = window
    if not run.has(stream):
        return (ended - begun) * NS
    times = run.table(stream)["time_ns"].unique().sort()
    inside = times.filter((times > begun) & (times < ended))
    edges = pl.concat([pl.Series([begun]), inside, pl.Series([ended])])
    longest = edges.diff().max()
    return float(longest) * NS if isinstance(longest, int) else 0.0
