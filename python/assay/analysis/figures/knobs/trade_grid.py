"""Heat map of two settings: a metric over the levels of both, and the best combination."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.factor_levels import places_of
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import value_of
from assay.analysis.quantities import interval_text, listed, spread, text
from assay.analysis.stats.rounds import factor_of
from assay.analysis.tune.trade import geometric_mean_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.metrics import Metric

    # The metric's values by round, by level of the first and of the second factor.
    Cells = Mapping[tuple[str, str], Mapping[int, float]]


def grid_figure(asked: Asked, metric: Metric, factor: str, other: str) -> Figure:
    """Return a heat map of a metric over the levels of two factors, per engine."""
    down, across = (list(places_of(asked.runs, axis)) for axis in (factor, other))
    having = tuple(run for run in asked.runs if {factor, other} <= set(run.levels))
    subjects = subjects_of(replace(asked, runs=having), without=(factor, other))
    made = {subject.name: _cells(subject, factor, other, metric) for subject in subjects}
    tables = tuple(
        _table(name, cells, (factor, other), (down, across), metric, several=len(made) > 1)
        for name, cells in made.items()
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(name, cells, metric) for name, cells in made.items() if cells),
        subjects=tuple(made),
        measures=tuple(_measures(made, down, across, metric)),
        tables=tables,
        charts=tuple(
            Chart(
                table.name,
                metric.title if len(made) == 1 else f"{name}: {metric.title}",
                "heat",
                tuple(across),
                axis=_short(other),
                table=table.name,
            )
            for name, table in zip(made, tables, strict=True)
        ),
        missing=tuple(
            f"{name} at {down_level}, {across_level} has no {metric.title}: it was not run, or"
            " operations failed"
            for name, cells in made.items()
            for down_level in down
            for across_level in across
            if (down_level, across_level) not in cells
        ),
    )


def _short(factor: str) -> str:
    return factor.removeprefix("set.")


def _cells(subject: Subject, factor: str, other: str, metric: Metric) -> Cells:
    cells: dict[tuple[str, str], dict[int, float]] = {}
    for run in subject.runs:
        value = value_of(run.run, metric)
        if value is not None:
            cells.setdefault((run.levels[factor], run.levels[other]), {})[run.round] = value
    return cells


def _mean(cells: Cells, down: str, across: str) -> float | None:
    rounds = cells.get((down, across))
    return None if not rounds else geometric_mean_of(list(rounds.values())).value


def _table(
    name: str,
    cells: Cells,
    factors: tuple[str, str],
    levels: tuple[list[str], list[str]],
    metric: Metric,
    *,
    several: bool,
) -> Table:
    down, across = levels
    rows: list[tuple[Cell, ...]] = [
        (down_level, *(_mean(cells, down_level, across_level) for across_level in across))
        for down_level in down
    ]
    of = f"{name}: " if several else ""
    return Table(
        f"grid {name}" if several else "grid",
        f"{of}{metric.title} by {_short(factors[0])} (rows) and {_short(factors[1])} (columns)",
        (
            Column(_short(factors[0])),
            *(Column(across_level, metric.unit) for across_level in across),
        ),
        tuple(rows),
    )


def _says(name: str, cells: Cells, metric: Metric) -> str:
    """Return a sentence on the best combination of two settings, and on equally good ones."""
    sign = 1 if metric.is_better == "lower" else -1
    means = {key: geometric_mean_of(list(rounds.values())) for key, rounds in cells.items()}
    best = min(means, key=lambda key: sign * means[key].value)
    figure_text = text(means[best].value, metric.unit) + interval_text(
        means[best].interval, metric.unit
    )
    same = [key for key in cells if key != best and not _differs(cells[key], cells[best])]
    sentence = f"{name}: {metric.title}: {' with '.join(best)} is best, {figure_text}"
    if not same:
        return f"{sentence}, and every other combination differs from it."
    phrase = listed([" with ".join(key) for key in same])
    return f"{sentence}; {phrase} {'does' if len(same) == 1 else 'do'} not differ from it."


def _differs(cell: Mapping[int, float], best: Mapping[int, float]) -> bool:
    ratios = [cell[number] / best[number] for number in cell if best.get(number, 0.0) > 0]
    factor = factor_of([ratio for ratio in ratios if ratio > 0])
    return factor is not None and factor.is_distinct


def _measures(
    made: Mapping[str, Cells], down: list[str], across: list[str], metric: Metric
) -> Iterator[Measure]:
    """Yield the metric for each combination of two settings' levels, such as `10K 2`."""
    for down_level in down:
        for across_level in across:
            values = {
                name: over_rounds
                for name, cells in made.items()
                if (over_rounds := spread(cells.get((down_level, across_level), {}).values()))
                is not None
            }
            if values:
                yield Measure(
                    f"{down_level} {across_level}",
                    f"{down_level}, {across_level}",
                    metric.unit,
                    values,
                )
