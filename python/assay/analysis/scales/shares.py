"""Splits the total cost at each scale into shares, and finds shares that shift with scale.

The change of a share is its value at the largest scale minus that at the smallest, within a
round. A share shifts if the interval of this change over the rounds (Student's) excludes 0, and
the change is large: at least `SHIFT_LARGE` of the whole, or at least `SHIFT_MIN` if the share at
least doubles or halves. Smaller changes may be significant, but are not relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.compare.cpu import cpu_by_work
from assay.analysis.findings.plans.plan_time import plan_seconds
from assay.analysis.load.account import account_of
from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.work import in_proportion
from assay.analysis.stats.student import CONFIDENCE, mean_of
from assay.analysis.work.rules import PLANNING as OPTIMISER
from assay.analysis.work.rules import UNCLASSIFIED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.stats.student import Mean
    from assay.record.reader import Run

# Totals of the shares.
OF_CPU, OF_OPERATORS = "CPU time", "time of plans' operators"
OF_TIME, OF_PLANS = "time", "time by plans"
# If rules explain less of the CPU samples, plans are used instead, as in the figure `profile`.
EXPLAINED_MIN = 0.5
# Time between two operations, and of failed operations.
BETWEEN = "between operations"
SHIFT_LARGE, SHIFT_MIN, SHIFT_TIMES = 0.05, 0.03, 2.0


@dataclass(frozen=True)
class Shift:
    """One share of the total time or CPU time at several scales.

    Attributes:
        name: A kind of work, or an operation.
        means: Means over the rounds, by ascending scale.
        change: Change from the smallest to the largest scale, with its interval over rounds.
    """

    name: str
    means: tuple[float, ...]
    change: Mean

    @property
    def shifts(self) -> bool | None:
        """True if the share changes beyond noise and by enough; None with one round."""
        ends = self.change.interval
        return None if ends is None else self.is_large and not ends[0] <= 0.0 <= ends[1]

    @property
    def is_large(self) -> bool:
        """True if the share changes enough between scales to be reported."""
        less, more = sorted((self.means[0], self.means[-1]))
        least = SHIFT_MIN if more >= SHIFT_TIMES * less else SHIFT_LARGE
        return abs(self.change.value) >= least


@dataclass(frozen=True)
class Shares:
    """The shares of the total time or CPU time at several scales.

    Attributes:
        of: Total of the shares, such as `OF_CPU`.
        scales: The scales, ascending.
        rounds: Number of rounds with a run at each scale.
        shares: Shares, the largest change first.
        moved: Part of the whole that moves to other shares between the smallest and largest
            scale: half the sum of all absolute changes.
    """

    of: str
    scales: tuple[float, ...]
    rounds: int
    shares: tuple[Shift, ...]
    moved: float

    @property
    def shifted(self) -> tuple[Shift, ...]:
        """The shares that change with scale, without the unclassified share."""
        return tuple(share for share in self.shares if share.shifts and share.name != UNCLASSIFIED)

    @property
    def is_explained(self) -> bool:
        """True if most of the total is classified at every scale."""
        unknown = [share.means for share in self.shares if share.name == UNCLASSIFIED]
        return all(share <= 1 - EXPLAINED_MIN for means in unknown for share in means)

    @property
    def largest_unseen(self) -> float:
        """The largest change of a share that was measured or that its interval still allows."""
        ends = [
            end for share in self.shares for end in share.change.interval or (share.change.value,)
        ]
        return max(map(abs, ends), default=0.0)

    @property
    def by_chance(self) -> float:
        """The number of shares that are expected to change significantly by chance alone."""
        return (1 - CONFIDENCE) * sum(share.change.interval is not None for share in self.shares)


@lru_cache(maxsize=256)
def shares_of(run: Run, of: str) -> dict[str, float]:
    """Return shares of a run's time or CPU time by name; empty if not known."""
    if of == OF_TIME:
        return _time_shares(run)
    if of == OF_PLANS:
        return _optimiser_share(run)
    seconds = cpu_by_work(run) if of == OF_CPU else _operator_shares(run)
    whole = sum(seconds.values())
    return {work: value / whole for work, value in seconds.items()} if whole else {}


def _time_shares(run: Run) -> dict[str, float]:
    account = account_of(run)
    if account is None or account.whole_s <= 0:
        return {}
    shares = {
        name: operation.weight * operation.mean_s / account.whole_s
        for name, operation in account.operations.items()
    }
    return shares | ({BETWEEN: account.between_s / account.whole_s} if account.is_mix else {})


def _operator_shares(run: Run) -> dict[str, float]:
    """Return the time of operations by kind of work, divided as in their plans."""
    plans, times = read_plans(run), _time_shares(run)
    if not any(plan.timed for operation_plans in plans.values() for plan in operation_plans):
        return {}
    return in_proportion(plans, {name: time for name, time in times.items() if name != BETWEEN})


def _optimiser_share(run: Run) -> dict[str, float]:
    """Return the optimiser's share of the time, from each query's plan, weighted by its time."""
    times, share = _time_shares(run), 0.0
    plans = {
        name: operation_plans for name, operation_plans in read_plans(run).items() if name in times
    }
    if not any(
        plan.planning_s is not None
        for operation_plans in plans.values()
        for plan in operation_plans
    ):
        return {}
    for name, operation_plans in plans.items():
        whole = sum(map(plan_seconds, operation_plans))
        if whole:
            share += times[name] * sum(plan.planning_s or 0.0 for plan in operation_plans) / whole
    return {OPTIMISER: share}


def all_shifts(rounds: Sequence[Mapping[float, Run]]) -> tuple[Shares, ...]:
    """Return the shares by scale of each kind of work, each operation, and the optimiser.

    Kinds of work come from CPU samples if most of them are classified, otherwise from plans, and
    without plans from any samples.

    Args:
        rounds: The run at each scale, for each round. All rounds have the same scales.
    """
    sampled, by_operators = (shifts_of(rounds, of) for of in (OF_CPU, OF_OPERATORS))
    is_sampled = sampled is not None and sampled.is_explained
    work = sampled if is_sampled or by_operators is None else by_operators
    all_shares = (work, *(shifts_of(rounds, of) for of in (OF_TIME, OF_PLANS)))
    return tuple(shares for shares in all_shares if shares is not None)


def shifts_of(rounds: Sequence[Mapping[float, Run]], of: str) -> Shares | None:
    """Return shares of the time by scale; None unless they are known for every run.

    Args:
        rounds: The run at each scale, for each round. All rounds have the same two or more
            scales.
        of: Total of the shares, such as `OF_CPU`.
    """
    scales = tuple(sorted(rounds[0])) if rounds else ()
    by_round = [[shares_of(own[scale], of) for scale in scales] for own in rounds]
    if len(scales) < 2 or not all(shares for own in by_round for shares in own):  # noqa: PLR2004 - two scales
        return None
    shifts = []
    for name in dict.fromkeys(name for own in by_round for shares in own for name in shares):
        values = [[shares.get(name, 0.0) for shares in own] for own in by_round]
        means = tuple(sum(column) / len(column) for column in zip(*values, strict=True))
        shifts.append(Shift(name, means, mean_of([own[-1] - own[0] for own in values])))
    shifts.sort(key=lambda shift: -abs(shift.change.value))
    moved = sum(abs(shift.change.value) for shift in shifts) / 2
    return Shares(of, scales, len(rounds), tuple(shifts), moved)
