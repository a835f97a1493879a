"""Finds from which query mix on throughput and reads are steady.

Where the beginning ends is the truncation point MSER (White 1997, White, Cobb and Spratt 2000): it
leaves the rest whose mean is known best. The rest is steady if no drift is left in it that matters:
the 90 % interval of the Theil-Sen trend (Sen 1968), widened by how much a batch is like the one
before (Yue and Wang 2004), lies within stated bounds, as a test of equivalence has it (Schuirmann
1987). A series that is only too noisy to tell is thus not steady. Plain Python: a driver's host
asks while it drives.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from statistics import NormalDist, fmean, mean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

THROUGHPUT, ASKED, FETCHED = "throughput", "asked", "fetched"
# Batches are this many, and more than fewest of them before anything is said.
BATCHES_MAX = 60
BATCHES_MIN = 20
# What a series may still drift by from the first to the last batch of the steady part.
THROUGHPUT_WITHIN = 0.10
READS_WITHIN = 0.10
# Reads of less than a page a mix are none.
PAGE_BYTES = 4096.0
CONFIDENCE = 0.90
# A batch is taken to be no more like the one before than this: else nothing could be told.
LIKENESS_MAX = 0.9
NS = 1e-9


@dataclass(frozen=True)
class Mark:
    """The number of query mixes that had ended at one moment.

    Attributes:
        mixes: Number of mixes that had ended since the phase began.
        time_ns: End of the last of them, or the beginning of the phase if none had ended.
        asked_bytes: Bytes that the engine's processes had read from files by then; None if not
            measured.
        fetched_bytes: Bytes that were read from storage for them.
    """

    mixes: int
    time_ns: int
    asked_bytes: int | None = None
    fetched_bytes: int | None = None


@dataclass(frozen=True)
class Batch:
    """A group of successive query mixes: their time and their reads.

    Attributes:
        first: Mixes that had ended before them.
        mixes: Number of mixes.
        begin_s, end_s: Since the phase began.
        throughput: Mixes a second.
        asked, fetched: Bytes per mix read from files, and from storage; None if not measured.
        counted: Bytes a mix that the engine itself counted as read into its cache.
    """

    first: int
    mixes: int
    begin_s: float
    end_s: float
    throughput: float
    asked: float | None
    fetched: float | None
    counted: float | None = None


@dataclass(frozen=True)
class Drift:
    """The trend of throughput or reads in the candidate steady part of a phase.

    Attributes:
        series: Name of the series: `throughput` (mixes per second), or `asked` or `fetched` (bytes
            per mix).
        before: Mean of the series before the candidate part; None if that part is the whole phase.
        level: Median of the series in the candidate part.
        change: Trend from the first to the last batch of the candidate part, in the unit of the
            series. For throughput it is the relative trend times the level, at least -level.
        low, high: Bounds of the 90 % interval of the change.
        within: Largest absolute change that counts as steady.
    """

    series: str
    before: float | None
    level: float
    change: float
    low: float
    high: float
    within: float

    @property
    def kept(self) -> bool:
        """True if the 90 % interval of the change is within the allowed bound."""
        return -self.within <= self.low and self.high <= self.within

    @property
    def differed_before(self) -> bool:
        """True if the mean before the candidate steady part differs by more than the bound."""
        return self.before is not None and abs(self.before - self.level) > self.within

    @property
    def drifts(self) -> bool:
        """True if the change within the candidate steady part is significant and too large."""
        return not self.kept and (self.low > 0 or self.high < 0) and abs(self.change) > self.within


@dataclass(frozen=True)
class SteadyState:
    """The steadiness of the query mixes of one phase, and the time from which they are steady.

    Attributes:
        batches: Batches in their order.
        begins: Index of the batch with which the steady part begins, if it is steady. None means
            too few mixes.
        drifts: Drifts of each series that was measured, from there on.
        enough: Whether the beginning ends in the first half, as MSER requires, or there is no
            relevant beginning.
    """

    batches: tuple[Batch, ...]
    begins: int | None
    drifts: tuple[Drift, ...]
    enough: bool

    @property
    def steady(self) -> bool | None:
        """True if the query mixes are steady; None with too few of them."""
        if self.begins is None:
            return None
        return self.enough and all(drift.kept for drift in self.drifts)

    @property
    def first_mix(self) -> int | None:
        """Number of query mixes before the candidate steady part."""
        return None if self.begins is None else self.batches[self.begins].first

    @property
    def rate(self) -> float | None:
        """Query mixes per second of the candidate steady part."""
        return None if self.begins is None else _rate(self.batches[self.begins :])

    def drift(self, series: str) -> Drift | None:
        """Return the drift of throughput or reads; None if it was not measured."""
        return next((drift for drift in self.drifts if drift.series == series), None)

    def facts(self) -> dict[str, Any]:
        """Return the steadiness of the query mixes as JSON values."""
        return {
            "steady": self.steady,
            "first_mix": self.first_mix,
            "first_s": None if self.begins is None else self.batches[self.begins].begin_s,
            "rate_per_s": self.rate,
            "enough": self.enough,
            "drifts": [
                asdict(drift) | {"kept": drift.kept, "drifts": drift.drifts}
                for drift in self.drifts
            ],
            "batches": [asdict(batch) for batch in self.batches],
        }


def judged(marks: Sequence[Mark], clients: int) -> SteadyState:
    """Return whether the query mixes of a phase became steady, and when.

    Args:
        marks: Marks of one phase, in their order; the first is its beginning.
        clients: A batch has at least a mix of each.
    """
    batches = batched(marks, clients)
    if len(batches) < BATCHES_MIN:
        return SteadyState(batches, None, (), enough=False)
    series = {
        name: values
        for name in (THROUGHPUT, ASKED, FETCHED)
        if (values := _values(batches, name)) is not None
    }
    begins = max(truncation(_without_little(name, values)) for name, values in series.items())
    drifts = tuple(_drift(name, values, begins) for name, values in series.items())
    if begins < len(batches) // 2:
        return SteadyState(batches, begins, drifts, enough=True)
    # Where the mean is known best from the middle on, it drifts; by how little may be known, too.
    whole = tuple(_drift(name, values, 0) for name, values in series.items())
    if all(drift.kept for drift in whole):
        return SteadyState(batches, 0, whole, enough=True)
    return SteadyState(batches, begins, drifts, enough=False)


def batched(marks: Sequence[Mark], clients: int) -> tuple[Batch, ...]:
    """Return the query mixes in at most `BATCHES_MAX` batches of equal size."""
    if len(marks) < 2:  # noqa: PLR2004 - an interval has two ends
        return ()
    size = max(clients, 1, -(-(marks[-1].mixes - marks[0].mixes) // BATCHES_MAX))
    ends = [marks[0]]
    for mark in marks:
        if mark.mixes - ends[-1].mixes >= size and mark.time_ns > ends[-1].time_ns:
            ends.append(mark)
    return tuple(_batch(marks[0], begin, end) for begin, end in pairwise(ends))


def truncation(values: Sequence[float]) -> int:
    """Return the number of initial values to leave out by MSER, at most half of them.

    The rest has the smallest variance of its mean, as if its values were independent.
    """
    count = len(values)
    best, least = 0, math.inf
    for left_out in range(count // 2 + 1):
        rest = values[left_out:]
        # The exact mean takes ten times as long, and all those of a series are needed.
        middle = fmean(rest)
        width = sum((value - middle) ** 2 for value in rest) / len(rest) ** 2
        # Of equal ones the first, whatever a sum is off by.
        if width < least * (1 - 1e-9):
            best, least = left_out, width
    return best


def trend(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the growth of a trend from the first to the last value, with its 90 % interval."""
    count, steps = len(values), len(values) - 1
    slopes = sorted((b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(values), 2))
    middle = median(slopes)
    spread = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    spread *= math.sqrt(_widening([value - middle * at for at, value in enumerate(values)]))
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * spread
    low = max(0, math.floor((len(slopes) - reach) / 2) - 1)
    high = min(len(slopes) - 1, math.ceil((len(slopes) + reach) / 2))
    return middle * steps, slopes[low] * steps, slopes[high] * steps


