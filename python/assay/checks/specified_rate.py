"""Checks that an open load's rate is possible for clients with the specification's think times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.load.summary import summarise_load
from assay.analysis.load.transactions import transactions
from assay.checks.thresholds import RATE_ERRORS_MAX
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.analysis.load.transactions import Rate
    from assay.record.reader import Run

NAME = "specified_rate"


def check(run: Run) -> CheckResult:
    """Return invalid if the rate is outside its bounds by more than chance."""
    mix = transactions(run, summarise_load(run))
    rate = None if mix is None else mix.rate
    if rate is None or rate.least is None or rate.most is None:
        reason = "rate not checked: only a specified mix with think times has bounds"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    seen = (
        f"the rate {rate.name} is {rate.value:,.1f}, counted from {rate.counted:,} {rate.operation}"
    )
    if rate.terminals is not None and rate.clients != rate.terminals:
        reason = (
            f"{seen}; its bounds apply to {rate.terminals} clients at this scale, and the run "
            f"had {rate.clients}"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=rate.value)
    return _judged(rate, seen, rate.least, rate.most)


def _judged(rate: Rate, seen: str, least: float, most: float) -> CheckResult:
    bounds = f"between {least:,.1f} and {most:,.1f} at this scale"
    if least <= rate.value <= most:
        return CheckResult(NAME, Verdict.VALID, f"{seen}: {bounds}", value=rate.value)
    threshold = least if rate.value < least else most
    if abs(rate.value - threshold) <= RATE_ERRORS_MAX * rate.standard_error:
        reason = (
            f"{seen}; the rate must be {bounds}, and the run has too few operations to decide: "
            "use a longer --time"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=rate.value, threshold=threshold)
    why = (
        "the engine does not keep up with its terminals: use fewer warehouses"
        if rate.value < least
        else "clients did not wait as the specification requires"
    )
    reason = f"{seen}; the rate must be {bounds}: {why}"
    return CheckResult(NAME, Verdict.INVALID, reason, value=rate.value, threshold=threshold)
