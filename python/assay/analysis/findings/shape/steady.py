"""Finds that a load's throughput was not steady, or became steady late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.load.steady_state import ASKED, BATCHES_MIN, FETCHED, PAGE_BYTES, THROUGHPUT
from assay.model.finding import Evidence, Finding
from assay.model.units import bytes_text, grouped_text, percent_text, rate_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.load.mixes import Mixes
    from assay.analysis.load.steady_state import Drift

METHOD = "steady"
# In a steady run, throughput of the last third differs from the first third by less.
STEADY_SHARE = 0.10
# With fewer intervals, thirds of a run are not compared.
STEADY_INTERVALS_MIN = 6
SERIES_WORDS = {
    THROUGHPUT: "throughput",
    ASKED: "bytes that the engine read from files per mix",
    FETCHED: "bytes that the engine read from storage per mix",
}


def find(case: Case) -> list[Finding]:
    """Return a finding on whether a load's throughput was or became steady.

    With few mixes there is no finding, because the parts of a mix differ.
    """
    mixes = case.mixes
    if mixes is not None and mixes.state.steady is not None:
        finding = _became_steady(case, mixes) if mixes.state.steady else _not_steady(case, mixes)
    elif mixes is not None and mixes.mixes < BATCHES_MIN:
        finding = None
    else:
        finding = _thirds_finding(case)
    return [] if finding is None else [finding]


def _became_steady(case: Case, mixes: Mixes) -> Finding | None:
    """Return a finding that throughput became steady late; None if the beginning was equal."""
    state = mixes.state
    first, rate = state.first_mix, state.rate
    if not first or rate is None or mixes.rate_per_s is None:
        return None
    if not any(drift.differed_before for drift in state.drifts):
        return None
    reads = _reads_words(mixes)
    there, whole = rate_text(rate), rate_text(mixes.rate_per_s)
    if mixes.figures:
        name, of_steady, of_all = mixes.figures[0]
        there, whole = f"{name} {grouped_text(of_steady)}", grouped_text(of_all)
    return Finding(
        claim=(
            f"Steady after {first:,} of {mixes.mixes:,} mixes: {there} from then on, {whole} "
            f"over the whole measured part{reads and f'; {reads}'}"
        ),
        effect_share=min(1.0, abs(1 - mixes.rate_per_s / rate)),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=(
            f"use --warmup-mixes {mixes.warmup_mixes + first} to exclude the beginning from all "
            "figures"
        ),
        tells="shape",
        evidence=_evidence(mixes),
    )


def _not_steady(case: Case, mixes: Mixes) -> Finding:
    """Return a finding on the measured series that drifts farthest beyond its limit."""
    state = mixes.state
    broken = [drift for drift in state.drifts if not drift.kept]
    over = f"in {mixes.mixes:,} mixes"
    if broken:
        worst = max(broken, key=lambda drift: (drift.drifts, _beyond(drift)))
        first = state.first_mix
        part = f"over the last {mixes.mixes - first:,}" if first else "from the first to the last"
        claim = f"Not steady {over}: {_drift_words(worst, part)}"
        effect = abs(worst.change) / worst.level if worst.level > 0 else 1.0
    else:
        claim = f"Not steady {over}: the warm-up takes half of the mixes or more"
        effect = 0.0
    advice = (
        "a larger --mixes-max"
        if mixes.mixes_max
        else "use --until-steady to continue until the load is steady"
    )
    if broken and not any(drift.drifts for drift in broken):
        advice += "; or use a less busy host: batches of this run differ too much to decide"
    return Finding(
        claim=claim,
        effect_share=min(1.0, effect),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=advice,
        tells="shape",
        evidence=_evidence(mixes),
    )


def _beyond(drift: Drift) -> float:
    return max(abs(drift.low), abs(drift.high)) / drift.within


def _drift_words(drift: Drift, part: str) -> str:
    """Return text on how much throughput or reads changed in the candidate steady part."""
    name = SERIES_WORDS[drift.series]
    if drift.drifts:
        way = "fell" if drift.change < 0 else "rose"
        near, far = sorted((abs(drift.low), abs(drift.high)))
        interval = f"90 % interval {_amount(drift, near)} to {_amount(drift, far)}"
        return f"{name} {way} by {_amount(drift, abs(drift.change))} {part} ({interval})"
    ends = f"{_signed(drift, drift.low)} to {_signed(drift, drift.high)}"
    return f"{name} may have changed by {ends} {part} (90 % interval)"


def _signed(drift: Drift, change: float) -> str:
    sign = "-" if change < 0 else "+" if change > 0 else ""
    return f"{sign}{_amount(drift, abs(change))}"


def _amount(drift: Drift, change: float) -> str:
    """Return a change as text: a share of throughput, or bytes of reads."""
    if drift.series == THROUGHPUT:
        return percent_text(change / drift.level)
    return bytes_text(change)


def _reads_words(mixes: Mixes) -> str:
    """Return text on the bytes read per query mix before and after it became steady."""
    drifts = [mixes.state.drift(name) for name in (FETCHED, ASKED)]
    measured = [drift for drift in drifts if drift is not None and drift.before is not None]
    read = next(
        (drift for drift in measured if max(drift.before or 0.0, drift.level) >= PAGE_BYTES), None
    )
    if read is None or read.before is None:
        return ""
    return (
        f"{SERIES_WORDS[read.series]} went from {bytes_text(read.before)} to"
        f" {bytes_text(read.level)}"
    )


def _evidence(mixes: Mixes) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            f"{SERIES_WORDS[drift.series]}: {_signed(drift, drift.change)} from the first to the"
            f" last batch, 90 % interval {_signed(drift, drift.low)} to"
            f" {_signed(drift, drift.high)}, and {_amount(drift, drift.within)} is the limit",
            METHOD,
        )
        for drift in mixes.state.drifts
    ]
    if mixes.why_no_reads is not None:
        evidence.append(Evidence(f"reads not measured: {mixes.why_no_reads}", METHOD))
    return tuple(evidence)


def _thirds_finding(case: Case) -> Finding | None:
    """Return a finding of how throughput changed from the first to the last third of a load."""
    rates = () if case.load is None else case.load.pace.throughput_per_s
    if len(rates) < STEADY_INTERVALS_MIN:
        return None
    third = len(rates) // 3
    first, last = sum(rates[:third]) / third, sum(rates[-third:]) / third
    if not first or abs(last / first - 1) <= STEADY_SHARE:
        return None
    way = "fell" if last < first else "rose"
    change = f"from {rate_text(first)} in the first third to {rate_text(last)} in the last"
    return Finding(
        claim=(
            f"Not steady: throughput {way} {change} ({last / first - 1:+.0%}), which the mean "
            "does not show"
        ),
        effect_share=min(1.0, abs(last / first - 1)),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try="a longer --time",
        tells="shape",
        evidence=(Evidence(f"throughput {way} {change}", "timeline"),),
    )
