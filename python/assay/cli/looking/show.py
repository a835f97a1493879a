"""`assay show`: shows whether a run is valid, how fast it was, and where the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import typer

from assay.cli.shared.options import AsJson, RunsDir, Strict, WhichRun, Whole, exit_code
from assay.cli.shared.output import console, say_json, say_lines, width

if TYPE_CHECKING:
    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.diagnose import PlacedDiagnosis
    from assay.report.documents.run import RunDocument
    from assay.report.documents.study import StudyDocument


def show(
    which: WhichRun = "latest",
    *,
    runs: RunsDir = None,
    whole: Whole = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Shows a run: whether it is valid, how fast it was, and where the time went.

    For a study, `assay show` prints the study's article. For a record of `assay ceiling`, `assay
    show` prints the tables.

    \b
    Examples:
      assay show latest
      assay show latest --all
      assay show 4c193c --json                the last six digits of an id do
    """
    from assay.verbs.show import show as shown

    document = cast("dict[str, Any]", shown(which, runs=runs))
    if as_json:
        say_json(document)
    else:
        _print(document, whole=whole)
    code = 0 if "study" in document else exit_code(document["verdict"], strict=strict)
    if code:
        raise typer.Exit(code)


def _print(document: dict[str, Any], *, whole: bool) -> None:
    from assay.record.layout import KIND_CEILING

    if "way" in document:
        from assay.report.diagnosis.terminal import diagnosis_lines

        say_lines(diagnosis_lines(cast("PlacedDiagnosis", document), width(), whole=whole))
    elif "study" in document:
        from assay.report.study.terminal import article_lines

        say_lines(article_lines(cast("StudyDocument", document), width(), whole=whole))
    elif document.get("kind") == KIND_CEILING:
        from assay.report.ceiling.terminal import ceiling_lines

        say_lines(ceiling_lines(cast("CeilingDocument", document)))
    else:
        from assay.report.terminal.summary import render

        render(cast("RunDocument", document), all_operations=whole, console=console(stderr=False))
