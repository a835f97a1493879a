"""Reads the counters that an engine setting (knob) declares, per execution of all operations.

A name is searched in this order: counters of the cluster's nodes, summed over the nodes
(`cluster_counters`); the engine's `counters.toml`; counters of its processes; causes of its
threads' sleep; facts of plans. The first source that has a value is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.causes import SLEEPS, TITLES
from assay.analysis.cluster.counters import (
    GAUGES,
    declared_cluster,
    node_readings,
    totals_of_a_pass,
)
from assay.analysis.cluster.words import WORDS
from assay.analysis.counters.engine_counters import COUNTER, around, engine_counters
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, measured, operation_table, window_of
from assay.analysis.plans.recorded import read_plans
from assay.analysis.scales.costs import COUNTER_OF, CPU_TIME, READ_BYTES, costs_of
from assay.analysis.time.where import where_time_went
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.cluster.counters import ClusterFacts
    from assay.model.plan import PlanNode
    from assay.record.reader import Run

SECONDS, BYTES, COUNT = "s", "bytes", "count"
NANOSECONDS = "ns"
_WAIT = "_wait_ns"
# Counters around operations, as columns of `tasks.arrows`: title and unit of each.
GROWING: dict[str, tuple[str, str]] = {
    "user_ns": ("CPU time in user mode", NANOSECONDS),
    "system_ns": ("CPU time in the kernel", NANOSECONDS),
    "on_cpu_ns": ("CPU time", NANOSECONDS),
    "run_delay_ns": ("waiting for a CPU", NANOSECONDS),
    "block_delay_ns": ("waiting for a disk, by delay accounting", NANOSECONDS),
    "read_bytes": ("read from storage", BYTES),
    "write_bytes": ("written to storage", BYTES),
    "minor_faults": ("minor page faults", COUNT),
    "major_faults": ("major page faults", COUNT),
    "voluntary_switches": ("voluntary switches", COUNT),
    "involuntary_switches": ("involuntary switches", COUNT),
    "device_reads": ("reads of the data's device", COUNT),
    "device_read_bytes": ("bytes read of the data's device", BYTES),
    "device_writes": ("writes to the data's device", COUNT),
    "device_write_bytes": ("bytes written to the data's device", BYTES),
}
# Gauges at the end of an operation, with title and unit: the mean of threads, the maximum of
# bytes.
STANDING: dict[str, tuple[str, str]] = {
    "threads": ("threads", COUNT),
    "threads_at_work": ("threads at work", COUNT),
    "rss_bytes": ("memory resident", BYTES),
    "rss_peak_bytes": ("most memory resident", BYTES),
    "pss_bytes": ("memory, shared pages in parts", BYTES),
}
CPU_WORD = "cpu_ns"
# Causes of threads' sleep, as `CAUSE_wait_ns`: their share of the operations' elapsed time.
WAITS = {f"{cause}{_WAIT}": cause for cause in SLEEPS}
# Facts of plans: title and unit of each.
OF_PLANS: dict[str, tuple[str, str]] = {
    "workers_launched": ("workers that came", COUNT),
    "workers_planned": ("workers that the optimiser counted on", COUNT),
    "operators": ("operators of the plan", COUNT),
    "spilled_bytes": ("written aside by operators", BYTES),
    "plan_memory_bytes": ("memory by the plan's account", BYTES),
}
NAMES = tuple(dict.fromkeys([*WORDS, *GROWING, *STANDING, *WAITS, *OF_PLANS]))


@dataclass(frozen=True)
class Counted:
    """The value in one run of a counter that shows the effect of an engine setting (knob).

    Attributes:
        name: Name in the knob's declaration.
        title: Title for readers.
        unit: Unit as in figures: times are in seconds.
        value: Value for one execution of all operations; None if not counted.
        why_not: Reason why it was not counted, as the end of `not measured:`.
    """

    name: str
    title: str
    unit: str
    value: float | None
    why_not: str | None = None


@lru_cache(maxsize=4096)
def counted(run: Run, name: str) -> Counted:
    """Return the value in one run of a counter that an engine setting (knob) declares."""
    tried = [
        counter
        for look in (_node_word, _engine_figure, _meter, _wait, _plan_figure)
        if (counter := look(run, name)) is not None
    ]
    valued = next((counter for counter in tried if counter.value is not None), None)
    if valued is not None or tried:
        return valued or tried[0]
    declared = engine_counters(run)
    names = [
        *NAMES,
        *(figure["name"] for figure in ([] if declared is None else declared["counters"])),
    ]
    return Counted(name, name, COUNT, None, f"nobody counts {name!r}; {suggestion(name, names)}")


def _node_word(run: Run, name: str) -> Counted | None:
    """Return a cluster counter summed over nodes and operations; None for other names."""
    declared = declared_cluster(run)
    if name not in WORDS:
        return None
    title, unit = WORDS[name]
    if declared is None:
        return _make_counted(name, title, unit, None, "the engine is no cluster of nodes")
    if name in declared.missing:
        return _make_counted(name, title, unit, None, declared.missing[name])
    if name in GAUGES:
        return _make_counted(name, title, unit, _most(run, declared, name), "nodes were not read")
    return _make_counted(name, title, unit, totals_of_a_pass(run).get(name), "nodes were not read")


def _most(run: Run, declared: ClusterFacts, name: str) -> float | None:
    """Return the maximum of an engine gauge while operations were measured, summed over nodes."""
    window = window_of(run)
    if window is None or not run.has("engine"):
        return None
    own = node_readings(around(run.table("engine"), *window), declared)
    sums = own.filter(pl.col("word") == name).group_by("time_ns").agg(pl.col("value").sum())
    most = sums["value"].max()
    return float(most) if isinstance(most, int | float) else None


def _engine_figure(run: Run, name: str) -> Counted | None:
    """Return a counter that the engine declares; None for other names."""
    declared = engine_counters(run)
    figures = [
        figure
        for figure in ([] if declared is None else declared["counters"])
        if figure["name"] == name
    ]
    if not figures:
        return None
    figure = figures[0]
    title, unit = str(figure["title"]), str(figure["unit"])
    if figure["kind"] != COUNTER:
        return _make_counted(name, title, unit, figure["last"], "the engine did not report it")
    # The whole measured part counts, because an engine may update a counter after the operation.
    cost = costs_of(run).get(f"{COUNTER_OF}{name}")
    value = _sum(list(figure["operations"].values())) if cost is None else cost.value
    return _make_counted(name, title, unit, value, "the engine did not report it")


def _meter(run: Run, name: str) -> Counted | None:
    """Return a kernel counter of the engine's processes; None for other names."""
    column = "on_cpu_ns" if name == CPU_WORD else name
    meters = GROWING | STANDING
    if column not in meters:
        return None
    title, unit = meters[column]
    if load_of(run.facts) is not None:
        cost = costs_of(run).get({"on_cpu_ns": CPU_TIME, "read_bytes": READ_BYTES}.get(column, ""))
        if cost is None:
            return _make_counted(name, title, unit, None, "operations of a load overlap")
        return Counted(name, title, cost.unit, cost.value)
    if not run.has("tasks"):
        return _make_counted(name, title, unit, None, "nothing was read around operations")
    values = _metered(run, column)
    if column in STANDING:
        value = max((value for value in values if value is not None), default=None)
    else:
        value = _sum(values)
    if value is None and column == "on_cpu_ns":
        # If the kernel's scheduler reports no time, the CPU time is in ticks.
        value = _sum([*_metered(run, "user_ns"), *_metered(run, "system_ns")])
    return _make_counted(name, title, unit, value, "this host's kernel does not report it")


