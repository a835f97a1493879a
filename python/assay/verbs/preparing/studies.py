"""`assay studies`: lists studies, shows one, writes a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.discovery import kinds
from assay.record.places import runs_dir
from assay.study.declared.expanding import Wanted, expanded
from assay.study.declared.new import new_study, study_schema
from assay.study.declared.reading import find_declared, read_declared, study_files
from assay.study.pace import Pace, expected_after
from assay.study.preparing import considered_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.figures.contract import FigureKind
    from assay.report.documents.study_plan import StudyForm, StudyPlan
    from assay.study.declared.expanding import Expanded
    from assay.study.declared.reading import DeclaredStudy


def studies() -> list[DeclaredStudy]:
    """Returns all studies that have a name."""
    return [read_declared(file) for file in study_files().values()]


def show(
    which: str,
    *,
    quick: bool = False,
    engine: Sequence[str] = (),
    workload: str | None = None,
    allow_host_changes: bool = False,
    runs: Path | str | None = None,
) -> StudyPlan:
    """Returns the question of a study, its runs in order, and roughly how long they take.

    Times come from similar earlier runs in the directory of runs. Without such runs the times are
    rough estimates.

    Args:
        which: Name or file of the study.
        quick: Show only the short form.
        engine: Engine to use instead of the study's engines.
        workload: Workload to use instead of the study's.
        allow_host_changes: Whether runs may change settings that affect other users of the host.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Raises:
        UsageError: If the file has an error, or the runs cannot be made.
    """
    declared = find_declared(which)
    forms = {}
    for name, is_quick in (("quick", True),) if quick else (("whole", False), ("quick", True)):
        wanted = Wanted(is_quick, tuple(engine), workload, allow_host_changes)
        forms[name] = expanded(declared, wanted)
        considered_all(forms[name].study)
    place = runs_dir(runs)
    return {
        "name": declared.name,
        "title": declared.facts.title,
        "question": declared.question,
        "file": str(declared.file),
        "published": None if declared.published is None else str(declared.published),
        "figures": [figure.model_dump() for figure in declared.facts.figure],
        "forms": {name: _form(form, place) for name, form in forms.items()},
    }


def figures() -> list[FigureKind]:
    """Returns the kinds of figures that a study can contain, with the options of each."""
    return list(kinds().values())


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of study files."""
    return study_schema()


def new(folder: Path | str) -> Path:
    """Writes a commented example that runs on DuckDB within a minute, and returns its file.

    Raises:
        UsageError: If the folder is not empty, or cannot be written.
    """
    return new_study(Path(folder))[0]


def _form(form: Expanded, runs: Path) -> StudyForm:
    """Return the runs of one form, and roughly how long they take."""
    pace = Pace(expected_after(runs))
    order = form.study.order()
    return {
        "budget_s": form.budget_s,
        "expected_s": pace.left_s(run.request for run in order),
        "without": dict(form.without),
        "parts": [
            {
                "name": part.name,
                "about": part.about,
                "repetitions": part.repetitions,
                "variants": [
                    {
                        "name": variant.name,
                        "levels": dict(variant.levels),
                        "expected_s": pace.run_s(variant.request),
                    }
                    for variant in part.variants
                ],
            }
            for part in form.study.parts
        ],
        "order": [
            {
                "round": turn.round,
                "part": turn.part,
                "variant": turn.variant,
                "stands_for": len(run),
            }
            for run in (planned.stands_for for planned in order)
            for turn in run[:1]
        ],
    }
