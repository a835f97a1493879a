"""Sentences that summarise a workload at several scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.figures.growth.scales_tables import COUNTED_MAX, NOT_OF_THE_WHOLE
from assay.analysis.quantities import BYTES, SECONDS, SHARE, interval_text, listed, text
from assay.analysis.scales.compared import headline
from assay.analysis.scales.costs import (
    CPU_TIME,
    DATA_BYTES,
    MEMORY_PEAK,
    READ_BYTES,
    TIME_OF,
    WHOLE_TIME,
)
from assay.analysis.scales.shares import OF_CPU, OF_OPERATORS, SHIFT_LARGE, SHIFT_MIN
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.scales.compared import Compared, Extrapolated, Scaled
    from assay.analysis.scales.law import PowerLaw
    from assay.analysis.scales.shares import Shift

TEN, NEAR = 10.0, 0.005
WHOLE_FROM, TENTHS_FROM = 100.0, 10.0
# An exponent this close to 1 counts as 1 if it has no interval.
IN_PROPORTION = 0.05
SHIFTS_MAX = 4
# Extrapolation beyond this multiple of the measured scales is doubtful.
FAR = 10.0


def says_of(
    comparison: Compared,
    further: Sequence[Extrapolated],
    name: str,
    *,
    costs: bool,
    shares: bool,
) -> Iterator[str]:
    """Yield sentences on cost growth and time shares by scale, the most important first.

    Args:
        comparison: Comparison of the measured scales.
        further: Extrapolated scales, which were not run.
        name: Name of the subject; empty if there is only one.
        costs: Whether costs are requested.
        shares: Whether shares are requested.
    """
    lead = f"{name}: " if name else ""
    if costs:
        yield f"{lead}{_growth(comparison)}"
        yield from (f"{lead}{sentence}" for sentence in _power(comparison))
    if shares:
        yield from (f"{lead}{sentence}" for sentence in _measure_different_things(comparison))
    if costs:
        yield from (f"{lead}{sentence}" for sentence in _efficiency(comparison))
        yield from (f"{lead}{sentence}" for sentence in _exceptions(comparison))
        for there in further:
            yield f"{lead}{_extrapolation(comparison, there)}"
            yield from (f"{lead}{sentence}" for sentence in _warnings(comparison, there))


def times_text(times: float) -> str:
    """Return a factor as text, such as `7.1 times`."""
    if times >= WHOLE_FROM:
        return f"{times:,.0f} times"
    if times >= TENTHS_FROM:
        return f"{times:.0f} times"
    return f"{times:.1f} times" if times >= 1 else f"{times:.2f} times"


def _growth(comparison: Compared) -> str:
    """Return text on the growth of costs, such as `10 times the data: 7.1 times the look-ups`."""
    factor = comparison.factor
    much = "Ten times" if abs(factor / TEN - 1) < NEAR else times_text(factor)
    ends = f"{comparison.sizes[0].text} to {comparison.sizes[-1].text}"
    costs = [(cost, cost.law) for cost in headline(comparison, COUNTED_MAX) if cost.law is not None]
    parts = [_part(law, cost.title) for cost, law in costs if cost.group not in NOT_OF_THE_WHOLE]
    if not parts:
        return f"{much} the data ({ends}): no cost is known at both scales."
    beside = [_part(law, cost.title) for cost, law in costs if cost.group in NOT_OF_THE_WHOLE]
    also = f"; {', '.join(beside)}" if beside else ""
    unsure = "" if len(comparison.rounds) > 1 else " From one round, so its certainty is unknown."
    return f"{much} the data ({ends}): {', '.join(parts)}, for {comparison.whole}{also}.{unsure}"


def _part(law: PowerLaw, title: str) -> str:
    ends = law.ratio.interval
    between = "" if ends is None else f" [{_number(ends[0])}, {_number(ends[1])}]"
    return f"{times_text(law.ratio.times)}{between} the {title}"


def _number(times: float) -> str:
    return times_text(times).removesuffix(" times")


def _power(comparison: Compared) -> Iterator[str]:
    """Yield sentences on time's growth exponent, and on the queries that grow most and least."""
    law = comparison.law(WHOLE_TIME)
    if law is None:
        return
    power = exponent_text(law)
    yield f"The time of {comparison.whole} grows as the size of the data to the power {power}."
    queries = [
        cost
        for key, cost in comparison.costs.items()
        if key.startswith(TIME_OF) and cost.law is not None
    ]
    ordered = sorted(queries, key=lambda cost: -(cost.law.exponent.value if cost.law else 0.0))
    if len(ordered) > 1 and ordered[0].law is not None and ordered[-1].law is not None:
        most, least = ordered[0], ordered[-1]
        yield (
            f"{_query(most)} grows most, to the power {_short(ordered[0].law)}; {_query(least)}"
            f" least, to the power {_short(ordered[-1].law)}."
        )


