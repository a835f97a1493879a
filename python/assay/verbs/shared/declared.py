"""Carries out a declared study: from a file, or made by a verb from its options."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError
from assay.record.studies import PUBLISHED_FILE
from assay.report.notebook import LoadedStudy
from assay.study.series import Purpose, Series

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.study.declared.expanding import Expanded
    from assay.study.declared.reading import DeclaredStudy
    from assay.study.series import Watcher
    from assay.study.several import Outcome, Terms

# Factor for a suggested budget, which should exceed the duration of earlier runs.
BUDGET_MARGIN = 1.2


def carried_out(
    declared: DeclaredStudy,
    asked: Expanded,
    about: Mapping[str, Any],
    terms: Terms,
    place: Path,
    watcher: Watcher,
    *,
    again: bool,
    all_engines: bool = False,
) -> LoadedStudy:
    """Execute the runs of a study that do not exist yet, and return the study.

    Args:
        declared: The study.
        asked: Its runs.
        about: Facts about the study's origin, with its creator as `made_by`.
        terms: Limits of the runs, such as the time limit.
        place: Directory of runs.
        watcher: Receives the progress of the runs.
        again: Repeat all runs, even if earlier ones exist.
        all_engines: Whether all engines are required: without one of them no run is made.

    Raises:
        EngineError: If an engine cannot be obtained and all are required. In this case nothing was
            run.
        UsageError: If the runs cannot be made. In this case nothing was run.
    """
    purpose = Purpose(
        "study",
        declared.name,
        {**about, "study": declared.name},
        of_file=declared.file is not None,
        all_engines=all_engines,
    )
    with Series(purpose, place, watcher, terms, again) as series:
        directory = series.begin(asked.study)
        _keep_published(declared, directory)
        for name, reason in asked.without.items():
            watcher.remark(f"without part {name}: {reason}")
        tell_left_out(series.make(asked.study), terms, watcher)
    return LoadedStudy(directory)


def tell_left_out(outcome: Outcome, terms: Terms, watcher: Watcher) -> None:
    """Report runs that were left out, and the options that would include them."""
    if not outcome.left_out:
        return
    names = Counter(run.stands_for[0].part for run in outcome.left_out)
    counts = ", ".join(f"{count} of {part}" for part, count in names.items())
    watcher.remark(f"left out: {len(outcome.left_out)} runs ({counts})")
    if terms.budget_s is not None and outcome.needs_s is not None:
        minutes = math.ceil(outcome.needs_s * BUDGET_MARGIN / 60)
        watcher.remark(f"the same command with --budget {minutes}m goes on")
    elif terms.parts is not None:
        watcher.remark("the same command without --only goes on")


def _keep_published(declared: DeclaredStudy, directory: Path) -> None:
    """Copy the published article's values into the study's directory."""
    if declared.published is None:
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(declared.published, directory / PUBLISHED_FILE)
    except OSError as error:
        raise RunFailedError(f"cannot write {directory / PUBLISHED_FILE}: {error}") from error
