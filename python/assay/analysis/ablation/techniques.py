"""Measures the effect of planner and executor techniques, from runs without each technique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.stats.rounds import Factor, factor_of, noise_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Worth:
    """The effect of one technique on one operation.

    Attributes:
        technique: Name of the technique.
        operation: Name of the operation.
        factor: Time without the technique divided by the time with it.
        with_s, without_s: Seconds with and without the technique: geometric means over the
            rounds that have both.
        plan_changed: Whether the plan differs without the technique; None if no plan is known.
    """

    technique: str
    operation: str
    factor: Factor
    with_s: float
    without_s: float
    plan_changed: bool | None = None


@dataclass(frozen=True)
class _Pairs:
    """Seconds of an operation with all planner techniques and with one disabled, by round."""

    technique: str
    operation: str
    pairs: tuple[tuple[float, float], ...]

    @property
    def ratios(self) -> list[float]:
        return [without / all_on for all_on, without in self.pairs]


def worths(
    all_on: Mapping[int, Mapping[str, float]],
    without: Mapping[str, Mapping[int, Mapping[str, float]]],
) -> list[Worth]:
    """Return the slowdown factor of each operation without each planner technique, largest first.

    The noise of an operation does not depend on the technique that is off. So the noise is
    estimated over all techniques together, and few rounds are enough.

    Args:
        all_on: Seconds of operations with all techniques, by round.
        without: Seconds of operations without one technique, by technique and round.
    """
    compared = [
        pairs
        for technique, rounds in without.items()
        for pairs in _pairs(technique, all_on, rounds)
    ]
    noises = {
        operation: noise_of(pairs.ratios for pairs in compared if pairs.operation == operation)
        for operation in {pairs.operation for pairs in compared}
    }
    made = []
    for pairs in compared:
        factor = factor_of(pairs.ratios, noises[pairs.operation])
        assert factor is not None  # noqa: S101 - pairs are never empty
        with_s = _mean([all_on_s for all_on_s, _ in pairs.pairs])
        made.append(Worth(pairs.technique, pairs.operation, factor, with_s, with_s * factor.times))
    return sorted(made, key=lambda worth: -worth.factor.times)


def _pairs(
    technique: str,
    all_on: Mapping[int, Mapping[str, float]],
    rounds: Mapping[int, Mapping[str, float]],
) -> list[_Pairs]:
    operations = dict.fromkeys(name for seconds in all_on.values() for name in seconds)
    measured = []
    for name in operations:
        pairs = tuple(
            (all_on[number][name], rounds[number][name])
            for number in sorted(all_on.keys() & rounds.keys())
            if name in all_on[number] and name in rounds[number]
        )
        if pairs:
            measured.append(_Pairs(technique, name, pairs))
    return measured


def _mean(values: list[float]) -> float:
    factor = factor_of(values)
    return 0.0 if factor is None else factor.times


def in_all(techniques: list[Worth]) -> dict[str, float]:
    """Return the slowdown factor of all operations together without each planner technique."""
    sums: dict[str, tuple[float, float]] = {}
    for worth in techniques:
        with_s, without_s = sums.get(worth.technique, (0.0, 0.0))
        sums[worth.technique] = (with_s + worth.with_s, without_s + worth.without_s)
    return {name: without_s / with_s for name, (with_s, without_s) in sums.items() if with_s}
