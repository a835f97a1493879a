"""Reads each operation's time and its threads' time by cause, as a prediction's input."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.causes import CAUSES, PARTS, UNCOVERED
from assay.analysis.composite.played import played
from assay.analysis.composite.sensitivity import interval_seconds
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, is_counted
from assay.analysis.profile.samples import UNCLASSIFIED, matrix, read_profile
from assay.analysis.summarise import cpus_allowed, pinned_cpus
from assay.model.errors import RecordUnreadableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.analysis.composite.intervals import PerformanceRun
    from assay.analysis.composite.played import Played
    from assay.analysis.composite.steady import Steady
    from assay.analysis.profile.profile import Profile
    from assay.analysis.summary import OperationSummary, Summary
    from assay.record.reader import Run

log = logging.getLogger(__name__)

# Causes of waiting for other threads of the operation; their time follows that of the others.
FOLLOW = ("workers", "idle", UNCOVERED)
ON_CPU = tuple(cause.name for cause in CAUSES if cause.on_cpu)
# Causes of time in which a thread runs, or would run if it had a processor.
WANTS_CPU = (*ON_CPU, "run_queue", "throttled", "stolen")


@dataclass(frozen=True)
class TimedOperation:
    """The time of one operation, as measured or after a supposed change.

    Attributes:
        name: Name in the workload.
        seconds: Median over the passes; the mean service time under a load.
        seconds_min, seconds_max: Fastest and slowest pass; None under a load.
        passes: Seconds of each pass, None if it did not succeed; empty under a load.
        weight: Number of executions per execution of the mix; 1 without a load.
        thread_s: Thread-seconds of one execution by cause; None if its time was not split.
        threads: Mean number of threads at work; None if not measured.
        work: Share of its CPU samples by kind of work; None without samples.
    """

    name: str
    seconds: float
    seconds_min: float | None = None
    seconds_max: float | None = None
    passes: tuple[float | None, ...] = ()
    weight: float = 1.0
    thread_s: Mapping[str, float] | None = None
    threads: float | None = None
    work: Mapping[str, float] | None = None

    @property
    def active_s(self) -> float:
        """Thread-seconds of threads that did not wait for other threads of the operation.

        The sum is at least the operation's time: a missing rest is one thread's unexplained
        time.
        """
        return max(self.seconds, self._sum(name for name in PARTS if name not in FOLLOW))

    @property
    def wants_cpu_s(self) -> float:
        """Thread-seconds that the operation spent on a CPU or waiting for one."""
        return self._sum(WANTS_CPU)

    @property
    def cpu_s(self) -> float:
        """The operation's CPU time in seconds."""
        return self._sum(ON_CPU)

    def _sum(self, names: Iterable[str]) -> float:
        parts = self.thread_s or {}
        return sum(parts.get(name, 0.0) for name in names)

    def scaled(self, factor: float) -> TimedOperation:
        """Return the operation with all its times multiplied by a factor."""
        parts = self.thread_s
        return replace(
            self,
            seconds=self.seconds * factor,
            thread_s=None if parts is None else {k: v * factor for k, v in parts.items()},
        )


