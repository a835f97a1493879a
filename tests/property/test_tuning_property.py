"""Whatever is asked and drawn: intervals follow their values, settings stay within their ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.stats.anytime import anytime_interval
from assay.analysis.tune.search import hold_outs, setting_words
from assay.study.tuning.knobs import SearchedKnob, searched_knobs
from assay.study.tuning.optimiser import suggest
from tests.tunes import Tuned, valley

# How long an example takes says nothing of it.
ON_ANY_MACHINE = settings(deadline=None, max_examples=40)
VALUES = st.lists(st.floats(-10, 10), min_size=2, max_size=12)
ALPHAS = st.floats(0.001, 0.5)


@given(VALUES, ALPHAS, st.floats(-5, 5), st.floats(0.1, 10))
def test_an_interval_moves_and_grows_with_its_values(
    values: list[float], alpha: float, by: float, times: float
) -> None:
    ends = anytime_interval(values, alpha)
    other = anytime_interval([times * value + by for value in values], alpha)
    assert (ends is None) == (other is None)
    if ends is not None and other is not None:
        near = pytest.approx([times * end + by for end in ends], rel=1e-6, abs=1e-6)
        assert list(other) == near
        assert ends[0] <= sum(values) / len(values) <= ends[1] or ends[0] == pytest.approx(ends[1])


@given(VALUES, ALPHAS)
def test_who_wants_to_be_surer_has_a_wider_interval(values: list[float], alpha: float) -> None:
    wide, narrow = anytime_interval(values, alpha / 2), anytime_interval(values, alpha)
    if wide is not None and narrow is not None:
        assert wide[0] <= narrow[0]
        assert narrow[1] <= wide[1]


@given(st.integers(0, 5000), st.integers(1, 5000), st.sampled_from(["", "MB", "kB", "ms"]))
def test_a_range_is_read_as_it_is_written(low: int, more: int, unit: str) -> None:
    (knob,) = searched_knobs([f"a={low}{unit}..{low + more}{unit}"], _no_knobs(), "e")
    assert knob.ends == (f"{low}{unit}", f"{low + more}{unit}")
    assert [knob.number(end) for end in knob.ends] == [low, low + more]
    assert low <= knob.rounded(low + more / 3) <= low + more


def _no_knobs():
    from assay.engines.knobs import KnobsFacts

    return KnobsFacts()


@ON_ANY_MACHINE
@given(
    st.integers(0, 100),
    st.integers(1, 500),
    st.lists(st.floats(-3, 3) | st.none(), max_size=6),
    st.integers(0, 99),
)
def test_what_is_suggested_can_be_asked_for_and_was_not_tried(
    low: int, more: int, costs: list[float | None], seed: int
) -> None:
    knob = SearchedKnob("a", (), low, low + more, "MB", whole=True, logarithmic=low > 0)
    trials = [({"a": knob.text(low + at % (more + 1))}, cost) for at, cost in enumerate(costs)]
    suggestion = suggest((knob,), trials, 2, seed)
    tried = [settings for settings, _ in trials]
    assert not [settings for settings in suggestion if settings in tried]
    assert all(low <= knob.number(settings["a"]) <= low + more for settings in suggestion)


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 90), st.integers(0, 99), st.integers(1, 12))
def test_however_short_the_budget_it_is_kept_and_goes_on_from_its_record(
    budget: int, seed: int, steps: int
) -> None:
    whole = Tuned(valley, budget=budget, seed=seed)
    whole.whole()
    assert len(whole.trials) <= budget
    parted = Tuned(valley, budget=budget, seed=seed)
    for _ in range(steps):
        if not parted.step():
            break
    parted.parts = [parted.tune.part_again(part.facts()) for part in parted.parts]
    assert parted.whole() == whole.trials
    assert all(
        setting_words(hold_out.levels) == hold_out.setting for hold_out in hold_outs(whole.trials)
    )
