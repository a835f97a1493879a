"""Computes the query and refresh intervals of a TPC-H test from the events of its phases.

The interval of a query lasts from its submission to the submission of the next query in its
session. The last query's interval ends with its last output. The interval of a refresh function
lasts from its request to its last commit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, plain
from assay.record.layout import PHASE_POWER, PHASE_THROUGHPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class Interval:
    """One measured query or refresh interval of a TPC-H test.

    Attributes:
        operation: Name of the query or the refresh function.
        variant: For a query: the stream whose parameters it has. For a refresh function: the
            number of its set.
        begun_ns: Time of submission.
        length_ns: Unrounded length.
    """

    operation: str
    variant: int
    begun_ns: int
    length_ns: int

    @property
    def seconds(self) -> float:
        """The unrounded length of the TPC-H interval in seconds."""
        return self.length_ns * NS

    def scaled(self, factors: Mapping[str, float]) -> Interval:
        """Return the interval with its length multiplied by the factor of its operation, if any."""
        factor = factors.get(self.operation, 1.0)
        return self if factor == 1 else replace(self, length_ns=round(self.length_ns * factor))


@dataclass(frozen=True)
class PowerTest:
    """One TPC-H power test: queries in one session, optionally between two refresh functions.

    Attributes:
        queries: Intervals of the queries, in the order of execution.
        refreshes: Intervals of the refresh functions; empty without refresh functions.
    """

    queries: tuple[Interval, ...]
    refreshes: tuple[Interval, ...] = ()

    @property
    def seconds(self) -> float:
        """The sum of all intervals of the power test in seconds."""
        return sum(interval.length_ns for interval in (*self.queries, *self.refreshes)) * NS


@dataclass(frozen=True)
class Stream:
    """The operations that one session of a TPC-H throughput test executed.

    Attributes:
        begun_ns: Time of the first submission.
        ended_ns: Time of the last output or commit.
        intervals: Intervals in the order of execution.
    """

    begun_ns: int
    ended_ns: int
    intervals: tuple[Interval, ...]

    @property
    def busy_ns(self) -> int:
        """The sum of all intervals of the stream in nanoseconds."""
        return sum(interval.length_ns for interval in self.intervals)

    def scaled(self, factors: Mapping[str, float]) -> Stream:
        """Return the stream with each interval multiplied by its operation's factor."""
        made = tuple(interval.scaled(factors) for interval in self.intervals)
        saved_ns = self.busy_ns - sum(interval.length_ns for interval in made)
        return Stream(self.begun_ns, self.ended_ns - saved_ns, made)


@dataclass(frozen=True)
class ThroughputTest:
    """One TPC-H throughput test: concurrent query streams, optionally with a refresh stream.

    Attributes:
        streams: Query streams, in the order of their numbers, which begin at 1.
        refreshes: The refresh stream; None without refresh functions.
    """

    streams: tuple[Stream, ...]
    refreshes: Stream | None = None

    @property
    def sessions(self) -> tuple[Stream, ...]:
        """All query streams of the throughput test, then the refresh stream if there is one."""
        return self.streams if self.refreshes is None else (*self.streams, self.refreshes)

    @property
    def begun_ns(self) -> int:
        """The time of the first submission in any stream, in nanoseconds."""
        return min(stream.begun_ns for stream in self.sessions)

    @property
    def elapsed_ns(self) -> int:
        """The nanoseconds from the first submission to the last output or commit of any stream."""
        return max(stream.ended_ns for stream in self.sessions) - self.begun_ns

    @property
    def last(self) -> Stream:
        """The stream that ended last, which determines the length of the test."""
        return max(self.sessions, key=lambda stream: stream.ended_ns)


