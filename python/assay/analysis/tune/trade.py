"""Measures a setting's levels: the metric, first executions, scheduling and blocking.

All figures are of one subject, over rounds. The figure of a run is its median over executions.
The first execution of each run, in which memory is allocated, is not part of any interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.cluster.messages import Predicted, model_of
from assay.analysis.findings.shape.first_run import first_and_later
from assay.analysis.host.task_counters import executions, readings
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, is_measured
from assay.analysis.stats.rounds import Factor, factor_of
from assay.analysis.stats.student import Mean, mean_of
from assay.analysis.stats.variance import coefficient_of_variation
from assay.analysis.tune.knob_counters import counted
from assay.analysis.tune.knob_effect import Effect, Moved, Turned, effect_of, moved_of, turned_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

# Counters of the kernel, for knobs without declared counters; every engine has these.
SCHEDULING = ("run_delay_ns", "involuntary_switches")
BLOCKING = ("voluntary_switches", "workers_wait_ns", "disk_read_wait_ns")
# Executions of one run that differ by less count as steady, as usual in the field.
STEADY_MAX = 0.05
EXECUTIONS_MIN = 3
# A cause explains the variability if it accounts for this share of the variance.
EXPLAINED_MIN = 0.5


@dataclass(frozen=True)
class First:
    """First executions compared with later ones, summed over operations, over rounds.

    Attributes:
        first_s, later_s: Seconds of first and later executions: means over rounds. `later_s` is
            based on each round's median.
        first_faults, later_faults: Number of page faults; None if not reported.
    """

    first_s: Mean
    later_s: Mean
    first_faults: float | None
    later_faults: float | None


@dataclass(frozen=True)
class Variability:
    """The variation of execution times within a run.

    Attributes:
        share: Standard deviation divided by the mean, the median over runs.
        reason: Reason for the variation if it is at least `STEADY_MAX`, else None.
    """

    share: float
    reason: str | None


@dataclass(frozen=True)
class Level:
    """The results at one level of an engine setting.

    Attributes:
        name: Name of the level in the study.
        rounds: Value of the metric of its runs, by round.
        response: Mean of the metric over rounds.
        first: First executions; None if they are not recorded separately.
        variability: Variation within runs; None with too few executions.
        messages: Predicted and counted messages of its first run; empty if the engine is not a
            cluster.
    """

    name: str
    rounds: Mapping[int, float]
    response: Mean
    first: First | None
    variability: Variability | None
    messages: tuple[Predicted, ...] = ()


@dataclass(frozen=True)
class Beside:
    """A level of a setting compared with the best level, by the ratio of their metrics."""

    level: str
    factor: Factor | None


@dataclass(frozen=True)
class Trade:
    """The results of changing one engine setting on one engine.

    Attributes:
        levels: Levels in their order, without those that have no figure.
        best: Name of the best level.
        beside: The other levels compared with the best.
        turned: The knob that was changed.
        effect: Whether it took effect.
        scheduling, blocking: Counters of scheduling and of blocking.
        sides_of: Source of these counters' names: `knob`, `kernel` or `asked`.
    """

    levels: tuple[Level, ...]
    best: str
    beside: tuple[Beside, ...]
    turned: Turned
    effect: Effect
    scheduling: tuple[Moved, ...]
    blocking: tuple[Moved, ...]
    sides_of: str


@dataclass(frozen=True)
class Sides:
    """Counters that a study requests for a setting, instead of those in `knobs.toml`."""

    moves: tuple[str, ...] = ()
    scheduling: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()


def trade_of(
    levels: Mapping[str, Sequence[tuple[int, Run]]],
    judged: Mapping[str, Mapping[int, float]],
    *,
    lower_is_better: bool,
    asked: Sides,
) -> Trade | None:
    """Return the effects of changing an engine setting; None without results.

    Args:
        levels: Runs by level, each with its round.
        judged: Values of the metric of the runs, by level and round.
        lower_is_better: Whether smaller values of the metric are better.
        asked: Counters to use instead of the knob's.
    """
    judged_levels = {name: runs for name, runs in levels.items() if judged.get(name)}
    if not judged_levels:
        return None
    runs = {name: [run for _, run in rounds] for name, rounds in judged_levels.items()}
    turned = turned_by(runs)
    made = tuple(
        Level(
            name,
            judged[name],
            geometric_mean_of(list(judged[name].values())),
            first_of(own),
            variability_of(own),
            model_of(own[0]),
        )
        for name, own in runs.items()
    )
    sign = 1 if lower_is_better else -1
    best = min(made, key=lambda level: sign * level.response.value)
    moves = asked.moves or turned.moves
    moved = [_counter(name, runs, len(moves)) for name in moves]
    times = {level.name: list(level.rounds.values()) for level in made}
    own = asked.scheduling or asked.blocking or turned.scheduling or turned.blocking
    scheduling = asked.scheduling or turned.scheduling if own else SCHEDULING
    blocking = asked.blocking or turned.blocking if own else BLOCKING
    named = "asked" if asked.scheduling or asked.blocking else "knob"
    return Trade(
        made,
        best.name,
        tuple(_beside(level, best) for level in made if level is not best),
        turned,
        effect_of(runs, turned, moved, times),
        tuple(_counter(name, runs, 1) for name in scheduling),
        tuple(_counter(name, runs, 1) for name in blocking),
        named if own else "kernel",
    )


def geometric_mean_of(values: Sequence[float]) -> Mean:
    """Return the geometric mean of positive values, with a positive interval.

    If a value is not positive, the result is the arithmetic mean.
    """
    if min(values) <= 0:
        return mean_of(values)
    log_mean = mean_of([math.log(value) for value in values])
    ends = log_mean.interval
    return Mean(
        math.exp(log_mean.value), None if ends is None else (math.exp(ends[0]), math.exp(ends[1]))
    )


def first_of(runs: Sequence[Run]) -> First | None:
    """Return first executions compared with later ones; None if not recorded separately.

    The first execution of each operation belongs to the untimed pass of a run that starts with a
    new server or process.
    """
    rows = [row for run in runs if (row := _first_of(run)) is not None]
    if not rows:
        return None
    first, later = zip(*(row[:2] for row in rows), strict=True)
    faults = [(row[2], row[3]) for row in rows if row[2] is not None and row[3] is not None]
    return First(
        geometric_mean_of(first),
        geometric_mean_of(later),
        median(count for count, _ in faults) if faults else None,
        median(count for _, count in faults) if faults else None,
    )


def _first_of(run: Run) -> tuple[float, float, float | None, float | None] | None:
    """Return seconds and page faults of the first and of later executions of each operation."""
    if load_of(run.facts) is not None:
        return None
    tasks = run.table("tasks") if run.has("tasks") else None
    rows = first_and_later(executions(run.table("events"), tasks))
    if rows.is_empty() or not rows["in_warm_up"].all():
        return None
    seconds, later_s = (float(rows[name].sum()) for name in ("seconds", "later_seconds"))
    faults = rows.select("minor_faults", "later_minor_faults")
    if faults.null_count().sum_horizontal().item():
        return seconds, later_s, None, None
    first_faults, later_faults = (float(faults[name].sum()) for name in faults.columns)
    return seconds, later_s, first_faults, later_faults


def variability_of(runs: Sequence[Run]) -> Variability | None:
    """Return the variation of execution times within a run; None with too few executions."""
    shares: list[float] = []
    reasons: list[str] = []
    for run in runs:
        if load_of(run.facts) is not None:
            return None
        for rows in _executions(run).partition_by("operation", maintain_order=True):
            if rows.height >= EXECUTIONS_MIN:
                shares.append(coefficient_of_variation(rows["seconds"].to_list()) or 0.0)
                if shares[-1] >= STEADY_MAX:
                    reasons.append(_reason(rows))
    if not shares:
        return None
    share = median(shares)
    reason = max(reasons, key=reasons.count) if share >= STEADY_MAX else None
    return Variability(share, reason)


def _executions(run: Run) -> pl.DataFrame:
    """Return measured executions with CPU time and CPU waits, in seconds."""
    events = run.table("events")
    rows = executions(events, None)
    rows = rows.filter(is_measured(rows)).with_columns(
        pl.lit(None, pl.Float64).alias("waited_s"), pl.lit(None, pl.Float64).alias("cpu_s")
    )
    if not run.has("tasks"):
        return rows
    return readings(events, run.table("tasks")).select(
        "operation",
        (pl.col("wall_ns") * NS).alias("seconds"),
        (pl.col("run_delay_ns") * NS).alias("waited_s"),
        (pl.col("on_cpu_ns") * NS).alias("cpu_s"),
    )


def _reason(rows: pl.DataFrame) -> str:
    """Return why execution times vary: waits for a CPU, a drift, or CPU time."""
    if _accounted(rows, "waited_s") >= EXPLAINED_MIN:
        return "they waited for a CPU for different times: others used this host"
    half = rows.height // 2
    parts = (rows["seconds"][:half], rows["seconds"][half:])
    early, late = (float(part.median() or 0.0) for part in parts)  # type: ignore[arg-type]
    if min(early, late) > 0 and max(early, late) / min(early, late) > 1 + STEADY_MAX:
        return f"later executions are {'faster' if early > late else 'slower'}: they drift"
    if _accounted(rows, "cpu_s") >= EXPLAINED_MIN:
        return "the same work takes different CPU time: of caches and the clock of the CPU"
    return "not measured: neither waiting for a CPU nor CPU time accounts for it"


def _accounted(rows: pl.DataFrame, name: str) -> float:
    """Return the share of the times' variance that a column explains (r squared)."""
    if rows[name].null_count() or not coefficient_of_variation(rows[name].to_list()):
        return 0.0
    r = rows.select(pl.corr("seconds", name)).item()
    return float(r) ** 2 if r is not None and math.isfinite(r) and r > 0 else 0.0


def _counter(name: str, levels: Mapping[str, Sequence[Run]], counters: int) -> Moved:
    by_level = {level: [counted(run, name) for run in runs] for level, runs in levels.items()}
    every = [counter for several in by_level.values() for counter in several]
    first = next((counter for counter in every if counter.value is not None), every[0])
    values = {
        level: [counter.value for counter in several if counter.value is not None]
        for level, several in by_level.items()
    }
    return moved_of(name, first.title, first.unit, values, counters=counters, why_not=first.why_not)


def _beside(level: Level, best: Level) -> Beside:
    ratios = [
        value / best.rounds[number]
        for number, value in level.rounds.items()
        if best.rounds.get(number, 0.0) > 0 and value > 0
    ]
    return Beside(level.name, factor_of(ratios))
