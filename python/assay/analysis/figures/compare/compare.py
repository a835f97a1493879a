"""Tables that compare two engines, versions or settings and explain the time difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.compare.sides import compare_sides
from assay.analysis.figures.compare.compare_tables import FOREST, GAIN, tables_of
from assay.analysis.figures.compare.compare_words import notes_of, says_of
from assay.analysis.figures.contract import Chart, Figure
from assay.analysis.figures.subjects import subjects_of
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.figures.contract import Asked
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS = {
    "first": "the side that is compared with, by its name or a level of its; else the first one",
    "second": "the other side; else the one that is left",
}
# The factor whose levels are the names of the two sides of a comparison.
SIDE = "side"


def figure(asked: Asked) -> Figure:
    """Return tables that compare two engines, versions or settings."""
    sides = _sides(asked)
    if len(sides) < 2:  # noqa: PLR2004 - a comparison has two sides
        missing = ("one side has no run: there is nothing to compare",)
        return Figure(asked.name, asked.kind, asked.title, missing=missing)
    rounds = _rounds(sides)
    if not rounds:
        missing = ("no round has a run of both sides",)
        return Figure(asked.name, asked.kind, asked.title, missing=missing)
    names = _names(sides)
    comparison = compare_sides(rounds)
    tables = tables_of(comparison, names)
    made = {table.name for table in tables}
    wanted = (
        Chart(FOREST, f"{names[1]} by {names[0]}", "forest", ("ratio",), table=FOREST),
        Chart(GAIN, "what explains the difference", "waterfall", ("seconds",), table=GAIN),
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(says_of(comparison, names)),
        subjects=names,
        tables=tables,
        charts=tuple(chart for chart in wanted if chart.table in made),
        notes=tuple(notes_of(comparison, len(rounds))),
        missing=tuple(_missing(comparison.gain is not None and comparison.gain.sampled, rounds)),
    )


def _sides(asked: Asked) -> tuple[Subject, ...]:
    """Return the two engines, versions or settings to compare.

    Raises:
        UsageError: If an option names an unknown side, or if no option chooses between more than
            two.
    """
    every = subjects_of(asked)
    chosen = []
    for option in OPTIONS:
        name = asked.options.get(option)
        if name is not None:
            chosen.append(_named(asked, every, option, str(name)))
    if len(chosen) == 1:
        rest = [subject for subject in every if subject is not chosen[0]]
        chosen = [*chosen, *rest] if "first" in asked.options else [*rest, *chosen]
    chosen = chosen or list(every)
    if len(chosen) > 2:  # noqa: PLR2004 - a comparison has two sides
        names = ", ".join(subject.name for subject in chosen)
        raise UsageError(
            f"a comparison has two sides: name them with first and second out of {names}"
        )
    return tuple(chosen)


def _named(asked: Asked, every: Sequence[Subject], option: str, name: str) -> Subject:
    matches = [
        subject for subject in every if name == subject.name or name in subject.levels.values()
    ]
    if len(matches) == 1:
        return matches[0]
    hint = suggestion(name, [subject.name for subject in every])
    why = "is several of them" if matches else "is none of them"
    raise UsageError(f"figure {asked.name}: {option} {name!r} {why}; {hint}")


def _rounds(sides: Sequence[Subject]) -> list[tuple[Run, Run]]:
    """Return the runs of both compared systems by round, without incomplete rounds."""
    first, second = ({run.round: run.run for run in side.runs} for side in sides)
    return [(first[number], second[number]) for number in sorted(first) if number in second]


def _names(sides: Sequence[Subject]) -> tuple[str, ...]:
    """Return the names of both compared systems, with engine versions if the names are equal."""
    names = [side.levels.get(SIDE, side.name) for side in sides]
    if names[0] == names[1]:
        names = [
            f"{name} {side.first.facts['engine']['version']}"
            for name, side in zip(names, sides, strict=True)
        ]
    return tuple(names)


def _missing(sampled: bool, rounds: Sequence[tuple[Run, Run]]) -> list[str]:  # noqa: FBT001
    missing = []
    if not sampled:
        missing.append(
            "CPU time by statement: it takes one client, no pipelining, and CPU samples of every"
            " run (--profile)"
        )
    if len(rounds) == 1:
        missing.append("how sure any of it is: a single round has no interval")
    return missing
