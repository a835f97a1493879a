"""Exact power laws are met whatever their size, and units of either axis change no exponent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.scales.law import Point, PowerLaw, power_law

exponents = st.floats(-3.0, 3.0)
amounts = st.floats(1e-6, 1e9)
rounds = st.integers(1, 5)
sizes = st.lists(st.integers(1, 10**6), min_size=2, max_size=5, unique=True)
noises = st.lists(st.floats(0.5, 2.0), min_size=25, max_size=25)


def fitted(
    sizes: list[int], rounds: int, value: dict[tuple[int, int], float], by: float = 1.0
) -> PowerLaw:
    law = power_law(
        Point(number, by * size, value[number, size]) for number in range(rounds) for size in sizes
    )
    assert law is not None
    return law


@given(exponents, amounts, rounds, sizes)
@settings(max_examples=60, deadline=None)
def test_an_exact_law_is_met_and_foreseen(
    exponent: float, amount: float, count: int, at: list[int]
) -> None:
    value = {(n, size): amount * size**exponent for n in range(count) for size in at}
    law = fitted(at, count, value)
    assert law.exponent.value == pytest.approx(exponent, abs=1e-6)
    assert not law.is_bent
    there = law.predicted(2.0 * max(at))
    assert there.value == pytest.approx(amount * (2.0 * max(at)) ** exponent, rel=1e-4)
    assert there.beyond == pytest.approx(2.0)
    assert (there.interval is None) == (count == 1)


@given(sizes, st.integers(2, 5), noises, amounts, amounts)
@settings(max_examples=60, deadline=None)
def test_units_change_no_exponent_and_intervals_hold_their_middle(
    at: list[int], count: int, noise: list[float], of_size: float, of_value: float
) -> None:
    dice = iter(noise)
    value = {(n, size): size * next(dice) for n in range(count) for size in at}
    law = fitted(at, count, value)
    other = fitted(at, count, {key: of_value * amount for key, amount in value.items()}, of_size)
    assert other.exponent.value == pytest.approx(law.exponent.value, abs=1e-6)
    assert other.ratio.times == pytest.approx(law.ratio.times, rel=1e-6)
    assert law.exponent.interval is not None
    assert law.exponent.interval[0] <= law.exponent.value <= law.exponent.interval[1]
    there = law.predicted(10.0 * max(at))
    assert there.interval is not None
    assert there.interval[0] <= there.value <= there.interval[1]
    assert law.with_fixed_part(10.0 * max(at)) >= 0.0