def _query(cost: Scaled) -> str:
    return cost.key.removeprefix(TIME_OF)


def _short(law: PowerLaw) -> str:
    """Return a growth exponent with its interval as text."""
    ends = law.exponent.interval
    between = "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return f"{law.exponent.value:.2f}{between}"


def exponent_text(law: PowerLaw) -> str:
    """Return a growth exponent with its interval and its meaning as text."""
    value = law.exponent.value
    low, high = law.exponent.interval or (value - IN_PROPORTION, value + IN_PROPORTION)
    if low <= 0.0 <= high:
        means = "no growth beyond noise"
        if low <= 1.0 <= high:
            means = "between no growth and growth in proportion"
    elif low <= 1.0 <= high:
        means = "in proportion"
    else:
        means = "less than in proportion" if value < 1 else "more than in proportion"
    return f"{_short(law)}: {means}"


def _measure_different_things(comparison: Compared) -> Iterator[str]:
    """Yield sentences on shares of time that change with scale, or on their absence."""
    ends = f"{comparison.sizes[0].text} and {comparison.sizes[-1].text}"
    shifted = [(breakdown, breakdown.shifted) for breakdown in comparison.shares]
    if any(own for _, own in shifted):
        parts = [f"{_shifts(own)} of the {breakdown.of}" for breakdown, own in shifted if own]
        yield f"{ends} measure different things: {'; '.join(parts)}."
        yield from _moved_share(comparison)
    elif comparison.shares and all(breakdown.rounds > 1 for breakdown in comparison.shares):
        yield _no_shift(comparison, ends)
    elif comparison.shares:
        first = comparison.shares[0]
        large = [share for share in first.shares if share.is_large]
        if large:
            yield (
                f"Between {ends} shares of the {first.of} differ, {_shifts(large)}; with one"
                f" round this may be noise."
            )


def _no_shift(comparison: Compared, ends: str) -> str:
    """Return a sentence that no time share changes, or that rounds differ too much to decide."""
    of = listed([breakdown.of for breakdown in comparison.shares])
    most = max(breakdown.largest_unseen for breakdown in comparison.shares)
    up_to = text(most, SHARE)
    if most <= SHIFT_MIN:
        return f"{ends} measure the same: no share of the {of} shifts by more than {up_to}."
    return (
        f"Nothing says that {ends} measure different things: no share of the {of} shifts beyond"
        f" what rounds differ by, and shifts of up to {up_to} would not be seen."
    )


def _shifts(shifts: Sequence[Shift]) -> str:
    """Return changes of time shares as text, such as `optimiser/parse from 14 % to 2.2 %`."""
    return listed(
        [
            f"{shift.name} from {text(shift.means[0], SHARE)} to {text(shift.means[-1], SHARE)}"
            for shift in shifts
        ],
        SHIFTS_MAX,
    )


def _moved_share(comparison: Compared) -> Iterator[str]:
    breakdown = next(
        (breakdown for breakdown in comparison.shares if breakdown.of in (OF_CPU, OF_OPERATORS)),
        None,
    )
    if breakdown is not None and breakdown.shifted:
        yield (
            f"In all {text(breakdown.moved, SHARE)} of the {breakdown.of} goes into other work at"
            f" {comparison.sizes[-1].text} than at {comparison.sizes[0].text}."
        )


def _efficiency(comparison: Compared) -> Iterator[str]:
    """Yield a sentence on work per CPU second at the largest scale compared with the smallest."""
    for efficiency in comparison.efficiencies[:1]:
        work, cpu = efficiency.work.law, efficiency.cpu.law
        if work is None or cpu is None:
            continue
        ends = efficiency.law.ratio.interval
        between = "" if ends is None else f" [{_number(ends[0])}, {_number(ends[1])}]"
        noise = ends is not None and not efficiency.law.ratio.is_distinct
        yield (
            f"{times_text(work.ratio.times)} the {efficiency.work.title} take"
            f" {times_text(cpu.ratio.times)} the CPU time: {comparison.sizes[-1].text} does"
            f" {times_text(efficiency.law.ratio.times)}{between} as many a second of CPU time as"
            f" {comparison.sizes[0].text}{', which may be noise' if noise else ''}."
        )


def _exceptions(comparison: Compared) -> Iterator[str]:
    """Yield sentences on costs that one exponent does not describe, and on plans that change."""
    for cost in headline(comparison, COUNTED_MAX):
        if cost.law is not None and cost.law.is_bent:
            yield (
                f"No power law has the {cost.title}: the exponent is {cost.law.locals[0].value:.2f}"
                " between the two smallest scales and"
                f" {cost.law.locals[-1].value:.2f} between the two largest."
            )
    if comparison.replanned:
        names = listed(list(comparison.replanned), SHIFTS_MAX)
        first, how = next(iter(comparison.replanned.items()))
        yield (
            f"By another plan at {comparison.sizes[-1].text} than at {comparison.sizes[0].text}:"
            f" {names}; of {first} {how}."
        )


