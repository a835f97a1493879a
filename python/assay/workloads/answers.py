"""Finds the expected rows of a workload's operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.kept_answer import read_kept_answers
from assay.model.language import SQL
from assay.record.layout import changing_result
from assay.workloads.texts import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.model.kept_answer import KeptAnswer
    from assay.model.language import Language
    from assay.workloads.contract import Workload

ANSWERS = "answers"


def answers_folder(workload: Workload, scale: float, language: Language = SQL) -> Path | None:
    """Return the folder with expected rows for default parameters at a scale; None without one.

    Rows in `answers/` itself are right at every scale; `answers/sparql` has the results of SPARQL
    queries. Queries with removed parts have no expected rows, except for joins that are only
    written in another form.
    """
    if changing_result(workload.removed):
        return None
    folder = workload.folder / ANSWERS
    if (folder / language).is_dir() or len(workload.facts.languages) > 1:
        folder /= language
    scaled = folder / f"sf{scale:g}"
    if scaled.is_dir():
        return scaled
    return folder if any(folder.glob("*.csv")) else None


def kept_rows(workload: Workload, scale: float, language: Language = SQL) -> dict[str, Path]:
    """Return files of expected rows at a scale, by operation.

    Operations of the workload whose data are used have their rows in its folder.
    """
    folder = answers_folder(workload, scale, language)
    files = {} if folder is None else {path.stem: path for path in folder.glob("*.csv")}
    if workload.source is not None and not changing_result(workload.removed):
        theirs, named = kept_rows(workload.source, scale, language).items(), workload.of_source
        files |= {name: path for name, path in theirs if name in named}
    return dict(sorted(files.items()))


def check_answers(workload: Workload, scale: float, language: Language = SQL) -> None:
    """Refuse files of expected rows that are not text or have no column names.

    Raises:
        UsageError: If a file is refused. The error message names the file.
    """
    own_answers(workload, scale, language)
    for path in kept_rows(workload, scale, language).values():
        if not path.stat().st_size:
            raise UsageError(
                f"{path} is empty; its first line must name the columns. Remove the file, or "
                "store the answer again with `assay answers`"
            )
        read_text(path)


def own_answers_folder(workload: Workload, scale: float, language: Language = SQL) -> Path:
    """Return the folder for a user's own answers, whether it exists or not."""
    there = answers_folder(workload, scale, language)
    if there is not None:
        return there
    folder = workload.folder / ANSWERS
    if len(workload.facts.languages) > 1:
        folder /= language
    return folder / f"sf{scale:g}" if workload.makes_data else folder


def own_answers(
    workload: Workload, scale: float, language: Language = SQL
) -> dict[str, KeptAnswer]:
    """Return a user's own answers, by operation.

    Raises:
        UsageError: If the file beside them cannot be read.
    """
    try:
        return read_kept_answers(own_answers_folder(workload, scale, language))
    except ValueError as error:
        raise UsageError(f"{error}: store the answers again with `assay answers`") from error
