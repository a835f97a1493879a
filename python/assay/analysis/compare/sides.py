"""The two sides of a comparison, their rounds, and all that is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.compare.causes import PLANNING
from assay.analysis.compare.cpu import cpu_by_work
from assay.analysis.compare.evidence import evidence_of, settings_that_differ
from assay.analysis.compare.gain import gain_of
from assay.analysis.compare.ratios import ratios_of
from assay.analysis.profile.statement_work import statement_work, step_order
from assay.analysis.stats.student import mean_of
from assay.analysis.time.statement_times import statement_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.compare.evidence import Evidence, Key
    from assay.analysis.compare.gain import SplitGain
    from assay.analysis.compare.ratios import Ratio
    from assay.analysis.stats.student import Mean
    from assay.analysis.time.statement_times import Tail
    from assay.record.reader import Run

    Round = tuple[Run, Run]


@dataclass(frozen=True)
class Difference:
    """A time of both sides: means over the rounds, and the difference with its interval."""

    key: tuple[str | None, ...]
    first_s: float
    second_s: float
    seconds: Mean
    samples: int = 0


@dataclass(frozen=True)
class Tails:
    """What makes the slowest executions of an operation slow, on each side; None: no tail."""

    operation: str
    first: Tail | None
    second: Tail | None


@dataclass(frozen=True)
class TwoSides:
    """Two sides beside each other.

    Attributes:
        ratios: Of throughput and times.
        gain: What explains the difference; None where a side did nothing.
        evidence: Of statements that have plans on both sides.
        tails: Of operations.
        cpu: (work,): CPU seconds of the whole, largest difference first; empty without samples.
        planning: (operation, statement, step): CPU seconds of an execution before it is executed;
            step is None of all steps together.
        settings: Name and both values of what differs.
    """

    ratios: tuple[Ratio, ...]
    gain: SplitGain | None
    evidence: dict[Key, Evidence]
    tails: tuple[Tails, ...]
    cpu: tuple[Difference, ...]
    planning: tuple[Difference, ...]
    settings: tuple[tuple[str, str, str], ...]


def compare_sides(rounds: Sequence[Round]) -> TwoSides:
    """All that is told of two sides.

    Args:
        rounds: (first side, second side) of each; at least one.
    """
    evidence = evidence_of(*rounds[0])
    gain = gain_of(rounds, evidence)
    weights = {} if gain is None else _weights(gain)
    return TwoSides(
        ratios_of(rounds),
        gain,
        dict(sorted(evidence.items(), key=lambda one: -weights.get(one[0], 0.0))),
        tuple(_tails(rounds)),
        _differences([(_by_key(one), _by_key(other)) for one, other in rounds]),
        _planning(rounds, gain),
        tuple(settings_that_differ(*rounds[0])),
    )


def _weights(gain: SplitGain) -> dict[tuple[str | None, ...], float]:
    """By how much each statement adds to the difference or takes from it."""
    return {row.key: abs(row.seconds.value) for row in gain.by_statement}


def _tails(rounds: Sequence[Round]) -> list[Tails]:
    """Of each operation, the tail that most rounds agree on: that of the middle one by its time."""
    sides = [[statement_times(pair[side]) for pair in rounds] for side in (0, 1)]
    names = dict.fromkeys(name for side in sides for one in side for name in one)
    found = []
    for name in names:
        first, second = (_middle([one[name].tail for one in side if name in one]) for side in sides)
        if first is not None or second is not None:
            found.append(Tails(name, first, second))
    return found


def _middle(tails: Sequence[Tail | None]) -> Tail | None:
    known = sorted((one for one in tails if one is not None), key=lambda one: one.beyond_s)
    return known[len(known) // 2] if known else None


def _by_key(run: Run) -> dict[tuple[str | None, ...], float]:
    return {(work,): seconds for work, seconds in cpu_by_work(run).items()}


def _planning(rounds: Sequence[Round], gain: SplitGain | None) -> tuple[Difference, ...]:
    """CPU time before execution; first the statements whose adds most to the difference."""
    told = [(statement_work(one), statement_work(other)) for one, other in rounds]
    if any(work is None for pair in told for work in pair):
        return ()
    samples: dict[tuple[str | None, ...], int] = {}
    sums: list[tuple[dict[tuple[str | None, ...], float], ...]] = []
    for pair in told:
        both = []
        for work in pair:
            assert work is not None  # noqa: S101 - looked at above
            own = {}
            for *key, count, seconds in work.planning.select(
                "operation", "statement", "step", "samples", "seconds"
            ).iter_rows():
                own[tuple(key)] = seconds
                samples[tuple(key)] = samples.get(tuple(key), 0) + count
            both.append(own)
        sums.append(tuple(both))
    found = _differences([(one, other) for one, other in sums], samples)
    of_cause = () if gain is None else [row for row in gain.by_both if row.key[2] == PLANNING]
    whole = {row.key[:2]: abs(row.seconds.value) for row in of_cause}
    return tuple(
        sorted(
            found,
            key=lambda one: (
                -whole.get(one.key[:2], 0.0),
                *map(str, one.key[:2]),
                step_order(one.key[2]),
            ),
        )
    )


def _differences(
    rounds: Sequence[
        tuple[dict[tuple[str | None, ...], float], dict[tuple[str | None, ...], float]]
    ],
    samples: dict[tuple[str | None, ...], int] | None = None,
) -> tuple[Difference, ...]:
    if not all(one and other for one, other in rounds):
        return ()
    keys = dict.fromkeys(key for pair in rounds for side in pair for key in side)
    found = []
    for key in keys:
        pairs = [(one.get(key, 0.0), other.get(key, 0.0)) for one, other in rounds]
        found.append(
            Difference(
                key,
                sum(one for one, _ in pairs) / len(pairs),
                sum(other for _, other in pairs) / len(pairs),
                mean_of([other - one for one, other in pairs]),
                (samples or {}).get(key, 0),
            )
        )
    return tuple(sorted(found, key=lambda one: -abs(one.seconds.value)))
