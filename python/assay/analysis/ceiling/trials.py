"""Rates of a host's disk, memory and cores in trials, by request size, depth and pattern.

Figures are geometric means over rounds with a 95 % interval by Student's t on their logarithms.
Values between two tried sizes or depths are interpolated on log-log scales, within each round.
Values outside the tried range are not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS
from assay.analysis.stats.student import mean_of
from assay.model.errors import RecordUnreadableError
from assay.record.layout import KIND_CEILING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.record.reader import Run

DISK, MEMORY, CORE = "ceiling-disk", "ceiling-memory", "ceiling-core"
READ, WRITE = "read", "write"
SEQUENTIAL, RANDOM = "sequential", "random"
DIRECT, BUFFERED = "direct", "buffered"
CHASE = "chase"
WORDS = {pl.Categorical, pl.Enum}


@dataclass(frozen=True)
class Estimate:
    """The geometric mean of a quantity over rounds, with its 95 % interval.

    Attributes:
        value: Geometric mean.
        low: Lower end of the 95 % interval; None means a single round.
        high: Upper end of the interval; None means a single round.
        rounds: Number of rounds.
    """

    value: float
    low: float | None
    high: float | None
    rounds: int

    def times(self, factor: float) -> Estimate:
        """Return the estimate multiplied by a unit's conversion factor."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Estimate(self.value * factor, low, high, self.rounds)


def estimate(values: Iterable[float]) -> Estimate | None:
    """Return the geometric mean and 95 % interval of values; None without any above 0."""
    logs = [math.log(value) for value in values if value > 0]
    if not logs:
        return None
    mean = mean_of(logs)
    low, high = (None, None) if mean.interval is None else map(math.exp, mean.interval)
    return Estimate(math.exp(mean.value), low, high, len(logs))


@dataclass(frozen=True)
class Ceiling:
    """The results of trials of a host's disk, memory and cores, from the record of `assay ceiling`.

    Attributes:
        disk: One row per disk trial: the columns of `ceiling-disk.arrows`, and iops,
            bytes_per_s, cpu_ns_per_request, merged_share (share of the trial's requests that
            were merged) and others_bytes (device bytes beyond the trial's). The last two are
            null if the device does not report them.
        memory: One row per memory trial: the columns of `ceiling-memory.arrows`, and
            bytes_per_s, load_ns.
        core: One row per trial of cores: the columns of `ceiling-core.arrows`, and steps_per_s.
    """

    disk: pl.DataFrame
    memory: pl.DataFrame
    core: pl.DataFrame

    def iops(
        self,
        size_bytes: float,
        depth: float = 1,
        pattern: str = RANDOM,
        *,
        operation: str = READ,
        cache: str = DIRECT,
    ) -> Estimate | None:
        """Return the disk's requests per second at a request size; None outside the tried range."""
        chosen = self.disk.filter(operation=operation, pattern=pattern, cache=cache).select(
            "round", "depth", "size_bytes", "iops"
        )
        rounds = chosen.partition_by("round", maintain_order=True)
        values = (_between(rows, size_bytes, depth) for rows in rounds)
        return estimate(value for value in values if value is not None)

    def most_iops(
        self, size_bytes: float, pattern: str = RANDOM, *, operation: str = READ
    ) -> Estimate | None:
        """Return the disk's highest rate of direct requests of a size at any queue depth."""
        depths = self.depths(operation)
        estimates = [self.iops(size_bytes, depth, pattern, operation=operation) for depth in depths]
        return max((rate for rate in estimates if rate), key=lambda rate: rate.value, default=None)

    def depths(self, operation: str = READ) -> list[int]:
        """Return the queue depths of direct requests that were tried, the smallest first."""
        return self._tried("depth", operation)

    def sizes(self, operation: str = READ) -> list[int]:
        """Return the sizes in bytes of direct requests that were tried, the smallest first."""
        return self._tried("size_bytes", operation)

    def flush_seconds(self, operation: str = "fdatasync") -> Estimate | None:
        """Return the median seconds of a small write followed by fsync or fdatasync."""
        chosen = self.disk.filter(operation=operation)
        return estimate(latency * NS for latency in chosen["latency_p50_ns"])

    def _tried(self, column: str, operation: str) -> list[int]:
        chosen = self.disk.filter(operation=operation, cache=DIRECT)
        return [int(value) for value in chosen[column].unique().sort()]


