"""Charts of a workload at several scales: growth of its costs, and the split of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.data_size import size_of
from assay.analysis.figures.contract import Chart, Figure, Measure
from assay.analysis.figures.growth.scales_tables import (
    RATIOS,
    SHARES_OF,
    drawn_curves,
    table_name,
    tables_of,
)
from assay.analysis.figures.growth.scales_words import notes_of, says_of
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import COUNT, SHARE, TIMES, Spread, listed, spread
from assay.analysis.scales.compared import Compared, compared, extrapolated
from assay.analysis.scales.costs import costs_of
from assay.analysis.scales.shares import OF_CPU, OF_OPERATORS, OF_TIME
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
    """Return charts of costs or time shares by scale."""
    of = asked.options.get("of")
    if of not in (None, COSTS, SHARES):
        raise UsageError(
            f"figure {asked.name}: the option 'of' must be {COSTS} or {SHARES}, not {of!r}"
        )
    targets = _targets(asked)
    subjects = subjects_of(asked, without=(_factor(asked),))
    by_name = {
        subject.name: compared([(run.round, run.run) for run in subject.runs])
        for subject in subjects
    }
    comparisons = {
        name: comparison for name, comparison in by_name.items() if comparison is not None
    }
    further = {
        name: tuple(extrapolated(comparison, scale) for scale in _beyond(comparison, targets))
        for name, comparison in comparisons.items()
    }
    shown = (of in (None, COSTS), of in (None, SHARES))
    tables = tables_of(comparisons, further, costs=shown[0], shares=shown[1])
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(
            sentence
            for name, comparison in comparisons.items()
            for sentence in says_of(
                comparison,
                further[name],
                name if len(comparisons) > 1 else "",
                costs=shown[0],
                shares=shown[1],
            )
        ),
        subjects=tuple(comparisons),
        measures=tuple(_measures(comparisons)),
        tables=tables,
        charts=tuple(_charts(comparisons, tables)),
        notes=tuple(notes_of(comparisons, costs=shown[0], shares=shown[1])),
        missing=tuple(_missing(subjects, comparisons, targets, costs=shown[0], shares=shown[1])),
    )


def _factor(asked: Asked) -> str:
    """Return the study factor whose levels are scales."""
    option = asked.options.get("factor")
    factors = list(dict.fromkeys(name for run in asked.runs for name in run.levels))
    if option is not None or SCALE in factors:
        return str(option or SCALE)
    for factor in factors:
        by_level: dict[str, set[float]] = {}
        for run in asked.runs:
            if factor in run.levels:
                scales = by_level.setdefault(run.levels[factor], set())
                scales.add(size_of(run.run).scale)
        if len(set.union(*by_level.values())) > 1 and all(
            len(own) == 1 for own in by_level.values()
        ):
            return factor
    return SCALE


def _targets(asked: Asked) -> tuple[float, ...]:
    """Return the scales to which the chart extrapolates costs.

    Raises:
        UsageError: If the option contains an invalid scale.
    """
    option = asked.options.get("extrapolate")
    several = option if isinstance(option, list | tuple) else [] if option is None else [option]
    for scale in several:
        if isinstance(scale, bool) or not isinstance(scale, int | float) or scale <= 0:
            raise UsageError(
                f"figure {asked.name}: the option 'extrapolate' must be a scale above 0, not "
                f"{scale!r}"
            )
    return tuple(float(scale) for scale in several)


def _beyond(comparison: Compared, targets: Sequence[float]) -> list[float]:
    return [target for target in targets if target > comparison.sizes[-1].scale]


def _measures(comparisons: dict[str, Compared]) -> Iterator[Measure]:
    """Yield cost ratios, growth exponents, and time shares at the smallest and largest scale."""
    keys = dict.fromkeys(key for comparison in comparisons.values() for key in comparison.costs)
    for key in keys:
        has = {
            name: comparison.costs[key]
            for name, comparison in comparisons.items()
            if comparison.law(key) is not None
        }
        if has:
            title = next(iter(has.values())).title
            times = {name: ratio for name, cost in has.items() if (ratio := _ratios(cost))}
            yield Measure(f"{key} times", f"times the {title}", TIMES, times)
            exponents = {name: _exponent(cost) for name, cost in has.items()}
            yield Measure(f"{key} exponent", f"exponent of {title}", COUNT, exponents)
    shares = [
        (name, breakdown)
        for name, comparison in comparisons.items()
        for breakdown in comparison.shares
    ]
    for of in (OF_CPU, OF_OPERATORS, OF_TIME):
        names = dict.fromkeys(
            shift.name
            for _, breakdown in shares
            if breakdown.of == of
            for shift in breakdown.shares
        )
        for share in names:
            for place, where in ((0, SMALLEST), (-1, LARGEST)):
                values = {
                    name: _without_interval(shift.means[place], breakdown.rounds)
                    for name, breakdown in shares
                    if breakdown.of == of
                    for shift in breakdown.shares
                    if shift.name == share
                }
                yield Measure(f"{where} {share}", f"{share}, {where} scale", SHARE, values)


def _ratios(cost: Scaled) -> Spread | None:
    """Return the ratio of a cost at the largest to the smallest size, over rounds with both."""
    assert cost.law is not None  # noqa: S101 - only those are asked for
    ends: dict[int, dict[float, float]] = {}
    for point in cost.points:
        ends.setdefault(point.round, {})[point.size] = point.value
    first, last = cost.law.sizes[0], cost.law.sizes[-1]
    return spread(own[last] / own[first] for own in ends.values() if {first, last} <= set(own))


def _without_interval(mean: float, rounds: int) -> Spread:
    return Spread(mean, mean, mean, rounds)


def _exponent(cost: Scaled) -> Spread:
    assert cost.law is not None  # noqa: S101 - only those are asked for
    law = cost.law
    low, high = law.exponent.interval or (law.exponent.value, law.exponent.value)
    return Spread(law.exponent.value, low, high, law.rounds)


def _charts(comparisons: dict[str, Compared], tables: Sequence[Table]) -> Iterator[Chart]:
    made = {table.name for table in tables}
    for what in drawn_curves(comparisons):
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
    for name, comparison in comparisons.items():
        table = table_name(RATIOS, name, comparisons)
        if table in made:
            ends = f"{comparison.sizes[-1].text} by {comparison.sizes[0].text}"
            yield Chart(table, f"{name}, {ends}", "forest", ("ratio",), table=table)
        for breakdown in comparison.shares:
            table = table_name(f"{SHARES_OF}{breakdown.of}", name, comparisons)
            if table in made and len(breakdown.shares) > 1:
                columns = tuple(size.text for size in comparison.sizes)
                yield Chart(table, f"share of the {breakdown.of}", "stacked", columns, table=table)


def _missing(
    subjects: Sequence[Subject],
    comparisons: dict[str, Compared],
    targets: Sequence[float],
    *,
    costs: bool,
    shares: bool,
) -> Iterator[str]:
    for subject in subjects:
        if subject.name not in comparisons:
            scales = {size_of(run.run).text for run in subject.runs if costs_of(run.run)}
            only = f"only {listed(sorted(scales))} was run" if scales else "nothing succeeded"
            yield f"{subject.name}: {only}: a comparison of scales takes two at least"
    for name, comparison in comparisons.items():
        if len(comparison.rounds) == 1:
            yield f"{name}: how sure any of it is: a single round has no interval"
        if not comparison.rounds:
            yield f"{name}: shares by scale: no round has a run at each of its scales"
        if costs:
            yield from _without_law(name, comparison, targets)
        if shares and not any(
            breakdown.of in (OF_CPU, OF_OPERATORS) for breakdown in comparison.shares
        ):
            yield f"{name}: CPU time by kind of work: it takes CPU samples of every run (--profile)"
        if shares and any(not breakdown.is_explained for breakdown in comparison.shares):
            yield f"{name}: most of its CPU time by kind of work: no rule knows its functions"


def _without_law(name: str, comparison: Compared, targets: Sequence[float]) -> Iterator[str]:
    """Yield sentences on costs without a growth law, and on scales that were already measured."""
    why = [f"{cost.title} ({cost.why_not})" for cost in comparison.costs.values() if cost.why_not]
    if why:
        yield f"{name}: the law of {listed(why)}"
    for scale in targets:
        if scale <= comparison.sizes[-1].scale:
            yield (
                f"{name}: scale {scale:g} is no extrapolation, as {comparison.sizes[-1].scale:g}"
                " was run: a run there is more precise"
            )
