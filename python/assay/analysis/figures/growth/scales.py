"""A workload at several scales: what each cost grows by, and what its time goes into at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Figure, Measure, Spread
from assay.analysis.figures.growth.scales_tables import (
    RATIOS,
    SHARES_OF,
    drawn_curves,
    tables_of,
    told_name,
)
from assay.analysis.figures.growth.scales_words import notes_of, says_of
from assay.analysis.figures.quantities import COUNT, SHARE, TIMES, listed, spread
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.scales.compared import Compared, compared, extrapolated
from assay.analysis.scales.costs import costs_of
from assay.analysis.scales.shares import OF_CPU, OF_OPERATORS, OF_TIME
from assay.analysis.scales.size import size_of
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Table
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.scales.compared import Scaled

SCALE = "scale"
COSTS, SHARES = "costs", "shares"
SMALLEST, LARGEST = "smallest", "largest"
OPTIONS = {
    "factor": "the factor whose levels are scales; without it scale, else one whose levels are of"
    " a scale each",
    "of": f"`{COSTS}`: what grows by how much; `{SHARES}`: what the time goes into at each scale;"
    " without it both",
    "extrapolate": "a scale, or a list of them, beyond the largest that is run: what each cost"
    " would be there",
}


def figure(asked: Asked) -> Figure:
    """The figure."""
    of = asked.options.get("of")
    if of not in (None, COSTS, SHARES):
        raise UsageError(f"figure {asked.name}: option of is {COSTS} or {SHARES}, and not {of!r}")
    targets = _targets(asked)
    subjects = subjects_of(asked, without=(_factor(asked),))
    found = {one.name: compared([(run.round, run.run) for run in one.runs]) for one in subjects}
    known = {name: told for name, told in found.items() if told is not None}
    further = {
        name: tuple(extrapolated(told, scale) for scale in _beyond(told, targets))
        for name, told in known.items()
    }
    shown = (of in (None, COSTS), of in (None, SHARES))
    tables = tables_of(known, further, costs=shown[0], shares=shown[1])
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(
            words
            for name, told in known.items()
            for words in says_of(
                told, further[name], name if len(known) > 1 else "", costs=shown[0], shares=shown[1]
            )
        ),
        subjects=tuple(known),
        measures=tuple(_measures(known)),
        tables=tables,
        charts=tuple(_charts(known, tables)),
        notes=tuple(notes_of(known, costs=shown[0], shares=shown[1])),
        missing=tuple(_missing(subjects, known, targets, costs=shown[0], shares=shown[1])),
    )


def _factor(asked: Asked) -> str:
    """The factor whose levels are scales."""
    told = asked.options.get("factor")
    factors = list(dict.fromkeys(name for one in asked.runs for name in one.levels))
    if told is not None or SCALE in factors:
        return str(told or SCALE)
    for factor in factors:
        by_level: dict[str, set[float]] = {}
        for one in asked.runs:
            if factor in one.levels:
                scales = by_level.setdefault(one.levels[factor], set())
                scales.add(size_of(one.run).scale)
        if len(set.union(*by_level.values())) > 1 and all(
            len(own) == 1 for own in by_level.values()
        ):
            return factor
    return SCALE


def _targets(asked: Asked) -> tuple[float, ...]:
    """Scales that are extrapolated to.

    Raises:
        UsageError: If one is no scale.
    """
    told = asked.options.get("extrapolate")
    several = told if isinstance(told, list | tuple) else [] if told is None else [told]
    for one in several:
        if isinstance(one, bool) or not isinstance(one, int | float) or one <= 0:
            raise UsageError(
                f"figure {asked.name}: option extrapolate is a scale above 0, and not {one!r}"
            )
    return tuple(float(one) for one in several)


def _beyond(told: Compared, targets: Sequence[float]) -> list[float]:
    return [one for one in targets if one > told.sizes[-1].scale]


def _measures(known: dict[str, Compared]) -> Iterator[Measure]:
    """Ratios and exponents of costs, and shares at the smallest and at the largest scale."""
    keys = dict.fromkeys(key for told in known.values() for key in told.costs)
    for key in keys:
        has = {name: told.costs[key] for name, told in known.items() if told.law(key) is not None}
        if has:
            title = next(iter(has.values())).title
            times = {name: ratio for name, one in has.items() if (ratio := _ratios(one))}
            yield Measure(f"{key} times", f"times the {title}", TIMES, times)
            exponents = {name: _exponent(one) for name, one in has.items()}
            yield Measure(f"{key} exponent", f"exponent of {title}", COUNT, exponents)
    shares = [(name, one) for name, told in known.items() for one in told.shares]
    for of in (OF_CPU, OF_OPERATORS, OF_TIME):
        names = dict.fromkeys(
            shift.name for _, one in shares if one.of == of for shift in one.shares
        )
        for share in names:
            for place, where in ((0, SMALLEST), (-1, LARGEST)):
                values = {
                    name: _alone(shift.means[place], one.rounds)
                    for name, one in shares
                    if one.of == of
                    for shift in one.shares
                    if shift.name == share
                }
                yield Measure(f"{where} {share}", f"{share}, {where} scale", SHARE, values)


def _ratios(one: Scaled) -> Spread | None:
    """Of the largest size to the smallest, over rounds that have both."""
    assert one.law is not None  # noqa: S101 - only those are asked for
    ends: dict[int, dict[float, float]] = {}
    for point in one.points:
        ends.setdefault(point.round, {})[point.size] = point.value
    first, last = one.law.sizes[0], one.law.sizes[-1]
    return spread(own[last] / own[first] for own in ends.values() if {first, last} <= set(own))


def _alone(mean: float, rounds: int) -> Spread:
    return Spread(mean, mean, mean, rounds)


def _exponent(one: Scaled) -> Spread:
    assert one.law is not None  # noqa: S101 - only those are asked for
    law = one.law
    low, high = law.exponent.interval or (law.exponent.value, law.exponent.value)
    return Spread(law.exponent.value, low, high, law.rounds)


def _charts(known: dict[str, Compared], tables: Sequence[Table]) -> Iterator[Chart]:
    made = {table.name for table in tables}
    for what in drawn_curves(known):
        if what.table in made:
            keys = (what.axis, what.title)
            yield Chart(
                what.name,
                what.title,
                "fitted",
                keys,
                logarithmic=True,
                axis=what.axis,
                table=what.table,
            )
    for name, told in known.items():
        table = told_name(RATIOS, name, known)
        if table in made:
            ends = f"{told.sizes[-1].words} by {told.sizes[0].words}"
            yield Chart(table, f"{name}, {ends}", "forest", ("ratio",), table=table)
        for one in told.shares:
            table = told_name(f"{SHARES_OF}{one.of}", name, known)
            if table in made and len(one.shares) > 1:
                columns = tuple(size.words for size in told.sizes)
                yield Chart(table, f"share of the {one.of}", "stacked", columns, table=table)


def _missing(
    subjects: Sequence[Subject],
    known: dict[str, Compared],
    targets: Sequence[float],
    *,
    costs: bool,
    shares: bool,
) -> Iterator[str]:
    for one in subjects:
        if one.name not in known:
            scales = {size_of(run.run).words for run in one.runs if costs_of(run.run)}
            only = f"only {listed(sorted(scales))} was run" if scales else "nothing succeeded"
            yield f"{one.name}: {only}: a comparison of scales takes two at least"
    for name, told in known.items():
        if len(told.rounds) == 1:
            yield f"{name}: how sure any of it is: a single round has no interval"
        if not told.rounds:
            yield f"{name}: shares by scale: no round has a run at each of its scales"
        if costs:
            yield from _without_law(name, told, targets)
        if shares and not any(one.of in (OF_CPU, OF_OPERATORS) for one in told.shares):
            yield f"{name}: CPU time by kind of work: it takes CPU samples of every run (--profile)"
        if shares and any(not one.is_explained for one in told.shares):
            yield f"{name}: most of its CPU time by kind of work: no rule knows its functions"


def _without_law(name: str, told: Compared, targets: Sequence[float]) -> Iterator[str]:
    """Costs that have no law, and scales to which none is needed."""
    why = [f"{one.title} ({one.why_not})" for one in told.costs.values() if one.why_not]
    if why:
        yield f"{name}: the law of {listed(why)}"
    for scale in targets:
        if scale <= told.sizes[-1].scale:
            yield (
                f"{name}: scale {scale:g} is no extrapolation, as {told.sizes[-1].scale:g} was"
                " run: a run there tells more"
            )
