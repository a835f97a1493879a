"""Elasticities of times that follow a known law, and how often their intervals hold the truth."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import mean

import pytest

from assay.analysis.why.elasticity import Observation, elasticity, fitted, total

LEVELS = (1.0, 1.5, 2.0, 3.0)


def observed(
    law: Callable[[float], float],
    rounds: int = 3,
    noise: float = 0.0,
    seed: int = 1,
    levels: Sequence[float] = LEVELS,
) -> list[Observation]:
    """Times by a law, each round with a level of its own."""
    drawn = random.Random(seed)
    observations = []
    for number in range(rounds):
        drift = drawn.gauss(0, 5 * noise)
        for factor in levels:
            seconds = law(factor) * math.exp(drift + drawn.gauss(0, noise))
            observations.append(Observation(f"{number}-{factor}", number, factor, seconds))
    return observations


class TestWithoutNoise:
    @pytest.mark.parametrize("share", [0.0, 0.02, 0.25, 0.5, 0.98, 1.0])
    def test_a_part_that_grows_in_proportion_is_found_exactly(self, share: float) -> None:
        fit = elasticity(observed(lambda factor: 4 * (1 + share * (factor - 1))))
        assert fit is not None
        assert fit.value == pytest.approx(-share, abs=1e-6)
        assert fit.shape == ("flat" if share < 0.05 else "serial")

    def test_more_than_in_proportion_is_not_cut_off(self) -> None:
        fit = elasticity(observed(lambda factor: 1 + 1.3 * (factor - 1)))
        assert fit is not None
        assert fit.value == pytest.approx(-1.3, abs=1e-6)

    def test_two_levels_are_enough_for_a_share_and_one_is_not(self) -> None:
        fit = elasticity(observed(lambda factor: 1 + 0.4 * (factor - 1), levels=(1.0, 2.0)))
        assert fit is not None
        assert fit.value == pytest.approx(-0.4, abs=1e-6)
        assert elasticity(observed(lambda factor: factor, levels=(1.0,))) is None
        assert elasticity([]) is None

    def test_one_round_of_two_levels_has_no_interval(self) -> None:
        fit = elasticity(observed(lambda factor: factor, rounds=1, levels=(1.0, 2.0)))
        assert fit is not None
        assert fit.interval is None

    def test_a_round_without_its_unhindered_run_still_tells(self) -> None:
        law = observed(lambda factor: 1 + 0.5 * (factor - 1))
        fit = elasticity(
            [observation for observation in law if observation.round or observation.factor > 1]
        )
        assert fit is not None
        assert fit.value == pytest.approx(-0.5, abs=1e-6)


class TestKinks:
    def test_what_binds_only_below_a_level_is_told_with_the_level(self) -> None:
        fit = elasticity(observed(lambda factor: max(1.0, factor / 2), noise=0.01))
        assert fit is not None
        assert fit.shape == "kinked"
        assert fit.binds_below == pytest.approx(0.5, abs=0.05)
        assert fit.value == 0.0

    def test_noise_is_no_kink(self) -> None:
        shares = [0.3, 0.6, 0.9]
        shapes = [
            fit.shape
            for share in shares
            for seed in range(40)
            if (fit := elasticity(observed(lambda f, s=share: 1 + s * (f - 1), 3, 0.02, seed)))
        ]
        assert len(shapes) == 120
        assert shapes.count("kinked") / len(shapes) < 0.1

    def test_a_little_to_spare_is_no_kink(self) -> None:
        fit = elasticity(observed(lambda factor: max(1.0, factor / 1.1)))
        assert fit is not None
        assert fit.shape == "serial"
        assert fit.value == pytest.approx(-0.9, abs=0.05)


class TestIntervals:
    # Over 300 draws a rate of 0.95 is between 0.92 and 0.98 in 98 of 100 cases.
    DRAWS, LEAST = 300, 0.91

    @pytest.mark.parametrize("rounds", [2, 3, 6])
    @pytest.mark.parametrize("share", [0.05, 0.5, 0.98])
    def test_they_hold_the_truth_in_95_of_100(self, rounds: int, share: float) -> None:
        held = 0
        for seed in range(self.DRAWS):
            fit = fitted(observed(lambda f: 1 + share * (f - 1), rounds, 0.02, seed, (1, 1.5, 3)))
            assert fit.interval is not None
            held += fit.interval[0] <= -share <= fit.interval[1]
        assert held / self.DRAWS >= self.LEAST

    def test_a_run_that_was_held_up_decides_little_of_many_rounds(self) -> None:
        law = observed(lambda factor: 1 + 0.5 * (factor - 1), 6, 0.01)
        spoilt = [
            observation
            if (observation.round, observation.factor) != (2, 3.0)
            else Observation(observation.run, 2, 3.0, 9.0)
            for observation in law
        ]
        assert fitted(spoilt).share == pytest.approx(fitted(law).share, abs=0.02)

    def test_of_a_sum_they_know_that_the_unhindered_runs_are_shared(self) -> None:
        errors, claimed = [], []
        for seed in range(self.DRAWS):
            drawn = random.Random(seed)
            free = [Observation(f"f{n}", n, 1.0, math.exp(drawn.gauss(0, 0.02))) for n in range(3)]
            fits = []
            for name, share in (("cpu", 0.5), ("disk", 0.4)):
                more = [
                    Observation(
                        f"{name}{n}{f}",
                        n,
                        f,
                        (1 + share * (f - 1)) * math.exp(drawn.gauss(0, 0.02)),
                    )
                    for n in range(3)
                    for f in (1.5, 3.0)
                ]
                fits.append(fitted([*free, *more]))
            value, interval = total(fits)
            assert interval is not None
            errors.append(interval[0] <= -0.9 <= interval[1])
            claimed.append(value)
        assert mean(claimed) == pytest.approx(-0.9, abs=0.01)
        assert sum(errors) / self.DRAWS >= self.LEAST
