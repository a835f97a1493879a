"""Sums up each statement of an observed server from its counters and session samples.

Counters are exact but incomplete. Samples are right on average and include work that the server
does not count: commits, and unfinished statements. So a statement's time comes from counters,
unless samples differ from the counters by more than chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import polars as pl

from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Mapping

COUNTED_TIMES = ("execution_seconds", "planning_seconds")
CALLS, ROWS = "calls", "rows"
# Samples and counters that differ by at most this many standard errors agree.
ERRORS_MAX = 3.0
# Most of a single longer execution may lie outside of the observation.
LONG_S = 1.0
TEXTS = ("statement", "application", "database", "wait_kind", "wait_event")


@dataclass(frozen=True)
class Watched:
    """One statement of an observed server: its time and its executions.

    Attributes:
        statement: Key of the statement.
        seconds: Seconds that sessions spent on the statement.
        basis: Source of the time: `counters` or `looks` (samples).
        looks: Number of samples in which a session executed it.
        looked_s: Seconds by these samples.
        counted_s: Seconds of execution and planning by the server's counters; None if not
            counted.
        counts: Growth of the server's counters, by name; empty if not counted.
    """

    statement: str
    seconds: float
    basis: str
    looks: int
    looked_s: float
    counted_s: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def calls(self) -> float | None:
        """The number of executions of an observed statement; None if not counted."""
        return self.counts.get(CALLS)

    @property
    def mean_s(self) -> float | None:
        """Mean seconds of an execution; None if executions are not counted."""
        calls = self.calls
        return self.seconds / calls if calls else None


def weighted_looks(
    looks: pl.DataFrame, window: tuple[int, int], aliases: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Return samples of working sessions, each with the seconds that it represents.

    The weight of a sample is the time between the midpoints to its neighbours.

    Args:
        looks: The stream of samples.
        window: Begin and end of the observation.
        aliases: Statement keys to replace, with their replacements.
    """
    within = looks.filter(pl.col("time_ns").is_between(*window)).with_columns(
        pl.col(TEXTS).cast(pl.String)
    )
    within = within.with_columns(pl.col("statement").replace(dict(aliases or {})))
    times = within.filter(pl.col("session").is_null()).select("time_ns").unique().sort("time_ns")
    gap = pl.col("time_ns").diff().cast(pl.Float64)
    half = (gap.fill_null(gap.median()) + gap.shift(-1).fill_null(gap.median())) / 2
    weights = times.with_columns((half.fill_null(0.0) * NS).alias("weight_s"))
    return within.filter(pl.col("session").is_not_null()).join(weights, on="time_ns")


def looks_taken(looks: pl.DataFrame, window: tuple[int, int]) -> int:
    """Return the number of times at which sessions were sampled within a window."""
    within = looks.filter(pl.col("time_ns").is_between(*window))
    return within.filter(pl.col("session").is_null()).height


def statement_keys(looks: pl.DataFrame, counts: pl.DataFrame) -> list[str]:
    """Return the keys of all statements that were sampled or counted on a server."""
    keys = [frame["statement"].cast(pl.String).drop_nulls() for frame in (looks, counts)]
    return pl.concat(keys).unique(maintain_order=True).to_list()


def counted_growth(counts: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return the growth of each statement's counters; after a reset, their last values.

    The first and last readings are those around the observation.
    """
    plain = counts.with_columns(pl.col("statement", "counter").cast(pl.String)).sort("time_ns")
    first, last = pl.col("value").first(), pl.col("value").last()
    grown = plain.group_by("statement", "counter", maintain_order=True).agg(
        pl.when(last >= first).then(last - first).otherwise(last).alias("value")
    )
    by_statement: dict[str, dict[str, float]] = {}
    for statement, counter, value in grown.iter_rows():
        by_statement.setdefault(statement, {})[counter] = value
    return {key: values for key, values in by_statement.items() if values.get(CALLS)}


def watched_statements(
    looks: pl.DataFrame,
    counts: pl.DataFrame,
    window: tuple[int, int],
    aliases: Mapping[str, str] | None = None,
) -> list[Watched]:
    """Return all statements that were sampled or counted, the largest time first."""
    seen = weighted_looks(looks, window, aliases).filter(
        pl.col("leader").is_null() & pl.col("statement").is_not_null()
    )
    weight = pl.col("weight_s")
    sums = {
        statement: rest
        for statement, *rest in seen.group_by("statement", maintain_order=True)
        .agg(pl.len(), weight.sum(), (weight * weight).sum().alias("squares"))
        .iter_rows()
    }
    counted = counted_growth(counts)
    made = [
        _watched(statement, sums.get(statement, [0, 0.0, 0.0]), counted.get(statement))
        for statement in dict.fromkeys([*counted, *sums])
    ]
    return sorted(made, key=lambda statement: (-statement.seconds, statement.statement))


def _watched(statement: str, looked: list[float], counts: Mapping[str, float] | None) -> Watched:
    number, looked_s, squares = looked
    if counts is None:
        return Watched(statement, looked_s, "looks", int(number), looked_s)
    counted_s = sum(counts.get(name, 0.0) for name in COUNTED_TIMES)
    error_s = ERRORS_MAX * math.sqrt(squares)
    is_long = counted_s / counts[CALLS] > LONG_S
    more, less = looked_s > counted_s + error_s, looked_s < counted_s - error_s
    by_looks = more or (less and is_long)
    return Watched(
        statement,
        looked_s if by_looks else counted_s,
        "looks" if by_looks else "counters",
        int(number),
        looked_s,
        counted_s,
        counts,
    )


def look_interval_s(looks: pl.DataFrame) -> float | None:
    """Return the median time between two session samples in seconds; None with fewer than two."""
    gap_ns = looks.filter(pl.col("session").is_null())["time_ns"].unique().sort().diff().median()
    return None if gap_ns is None else cast("float", gap_ns) * NS
