"""Executed query mixes in the terms of their benchmark specification, such as BSBM.

BSBM V3 defines the rate (QMpH) of one client from the time of its queries, and the rate of
several clients from elapsed time. A query that was stopped at its time limit counts with the
time until then. Power and throughput divide by the geometric and arithmetic mean of query times,
and scale with the size of the data. Only complete mixes count. A mix without some of its
operations or parts has only the number of mixes per hour.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.data_size import size_of
from assay.analysis.load_plan import measured_phase
from assay.analysis.operations import DEADLINE, NS, geometric_mean, measured

if TYPE_CHECKING:
    from assay.record.reader import Run

# Name of the rate if the mix lacks operations or parts of the specification.
PARTIAL_RATE = "partial mixes"


@dataclass(frozen=True)
class Metric:
    """One result that a benchmark specification names.

    Attributes:
        name: Name of the result, such as QMpH.
        value: Value in the unit that the name implies.
        about: Formula of the result in words.
    """

    name: str
    value: float
    about: str


@dataclass(frozen=True)
class QueryTime:
    """The time of one query of a query mix, over all executions in complete mixes.

    Attributes:
        name, title: Name and title in the workload.
        executions: Number of counted executions.
        cut_off: Number of executions that were stopped at the time limit.
        mean_s, geometric_mean_s, min_s, max_s: Statistics of the execution times in seconds.
        share: Share of the time of all operations.
    """

    name: str
    title: str
    executions: int
    cut_off: int
    mean_s: float
    geometric_mean_s: float
    min_s: float
    max_s: float
    share: float


@dataclass(frozen=True)
class Sequence:
    """The query mixes that clients executed, in the terms of their benchmark specification.

    Attributes:
        clients: Number of clients.
        size, size_name: Size of the data as the result names it: number of triples, or the
            scale.
        mixes: Number of complete mixes.
        operations_s: Total seconds of the operations in complete mixes.
        wall_s: Elapsed seconds from the start of the first complete mix to the end of the last.
        metrics: The specification's results, the rate first.
        query_time: The specification's name for the mean time of an operation; empty if it has
            none.
        queries: Times of each operation, in the order of the mix.
    """

    clients: int
    size: float
    size_name: str
    mixes: int
    operations_s: float
    wall_s: float
    metrics: tuple[Metric, ...]
    query_time: str
    queries: tuple[QueryTime, ...]

    @property
    def mixes_per_s(self) -> float | None:
        """Query mixes per second: of operation time with one client, else of elapsed time."""
        seconds = self.operations_s if self.clients == 1 else self.wall_s
        return self.mixes / seconds if seconds > 0 else None

    def facts(self) -> dict[str, Any]:
        """Return the results of the query mixes as JSON values."""
        return asdict(self)


def sequence_of(run: Run, since_ns: int | None = None) -> Sequence | None:
    """Return the results of the complete query mixes of a run; None without any.

    Args:
        run: The run.
        since_ns: Mixes that began before this time do not count; None means all count.
    """
    phase, declared = measured_phase(run.facts), run.facts["workload"].get("sequence")
    if declared is None or not phase.get("in_order"):
        return None
    limit_s = run.facts["plan"].get("operation_deadline_ns", 0) * NS
    columns = ("pass", "operation", "started_ns", "finished_ns", "outcome", "error")
    events = measured(run.table("events"), *columns)
    times = whole_mixes(events, len(phase["operations"]), limit_s)
    if since_ns is not None:
        times = times.filter(pl.col("started_ns").min().over("pass") >= since_ns)
    if times.is_empty():
        return None
    clients = int(phase["arrival"]["clients"])
    mixes = times["pass"].n_unique()
    operations_s = float(times["seconds"].sum())
    edges_ns = times.select(pl.col("started_ns").min(), pl.col("finished_ns").max()).row(0)
    wall_s = (int(edges_ns[1]) - int(edges_ns[0])) * NS
    size = size_of(run)
    made = Sequence(
        clients=clients,
        size=size.amount,
        size_name=size.unit,
        mixes=mixes,
        operations_s=operations_s,
        wall_s=wall_s,
        metrics=(),
        query_time=declared["query_time"],
        queries=tuple(_queries(run, times)),
    )
    return replace(made, metrics=tuple(_metrics(run, declared, times, made)))


def whole_mixes(events: pl.DataFrame, length: int, limit_s: float) -> pl.DataFrame:
    """Return executions in complete query mixes, whose queries succeeded or were cut off.

    Columns: pass, operation, started_ns, finished_ns, seconds, cut_off.
    """
    cut_off = pl.col("error").eq_missing(DEADLINE)
    counts = (pl.col("outcome") == "ok") | cut_off
    took_s = (pl.col("finished_ns") - pl.col("started_ns")) * NS
    return (
        events.with_columns(
            pl.when(cut_off).then(limit_s).otherwise(took_s).alias("seconds"),
            cut_off.alias("cut_off"),
        )
        .filter(counts.sum().over("pass") == length)
        .select("pass", "operation", "started_ns", "finished_ns", "seconds", "cut_off")
    )


def _metrics(
    run: Run, declared: dict[str, Any], times: pl.DataFrame, made: Sequence
) -> list[Metric]:
    """Return the results of query mixes that the benchmark specification names."""
    if made.mixes_per_s is None:
        return []
    of = "time of operations" if made.clients == 1 else "time by the clock"
    span = declared["seconds"]
    operations_per_s = made.mixes_per_s * times.height / made.mixes
    unit = declared.get("unit", 1.0)
    scaled = float(run.facts["request"]["scale"]) / unit
    by = f"scale by {unit:,g}, times {span:g} s by the"
    means = "geometric mean of operations' times"
    named = (
        ("rate", made.mixes_per_s, f"mixes in {span:g} s of {of}"),
        ("power", scaled / _mean_of(times["seconds"]), f"{by} {means}"),
        ("throughput", scaled * operations_per_s, f"{by} {of} for each operation"),
    )
    asked = run.facts["request"]
    if asked.get("operations") or asked.get("remove"):
        _, rate, about = named[0]
        return [Metric(PARTIAL_RATE, rate * span, about)]
    return [
        Metric(declared[key], value * span, about)
        for key, value, about in named
        if declared.get(key)
    ]


def _queries(run: Run, times: pl.DataFrame) -> list[QueryTime]:
    titles, whole = run.facts["workload"]["operation_titles"], float(times["seconds"].sum())
    parts = {key[0]: part for key, part in times.partition_by("operation", as_dict=True).items()}
    order = [run.facts["plan"]["operations"][n] for n in measured_phase(run.facts)["operations"]]
    return [_query(name, titles.get(name, ""), parts[name], whole) for name in dict.fromkeys(order)]


def _query(name: str, title: str, part: pl.DataFrame, whole_s: float) -> QueryTime:
    seconds = part["seconds"]
    return QueryTime(
        name=name,
        title=title,
        executions=part.height,
        cut_off=int(part["cut_off"].sum()),
        mean_s=float(seconds.mean()),  # type: ignore[arg-type]
        geometric_mean_s=_mean_of(seconds),
        min_s=float(seconds.min()),  # type: ignore[arg-type]
        max_s=float(seconds.max()),  # type: ignore[arg-type]
        share=float(seconds.sum()) / whole_s if whole_s > 0 else 0.0,
    )


def _mean_of(seconds: pl.Series) -> float:
    """Return the geometric mean of times in seconds; a time of 0 counts as 1 ns."""
    return geometric_mean(seconds.clip(lower_bound=NS).to_list()) or NS
