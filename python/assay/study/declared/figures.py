"""Checks the results that a study file requests: their kinds and sections must exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.discovery import kinds
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from assay.study.declared.facts import FigureFacts, StudyFacts

    Problem = tuple[tuple[str | int, ...], str]


def figure_problems(facts: StudyFacts) -> list[Problem]:
    """Return the errors in the `[[figure]]` tables of a study file: position and message."""
    problems: list[Problem] = []
    figure_kinds = kinds()
    names = [figure.name for figure in facts.figure]
    for number, figure in enumerate(facts.figure):
        where = ("figure", number)
        if figure.kind not in figure_kinds:
            hint = suggestion(figure.kind, list(figure_kinds))
            problems.append(((*where, "kind"), f"unknown kind of figure {figure.kind!r}; {hint}"))
        else:
            options = list(figure_kinds[figure.kind].options)
            problems += _options(figure, options, where) or _factor(figure, facts, where)
        if figure.name in names[:number]:
            problems.append(((*where, "name"), f"another figure is named {figure.name!r}, too"))
        key = "part" if figure.part is not None else "parts"
        for part in figure.of(()):
            if part not in facts.part:
                hint = suggestion(part, list(facts.part))
                problems.append(((*where, key), f"there is no part {part!r}; {hint}"))
    return problems


def _options(
    figure: FigureFacts, known_options: list[str], where: tuple[str | int, ...]
) -> list[Problem]:
    """Return problems with options that a kind of result does not have."""
    problems: list[Problem] = []
    for option in figure.options:
        if option not in known_options:
            hint = suggestion(option, known_options) if known_options else "they have none"
            text = f"figures of kind {figure.kind} have no option {option!r}; {hint}"
            problems.append(((*where, "options", option), text))
    return problems


def _factor(figure: FigureFacts, facts: StudyFacts, where: tuple[str | int, ...]) -> list[Problem]:
    """Return problems with factors that no study section of a result has."""
    asked_factor = figure.options.get("factor")
    factors = {
        factor
        for name in figure.of(list(facts.part))
        if name in facts.part
        for factor in facts.part[name].factor
    }
    if asked_factor is None or asked_factor in {*factors, "engine", "workload"}:
        return []
    hint = suggestion(str(asked_factor), sorted(factors)) if factors else "they have none"
    return [((*where, "options", "factor"), f"its parts have no factor {asked_factor!r}; {hint}")]
