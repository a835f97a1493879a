"""Checks that a slowed resource was slower by the factor that was requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.host.slowing import slowing
from assay.analysis.operations import window_of
from assay.analysis.summarise import window_accounts
from assay.checks.thresholds import (
    SLOWED_AHEAD_SHARE_MAX,
    SLOWED_DIFFERENCE_MAX,
    SLOWED_OVERLOOKED_MAX,
    SLOWER_CORE_SHARE_MAX,
)
from assay.model.units import NS_PER_S, percent_text, seconds_text
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.analysis.host.slowing import Slowing
    from assay.record.reader import Run

NAME = "slowing"
DISK = "disk"


def check(run: Run) -> CheckResult:
    """Return invalid if slowing ended early, unknown if the factor was missed."""
    asked = run.facts["request"].get("slow")
    if not asked:
        return CheckResult(NAME, Verdict.VALID, "not slowed: no slowing was requested")
    ending: dict[str, Any] = run.facts.get("slowing") or {
        "error": "the end of the slowing was not recorded"
    }
    if ending["error"]:
        reason = (
            f"the engine was not slowed until the end of the run: {ending['error']}; repeat the run"
        )
        return CheckResult(NAME, Verdict.INVALID, reason)
    window = window_of(run)
    done = slowing(run, window)
    if window is None or done is None:
        reason = (
            "the effect of slowing is unknown: the record has no slowing data of the measured part"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    cost = ending["cpu_ns"] / NS_PER_S / max(1e-9, _seconds(run))
    findings = (_factor(done), _overlooked(run, done), _ahead(done), _cost(cost))
    return next((result for result in findings if result is not None), _as_asked(done, cost))


def _factor(done: Slowing) -> CheckResult | None:
    share = done.paid_share
    if share is None or abs(share - 1.0) <= SLOWED_DIFFERENCE_MAX:
        return None
    reached = _factors_text(done.achieved)
    reason = (
        f"slowing by {_factors_text(done.asked)} was requested, and {reached} was reached: the "
        f"engine was stopped for {seconds_text(done.stopped_s)} of {seconds_text(done.owed_s)}; "
        "repeat the run on a less busy host"
    )
    return _unknown_result(reason, abs(share - 1.0), SLOWED_DIFFERENCE_MAX)


def _overlooked(run: Run, done: Slowing) -> CheckResult | None:
    """Return unknown if slowing missed CPU time that the kernel counted."""
    used = window_accounts(run)
    if used is None or not used.knows_engine:
        return None
    counted_s = sum(used.by_process.get(account, 0.0) for account in ENGINE_ACCOUNTS)
    missing_s = counted_s - done.all_cpu_s
    if counted_s <= 0 or missing_s / counted_s <= SLOWED_OVERLOOKED_MAX:
        return None
    share = missing_s / counted_s
    reason = (
        f"{percent_text(share)} of the engine's CPU time was not slowed: its processes are too "
        "short-lived, or the driver in its process uses much CPU"
    )
    return _unknown_result(reason, share, SLOWED_OVERLOOKED_MAX)


def _ahead(done: Slowing) -> CheckResult | None:
    share = done.ahead_share
    if DISK not in done.asked or share is None or share <= SLOWED_AHEAD_SHARE_MAX:
        return None
    reason = (
        f"{percent_text(share)} of the bytes from disk were read while the engine was stopped, "
        "so the disk was slowed by less than requested. Use --limit read-iops or read-rate "
        "instead, or switch off the read-ahead"
    )
    return _unknown_result(reason, share, SLOWED_AHEAD_SHARE_MAX)


def _cost(share: float) -> CheckResult | None:
    if share <= SLOWER_CORE_SHARE_MAX:
        return None
    reason = (
        f"the process that slows the engine used {percent_text(share)} of a core, which may "
        "have slowed the engine further: repeat the run on a less busy host"
    )
    return _unknown_result(reason, share, SLOWER_CORE_SHARE_MAX)


def _as_asked(done: Slowing, cost: float) -> CheckResult:
    share = done.paid_share
    reason = (
        f"slowed for the engine: {_factors_text(done.achieved)}; the engine was stopped for "
        f"{done.stopped_s:.2f} s, which took {percent_text(cost)} of a core"
    )
    value = None if share is None else abs(share - 1.0)
    return CheckResult(NAME, Verdict.VALID, reason, value=value, threshold=SLOWED_DIFFERENCE_MAX)


def _seconds(run: Run) -> float:
    """Return text on the number of seconds for which the engine was watched."""
    times = run.table("slowing")["time_ns"].to_list()
    return float(times[-1] - times[0]) / NS_PER_S


def _unknown_result(reason: str, value: float, threshold: float) -> CheckResult:
    return CheckResult(NAME, Verdict.UNKNOWN, reason, value=value, threshold=threshold)


def _factors_text(factors: dict[str, float]) -> str:
    return " and ".join(f"{name} {factor:.3g} times" for name, factor in factors.items())