def read_ceiling(run: Run) -> Ceiling:
    """Return the trials of a host's hardware from a record, complete or partial.

    Raises:
        RecordUnreadableError: If the record is not a ceiling, or is damaged.
    """
    if run.kind != KIND_CEILING:
        raise RecordUnreadableError(
            f"{run.id} is not a record of a host's ceiling: make one with `assay ceiling`."
        )
    disk, memory, core = (_plain(run.table(stream)) for stream in (DISK, MEMORY, CORE))
    return Ceiling(_disk(disk), _memory(memory), _core(core))


def _plain(trials: pl.DataFrame) -> pl.DataFrame:
    """Return the trials with categorical columns converted to text, for comparisons."""
    text_columns = [name for name, kind in trials.schema.items() if kind.base_type() in WORDS]
    return trials.with_columns(pl.col(text_columns).cast(pl.String))


def _disk(trials: pl.DataFrame) -> pl.DataFrame:
    seconds = pl.col("elapsed_ns") * NS
    made = pl.col("requests") + pl.col("requests_outside")
    others = pl.col("device_bytes").cast(pl.Int64) - (made * pl.col("size_bytes")).cast(pl.Int64)
    is_direct = pl.col("cache") == DIRECT
    return trials.with_columns(
        (pl.col("requests") / seconds).alias("iops"),
        (pl.col("requests") * pl.col("size_bytes") / seconds).alias("bytes_per_s"),
        ((pl.col("user_ns") + pl.col("system_ns")) / pl.col("requests")).alias(
            "cpu_ns_per_request"
        ),
        pl.when(is_direct).then(pl.col("device_merged") / made).alias("merged_share"),
        # Buffered trials cause read-ahead and write-back, which cannot be distinguished from
        # other programs' traffic.
        pl.when(is_direct).then(others.clip(lower_bound=0)).alias("others_bytes"),
    )


def _memory(trials: pl.DataFrame) -> pl.DataFrame:
    return trials.with_columns(
        (pl.col("moved_bytes") / (pl.col("elapsed_ns") * NS)).alias("bytes_per_s"),
        (pl.col("elapsed_ns") / pl.col("loads")).alias("load_ns"),
    )


def _core(trials: pl.DataFrame) -> pl.DataFrame:
    return trials.with_columns((pl.col("steps") / (pl.col("elapsed_ns") * NS)).alias("steps_per_s"))


def _between(rows: pl.DataFrame, size_bytes: float, depth: float) -> float | None:
    """Return interpolated requests per second of a round at a size and depth; None outside."""
    by_depth: dict[int, dict[int, float]] = {}
    for at, size, iops in rows.select("depth", "size_bytes", "iops").iter_rows():
        by_depth.setdefault(at, {})[size] = iops
    by_depth_at_size = {
        at: value
        for at, sizes in by_depth.items()
        if (value := interpolated(sizes, size_bytes)) is not None
    }
    return interpolated(by_depth_at_size, depth)


def interpolated(values: Mapping[int, float], at: float) -> float | None:
    """Return a value interpolated on log-log scales; None outside the tried range."""
    places: Sequence[int] = sorted(place for place, value in values.items() if value > 0)
    below = max((place for place in places if place <= at), default=None)
    above = min((place for place in places if place >= at), default=None)
    if below is None or above is None:
        return None
    if below == above:
        return values[below]
    share = math.log(at / below) / math.log(above / below)
    return math.exp((1 - share) * math.log(values[below]) + share * math.log(values[above]))
