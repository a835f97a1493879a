"""What techniques of planner and executor are worth: runs without one beside runs with all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.stats.rounds import Factor, factor_of, noise_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Worth:
    """What one technique is worth to one operation.

    Attributes:
        technique: Its name.
        operation: Name of the operation.
        factor: How many times as long it takes without.
        with_s, without_s: Geometric means over the rounds that have both.
        plan_changed: Whether it is executed in another way; None where no plan is known.
    """

    technique: str
    operation: str
    factor: Factor
    with_s: float
    without_s: float
    plan_changed: bool | None = None


@dataclass(frozen=True)
class _Pairs:
    """Times of an operation with all techniques and without one, by round."""

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
    """What each technique is worth to each operation; the largest factor first.

    Runs of an operation are as noisy without one technique as without another, so their noise is
    estimated together: few rounds are enough then.

    Args:
        all_on: Seconds of operations with all techniques, by round.
        without: The same by the technique that was off.
    """
    found = [
        pairs
        for technique, rounds in without.items()
        for pairs in _pairs(technique, all_on, rounds)
    ]
    noises = {
        operation: noise_of(one.ratios for one in found if one.operation == operation)
        for operation in {one.operation for one in found}
    }
    made = []
    for one in found:
        factor = factor_of(one.ratios, noises[one.operation])
        assert factor is not None  # noqa: S101 - pairs are never empty
        with_s = _mean([all_on_s for all_on_s, _ in one.pairs])
        made.append(Worth(one.technique, one.operation, factor, with_s, with_s * factor.times))
    return sorted(made, key=lambda one: -one.factor.times)


def _pairs(
    technique: str,
    all_on: Mapping[int, Mapping[str, float]],
    rounds: Mapping[int, Mapping[str, float]],
) -> list[_Pairs]:
    operations = dict.fromkeys(name for one in all_on.values() for name in one)
    found = []
    for name in operations:
        pairs = tuple(
            (all_on[number][name], rounds[number][name])
            for number in sorted(all_on.keys() & rounds.keys())
            if name in all_on[number] and name in rounds[number]
        )
        if pairs:
            found.append(_Pairs(technique, name, pairs))
    return found


def _mean(values: list[float]) -> float:
    factor = factor_of(values)
    return 0.0 if factor is None else factor.times


def in_all(found: list[Worth]) -> dict[str, float]:
    """By technique how many times as long all operations together take without it."""
    sums: dict[str, tuple[float, float]] = {}
    for one in found:
        with_s, without_s = sums.get(one.technique, (0.0, 0.0))
        sums[one.technique] = (with_s + one.with_s, without_s + one.without_s)
    return {name: without_s / with_s for name, (with_s, without_s) in sums.items() if with_s}
