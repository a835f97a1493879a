"""Finds stalls (low throughput of a load), and the counters that were higher meanwhile.

A counter that changes during a stall is a hint, not a proof of its cause.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.host.accounts import accounts
from assay.analysis.host.figures import host_figures
from assay.analysis.load.latency import Window, by_interval, measured_times
from assay.analysis.load.summary import load_window
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

# The shortest interval with enough operations is used, so that random variation is no stall.
INTERVALS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
OPERATIONS_MIN = 40
INTERVALS_MIN = 10
# An interval with less than this of the median interval's operations is part of a stall.
STALL_SHARE = 0.5
# Largest number of stalls that are listed.
TOLD_MAX = 20
# A counter counts as raised if it grew this many times as fast as otherwise, and by so many
# spreads.
TIMES_MIN = 2.0
SPREADS_MIN = 4.0
# Smallest share of the CPUs at which other processes are reported.
OTHERS_MIN = 0.2
PERCENT = 100.0
# Tolerance for the rounding of sums of intervals.
TIMES_WITHIN_S = 1e-6


@dataclass(frozen=True)
class Moved:
    """A counter of the engine or host that was higher in a stall than at other times.

    Attributes:
        name, title, unit: Facts from the engine's declaration, or from `host_figures`.
        kind: `counter` (values are rates per second) or `gauge`.
        inside: Highest reading in the stall.
        outside: Mean of readings at other times.
    """

    name: str
    title: str
    unit: str
    kind: str
    inside: float
    outside: float


@dataclass(frozen=True)
class Stall:
    """A stall: a time span in which a load's throughput dropped.

    Attributes:
        begin_s, end_s: Start and end, in seconds since the measured part began.
        missing: Number of operations below the median throughput, over all intervals of the
            stall.
        longest_s: Longest latency of operations that ended in the stall or just after it.
        moved: The counter that stands out most; None if no counter does, or none was read in the
            stall.
    """

    begin_s: float
    end_s: float
    missing: float
    longest_s: float | None
    moved: Moved | None


@dataclass(frozen=True)
class Stalls:
    """All stalls (times of low throughput) of a load.

    Attributes:
        interval_s: Length of the intervals in which stalls were searched.
        usual_per_s: Operations per second of the median interval.
        seconds: Total length of the stalls.
        missing_share: Operations missing in stalls, as a share of all operations at the median
            rate.
        stalls: Stalls in the order of time; only the largest if there are many.
        left_out: Number of stalls that are left out.
    """

    interval_s: float
    usual_per_s: float
    seconds: float
    missing_share: float
    stalls: tuple[Stall, ...]
    left_out: int

    def facts(self) -> dict[str, Any]:
        """Return the stalls of the load as JSON values."""
        return asdict(self)


def stalls(run: Run, counted: Mapping[str, Any] | None) -> Stalls | None:
    """Return the stalls of a load; None without a load or with too few operations.

    Args:
        run: The run.
        counted: The engine's counters, from `engine_counters`.
    """
    if load_of(run.facts) is None:
        return None
    times = measured_times(run.table("events"))
    window = load_window(run, times)
    if window is None:
        return None
    series = _series(times, window)
    if series is None:
        return None
    usual = float(median(series["ok_per_s"]))
    spans = _spans(series["ok_per_s"].to_list(), STALL_SHARE * usual)
    all_stalls = [_stall(series, span, usual) for span in spans]
    if all_stalls:
        figures = [*_figures(counted, all_stalls), *_figures(host_figures(run), all_stalls)]
        others = _Others(run, window, all_stalls)
        all_stalls = [_with_moved(stall, figures, others) for stall in all_stalls]
    longest = sorted(all_stalls, key=lambda stall: -stall.missing)[:TOLD_MAX]
    return Stalls(
        interval_s=float(series["width_s"][0]),
        usual_per_s=usual,
        seconds=sum(stall.end_s - stall.begin_s for stall in all_stalls),
        missing_share=sum(stall.missing for stall in all_stalls) / (usual * window.seconds),
        stalls=tuple(sorted(longest, key=lambda stall: stall.begin_s)),
        left_out=len(all_stalls) - len(longest),
    )


def _series(times: pl.DataFrame, window: Window) -> pl.DataFrame | None:
    """Return throughput in the shortest intervals with enough operations; None with too few."""
    for interval_s in INTERVALS_S:
        if window.seconds < INTERVALS_MIN * interval_s:
            return None
        series = by_interval(times, window, interval_s)
        if median(series["ok_per_s"]) * interval_s >= OPERATIONS_MIN:
            return series
    return None


def _spans(rates: Sequence[float], least: float) -> list[tuple[int, int]]:
    """Return the first and last index of each stretch of intervals below a throughput."""
    spans: list[tuple[int, int]] = []
    for place, rate in enumerate(rates):
        if rate >= least:
            continue
        if spans and spans[-1][1] == place - 1:
            spans[-1] = (spans[-1][0], place)
        else:
            spans.append((place, place))
    return spans


def _stall(series: pl.DataFrame, span: tuple[int, int], usual: float) -> Stall:
    first, last = span
    own = series.slice(first, last - first + 1)
    # Operations that waited during the whole stall end just after it.
    near = series.slice(first, last - first + 2)
    longest = near["max_seconds"].max()
    return Stall(
        begin_s=float(own["begin_s"][0]),
        end_s=float(own["begin_s"][-1] + own["width_s"][-1]),
        missing=float(((usual - own["ok_per_s"]) * own["width_s"]).sum()),
        longest_s=float(longest) if isinstance(longest, float) else None,
        moved=None,
    )


@dataclass(frozen=True)
class _Figure:
    """A counter's readings, with their mean and spread at times without a stall."""

    facts: Mapping[str, Any]
    time_s: Sequence[float]
    values: Sequence[float | None]
    mean: float
    spread: float