@dataclass(frozen=True)
class Measured:
    """A measured run as the input of predictions: its operations and their times.

    Attributes:
        run: Id of the run.
        scale: Scale of its data.
        operations: Operations in the order of the first pass.
        cores: CPUs that the engine was allowed to use; None if not recorded.
        clients: Number of clients of a load; None without a load.
        rate_per_s: Operations per second of an open load; None otherwise.
        throughput_per_s: Operations per second of a load; None without a load.
        background_share: Share of the machine's CPU time that other programs used; None if not
            measured.
        has_composite: Whether the workload's specification has a composite metric of both tests.
        without_time: Operations that never succeeded, so that no metric has a value.
        test: The specification's test, as it was carried out; None without a test.
    """

    run: str
    scale: float
    operations: tuple[TimedOperation, ...]
    cores: int | None = None
    clients: int | None = None
    rate_per_s: float | None = None
    throughput_per_s: float | None = None
    background_share: float | None = None
    has_composite: bool = False
    without_time: tuple[str, ...] = ()
    test: Played | None = None

    @property
    def why_not(self) -> str | None:
        """The reason why the run's metrics cannot be predicted; None if they can."""
        if self.without_time:
            return f"{', '.join(self.without_time)} never succeeded"
        if self.test is not None and self.test.why_not:
            return self.test.why_not[0]
        return None

    @property
    def has_test_metrics(self) -> bool:
        """True if the metrics are those of a TPC-H test without steady passes."""
        return self.test is not None and self.test.steady is None

    @property
    def names(self) -> list[str]:
        """The names of the measured operations."""
        return [operation.name for operation in self.operations]

    @property
    def works(self) -> list[str]:
        """The kinds of work with samples in any operation, without unclassified work."""
        works = {word for operation in self.operations for word in operation.work or {}}
        return sorted(works - {UNCLASSIFIED})


def measured_of(run: Run, summary: Summary) -> Measured:
    """Return the input of predictions: a run's operations with their times and shares.

    Args:
        run: The run.
        summary: Summary of the run.
    """
    load, used = load_of(run.facts), summary.accounts
    events = run.table("events")
    operations = [op for op in summary.operations if op.seconds is not None]
    test = played(run)
    reported = None if test is None or test.steady is not None else test.reported
    if reported is not None:
        timed = _operations_of_test(operations, reported)
    elif test is not None and test.steady is not None:
        timed = _operations_of_steady_passes(operations, test.steady)
    else:
        timed = (
            _operations_of_passes(operations, events)
            if load is None
            else _operations_of_mix(operations, events)
        )
    return Measured(
        run=run.id,
        scale=float(run.facts["request"]["scale"]),
        operations=tuple(_with_work(timed, _profile(run))),
        cores=_cores(run),
        clients=load.clients if load else None,
        rate_per_s=load.rate_per_s if load else None,
        throughput_per_s=summary.load.all_operations.throughput_per_s if summary.load else None,
        background_share=used.background_s / used.capacity_s if used and used.capacity_s else None,
        has_composite=bool(run.facts["workload"].get("metrics")),
        without_time=tuple(op.name for op in summary.operations if op.seconds is None),
        test=test,
    )


def _cores(run: Run) -> int | None:
    """Return the number of CPUs that the engine could use."""
    server = run.facts["engine"].get("kind") == "server"
    return pinned_cpus(run).get("engine" if server else "client") or cpus_allowed(run)


def _operations_of_passes(
    operations: list[OperationSummary], events: pl.DataFrame
) -> list[TimedOperation]:
    """Return the operations of a run with fixed order, with the time of each pass."""
    passes = _passes(events)
    return [
        TimedOperation(
            name=operation.name,
            seconds=operation.seconds or 0.0,
            seconds_min=operation.seconds_min,
            seconds_max=operation.seconds_max,
            passes=passes[operation.name],
            thread_s=_thread_s(operation, operation.seconds or 0.0),
            threads=operation.threads_at_work,
        )
        for operation in operations
    ]


def _operations_of_test(
    operations: list[OperationSummary], run: PerformanceRun
) -> list[TimedOperation]:
    """Return the operations of a TPC-H test, with their intervals in the reported run."""
    timed = []
    for operation in operations:
        seconds = interval_seconds(run, operation.name)
        if seconds is not None:
            made = TimedOperation(
                name=operation.name,
                seconds=seconds,
                thread_s=_thread_s(operation, seconds),
                threads=operation.threads_at_work,
            )
            timed.append(made)
    return timed


