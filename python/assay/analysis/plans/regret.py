"""Computes the time lost against the fastest plan, from forced plans.

The fastest of many plans seems faster than it is, because it was selected by its times. So each
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
from assay.record.streams import read_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.plan import Plan
    from assay.record.reader import Run

# Methods of forcing a plan.
CHOSEN, SWITCHES, NEIGHBOUR, ORDER = "chosen", "switches", "neighbour", "order"
# Fewer plans do not allow a rank correlation.
RANKED_MIN = 4
RESAMPLES = 2000


@dataclass(frozen=True)
class ForcedPlan:
    """One forced plan of an operation, with its times.

    Attributes:
        name: Name of the plan, such as `q09@3`.
        kind: Method of forcing the plan.
        action: Description of how the plan was forced.
        rounds_s: Seconds in each round; empty if it did not finish.
        cut_off_s: Seconds after which it was cancelled; None if it was not cancelled.
        failed: Reason of another failure; None means no failure.
        cost: Cost by the optimiser's estimate, in its own unit.
        estimated_rows: Sum of the rows that the optimiser expects from all joins.
        rows: Sum of the rows that all joins returned.
        differs: Difference of its result from the chosen plan's; None means no difference.
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
        """The median seconds of a forced plan over all rounds; None without a time."""
        return median(self.rounds_s) if self.rounds_s else None


@dataclass(frozen=True)
class Rank:
    """The Spearman rank correlation between cost estimates and the times of plans.

    Attributes:
        rho: Rank correlation, from -1 to 1.
        interval: 95 % interval, by bootstrap over plans.
        count: Number of plans.
    """

    rho: float
    interval: tuple[float, float]
    count: int


@dataclass(frozen=True)
class Regret:
    """The time lost by the optimiser's choice against the fastest of all forced plans.

    Attributes:
        plans: All plans, the fastest first. Cancelled plans come next, then failed plans.
        chosen: The plan that the engine chose itself; one of `plans`.
        best: The fastest plan with right answers.
        regret: Time of the chosen plan divided by that of the best plan; below 1 only by noise.
        by_cost: Rank correlation of cost and time; None without costs.
        by_estimated_rows: Rank correlation of the expected join rows and time. For an engine
            without costs, these estimates depend on the forced order, so they are not
            comparable.
        by_rows: Rank correlation of the actual join rows and time. This correlation shows the
            limit of cardinality estimates.
    """

    plans: tuple[ForcedPlan, ...]
    chosen: ForcedPlan
    best: ForcedPlan
    regret: Factor
    by_cost: Rank | None
    by_estimated_rows: Rank | None
    by_rows: Rank | None


def regret_of(once: Run, rounds: Run | None, planned: Sequence[Run]) -> Regret | None:
    """Return the time lost against the fastest forced plan; None if the chosen one has no time.

    Args:
        once: The run that executed every plan once.
        rounds: The run that timed plans in turns; None means that each plan ran only once.
        planned: Runs that only planned, so that estimates are those of the plans as chosen.
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
    """Return the median seconds of each forced plan's successful executions."""
    return {name: median(times) for name, times in times_by_name(run).items()}


def times_by_name(run: Run) -> dict[str, list[float]]:
    """Return the seconds of each successful measured execution, by operation."""
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
    """Return how a forced plan's result differs from the chosen plan's; None if equal."""
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
    """Return result rows as expected rows in any order."""
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
    """Return per round the chosen plan's time over that of the plan fastest in other rounds."""
    whole = [plan for plan in plans if len(plan.rounds_s) == len(chosen.rounds_s)]
    ratios = []
    for number, chosen_s in enumerate(chosen.rounds_s):
        others = [_without(plan.rounds_s, number) for plan in whole]
        best = whole[others.index(min(others))]
        ratios.append(chosen_s / best.rounds_s[number])
    return ratios


def _without(times: Sequence[float], number: int) -> float:
    """Return the mean logarithm of a plan's times in all rounds except one."""
    others = [seconds for at, seconds in enumerate(times) if at != number] or [*times]
    return math.fsum(map(math.log, others)) / len(others)


def _ranked(
    plans: Sequence[ForcedPlan], by: Literal["cost", "estimated_rows", "rows"]
) -> Rank | None:
    """Return the rank correlation of a plan's number and its time; cancelled plans are slowest."""
    pairs = [
        (number, plan.seconds if plan.seconds is not None else math.inf)
        for plan in plans
        if (number := getattr(plan, by)) is not None and plan.failed is None
    ]
    return rank_correlation(pairs)


def rank_correlation(pairs: Sequence[tuple[float, float]], seed: int = 1) -> Rank | None:
    """Return Spearman's rank correlation; None for under four pairs or if all values tie.

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
    """Return ranks from 1; equal values share the mean of their ranks."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]