def _widening(residuals: Sequence[float]) -> float:
    """Return the number of correlated values that are worth one independent value."""
    middle = mean(residuals)
    off = [value - middle for value in residuals]
    whole = sum(value * value for value in off)
    if whole <= 0:
        return 1.0
    likeness = sum(a * b for a, b in pairwise(off)) / whole
    # The estimate is too small, by about so much, of few values (Kendall 1954).
    likeness += (1 + 3 * likeness) / len(off)
    likeness = min(LIKENESS_MAX, max(0.0, likeness))
    return (1 + likeness) / (1 - likeness)


def _drift(name: str, values: Sequence[float], begins: int) -> Drift:
    rest = values[begins:]
    level = median(rest)
    if name == THROUGHPUT:
        # A rate is never below nothing, so it grows by a factor and not by an amount.
        grown = trend([math.log(value) for value in rest])
        change, low, high = (level * math.expm1(logarithm) for logarithm in grown)
        within = THROUGHPUT_WITHIN * level
    else:
        change, low, high = trend(rest)
        within = max(PAGE_BYTES, READS_WITHIN * level)
    return Drift(
        series=name,
        before=mean(values[:begins]) if begins else None,
        level=level,
        change=change,
        low=low,
        high=high,
        within=within,
    )


def _without_little(name: str, values: Sequence[float]) -> list[float]:
    """Return a series in which bytes read below one page count as one page."""
    return [value if name == THROUGHPUT else max(PAGE_BYTES, value) for value in values]


def _batch(origin: Mark, begin: Mark, end: Mark) -> Batch:
    mixes = end.mixes - begin.mixes

    def grown(before: int | None, after: int | None) -> float | None:
        both_read = before is not None and after is not None
        return max(0, after - before) / mixes if both_read else None  # type: ignore[operator]

    return Batch(
        first=begin.mixes,
        mixes=mixes,
        begin_s=(begin.time_ns - origin.time_ns) * NS,
        end_s=(end.time_ns - origin.time_ns) * NS,
        throughput=mixes / ((end.time_ns - begin.time_ns) * NS),
        asked=grown(begin.asked_bytes, end.asked_bytes),
        fetched=grown(begin.fetched_bytes, end.fetched_bytes),
    )


def _values(batches: Sequence[Batch], name: str) -> list[float] | None:
    """Return throughput or reads of each batch of mixes; None if a batch lacks it."""
    values = [getattr(batch, name) for batch in batches]
    return None if None in values else values


def _rate(batches: Sequence[Batch]) -> float:
    return sum(batch.mixes for batch in batches) / (batches[-1].end_s - batches[0].begin_s)