@dataclass(frozen=True)
class PerformanceRun:
    """A TPC-H power test and the throughput test after it, as far as they were executed.

    Attributes:
        number: Number of the run, from 1.
        power: Power test; None if it was not executed.
        throughput: Throughput test; None if it was not executed.
    """

    number: int
    power: PowerTest | None = None
    throughput: ThroughputTest | None = None

    def scaled(self, factors: Mapping[str, float]) -> PerformanceRun:
        """Return the run with each interval multiplied by its operation's factor, in both tests."""
        power, played = self.power, self.throughput
        if power is not None:
            queries = tuple(interval.scaled(factors) for interval in power.queries)
            power = PowerTest(
                queries, tuple(interval.scaled(factors) for interval in power.refreshes)
            )
        if played is not None:
            refreshes = played.refreshes
            played = ThroughputTest(
                tuple(stream.scaled(factors) for stream in played.streams),
                None if refreshes is None else refreshes.scaled(factors),
            )
        return PerformanceRun(self.number, power, played)


def performance_runs(
    events: pl.DataFrame, refreshes: Collection[str]
) -> tuple[PerformanceRun, ...]:
    """Return the executed TPC-H power and throughput tests of a run, ordered by number.

    Args:
        events: All events of the record. Only the first pass of a power phase counts.
        refreshes: Names of the refresh functions; empty without refresh functions.
    """
    ended = ended_events(events)
    powers = {number(name): part for name, part in _phases(ended, PHASE_POWER).items()}
    throughputs = {number(name): part for name, part in _phases(ended, PHASE_THROUGHPUT).items()}
    return tuple(
        PerformanceRun(
            run_number,
            power_passes(powers[run_number], refreshes)[0] if run_number in powers else None,
            _throughput(throughputs[run_number], refreshes) if run_number in throughputs else None,
        )
        for run_number in sorted({*powers, *throughputs})
    )


def power_passes(events: pl.DataFrame, refreshes: Collection[str]) -> list[PowerTest]:
    """Return a power test for each executed pass over the queries, in time order."""
    passes = events.partition_by("pass", maintain_order=True)
    return [_power(part, refreshes) for part in passes]


def number(phase: str) -> int:
    """Return the number of the TPC-H performance run at the end of a phase's name."""
    return int(phase.rpartition("-")[2])


def ended_events(events: pl.DataFrame) -> pl.DataFrame:
    """Return the events of operations that ended, ordered by their start.

    Records without variants get variant 0.
    """
    kept = plain(events).filter(pl.col("finished_ns").is_not_null())
    if "variant" not in kept.columns:
        kept = kept.with_columns(pl.lit(0, pl.UInt32).alias("variant"))
    return kept.sort("started_ns")


def _phases(events: pl.DataFrame, kind: str) -> dict[str, pl.DataFrame]:
    mine = events.filter(pl.col("phase").str.starts_with(f"{kind}-"))
    parts = mine.partition_by("phase", as_dict=True, maintain_order=True)
    return {str(key[0]): part for key, part in parts.items()}


def _power(events: pl.DataFrame, refreshes: Collection[str]) -> PowerTest:
    is_refresh = pl.col("operation").is_in(list(refreshes))
    return PowerTest(
        _query_intervals(events.filter(~is_refresh)),
        _refresh_intervals(events.filter(is_refresh)),
    )


def _throughput(events: pl.DataFrame, refreshes: Collection[str]) -> ThroughputTest:
    streams, refresh_stream = [], None
    for part in events.partition_by("session", maintain_order=True):
        is_refresh = part["operation"][0] in refreshes
        made = _refresh_intervals(part) if is_refresh else _query_intervals(part)
        stream = Stream(int(part["started_ns"][0]), int(part["finished_ns"][-1]), made)
        if is_refresh:
            refresh_stream = stream
        else:
            streams.append((int(part["session"][0]), stream))
    by_number = sorted(streams, key=lambda pair: pair[0])
    return ThroughputTest(tuple(stream for _, stream in by_number), refresh_stream)


def _query_intervals(events: pl.DataFrame) -> tuple[Interval, ...]:
    until = pl.col("started_ns").shift(-1).fill_null(pl.col("finished_ns"))
    return _intervals(events, until)


def _refresh_intervals(events: pl.DataFrame) -> tuple[Interval, ...]:
    return _intervals(events, pl.col("finished_ns"))


def _intervals(events: pl.DataFrame, until: pl.Expr) -> tuple[Interval, ...]:
    table = events.select(
        "operation", "variant", "started_ns", (until - pl.col("started_ns")).alias("length_ns")
    )
    return tuple(Interval(*row) for row in table.iter_rows())
