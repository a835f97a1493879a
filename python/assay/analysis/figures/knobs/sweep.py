"""Chart of one metric over the levels of a factor, with a line per combination of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.factor_levels import most_levels, places_of
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import default_metric, metric_named, value_of
from assay.analysis.quantities import by_subject, spread, text
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.metrics import Metric
    from assay.analysis.quantities import Spread

OPTIONS = {
    "metric": "a metric of runs, such as total_seconds, power, throughput or composite, or an"
    " operation's name; without it what the runs are first judged by",
    "factor": "the factor along the axis; without it the one with most levels",
    "logarithmic": "whether the axis of values is",
}


def figure(asked: Asked) -> Figure:
    """Return a chart of a metric by level of a study's factor."""
    metric = _metric(asked)
    factor = asked.options.get("factor") or most_levels(asked.runs)
    places = places_of(asked.runs, factor)
    levels = list(places)
    having = tuple(run for run in asked.runs if factor in run.levels)
    subjects = subjects_of(replace(asked, runs=having), without=(factor,))
    measures = tuple(
        Measure(level, level, metric.unit, _values(subjects, factor, level, metric), places[level])
        for level in levels
    )
    shown = tuple(subject.name for subject in subjects)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(
            sentence for name in shown if (sentence := _says(name, measures, metric, factor))
        ),
        subjects=shown,
        measures=measures,
        tables=(_table(factor, shown, measures, metric),),
        charts=(_chart(asked, factor, metric, measures),),
        notes=_rounds(measures),
        missing=(*_single_level(levels, factor), *_missing(shown, measures, metric)),
    )


def _single_level(levels: list[str], factor: str) -> tuple[str, ...]:
    """Return a note if only one level of the factor was run, so that nothing can be compared."""
    if len(levels) > 1:
        return ()
    return (f"of {factor.removeprefix('set.')} only {levels[0]} was run: nothing to compare with",)


def _metric(asked: Asked) -> Metric:
    name, first = asked.options.get("metric"), asked.runs[0].run
    return default_metric(first) if name is None else metric_named(name, first)


def _values(
    subjects: tuple[Subject, ...], factor: str, level: str, metric: Metric
) -> dict[str, Spread]:
    return by_subject(
        (
            subject.name,
            spread(
                value_of(run.run, metric) for run in subject.runs if run.levels.get(factor) == level
            ),
        )
        for subject in subjects
    )


def _chart(asked: Asked, factor: str, metric: Metric, measures: tuple[Measure, ...]) -> Chart:
    places = [measure.at for measure in measures]
    in_line = None not in places and len(set(places)) == len(places) > 1
    return Chart(
        "sweep",
        metric.title,
        "lines" if in_line else "dots",
        tuple(measure.key for measure in measures),
        bool(asked.options.get("logarithmic")),
        factor.removeprefix("set."),
    )


def _table(
    factor: str, subjects: tuple[str, ...], measures: tuple[Measure, ...], metric: Metric
) -> Table:
    several = any(summary.count > 1 for measure in measures for summary in measure.values.values())
    columns = [Column(factor.removeprefix("set."))]
    for name in subjects:
        columns.append(Column(name, metric.unit))
        columns += (
            [Column("lowest", metric.unit), Column("highest", metric.unit)] if several else []
        )
    rows = []
    for measure in measures:
        cells: list[Cell] = [measure.title]
        for name in subjects:
            summary = measure.values.get(name)
            cells.append(None if summary is None else summary.middle)
            if several:
                cells += [None, None] if summary is None else [summary.low, summary.high]
        rows.append(tuple(cells))
    return Table(
        "sweep", f"{metric.title} by {factor.removeprefix('set.')}", tuple(columns), tuple(rows)
    )


def _says(name: str, measures: tuple[Measure, ...], metric: Metric, factor: str) -> str | None:
    """Return a sentence that names the best level, and says if its gain exceeds noise."""
    levels = [
        (measure.title, measure.values[name]) for measure in measures if name in measure.values
    ]
    if len(levels) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    sign = 1 if metric.is_better == "lower" else -1
    ordered = sorted(levels, key=lambda pair: sign * pair[1].middle)
    (best, least), (worst, most) = ordered[0], ordered[-1]
    factor = factor.removeprefix("set.")
    apart = abs(most.middle - least.middle) / most.middle if most.middle else 0.0
    overlap = least.low <= most.high and most.low <= least.high
    ends = f"{text(least.middle, metric.unit)} and {text(most.middle, metric.unit)}"
    if overlap and min(least.count, most.count) > 1:
        return (
            f"{name}: {metric.title} does not depend on {factor} beyond what runs alike differ by"
            f" ({ends} at {best} and {worst})."
        )
    if not apart:
        same = text(least.middle, metric.unit)
        return f"{name}: {metric.title} is {same} at all levels of {factor}."
    alone = "; one run a level, so it may be noise" if least.count == 1 else ""
    return (
        f"{name}: {factor} {best} is best, {worst} worst: {metric.title} {ends},"
        f" {percent_text(apart)} apart{alone}."
    )


def _rounds(measures: tuple[Measure, ...]) -> tuple[str, ...]:
    counts = [summary.count for measure in measures for summary in measure.values.values()]
    if not counts or max(counts) == 1:
        return ()
    return (f"Medians over up to {max(counts)} rounds, with the lowest and the highest.",)


def _missing(
    subjects: tuple[str, ...], measures: tuple[Measure, ...], metric: Metric
) -> tuple[str, ...]:
    return tuple(
        f"{name} at {measure.title} has no {metric.title}: it was not run, or operations failed"
        for measure in measures
        for name in subjects
        if name not in measure.values
    )