def _metered(run: Run, column: str) -> list[float | None]:
    """Return a kernel counter's mean growth in an execution of each operation."""
    tasks = run.table("tasks")
    if column not in tasks.columns:
        return []
    edge_text, values = pl.col("edge").cast(pl.String), pl.col(column).cast(pl.Float64)
    edges = tasks.select("sequence", edge_text, values)
    begun, ended = (edges.filter(pl.col("edge") == edge).drop("edge") for edge in ("start", "end"))
    done = measured(run.table("events")).filter(pl.col("outcome") == "ok")
    rows = done.select("sequence", "operation").join(ended, on="sequence")
    if column in STANDING:
        is_size = STANDING[column][1] == BYTES
        whole = pl.col(column).max() if is_size else pl.col(column).mean()
        by_operation = rows.group_by("operation", maintain_order=True).agg(whole)
        return by_operation[column].to_list()
    rows = rows.join(begun, on="sequence", suffix="_before")
    grown = pl.col(column) - pl.col(f"{column}_before")
    by_operation = (
        rows.select("operation", grown.alias(column))
        .filter(pl.col(column) >= 0)
        .group_by("operation", maintain_order=True)
        .agg(pl.col(column).mean())
    )
    return by_operation[column].to_list()


def _wait(run: Run, name: str) -> Counted | None:
    """Return the time that threads slept for a cause; None for other names."""
    cause = WAITS.get(name)
    if cause is None:
        return None
    label = TITLES[cause]
    title = label if label.startswith(("waiting", "idle", "paused")) else f"waiting: {label}"
    if load_of(run.facts) is not None:
        return _make_counted(name, title, SECONDS, None, "operations of a load overlap")
    medians = dict(operation_table(run.table("events")).select("operation", "seconds").iter_rows())
    shares = {
        operation: (entry.get("where") or {}).get(cause)
        for operation, entry in where_time_went(run)[0].items()
    }
    parts = [
        None if share is None or medians.get(operation) is None else share * medians[operation]
        for operation, share in shares.items()
    ]
    return _make_counted(name, title, SECONDS, _sum(parts), "the engine's threads were not sampled")


def _plan_figure(run: Run, name: str) -> Counted | None:
    """Return a number from the plans of all statements, such as rows; None for other names."""
    if name not in OF_PLANS:
        return None
    title, unit = OF_PLANS[name]
    plans = [plan for several in read_plans(run).values() for plan in several]
    values: list[float | None]
    if name == "spilled_bytes":
        values = [plan.spilled_bytes for plan in plans]
    elif name == "plan_memory_bytes":
        values = [plan.memory_bytes for plan in plans]
    else:
        values = [_figure_in_plan(plan.root, name) for plan in plans]
    return _make_counted(name, title, unit, _sum(values), "plans do not show it")


def _figure_in_plan(root: PlanNode, name: str) -> float | None:
    nodes = list(root.walk())
    if name == "operators":
        return float(len(nodes))
    # Operators below one that launches workers repeat its number.
    values = [getattr(node, name) for node in nodes if getattr(node, name) is not None]
    return float(max(values)) if values else 0.0


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum of the values; None if a value is missing or there are none."""
    numbers = [value for value in values if value is not None]
    return float(sum(numbers)) if numbers and len(numbers) == len(values) else None


def _make_counted(name: str, title: str, unit: str, value: float | None, why_not: str) -> Counted:
    """Return a counter with its value in display units, or with the reason for none."""
    in_seconds = unit == NANOSECONDS
    shown = SECONDS if in_seconds else unit if unit in (SECONDS, BYTES) else COUNT
    if value is None:
        return Counted(name, title, shown, None, why_not)
    return Counted(name, title, shown, value * NS if in_seconds else value)
