"""Measures an open load's backlog over time: operations that are due but not started.

In an open load operations become due at a fixed rate, whether or not a client is free. If the
engine is slower than this rate, the backlog grows until the run ends. With a growing backlog,
every percentile of latency depends on the length of the run, not on the engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.load.latency import Window

INSTANTS = 1_000
# Backlogs at neighbouring instants depend on each other; means over tenths of the run hardly do.
BATCHES = 10


@dataclass(frozen=True)
class Schedule:
    """The progress of an open load compared with its schedule.

    Attributes:
        rate_per_s: Operations per second that became due.
        done_per_s: Operations per second that succeeded.
        on_time_share: Share of operations with a known start that started in time.
        waiting_end: Number of operations that were due and not started when the measured part
            ended.
        grown_per_s: Growth of the backlog per second, between its first and last tenth.
        chance: Probability of such a trend if the backlog does not grow.
    """

    rate_per_s: float
    done_per_s: float
    on_time_share: float | None
    waiting_end: int
    grown_per_s: float | None
    chance: float


def backlog(times: pl.DataFrame, window: Window, late_limit_ns: int = 0) -> pl.DataFrame:
    """Return the backlog of an open load (operations due but not started) at even instants.

    An operation that never started waits until the end of the window, or until the delay at
    which the driver drops it (`late_limit_ns`; 0 means no limit).
    """
    due = times["scheduled_ns"].sort()
    left = _left_ns(times, late_limit_ns).sort()
    step = (window.ended_ns - window.begun_ns) / INSTANTS
    instants = [window.begun_ns + round(step * number) for number in range(1, INSTANTS + 1)]
    at = pl.Series("time_ns", instants, dtype=pl.Int64)
    waiting = _until(due, at) - _until(left, at)
    return pl.DataFrame({"time_s": (at - window.begun_ns) * NS, "waiting": waiting})


def _left_ns(times: pl.DataFrame, late_limit_ns: int) -> pl.Series:
    """Return the times in ns at which operations started or were dropped."""
    left = pl.col("started_ns")
    if late_limit_ns:
        left = pl.coalesce(left, pl.col("scheduled_ns") + late_limit_ns)
    return times.select(left.alias("left_ns"))["left_ns"].drop_nulls()


def _until(ranked: pl.Series, at: pl.Series) -> pl.Series:
    return ranked.search_sorted(at, side="right").cast(pl.Int64)


def schedule(
    times: pl.DataFrame,
    waiting: pl.DataFrame,
    window: Window,
    rate_per_s: float,
    late_start_s: float,
) -> Schedule:
    """Return the progress of an open load against its schedule, from its backlog over time.

    An operation that was due less than `late_start_s` before the end, and not started by then,
    was neither in time nor late, so the share does not include it.
    """
    late_ns = round(late_start_s / NS)
    in_time = (pl.col("started_ns") - pl.col("scheduled_ns") < late_ns).fill_null(value=False)
    open_still = pl.col("started_ns").is_null() & (
        pl.col("scheduled_ns") > window.ended_ns - late_ns
    )
    shares = times.filter(~open_still).select(in_time.mean()).item()
    done = times.select((pl.col("outcome") == "ok").sum()).item()
    means = tenths(waiting["waiting"])
    spaced_s = window.seconds * (BATCHES - 1) / BATCHES
    return Schedule(
        rate_per_s=rate_per_s,
        done_per_s=done / window.seconds,
        on_time_share=shares,
        waiting_end=int(waiting["waiting"][-1]),
        grown_per_s=(means[-1] - means[0]) / spaced_s if len(means) == BATCHES else None,
        chance=chance_of_growth(means),
    )


def tenths(values: pl.Series) -> list[float]:
    """Return the means over ten equal sections of a series; fewer for a shorter series."""
    size = max(1, len(values) // BATCHES)
    parts = (values.slice(number * size, size) for number in range(BATCHES))
    return [float(mean) for part in parts if isinstance(mean := part.mean(), int | float)]


def chance_of_growth(values: Sequence[float]) -> float:
    """Return the probability that values without a trend rise at least as steadily as given.

    The method is the one-sided test of Mann (1945) and Kendall (1975) for a monotonic trend. The
    statistic is the number of rising pairs minus falling pairs, as a normal deviate corrected
    for ties and continuity. The test assumes no distribution of the noise, and one late spike is
    not taken for a trend. The result is 1 for fewer than three values, or if all are equal.
    """
    count = len(values)
    pairs = [(a, b) for place, a in enumerate(values) for b in values[place + 1 :]]
    score = sum((b > a) - (b < a) for a, b in pairs)
    ties = [values.count(value) for value in set(values)]
    variance = (_spread(count) - sum(_spread(tied) for tied in ties)) / 18
    if count < 3 or score <= 0 or variance <= 0:  # noqa: PLR2004 - two points always have a trend
        return 1.0
    deviate = (score - 1) / math.sqrt(variance)
    return 0.5 * math.erfc(deviate / math.sqrt(2))


def _spread(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)
