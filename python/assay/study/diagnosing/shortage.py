"""Compares a budget with the rounds that fit it and with those that verdicts need."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.diagnose.judging import rounds_min
from assay.analysis.diagnose.way import Shortage
from assay.record.reader import took_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run
    from assay.study.diagnosing.racing import Racing

NS = 1e-9
# Number of causes tried in parallel: each round has a run of each, and one without any change.
SIDE_BY_SIDE = 3
# Rounds that must fit into a budget for this number of parallel causes.
ROUNDS_WANTED = 5


def budget_shortage(
    racing: Sequence[Racing],
    pilot: Run,
    run_seconds: Sequence[float],
    repeated_seconds: Sequence[float],
    left_s: float,
    spent_s: float,
) -> Shortage | None:
    """Return the time limit that a verdict by the measured noise needs; None if it may suffice.

    Fewer rounds decide on a very large gain only.

    Args:
        racing: Changes that are tried in the next round.
        pilot: Run before the first round.
        run_seconds: Durations of all runs of earlier rounds.
        repeated_seconds: Durations of those runs that later rounds repeat without capturing plans.
        left_s: Seconds that the time limit leaves.
        spent_s: Seconds that were spent so far.
    """
    # The plans of a first round may refute a change that acts through plans only.
    if any(racer.candidate.by_plan and not racer.rounds for racer in racing):
        return None
    needed = min(rounds_min(racer.alpha) for racer in racing)
    missing = needed - max(len(racer.rounds) for racer in racing)
    least_s = median(repeated_seconds) if repeated_seconds else _events_s(pilot)
    if missing <= 0 or 2 * missing * least_s <= left_s:
        return None
    run_s = median(run_seconds) if run_seconds else took_s(pilot) or least_s
    return Shortage(needed, spent_s + 2 * missing * max(run_s, least_s))


def _events_s(run: Run) -> float:
    """Return the seconds from a run's first operation to its last one.

    Every run like it takes at least as long. Its start, end and plans may take less time later.
    """
    events = run.table("events")
    begun, ended = events["started_ns"].min(), events["finished_ns"].max()
    return (ended - begun) * NS if isinstance(begun, int) and isinstance(ended, int) else 0.0


def room_for(budget_s: float | None, run_s: float | None) -> int:
    """Return the number of causes to try per round, so that several rounds fit the budget.

    Args:
        budget_s: Time limit of the diagnosis in seconds; None means no limit.
        run_s: Duration of a run in seconds; None if not known.
    """
    if budget_s is None or not run_s:
        return SIDE_BY_SIDE
    return min(SIDE_BY_SIDE, max(1, int(budget_s / run_s / ROUNDS_WANTED) - 1))
