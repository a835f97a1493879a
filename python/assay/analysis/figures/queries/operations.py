"""Table of each operation's seconds by engine, and of the differences between engines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.metrics import seconds_of
from assay.analysis.quantities import SECONDS, TIMES, each_text, listed, text

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Asked, Cell, Measure
    from assay.record.reader import Run

OPTIONS = {"operations": "names of those that are shown; without it all"}


def figure(asked: Asked) -> Figure:
    """Return a table of operation times by engine or setting."""
    subjects = subjects_of(asked)
    names = list(dict.fromkeys(name for run in asked.runs for name in seconds_of(run.run)))
    wanted = asked.options.get("operations")
    titles = subjects[0].first.facts["workload"].get("operation_titles", {})
    measures = tuple(
        measure(name, name, SECONDS, subjects, partial(_seconds, name=name))
        for name in names
        if wanted is None or name in wanted
    )
    shown = tuple(subject.name for subject in subjects)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=_says(shown, measures),
        subjects=shown,
        measures=measures,
        tables=(_table(shown, measures, titles),),
        charts=(
            Chart(
                "seconds",
                "seconds",
                "dots",
                tuple(quantity.key for quantity in measures),
                logarithmic=True,
            ),
        ),
        missing=_missing(shown, measures),
    )


def _title(name: str, titles: dict[str, str]) -> str:
    return f"{name} {titles[name]}" if titles.get(name) else name


def _seconds(run: Run, name: str) -> float | None:
    return seconds_of(run).get(name)


def _table(
    subjects: tuple[str, ...], measures: tuple[Measure, ...], titles: dict[str, str]
) -> Table:
    two = len(subjects) == 2  # noqa: PLR2004 - a ratio is of two
    columns = [Column("operation"), *(Column(name, SECONDS) for name in subjects)]
    rows: list[tuple[Cell, ...]] = []
    for quantity in measures:
        spreads = [quantity.values.get(name) for name in subjects]
        cells: list[Cell] = [
            _title(quantity.key, titles),
            *(None if seconds is None else seconds.middle for seconds in spreads),
        ]
        if two:
            first, second = spreads
            cells.append(first.middle / second.middle if first and second else None)
        rows.append(tuple(cells))
    if two:
        columns.append(Column(f"{subjects[0]} / {subjects[1]}", TIMES))
    return Table("operations", "seconds of each operation", tuple(columns), tuple(rows))


def _says(subjects: tuple[str, ...], measures: tuple[Measure, ...]) -> tuple[str, ...]:
    whole = [quantity for quantity in measures if all(name in quantity.values for name in subjects)]
    sums = {name: sum(quantity.values[name].middle for quantity in whole) for name in subjects}
    if not whole:
        return ()
    fastest = min(subjects, key=sums.__getitem__)
    longest = max(whole, key=lambda quantity: quantity.values[fastest].middle)
    share = text(longest.values[fastest].middle / sums[fastest], "share")
    totals = each_text((name, text(sums[name], SECONDS)) for name in subjects)
    first = f"All operations once take {totals}; {fastest} spends most, {share}, in {longest.key}."
    others = [_against(fastest, name, sums, whole) for name in subjects if name != fastest]
    return (first, *others)


def _against(fastest: str, other: str, sums: dict[str, float], whole: list[Measure]) -> str:
    slower = sums[other] / sums[fastest]
    wins = [
        quantity.key
        for quantity in whole
        if quantity.values[other].middle < quantity.values[fastest].middle
    ]
    beaten = f", but is faster in {listed(wins)}" if wins else " and is faster in none"
    return f"{other} takes {slower:.3g} times as long as {fastest}{beaten}."


def _missing(subjects: tuple[str, ...], measures: tuple[Measure, ...]) -> tuple[str, ...]:
    missing = []
    for name in subjects:
        lacking = [quantity.key for quantity in measures if name not in quantity.values]
        if lacking:
            missing.append(f"{name} has no time of {listed(lacking)}: no execution succeeded")
    return tuple(missing)