def _extrapolation(comparison: Compared, there: Extrapolated) -> str:
    """Return a sentence with the extrapolated costs of a scale that was not run."""
    keys = (WHOLE_TIME, CPU_TIME, READ_BYTES, MEMORY_PEAK)
    parts = [
        f"{comparison.costs[key].title} {text(there.costs[key].value, comparison.costs[key].unit)}"
        f"{interval_text(there.costs[key].interval, comparison.costs[key].unit)}"
        for key in keys
        if key in there.costs
    ]
    estimates = ", ".join(parts) if parts else "nothing can be said"
    return f"{there.size} was not run; by these laws {comparison.whole} would have: {estimates}."


def _warnings(comparison: Compared, there: Extrapolated) -> Iterator[str]:
    """Yield warnings about applying the growth laws to a scale that was not run."""
    far = f"{there.size} is {times_text(there.beyond)} as large as the largest scale that was run"
    doubt = (
        "; so far outside that a law of the measured scales says little"
        if (there.beyond >= FAR)
        else ""
    )
    few = (
        "; with two scales it is unknown whether there is such a law"
        if (
            len(comparison.sizes) == 2  # noqa: PLR2004 - two scales
        )
        else ""
    )
    yield f"{far}{doubt}{few}. Another plan there, as engines choose by size, is in no law."
    memory = there.outgrows()
    if memory is not None:
        here = comparison.law(DATA_BYTES)
        fits = here is not None and here.values[-1] <= min(_memories(there), default=0.0)
        change = ", where those that were run fit" if fits else ""
        yield (
            f"Its data would take {text(there.data_bytes, BYTES)} and do not fit into"
            f" {memory} ({text(_capacity_bytes(there, memory), BYTES)}){change}: reads and waits"
            " that no"
            " run had begin there, and no law of these runs has them."
        )
    elif there.data_bytes is None:
        yield "The size of the data was not measured, so it is unknown whether they would fit."
    yield from _other_laws(comparison, there)


def _other_laws(comparison: Compared, there: Extrapolated) -> Iterator[str]:
    """Yield sentences on a law of growth with a fixed cost, and on which law fits better."""
    law = comparison.law(WHOLE_TIME)
    if law is None or WHOLE_TIME not in there.otherwise:
        return
    otherwise = text(there.otherwise[WHOLE_TIME], SECONDS)
    yield (
        "As a fixed part and one in proportion to the data the time would be"
        f" {otherwise}{_fit(law)}."
    )
    if law.is_bent:
        last = text(law.by_last_two(comparison.sizes[-1].amount * there.beyond), SECONDS)
        yield f"By the two largest scales alone it would be {last}: the exponent is not the same."


def _fit(law: PowerLaw) -> str:
    """Return text on the largest error of both growth laws; with two scales both fit exactly."""
    if len(law.sizes) == 2:  # noqa: PLR2004 - both go through two points
        return "; both laws fit two scales exactly"
    laws = (law.at, law.with_fixed_part)
    power, fixed = (
        max(
            abs(math.log(of(size) / value))
            for size, value in zip(law.sizes, law.values, strict=True)
        )
        for of in laws
    )
    off = f"off by {percent_text(fixed)} at most where the power law is off by"
    return f"; that is {off} {percent_text(power)}"


def _memories(there: Extrapolated) -> list[float]:
    return [capacity for capacity in (there.cache_bytes, there.host_bytes) if capacity is not None]


def _capacity_bytes(there: Extrapolated, memory: str) -> float | None:
    return there.host_bytes if memory == "memory" else there.cache_bytes


def notes_of(comparisons: Mapping[str, Compared], *, costs: bool, shares: bool) -> Iterator[str]:
    """Yield notes on the method of fitting growth laws and extrapolating."""
    if not comparisons:
        return
    if costs:
        yield (
            "A cost is a power of the size of the data, by logarithms: each round gives an"
            " exponent, the one that is told is their mean, with its interval of 95 % by Student's"
            " t over the rounds. The interval of a scale that was not run is that of a new run, by"
            " how far single runs are off the line through all of them."
        )
    if shares:
        by_chance = sum(
            breakdown.by_chance
            for comparison in comparisons.values()
            for breakdown in comparison.shares
        )
        yield (
            "A share shifts where its change from the smallest to the largest scale has an interval"
            f" over rounds that holds no 0, and is at least {percent_text(SHIFT_LARGE)} of the"
            f" whole, or {percent_text(SHIFT_MIN)} where the share is doubled or halved. Of these"
            f" shares {by_chance:.1f} would have such an interval by chance, if none"
            " changed; few of them by so much."
        )
