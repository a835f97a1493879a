"""Splits the host's CPU time into accounts (engine, driver, others) with an exact sum.

Engine and driver share one account if the engine is embedded in the driver's process. Background
is the CPU time of all processes that belong neither to Assay nor to the engine. Header, checks,
tables and time charts all derive from `cpu_used` and `machine_used`: the growth between two
times that `used_at` returns.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from assay.analysis.operations import NS
from assay.record.layout import ENGINE_ACCOUNTS

BUSY = ("user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns")
WAITING = ("idle_ns", "iowait_ns")
BUSY_TIME, IDLE_TIME, STEAL_TIME = "busy", "idle", "steal"
USED_SCHEMA = {"time_ns": pl.Int64, "account": pl.String, "cpu_ns": pl.Int64}
REPORTED_SCHEMA = {"time_ns": pl.Int64, "account": pl.String, "reported_ns": pl.Int64}


@dataclass(frozen=True)
class Accounts:
    """The CPU seconds of each account (engine, driver, others) within a time window.

    Attributes:
        window_s: Length of the window.
        cpus: Number of CPUs that are online.
        by_process: CPU seconds of each account of Assay or the engine.
        busy_s: Busy CPU seconds of the whole machine, including Assay's, without stolen time.
        idle_s: Idle CPU seconds, including waits for devices.
        steal_s: CPU seconds taken by the hypervisor; None if the kernel does not report it.
    """

    window_s: float
    cpus: int
    by_process: dict[str, float]
    busy_s: float
    idle_s: float
    steal_s: float | None

    @property
    def knows_engine(self) -> bool:
        """True if the engine's processes are known; otherwise their time counts as background."""
        return any(account in self.by_process for account in ENGINE_ACCOUNTS)

    @property
    def background_s(self) -> float:
        """CPU seconds of all processes that belong neither to Assay nor to the engine."""
        return max(0.0, self.busy_s - sum(self.by_process.values()))

    @property
    def capacity_s(self) -> float:
        """CPU seconds that the machine provides: length of the window times number of CPUs."""
        return self.window_s * self.cpus


def accounts(
    cpus: pl.DataFrame, processes: pl.DataFrame, begun_ns: int, ended_ns: int
) -> Accounts | None:
    """Return the CPU time of each account between two times; None without samples."""
    edges = accounts_window(cpus, processes, begun_ns, ended_ns)
    if edges is None:
        return None
    both = pl.Series("time_ns", edges, dtype=pl.Int64)
    machine = growth_s(used_at(machine_used(cpus), both))
    return Accounts(
        window_s=(edges[1] - edges[0]) * NS,
        cpus=cpus["cpu"].n_unique(),
        by_process=growth_s(used_at(cpu_used(processes), both)),
        busy_s=machine[BUSY_TIME],
        idle_s=machine[IDLE_TIME],
        steal_s=machine.get(STEAL_TIME),
    )


def accounts_window(
    cpus: pl.DataFrame, processes: pl.DataFrame, begun_ns: int, ended_ns: int
) -> tuple[int, int] | None:
    """Return the window of CPU accounting: process samples within the time CPUs were sampled.

    Processes are sampled less often than CPUs, and CPU use is known between CPU samples; None if
    CPUs were sampled less than twice.
    """
    of_cpus = _edges(cpus["time_ns"], begun_ns, ended_ns)
    of_processes = _edges(processes["time_ns"], begun_ns, ended_ns)
    if of_cpus is None or of_processes is None:
        return of_cpus
    first, last = (int(cpus["time_ns"].min()), int(cpus["time_ns"].max()))  # type: ignore[arg-type]
    begun, ended = max(first, of_processes[0]), min(last, of_processes[1])
    return (begun, ended) if begun < ended else of_cpus


def _edges(times: pl.Series, begun_ns: int, ended_ns: int) -> tuple[int, int] | None:
    """Return the last sample up to the begin and the first from the end on; None without two."""
    ordered = times.unique().sort()
    before = ordered.filter(ordered <= begun_ns)
    after = ordered.filter(ordered >= ended_ns)
    first = before[-1] if len(before) else (ordered[0] if len(ordered) else None)
    last = after[0] if len(after) else (ordered[-1] if len(ordered) else None)
    if first is None or last is None or last <= first:
        return None
    return int(first), int(last)


def used_at(cumulated: pl.DataFrame, times_ns: pl.Series) -> pl.DataFrame:
    """Return the CPU time of each account at given times, interpolated between its samples.

    Args:
        cumulated: time_ns, account, cpu_ns (growth since the first sample).
        times_ns: Times of the result. Before the first sample its value is used, and after the
            last sample the last value.

    Returns:
        time_ns, account, cpu_ns (float), ordered by time and account.
    """
    axis = pl.DataFrame({"time_ns": times_ns.cast(pl.Int64)}).unique()
    asked = axis.join(cumulated.select("account").unique(), how="cross")
    keys = ["time_ns", "account"]
    return (
        cumulated.select(*keys, pl.col("cpu_ns").cast(pl.Float64))
        .join(asked.with_columns(is_asked=True), on=keys, how="full", coalesce=True)
        .sort(keys)
        .with_columns(
            pl.col("cpu_ns")
            .interpolate_by("time_ns")
            .forward_fill()
            .backward_fill()
            .over("account")
        )
        .filter("is_asked")
        .select(*keys, "cpu_ns")
    )


