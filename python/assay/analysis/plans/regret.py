"""Plan regret: compares the plan that an engine chose with forced plans.

The fastest of many plans looks faster than it is, because it was picked for its times. So each
round is compared with the plan that was fastest in the other rounds.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

import polars as pl

from assay.analysis.answers.comparison import (
    SEPARATOR,
    Expected,
    Tolerances,
    difference,
    expected_text,
)
from assay.analysis.operations import DEADLINE, NS, measured
from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.shape import estimated_join_rows, join_rows, joined
from assay.analysis.stats.rounds import Factor, factor_of
from assay.record.reader import read_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.plan import Plan
    from assay.record.reader import Run

# How a plan came about.
CHOSEN, SWITCHES, NEIGHBOUR, ORDER = "chosen", "switches", "neighbour", "order"
# Fewer plans have no order to speak of.
RANKED_MIN = 4
RESAMPLES = 2000


@dataclass(frozen=True)
class ForcedPlan:
    """One plan of the operation.

    Attributes:
        name: Such as `q09@3`.
        kind: Method of forcing the plan.
        action: Description of how the plan was forced.
        rounds_s: Time in each round; empty if it did not finish.
        cut_off_s: Seconds after which it was cancelled; None if it was not cancelled.
        failed: Reason of another failure. None means no failure.
        cost: Cost by the optimiser's estimate, in its own unit.
        estimated_rows: Expected rows of all its joins together.
        rows: Rows that they gave.
        differs: Difference of its answer from the chosen plan's. None means no difference.
        joined: Join order as text.
    """

    name: str
    kind: str
    action: str
    rounds_s: tuple[float, ...] = ()
    cut_off_s: float | None = None
    failed: str | None = None
    cost: float | None = None
    estimated_rows: float | None = None
    rows: float | None = None
    differs: str | None = None
    joined: str = "-"

    @property
    def seconds(self) -> float | None:
        """Median of its rounds."""
        return median(self.rounds_s) if self.rounds_s else None


@dataclass(frozen=True)
class Rank:
    """Spearman's rank correlation.

    Attributes:
        rho: Rank correlation, from -1 to 1.
        interval: 95 %, by bootstrap over plans.
        count: Plans.
    """

    rho: float
    interval: tuple[float, float]
    count: int


@dataclass(frozen=True)
class Regret:
    """The time that the best other plan would have saved.

    Attributes:
        plans: The fastest first; those that were cut off, then those that failed, come last.
        chosen: The engine's own choice; one of `plans`.
        best: The fastest of those with right answers.
        regret: Time of the chosen plan over that of the best, not below 1 but by noise.
        by_cost: Whether cost ranks plans as time does; None if there is no cost.
        by_estimated_rows: The same of rows that joins were expected to give. For an engine without
            costs these estimates depend on the forced order, so they are not comparable.
        by_rows: The same of rows that they gave: what is left is not for want of estimates.
    """

    plans: tuple[ForcedPlan, ...]
    chosen: ForcedPlan
    best: ForcedPlan
    regret: Factor
    by_cost: Rank | None
    by_estimated_rows: Rank | None
    by_rows: Rank | None


def regret_of(once: Run, rounds: Run | None, planned: Sequence[Run]) -> Regret | None:
    """The regret of a study's runs; None if the chosen plan has no time.

    Args:
        once: Every plan once.
        rounds: Those that were timed in turns; None means nothing more than once.
        planned: Runs in which ways were planned, whose estimates are of the plans as chosen.
    """
    forced = once.facts["request"]["forced"]
    plans = [plan for name in forced if (plan := _forced(name, once, rounds, planned))]
    plans.sort(key=_rank_of)
    chosen = next((plan for plan in plans if plan.kind == CHOSEN and plan.rounds_s), None)
    if chosen is None:
        return None
    right = [plan for plan in plans if plan.rounds_s and plan.differs is None]
    factor = factor_of(leave_one_out(chosen, right))
    assert factor is not None  # noqa: S101 - the chosen plan is among them
    return Regret(
        tuple(plans),
        chosen,
        right[0],
        factor,
        _ranked(plans, "cost"),
        _ranked(plans, "estimated_rows") if chosen.cost is not None else None,
        _ranked(plans, "rows"),
    )


def _rank_of(plan: ForcedPlan) -> tuple[float, float]:
    if plan.seconds is not None:
        return 0.0, plan.seconds
    return (1.0, plan.cut_off_s) if plan.cut_off_s is not None else (2.0, 0.0)


def _forced(name: str, once: Run, rounds: Run | None, planned: Sequence[Run]) -> ForcedPlan | None:
    forced = once.facts["request"]["forced"][name]
    several = times_by_name(rounds).get(name, ()) if rounds is not None else ()
    times = several or times_by_name(once).get(name, ())
    error = errors_by_name(once).get(name)
    estimated = _plan(name, planned)
    executed = _plan(name, [rounds] if rounds is not None else [])
    limit_s = once.facts["request"]["operation_deadline_s"]
    is_cut = not times and error == DEADLINE
    plan = executed or estimated
    return ForcedPlan(
        name,
        forced["kind"],
        forced["words"],
        tuple(times),
        limit_s if is_cut else None,
        error if not times and not is_cut else None,
        None if estimated is None else estimated.cost,
        None if estimated is None else estimated_join_rows(estimated),
        None if executed is None else join_rows(executed),
        _differs(name, once) if times else None,
        "-" if plan is None else joined(plan),
    )


def _plan(name: str, runs: Sequence[Run]) -> Plan | None:
    return next((plans[-1] for run in runs if (plans := read_plans(run).get(name))), None)


def seconds_by_name(run: Run) -> dict[str, float]:
    """Median seconds of each operation that succeeded in the measured part."""
    return {name: median(times) for name, times in times_by_name(run).items()}


def times_by_name(run: Run) -> dict[str, list[float]]:
    """Seconds of each execution that succeeded in the measured part, in their order."""
    seconds: dict[str, list[float]] = {}
    done = _measured(run).filter(pl.col("outcome") == "ok")
    for name, started_ns, finished_ns in done.select(
        "operation", "started_ns", "finished_ns"
    ).iter_rows():
        seconds.setdefault(name, []).append((finished_ns - started_ns) * NS)
    return seconds


def errors_by_name(run: Run) -> dict[str, str]:
    """Return the first error of each operation that failed in the measured part."""
    failed = _measured(run).filter(pl.col("outcome") == "failed")
    rows = failed.select("operation", "error").reverse().iter_rows()
    return {name: str(error) for name, error in rows}


def _measured(run: Run) -> pl.DataFrame:
    return measured(run.table("events")).sort("sequence")


def _differs(name: str, run: Run) -> str | None:
    """Return how a plan's answer differs from that of the plan the engine chose."""
    first = next(iter(run.facts["request"]["forced"]))
    kept, others = run.results(first), run.results(name)
    if not kept or not others:
        return "its rows were not kept"
    (digest, path), (other, compared) = kept[0], others[0]
    if digest == other:
        return None
    wanted = read_result(path)
    return difference(read_result(compared).rows(), _expected(wanted), _tolerances(run, name))


