"""Compares two systems (engines, versions or settings) over the rounds of a study."""

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
    """A mean time on each of two compared systems, and the difference with its interval."""

    key: tuple[str | None, ...]
    first_s: float
    second_s: float
    seconds: Mean
    samples: int = 0


@dataclass(frozen=True)
class Tails:
    """The causes of the slowest executions of an operation on each of two compared systems."""

    operation: str
    first: Tail | None
    second: Tail | None


@dataclass(frozen=True)
class TwoSides:
    """The results of comparing two engines, versions or settings.

    Attributes:
        ratios: Ratios of throughput and of operation times between the sides.
        gain: Explanation of the difference; None if a side has no result.
        evidence: Evidence for statements that have plans on both sides.
        tails: Tail latencies of operations.
        cpu: CPU seconds of a transaction or pass by (kind of work,), the largest difference
            first; empty without samples.
        planning: CPU seconds of planning per execution, by (operation, statement, step). A step
            of None means all steps.
        settings: (name, first value, second value) of settings that differ.
    """

    ratios: tuple[Ratio, ...]
    gain: SplitGain | None
    evidence: dict[Key, Evidence]
    tails: tuple[Tails, ...]
    cpu: tuple[Difference, ...]
    planning: tuple[Difference, ...]
    settings: tuple[tuple[str, str, str], ...]


def compare_sides(rounds: Sequence[Round]) -> TwoSides:
    """Return the comparison of two systems from their runs in each round.

    Args:
        rounds: (first side, second side) of each round; at least one round.
    """
    evidence = evidence_of(*rounds[0])
    gain = gain_of(rounds, evidence)
    weights = {} if gain is None else _weights(gain)
    return TwoSides(
        ratios_of(rounds),
        gain,
        dict(sorted(evidence.items(), key=lambda pair: -weights.get(pair[0], 0.0))),
        tuple(_tails(rounds)),
        _differences([(_seconds_by_key(left), _seconds_by_key(right)) for left, right in rounds]),
        _planning(rounds, gain),
        tuple(settings_that_differ(*rounds[0])),
    )


def _weights(gain: SplitGain) -> dict[tuple[str | None, ...], float]:
    """Return each statement's absolute contribution to the time difference, in seconds."""
    return {row.key: abs(row.seconds.value) for row in gain.by_statement}


def _tails(rounds: Sequence[Round]) -> list[Tails]:
    """Return the slowest executions of each operation in the round with the median tail time."""
    sides = [[statement_times(pair[side]) for pair in rounds] for side in (0, 1)]
    names = dict.fromkeys(name for side in sides for by_name in side for name in by_name)
    tails = []
    for name in names:
        first, second = (
            _middle([by_name[name].tail for by_name in side if name in by_name]) for side in sides
        )
        if first is not None or second is not None:
            tails.append(Tails(name, first, second))
    return tails


def _middle(tails: Sequence[Tail | None]) -> Tail | None:
    present = sorted((tail for tail in tails if tail is not None), key=lambda tail: tail.beyond_s)
    return present[len(present) // 2] if present else None


def _seconds_by_key(run: Run) -> dict[tuple[str | None, ...], float]:
    return {(work,): seconds for work, seconds in cpu_by_work(run).items()}


def _planning(rounds: Sequence[Round], gain: SplitGain | None) -> tuple[Difference, ...]:
    """Return CPU time before execution (planning) by statement, the largest difference first."""
    works = [(statement_work(left), statement_work(right)) for left, right in rounds]
    if any(work is None for pair in works for work in pair):
        return ()
    samples: dict[tuple[str | None, ...], int] = {}
    sums: list[tuple[dict[tuple[str | None, ...], float], ...]] = []
    for pair in works:
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
    differences = _differences([(left, right) for left, right in sums], samples)
    of_cause = () if gain is None else [row for row in gain.by_both if row.key[2] == PLANNING]
    whole = {row.key[:2]: abs(row.seconds.value) for row in of_cause}
    return tuple(
        sorted(
            differences,
            key=lambda difference: (
                -whole.get(difference.key[:2], 0.0),
                *map(str, difference.key[:2]),
                step_order(difference.key[2]),
            ),
        )
    )


def _differences(
    rounds: Sequence[
        tuple[dict[tuple[str | None, ...], float], dict[tuple[str | None, ...], float]]
    ],
    samples: dict[tuple[str | None, ...], int] | None = None,
) -> tuple[Difference, ...]:
    if not all(left and right for left, right in rounds):
        return ()
    keys = dict.fromkeys(key for pair in rounds for side in pair for key in side)
    differences = []
    for key in keys:
        pairs = [(left.get(key, 0.0), right.get(key, 0.0)) for left, right in rounds]
        differences.append(
            Difference(
                key,
                sum(left for left, _ in pairs) / len(pairs),
                sum(right for _, right in pairs) / len(pairs),
                mean_of([right - left for left, right in pairs]),
                (samples or {}).get(key, 0),
            )
        )
    return tuple(sorted(differences, key=lambda difference: -abs(difference.seconds.value)))