def _operations_of_steady_passes(
    operations: list[OperationSummary], steady: Steady
) -> list[TimedOperation]:
    """Return the operations of a TPC-H test, with their intervals in steady passes only."""
    by_test = [{query.operation: query.seconds for query in test.queries} for test in steady.tests]
    timed = []
    for operation in operations:
        passes = tuple(times[operation.name] for times in by_test if operation.name in times)
        if passes:
            seconds = median(passes)
            made = TimedOperation(
                name=operation.name,
                seconds=seconds,
                seconds_min=min(passes),
                seconds_max=max(passes),
                passes=passes,
                thread_s=_thread_s(operation, seconds),
                threads=operation.threads_at_work,
            )
            timed.append(made)
    return timed


def _operations_of_mix(
    operations: list[OperationSummary], events: pl.DataFrame
) -> list[TimedOperation]:
    """Return the operations of a load with their mean times."""
    service = (pl.col("finished_ns") - pl.col("started_ns")).mean() * NS
    means = (
        events.lazy()
        .filter(is_counted(events) & (pl.col("outcome") == "ok"))
        .group_by("operation", maintain_order=True)
        .agg(service.alias("seconds"), pl.len())
        .collect()
    )
    by_operation = {name: (seconds, count) for name, seconds, count in means.iter_rows()}
    whole = int(means["len"].sum())
    return [
        TimedOperation(
            name=operation.name,
            seconds=by_operation[operation.name][0],
            weight=by_operation[operation.name][1] / whole,
            thread_s=_thread_s(operation, by_operation[operation.name][0]),
            threads=operation.threads_at_work,
        )
        for operation in operations
    ]


def _thread_s(operation: OperationSummary, seconds: float) -> dict[str, float] | None:
    """Return an operation's thread-seconds by cause; None if the time was not split."""
    shares = {name: operation.where.get(name) for name in PARTS}
    split = {name: share for name, share in shares.items() if share is not None}
    if operation.threads_at_work is None or not any(name in split for name in ON_CPU):
        return None
    whole_s = max(1.0, operation.threads_at_work) * seconds
    return {name: share * whole_s for name, share in split.items()}


def _passes(events: pl.DataFrame) -> dict[str, tuple[float | None, ...]]:
    """Return seconds by operation and pass; None where the operation did not succeed."""
    service = pl.when(pl.col("outcome") == "ok").then(
        (pl.col("finished_ns") - pl.col("started_ns")) * NS
    )
    means = (
        events.lazy()
        .filter(is_counted(events))
        .group_by("operation", "pass", maintain_order=True)
        .agg(service.mean().alias("seconds"))
        .collect()
    )
    whole = means.select(pl.col("pass").unique().sort())
    by_operation = {}
    for key, part in means.partition_by("operation", as_dict=True).items():
        joined = whole.join(part, on="pass", how="left", maintain_order="left")
        by_operation[str(key[0])] = tuple(joined["seconds"].to_list())
    return by_operation


def _profile(run: Run) -> Profile | None:
    try:
        profile = read_profile(run)
    except (UsageError, RecordUnreadableError) as error:
        log.warning("the kinds of work of run %s are not known: %s", run.id, error)
        return None
    return profile if profile is not None and profile.sampling.told_apart else None


def _with_work(operations: list[TimedOperation], profile: Profile | None) -> list[TimedOperation]:
    """Return operations with the shares of their CPU samples by kind of work."""
    if profile is None:
        return operations
    table = matrix(profile)
    counts = dict(profile.passes.group_by("operation", maintain_order=True).len().iter_rows())
    made = []
    for operation in operations:
        mine = table.filter(pl.col("operation") == operation.name)
        shares = dict(mine.select("work", "share").iter_rows()) or None
        timed = replace(operation, work=shares)
        if operation.thread_s is None and shares:
            timed = _split_by_samples(timed, float(mine["seconds"].sum()) / counts[operation.name])
        made.append(timed)
    return made


def _split_by_samples(operation: TimedOperation, cpu_s: float) -> TimedOperation:
    """Return an operation without counters, with its CPU time from samples."""
    threads = max(1.0, cpu_s / operation.seconds)
    rest_s = threads * operation.seconds - cpu_s
    parts = {"cpu_user": cpu_s, UNCOVERED: rest_s}
    return replace(operation, thread_s=parts, threads=threads)
