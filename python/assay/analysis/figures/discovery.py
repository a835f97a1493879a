"""Finds the kinds of study results in this folder, and makes them from a study's runs."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import assay.analysis.figures
from assay.analysis.figures.contract import Asked, Figure, FigureKind
from assay.analysis.figures.subjects import subject_name
from assay.model.errors import AssayError, UsageError, suggestion
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from assay.analysis.study_runs import StudyRun

log = logging.getLogger(__name__)


@cache
def kinds() -> dict[str, FigureKind]:
    """Return the kinds of study results by name, one per module of this folder."""
    by_name = {}
    package = assay.analysis.figures
    for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        if hasattr(module, "figure"):
            name = module_info.name.rpartition(".")[2]
            about = " ".join((module.__doc__ or "").split("\n\n")[0].split())
            by_name[name] = FigureKind(name, about, module.OPTIONS, module.figure)
    return dict(sorted(by_name.items()))


def check_asked(kind: str, options: Mapping[str, Any], where: str) -> None:
    """Check that the kind and the options of a requested table or chart exist.

    Args:
        kind: Name of the figure's kind in study files.
        options: Options of the figure.
        where: Name of the figure in errors.

    Raises:
        UsageError: If the kind or an option is unknown. The message lists the known ones.
    """
    figure_kinds = kinds()
    if kind not in figure_kinds:
        raise UsageError(
            f"{where}: unknown kind of figure {kind!r}; {suggestion(kind, list(figure_kinds))}"
        )
    for name in options:
        if name not in figure_kinds[kind].options:
            allowed = list(figure_kinds[kind].options)
            hint = suggestion(name, allowed) if allowed else "it has none"
            raise UsageError(f"{where}: a figure of kind {kind} has no option {name!r}; {hint}")


def make(asked: Asked) -> Figure:
    """Make a study's table or chart; if its code fails, return an empty one with the error.

    Raises:
        UsageError: If the kind or an option is not known.
    """
    check_asked(asked.kind, asked.options, f"figure {asked.name}")
    empty = Figure(asked.name, asked.kind, asked.title)
    if not asked.runs and not asked.ceilings:
        return replace(empty, missing=("none of its runs was made",))
    try:
        made = kinds()[asked.kind].make(asked)
    except AssayError as error:
        return replace(empty, missing=(str(error),))
    except Exception as error:
        log.warning(
            ("figure %s could not be made because of a defect in Assay"), asked.name, exc_info=True
        )
        reason = (
            "the figure could not be made because of a defect in Assay "
            f"({type(error).__name__}: {error})"
        )
        return replace(empty, missing=(reason,))
    return replace(made, notes=(*made.notes, *_wrong_answers(asked.runs)))


def _wrong_answers(runs: tuple[StudyRun, ...]) -> list[str]:
    """Return warnings that name the runs with wrong query results."""
    wrong: dict[str, str] = {}
    for run in runs:
        for result in run.checks:
            if result.verdict is Verdict.INVALID:
                name = subject_name(run.levels.items(), run.run)
                wrong.setdefault(
                    name, f"{name} is invalid, its figures prove nothing: {result.reason}"
                )
    return list(wrong.values())