def growth_s(used: pl.DataFrame) -> dict[str, float]:
    """Return the CPU seconds of each account between the first and the last given time."""
    grown = used.group_by("account").agg(pl.col("cpu_ns").last() - pl.col("cpu_ns").first())
    return {account: cpu_ns * NS for account, cpu_ns in grown.sort("account").iter_rows()}


def machine_used(cpus: pl.DataFrame) -> pl.DataFrame:
    """Return the busy, idle and stolen time of all CPUs together since the first sample.

    Columns: time_ns, account (BUSY_TIME, IDLE_TIME, and STEAL_TIME if the kernel reports it),
    cpu_ns, ordered by time. A counter that decreased has no growth.
    """
    kinds = {BUSY_TIME: BUSY, IDLE_TIME: WAITING, STEAL_TIME: ("steal_ns",)}
    present = {
        kind: [name for name in names if cpus[name].null_count() == 0]
        for kind, names in kinds.items()
    }
    summed = [
        pl.sum_horizontal(
            pl.lit(0, pl.Int64),
            *[
                pl.col(name).cast(pl.Int64).diff().over("cpu").fill_null(0).clip(lower_bound=0)
                for name in names
            ],
        ).alias(kind)
        for kind, names in present.items()
        if names or kind != STEAL_TIME
    ]
    time_kinds = [expression.meta.output_name() for expression in summed]
    return (
        cpus.sort("time_ns")
        .select("time_ns", *summed)
        .group_by("time_ns", maintain_order=True)
        .agg(pl.col(time_kinds).sum())
        .with_columns(pl.col(time_kinds).cum_sum())
        .unpivot(time_kinds, index="time_ns", variable_name="account", value_name="cpu_ns")
        .sort("time_ns", maintain_order=True)
    )


def cpu_used(processes: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time of each account at each sample, since the first sample.

    Columns: time_ns, account, cpu_ns, ordered by time. The time is the larger of two values: the
    sampled use of processes, and the use of ended children that their parents report.
    """
    if processes.is_empty():
        return pl.DataFrame(schema=USED_SCHEMA)
    named = processes.with_columns(pl.col("account").cast(pl.String))
    used = _seen(named).join(_reported_by_parents(named), on=["time_ns", "account"], how="left")
    more = pl.max_horizontal("seen_ns", "reported_ns").cum_max().over("account")
    ordered = used.sort("time_ns", "account")
    return ordered.select("time_ns", "account", more.alias("cpu_ns"))


def _seen(processes: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time growth of each account's sampled processes since the first sample."""
    cpu_ns = (pl.col("user_ns") + pl.col("system_ns")).cast(pl.Int64)
    since = pl.when(pl.col("time_ns") > pl.col("time_ns").min()).then(pl.col("cpu_ns")).otherwise(0)
    grown = pl.col("cpu_ns").diff().over("account", "pid", "started_ns")
    return (
        processes.sort("time_ns")
        .with_columns(cpu_ns.alias("cpu_ns"))
        .with_columns(grown.fill_null(since).alias("grown_ns"))
        .group_by("time_ns", "account", maintain_order=True)
        .agg(pl.col("grown_ns").sum())
        .sort("time_ns")
        .select("time_ns", "account", pl.col("grown_ns").cum_sum().over("account").alias("seen_ns"))
    )


def read_by_account(
    processes: pl.DataFrame, begun_ns: int, ended_ns: int
) -> dict[str, float] | None:
    """Return the bytes that each account's processes read from storage around a window.

    The result is None if the kernel does not report reads for every process, or there are fewer
    than two samples.
    """
    edges = _edges(processes["time_ns"], begun_ns, ended_ns)
    if edges is None or processes["read_bytes"].null_count():
        return None
    return {
        account: float(count)
        for account, count in _grown(processes, pl.col("read_bytes"), *edges).items()
    }


def _grown(processes: pl.DataFrame, counter: pl.Expr, first: int, last: int) -> dict[str, int]:
    """Return the growth of a process counter between two samples, by CPU account."""
    grown = (
        processes.with_columns(pl.col("account").cast(pl.String))
        .filter(pl.col("time_ns").is_between(first, last))
        .with_columns(counter.cast(pl.Int64).alias("counter"))
        .sort("time_ns")
        .group_by("account", "pid", "started_ns", maintain_order=True)
        .agg(pl.col("counter").last() - pl.col("counter").filter(pl.col("time_ns") == first).sum())
        .group_by("account", maintain_order=True)
        .agg(pl.col("counter").sum())
        .sort("account")
    )
    return dict(grown.iter_rows())


def _reported_by_parents(processes: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time growth of each account, including children that have ended.

    The kernel adds the CPU time of an ended child to the parent that waited for it. So the sum
    over all living processes includes children that no sample saw. A parent that does not wait
    gets nothing, and then the sum is less than the sampled use. Older records lack these
    counters.
    """
    if not {"children_user_ns", "children_system_ns"} <= set(processes.columns):
        return pl.DataFrame(schema=REPORTED_SCHEMA)
    with_children = (
        pl.col("user_ns")
        + pl.col("system_ns")
        + pl.col("children_user_ns").fill_null(0)
        + pl.col("children_system_ns").fill_null(0)
    ).cast(pl.Int64)
    at_first = pl.col("time_ns") == processes["time_ns"].min()
    before = pl.col("lived_ns").filter(at_first).sum().over("account")
    return (
        processes.group_by("time_ns", "account", maintain_order=True)
        .agg(with_children.sum().alias("lived_ns"))
        .select("time_ns", "account", (pl.col("lived_ns") - before).alias("reported_ns"))
    )
