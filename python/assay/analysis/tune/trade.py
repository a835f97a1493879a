"""A knob's levels: the response with its interval, the first execution apart, and both sides.

Of one subject, over rounds. A run's own figure is its median over executions; the first execution
of each run, when memory is taken for the first time, is in no interval.
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

# Of the kernel, for knobs whose own sides are not named: both are of every engine.
SCHEDULING = ("run_delay_ns", "involuntary_switches")
BLOCKING = ("voluntary_switches", "workers_wait_ns", "disk_read_wait_ns")
# Executions of one run that differ by less are told as steady, as in the field.
STEADY_MAX = 0.05
EXECUTIONS_MIN = 3
# A cause explains variability if it accounts for so much of the variance.
EXPLAINED_MIN = 0.5


@dataclass(frozen=True)
class First:
    """First executions beside later ones, each summed over operations, over rounds.

    Attributes:
        first_s, later_s: Means over rounds; of `later_s` each round's median.
        first_faults, later_faults: Pages of memory taken; None if not told.
    """

    first_s: Mean
    later_s: Mean
    first_faults: float | None
    later_faults: float | None


@dataclass(frozen=True)
class Variability:
    """The spread of executions within a run.

    Attributes:
        share: Their standard deviation in the mean, the median over runs.
        reason: What it comes of, where it is not under `STEADY_MAX`.
    """

    share: float
    reason: str | None


@dataclass(frozen=True)
class Level:
    """The results at one level of a knob.

    Attributes:
        name: As the study has it.
        rounds: What its runs are judged by, by round.
        response: The same over rounds.
        first: None: no execution is kept apart.
        variability: None: too few executions.
        messages: On paper and counted, of its first run; empty of an engine that is no cluster.
    """

    name: str
    rounds: Mapping[int, float]
    response: Mean
    first: First | None
    variability: Variability | None
    messages: tuple[Predicted, ...] = ()


@dataclass(frozen=True)
class Beside:
    """A level beside the best one: how many times as much, paired by rounds."""

    level: str
    factor: Factor | None


@dataclass(frozen=True)
class Trade:
    """The results of changing a knob on one subject.

    Attributes:
        levels: In their order; those without a figure are left out.
        best: Name of the best level.
        beside: The others beside it.
        turned: The knob.
        effect: Whether it took effect.
        scheduling, blocking: Counters of both sides.
        sides_of: Whose sides they are: `knob`, `kernel` or `asked`.
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
    """Names of counters that a study asks for in the place of the knob's; empty: those of it."""

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
    """Return the effects of turning a knob; None if no level has a figure.

    Args:
        levels: Runs by level, each with its round.
        judged: What runs are judged by, by level and round.
        lower_is_better: Whether a smaller figure is.
        asked: Counters in the place of the knob's.
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
    """Return the geometric mean of values above zero, and an interval above zero, too.

    Of values that are not it is the arithmetic one.
    """
    if min(values) <= 0:
        return mean_of(values)
    log_mean = mean_of([math.log(value) for value in values])
    ends = log_mean.interval
    return Mean(
        math.exp(log_mean.value), None if ends is None else (math.exp(ends[0]), math.exp(ends[1]))
    )


def first_of(runs: Sequence[Run]) -> First | None:
    """Return first executions beside later ones; None if the runs have none kept apart.

    It is the first of each operation in the untimed pass of a run that begins with a new server,
    or in a new process.
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
    """Seconds and page faults of the first execution of each operation, and of later ones."""
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
    """Return the spread of executions within a run; None if there are too few."""
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
    """Measured executions with what their tasks waited for a CPU and had of one, in seconds."""
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
    """Return why executions differ: waiting for a CPU, a drift, or CPU time."""
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
    """The share of the times' variance that a column accounts for: r squared; 0 without one."""
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
