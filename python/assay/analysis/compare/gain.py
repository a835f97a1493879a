"""Splits the time difference between two compared systems into the share of each cause."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.compare.causes import FOR_A_CPU, Amount, amounts, parts_of
from assay.analysis.compare.split import split
from assay.analysis.load.account import account_of
from assay.analysis.stats.student import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from assay.analysis.compare.evidence import Evidence, Key
    from assay.analysis.stats.student import Mean
    from assay.record.reader import Run

    Round = tuple[Run, Run]


@dataclass(frozen=True)
class GainRow:
    """One component of the time difference between two compared systems.

    Attributes:
        key: The operation, statement or cause of this part.
        seconds: Mean over the rounds of second side minus first side, with its interval.
    """

    key: tuple[str | None, ...]
    seconds: Mean

    @property
    def is_noise(self) -> bool | None:
        """True if the interval of this time difference includes zero; None after a single round."""
        ends = self.seconds.interval
        return None if ends is None else ends[0] <= 0.0 <= ends[1]


@dataclass(frozen=True)
class SplitGain:
    """The difference in total time between two compared systems, split by cause.

    Attributes:
        is_mix: Whether the total is the time of a transaction. Otherwise the total is the time
            of a pass over all operations.
        first_s, second_s: Total times of the two sides in seconds, means over the rounds.
        total: Difference of the totals.
        by_cause: Differences by (cause,), the largest first, which sum to the total.
        by_statement: Differences by (operation, statement), for all causes, which sum to the
            total.
        by_both: Differences by (operation, statement, cause), which sum to the total.
        undisturbed: The total without waits for a CPU, which other programs of the host cause.
        sampled: Whether every run has CPU samples by statement.
    """

    is_mix: bool
    first_s: float
    second_s: float
    total: Mean
    by_cause: tuple[GainRow, ...]
    by_statement: tuple[GainRow, ...]
    by_both: tuple[GainRow, ...]
    undisturbed: Mean
    sampled: bool


def gain_of(rounds: Sequence[Round], evidence: Mapping[Key, Evidence]) -> SplitGain | None:
    """Return the time difference between two systems by cause; None if one has no result.

    Args:
        rounds: (first side, second side) of each round.
        evidence: Differences of statements between the two sides.
    """
    by_round: list[list[Amount]] = []
    wholes: list[tuple[float, float]] = []
    sampled, is_mix = True, True
    for left, right in rounds:
        ours, theirs = account_of(left), account_of(right)
        if ours is None or theirs is None:
            return None
        made_of = parts_of(left), parts_of(right)
        sampled = sampled and None not in made_of
        is_mix = ours.is_mix
        wholes.append((ours.whole_s, theirs.whole_s))
        by_round.append(list(amounts(split(ours, theirs), *made_of, evidence)))
    if not by_round:
        return None
    return SplitGain(
        is_mix,
        math.fsum(left for left, _ in wholes) / len(wholes),
        math.fsum(right for _, right in wholes) / len(wholes),
        mean_of([right - left for left, right in wholes]),
        _rows(by_round, lambda amount: (amount.cause,)),
        _rows(by_round, lambda amount: (amount.operation, amount.statement)),
        _rows(by_round, lambda amount: (amount.operation, amount.statement, amount.cause)),
        mean_of(
            [
                math.fsum(a.seconds for a in of_round if a.cause != FOR_A_CPU)
                for of_round in by_round
            ]
        ),
        sampled,
    )


def _rows(
    rounds: Sequence[Sequence[Amount]], key: Callable[[Amount], tuple[str | None, ...]]
) -> tuple[GainRow, ...]:
    """Return the time difference per key over the rounds; a missing amount counts as zero."""
    sums: list[dict[tuple[str | None, ...], float]] = []
    for round_amounts in rounds:
        of_round: dict[tuple[str | None, ...], float] = {}
        for amount in round_amounts:
            of_round[key(amount)] = of_round.get(key(amount), 0.0) + amount.seconds
        sums.append(of_round)
    keys: dict[Hashable, tuple[str | None, ...]] = {
        name: name for seconds in sums for name in seconds
    }
    rows = [
        GainRow(name, mean_of([seconds.get(name, 0.0) for seconds in sums]))
        for name in keys.values()
    ]
    return tuple(sorted(rows, key=lambda row: -abs(row.seconds.value)))