def _expected(wanted: pl.DataFrame) -> Expected:
    """Rows as expected ones, in whatever order."""
    lines = expected_text(wanted.columns, wanted.rows()).splitlines()[1:]
    rows = tuple(tuple(field or None for field in line.split(SEPARATOR)) for line in lines)
    return Expected(tuple(wanted.columns), rows, ())


def _tolerances(run: Run, name: str) -> Tolerances:
    workload = run.facts["workload"]
    return Tolerances.of(
        workload["answer_columns"].get(name, {}),
        workload["tolerance"]["sum_absolute"],
        workload["tolerance"]["ratio_relative"],
        run.facts["request"]["scale"],
    )


def leave_one_out(chosen: ForcedPlan, plans: Sequence[ForcedPlan]) -> list[float]:
    """Return the chosen plan's time over that of the plan fastest in the other rounds."""
    whole = [plan for plan in plans if len(plan.rounds_s) == len(chosen.rounds_s)]
    ratios = []
    for number, chosen_s in enumerate(chosen.rounds_s):
        others = [_without(plan.rounds_s, number) for plan in whole]
        best = whole[others.index(min(others))]
        ratios.append(chosen_s / best.rounds_s[number])
    return ratios


def _without(times: Sequence[float], number: int) -> float:
    """The mean of logarithms of all rounds but one; of a single round its own."""
    others = [seconds for at, seconds in enumerate(times) if at != number] or [*times]
    return math.fsum(map(math.log, others)) / len(others)


def _ranked(
    plans: Sequence[ForcedPlan], by: Literal["cost", "estimated_rows", "rows"]
) -> Rank | None:
    """Return how well a number ranks plans; plans that were cut off count as the slowest."""
    pairs = [
        (number, plan.seconds if plan.seconds is not None else math.inf)
        for plan in plans
        if (number := getattr(plan, by)) is not None and plan.failed is None
    ]
    return rank_correlation(pairs)


def rank_correlation(pairs: Sequence[tuple[float, float]], seed: int = 1) -> Rank | None:
    """Spearman's rho with average ranks of ties; None of fewer than four pairs, or where all tie.

    C. Spearman, "The proof and measurement of association between two things", 1904.
    """
    if len(pairs) < RANKED_MIN:
        return None
    rho = _rho(pairs)
    if rho is None:
        return None
    drawn = random.Random(seed)  # noqa: S311 - a bootstrap
    again = [_rho(drawn.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)]
    correlations = sorted(rho for rho in again if rho is not None)
    low, high = (
        correlations[round(0.025 * (len(correlations) - 1))],
        correlations[round(0.975 * (len(correlations) - 1))],
    )
    return Rank(rho, (low, high), len(pairs))


def _rho(pairs: Sequence[tuple[float, float]]) -> float | None:
    first, second = _ranks([pair_ for pair_, _ in pairs]), _ranks([pair_ for _, pair_ in pairs])
    mean = (len(pairs) + 1) / 2
    spread = math.fsum((rank - mean) ** 2 for rank in first) * math.fsum(
        (rank - mean) ** 2 for rank in second
    )
    if not spread:
        return None
    both = math.fsum((a - mean) * (b - mean) for a, b in zip(first, second, strict=True))
    return both / math.sqrt(spread)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]
