"""Reads a workload's costs from runs, as the input for sizing a cluster."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.cluster.counters import grown_by_operation, totals_by_operation
from assay.analysis.cluster.nodes import workers_of
from assay.analysis.cluster.words import BYTES, CPU, READ_BYTES, TASK
from assay.analysis.operations import NS
from assay.analysis.profile.shares import metered_cpu
from assay.analysis.scales.costs import DATA_BYTES, MEMORY_PEAK, costs_of
from assay.analysis.size.cluster import Measured, Taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run


def measured_of(runs: Sequence[Run]) -> Measured:
    """Return the combined costs of several runs of a workload.

    Args:
        runs: Runs of one workload and one engine, in which operations did not overlap.

    Raises:
        ValueError: If the runs differ in workload or engine, or a run has no CPU time.
    """
    _check_alike(runs)
    operations: dict[str, list[Taken]] = {}
    data: dict[float, float] = {}
    memory: dict[float, float] = {}
    rounds: Counter[float] = Counter()
    for run in runs:
        scale = float(run.facts["request"]["scale"])
        rounds[scale] += 1
        cpu, counted, costs = _cpu(run), totals_by_operation(run), costs_of(run)
        if not cpu:
            raise ValueError(
                f"the run {run.id} has no CPU time per operation: this needs operations that "
                "run one after another, on processes of this host"
            )
        for name, seconds in cpu.items():
            own = counted.get(name, {})
            sent, read = own.get(BYTES), own.get(READ_BYTES)
            taken = Taken(scale, rounds[scale], seconds, sent, read)
            operations.setdefault(name, []).append(taken)
        for key, into in ((DATA_BYTES, data), (MEMORY_PEAK, memory)):
            if key in costs:
                into[scale] = max(into.get(scale, 0.0), costs[key].value)
    nodes = max(1, len(workers_of(runs[0])))
    return Measured(operations, nodes, data, memory, _skew(runs))


def _check_alike(runs: Sequence[Run]) -> None:
    facts = {
        "workloads": {run.facts["workload"]["name"] for run in runs},
        "engines": {run.facts["engine"]["name"] for run in runs},
        "numbers of nodes": {max(1, len(workers_of(run))) for run in runs},
    }
    for what, values in facts.items():
        if len(values) > 1:
            names = ", ".join(sorted(map(str, values)))
            raise ValueError(
                f"these runs have several {what}: {names}; select the runs of a single one"
            )


def _cpu(run: Run) -> dict[str, float]:
    """Return the median CPU seconds of one execution of each operation."""
    events = run.table("events").select("sequence", pl.col("operation").cast(pl.String))
    metered = metered_cpu(run).join(events, on="sequence", maintain_order="left")
    own = metered.group_by("operation", maintain_order=True).agg(pl.col("cpu_ns").median())
    return {name: value * NS for name, value in sorted(own.iter_rows())}


def _skew(runs: Sequence[Run]) -> float | None:
    """Return the task time of the busiest node over the mean of all nodes."""
    ratios = []
    for run in runs:
        names = {node.name for node in workers_of(run)}
        grown = grown_by_operation(run).filter(pl.col("node").is_in(list(names)))
        for word in (CPU, TASK):
            by_node = (
                grown.filter(pl.col("word") == word).group_by("node").agg(pl.col("growth").sum())
            )
            mean = by_node["growth"].mean()
            most = by_node["growth"].max()
            if by_node.height > 1 and isinstance(mean, float) and isinstance(most, float) and mean:
                ratios.append(most / mean)
                break
    return median(ratios) if ratios else None
