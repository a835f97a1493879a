"""Figures that a study asks for: kinds and parts that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.discovery import kinds
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from assay.study.declared.facts import FigureFacts, StudyFacts

    Problem = tuple[tuple[str | int, ...], str]


def figure_problems(facts: StudyFacts) -> list[Problem]:
    """What is wrong with the figures of a study: place in the file, and words."""
    found: list[Problem] = []
    known = kinds()
    names = [figure.name for figure in facts.figure]
    for number, figure in enumerate(facts.figure):
        where = ("figure", number)
        if figure.kind not in known:
            hint = suggestion(figure.kind, list(known))
            found.append(((*where, "kind"), f"unknown kind of figure {figure.kind!r}; {hint}"))
        else:
            options = list(known[figure.kind].options)
            found += _options(figure, options, where) or _factor(figure, facts, where)
        if figure.name in names[:number]:
            found.append(((*where, "name"), f"another figure is named {figure.name!r}, too"))
        key = "part" if figure.part is not None else "parts"
        for part in figure.of(()):
            if part not in facts.part:
                hint = suggestion(part, list(facts.part))
                found.append(((*where, key), f"there is no part {part!r}; {hint}"))
    return found


def _options(figure: FigureFacts, known: list[str], where: tuple[str | int, ...]) -> list[Problem]:
    """Options that the kind of a figure does not know."""
    found: list[Problem] = []
    for option in figure.options:
        if option not in known:
            hint = suggestion(option, known) if known else "they have none"
            words = f"figures of kind {figure.kind} have no option {option!r}; {hint}"
            found.append(((*where, "options", option), words))
    return found


def _factor(figure: FigureFacts, facts: StudyFacts, where: tuple[str | int, ...]) -> list[Problem]:
    """A factor that none of the figure's parts has; --engine gives any part one of engines."""
    told = figure.options.get("factor")
    factors = {
        factor
        for name in figure.of(list(facts.part))
        if name in facts.part
        for factor in facts.part[name].factor
    }
    if told is None or told in {*factors, "engine", "workload"}:
        return []
    hint = suggestion(str(told), sorted(factors)) if factors else "they have none"
    return [((*where, "options", "factor"), f"its parts have no factor {told!r}; {hint}")]
