"""Shows the result of several runs, and ends the command with their exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from assay.cli.shared.options import EXIT_INVALID
from assay.cli.shared.output import complain, say_result, width
from assay.model.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.report.notebook import LoadedStudy

    Lines = Callable[..., Iterable[str]]


def shown(
    made: LoadedStudy, lines: Lines | None = None, *, whole: bool, as_json: bool
) -> LoadedStudy:
    """Show the result of a study, and return the study.

    Args:
        made: Study with its runs.
        lines: Makes the lines from its document, a width, and `whole`; None means those of its
            article.
        whole: Whether to show every row and table.
        as_json: Whether to print the document instead.
    """
    from assay.report.study.terminal import article_lines

    document, of = made.document, lines or article_lines
    say_result(document, lambda: of(document, width(), whole=whole), as_json=as_json)
    return made


def end(made: LoadedStudy) -> None:
    """End the command with the study's exit code: 2 if runs failed, 3 if one is invalid."""
    if made.failed:
        complain("some runs failed; the same command tries them again")
        raise typer.Exit(RunFailedError.exit_code)
    if made.document["verdict"] == "invalid":
        doubts = made.document["doubts"]
        reason = next(doubt["reason"] for doubt in doubts if doubt["verdict"] == "invalid")
        complain(f"some runs are invalid: {reason}")
        raise typer.Exit(EXIT_INVALID)