def _figures(counted: Mapping[str, Any] | None, all_stalls: Sequence[Stall]) -> list[_Figure]:
    if counted is None or not all_stalls:
        return []
    figures_by_name = {figure["name"]: figure for figure in counted["counters"]}
    figures = []
    for series in counted["series"]:
        times, values = series["time_s"], series["values"]
        quiet = [
            value
            for time_s, value in zip(times, values, strict=True)
            if value is not None
            and not any(_falls_within(stall, times, time_s) for stall in all_stalls)
        ]
        if len(quiet) >= INTERVALS_MIN:
            mean, spread = fmean(quiet), pstdev(quiet)
            figures.append(_Figure(figures_by_name[series["name"]], times, values, mean, spread))
    return figures


def _falls_within(stall: Stall, times: Sequence[float], time_s: float) -> bool:
    """Return True if a counter reading falls within a stall, or is the first after its end."""
    step = (times[-1] - times[0]) / max(1, len(times) - 1)
    return stall.begin_s <= time_s <= stall.end_s + step + TIMES_WITHIN_S


class _Others:
    """The share of CPUs used by processes other than the engine and Assay."""

    def __init__(self, run: Run, window: Window, all_stalls: Sequence[Stall]) -> None:
        self._is_recorded = run.has("cpus") and run.has("processes")
        self._run, self._window = run, window
        whole = self._used_s(0.0, window.seconds) if self._is_recorded else None
        parts = [self._used_s(stall.begin_s, stall.end_s) for stall in all_stalls] if whole else []
        used_s, capacity_s = (
            (whole[place] if whole else 0.0) - sum(part[place] for part in parts if part)
            for place in (0, 1)
        )
        self._outside = max(0.0, used_s) / capacity_s if capacity_s > 0 else None

    def _used_s(self, begin_s: float, end_s: float) -> tuple[float, float] | None:
        """Return the CPU seconds that other processes used, and the CPU seconds available."""
        begun_ns = self._window.begun_ns
        edges = (begun_ns + round(edge_s / NS) for edge_s in (begin_s, end_s))
        used = accounts(self._run.table("cpus"), self._run.table("processes"), *edges)
        return None if used is None else (used.background_s, used.capacity_s)

    def moved(self, stall: Stall) -> Moved | None:
        """Return the other processes' CPU share during a stall if it rose; None if not."""
        part = self._used_s(stall.begin_s, stall.end_s) if self._outside is not None else None
        if part is None or self._outside is None or part[1] <= 0:
            return None
        inside = part[0] / part[1]
        if inside < OTHERS_MIN or inside < TIMES_MIN * self._outside:
            return None
        names = {"name": "host_others", "title": "CPU time of other processes", "unit": "%"}
        return Moved(
            **names, kind="gauge", inside=PERCENT * inside, outside=PERCENT * self._outside
        )


def _with_moved(stall: Stall, figures: Sequence[_Figure], others: _Others) -> Stall:
    best, moved = SPREADS_MIN, others.moved(stall)
    if moved is not None:
        # Other processes that took CPUs from the engine and load explain any counter that fell.
        return replace(stall, moved=moved)
    for figure in figures:
        inside = [
            value
            for time_s, value in zip(figure.time_s, figure.values, strict=True)
            if value is not None and _falls_within(stall, figure.time_s, time_s)
        ]
        most = max(inside, default=0.0)
        if most < TIMES_MIN * figure.mean or most <= 0:
            continue
        # A counter that is constant at other times has no spread. A tenth of its value in the
        # stall is used instead.
        spreads = (most - figure.mean) / max(figure.spread, 0.1 * most)
        if spreads >= best:
            facts = figure.facts
            names = {key: facts[key] for key in ("name", "title", "unit", "kind")}
            best, moved = spreads, Moved(**names, inside=most, outside=figure.mean)
    return replace(stall, moved=moved)
