"""How much of the difference between two sides each change explains, over the rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.compare.account import account_of
from assay.analysis.compare.causes import FOR_A_CPU, Amount, amounts, parts_of
from assay.analysis.compare.split import split
from assay.analysis.stats.student import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from assay.analysis.compare.evidence import Evidence, Key
    from assay.analysis.stats.student import Mean
    from assay.record.reader import Run

    Round = tuple[Run, Run]


@dataclass(frozen=True)
class GainRow:
    """One row of the gain.

    Attributes:
        key: What it is of.
        seconds: Mean over the rounds, second side less first, with its interval.
    """

    key: tuple[str | None, ...]
    seconds: Mean

    @property
    def is_noise(self) -> bool | None:
        """Whether it may be none; None of a single round."""
        ends = self.seconds.interval
        return None if ends is None else ends[0] <= 0.0 <= ends[1]


@dataclass(frozen=True)
class SplitGain:
    """The difference of the wholes and what explains it.

    Attributes:
        is_mix: Whether the whole is a transaction; else it is a pass over all operations.
        first_s, second_s: The wholes, means over the rounds.
        total: Their difference.
        by_cause: (cause,) largest first; they sum to the total.
        by_statement: (operation, statement), whatever causes it; they sum to the total, too.
        by_both: (operation, statement, cause); so do these.
        undisturbed: The total without what waiting for a CPU adds: the host's other work.
        sampled: Whether CPU time was told apart by statement in every run.
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
    """The gain over rounds of (first side, second side); None if one of them did nothing."""
    found: list[list[Amount]] = []
    wholes: list[tuple[float, float]] = []
    sampled, is_mix = True, True
    for one, other in rounds:
        ours, theirs = account_of(one), account_of(other)
        if ours is None or theirs is None:
            return None
        made_of = parts_of(one), parts_of(other)
        sampled = sampled and None not in made_of
        is_mix = ours.is_mix
        wholes.append((ours.whole_s, theirs.whole_s))
        found.append(list(amounts(split(ours, theirs), *made_of, evidence)))
    if not found:
        return None
    return SplitGain(
        is_mix,
        math.fsum(one for one, _ in wholes) / len(wholes),
        math.fsum(other for _, other in wholes) / len(wholes),
        mean_of([other - one for one, other in wholes]),
        _rows(found, lambda one: (one.cause,)),
        _rows(found, lambda one: (one.operation, one.statement)),
        _rows(found, lambda one: (one.operation, one.statement, one.cause)),
        mean_of([math.fsum(a.seconds for a in one if a.cause != FOR_A_CPU) for one in found]),
        sampled,
    )


def _rows(
    rounds: Sequence[Sequence[Amount]], key: Callable[[Amount], tuple[str | None, ...]]
) -> tuple[GainRow, ...]:
    """Amounts of each key, over the rounds; what a round does not have is none there."""
    sums: list[dict[tuple[str | None, ...], float]] = []
    for one in rounds:
        of_round: dict[tuple[str | None, ...], float] = {}
        for amount in one:
            of_round[key(amount)] = of_round.get(key(amount), 0.0) + amount.seconds
        sums.append(of_round)
    keys: dict[Hashable, tuple[str | None, ...]] = {name: name for one in sums for name in one}
    rows = [GainRow(name, mean_of([one.get(name, 0.0) for one in sums])) for name in keys.values()]
    return tuple(sorted(rows, key=lambda row: -abs(row.seconds.value)))
