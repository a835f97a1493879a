"""Analysis of variance against tables of F, on groups that are alike, and at its edges."""

from __future__ import annotations

import random

import pytest

from assay.analysis.stats.variance import chance_of_alike, explained_share, incomplete_beta

TRIALS, LEVEL = 3_000, 0.05
# Of so many trials the share that is called different by chance is within this of the level.
WITHIN = 0.015


# 95 % and 99 % points of F, of tables that are older than this code.
@pytest.mark.parametrize(
    ("between", "within", "point", "chance"),
    [
        (1, 1, 161.448, 0.05),
        (1, 4, 7.709, 0.05),
        (2, 6, 5.143, 0.05),
        (2, 9, 4.256, 0.05),
        (4, 20, 2.866, 0.05),
        (2, 6, 10.925, 0.01),
        (3, 12, 5.953, 0.01),
    ],
)
def test_points_of_f_have_their_chance(
    between: int, within: int, point: float, chance: float
) -> None:
    probability = incomplete_beta(within / 2, between / 2, within / (within + between * point))
    assert probability == pytest.approx(chance, rel=2e-3)


def test_of_two_groups_it_is_students_t_of_both_sides() -> None:
    # Means 1 apart, standard error 1, 4 degrees of freedom: 2 x 0.18695.
    groups = [(-1.2247449, 0.0, 1.2247449), (-0.2247449, 1.0, 2.2247449)]
    assert chance_of_alike(groups) == pytest.approx(0.3739, abs=1e-3)


def test_groups_that_are_alike_are_called_different_as_rarely_as_it_says() -> None:
    drawn = random.Random(3)
    probability = 0
    for _ in range(TRIALS):
        groups = [[drawn.gauss(100, 5) for _ in range(3)] for _ in range(3)]
        chance = chance_of_alike(groups)
        assert chance is not None
        probability += chance < LEVEL
    assert probability / TRIALS == pytest.approx(LEVEL, abs=WITHIN)


def test_what_does_not_vary_is_alike_only_where_it_is_equal() -> None:
    assert chance_of_alike([(7.0, 7.0), (7.0, 7.0)]) == 1.0
    assert chance_of_alike([(7.0, 7.0), (8.0, 8.0)]) == 0.0
    assert chance_of_alike([(7.0,), (7.0,)]) == 1.0
    # One value each says nothing of noise.
    assert chance_of_alike([(7.0,), (8.0,)]) is None
    assert chance_of_alike([(7.0, 8.0)]) is None
    assert chance_of_alike([]) is None
    assert chance_of_alike([(), (1.0, 2.0), (1.0, 2.0)]) == 1.0


def test_groups_tell_all_of_what_differs_or_nothing_on_average() -> None:
    assert explained_share([(1.0, 1.0), (2.0, 2.0)]) == 1.0
    # Between them 2 of 4, within them 2 of two degrees of freedom: (2 - 1) / 4.
    assert explained_share([(0.0, 2.0**0.5), (2.0**0.5, 2 * 2.0**0.5)]) == pytest.approx(0.25)
    drawn = random.Random(5)
    shares = [
        explained_share([[drawn.gauss(0, 1) for _ in range(5)] for _ in range(3)]) or 0.0
        for _ in range(500)
    ]
    assert sum(shares) / len(shares) < 0.1
    for nothing in ([], [(1.0, 2.0)], [(1.0,), (2.0,)], [(1.0, 1.0), (1.0, 1.0)]):
        assert explained_share(nothing) is None
