"""Creates one run's record, and reports a run that ended early."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from assay.cli.shared.options import exit_code
from assay.cli.shared.output import complain, folded, say_json
from assay.model.errors import (
    TOO_LITTLE_MEMORY,
    AssayError,
    RecordRemovedError,
    RecordUnreadableError,
    RunFailedError,
    stopped_by,
)
from assay.model.foreign_text import shown
from assay.record.access import is_file
from assay.record.layout import RUN_FILE
from assay.record.reader import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from assay.cli.shared.progress import Progress

Made = TypeVar("Made")


def executed(
    make: Callable[[Progress], Made], progress: Progress, *, as_json: bool, with_page: bool = True
) -> Made:
    """Execute a function that makes a run, and return its result.

    Args:
        make: Makes a record and its report, and shows its progress.
        progress: Display of the progress, which is always closed.
        as_json: Whether to print the document of a partial record, too.
        with_page: Whether to write the page of a partial record.

    Raises:
        AssayError: If it failed before a record existed; Ctrl-C then also passes as a
            KeyboardInterrupt.
        RecordRemovedError: If somebody removed the record meanwhile.
        Exit: If it ended early with a partial record.
    """
    try:
        return make(progress)
    except (AssayError, KeyboardInterrupt) as error:
        progress.close()
        if progress.partial is None:
            raise
        _refuse_removed(progress.partial, error)
        complain(_reason(error))
        complain(_kept_words(progress.partial))
        if as_json:
            say_json(_document(progress.partial, error, with_page=with_page))
        raise typer.Exit(RunFailedError.exit_code) from error
    finally:
        progress.close()


def _reason(error: AssayError | KeyboardInterrupt) -> str:
    """Return why a run ended early, on one line."""
    if isinstance(error, KeyboardInterrupt):
        return f"stopped by {stopped_by(error)}"
    return folded(str(error))


def _refuse_removed(directory: Path, error: AssayError | KeyboardInterrupt) -> None:
    """Raise `RecordRemovedError` with the first reason if nothing is left of a partial record."""
    if isinstance(error, RecordRemovedError):
        raise error
    if not is_file(directory / RUN_FILE):
        raise RecordRemovedError(
            f"{_reason(error).rstrip('.')}. The record {directory} was removed meanwhile: nothing "
            "of it is kept"
        ) from error


def _document(directory: Path, error: BaseException, *, with_page: bool) -> Mapping[str, Any]:
    """Return the document of a partial record, or of its error if there is too little memory."""
    from assay.report.build import build

    try:
        return build(directory, with_page=with_page)
    except MemoryError:
        complain(f"{TOO_LITTLE_MEMORY}, to report what was measured")
        return {"error": shown(str(error)), "exit_code": RunFailedError.exit_code}


def _kept_words(directory: Path) -> str:
    try:
        is_refused = Run(directory).facts.get("refused")
    except RecordUnreadableError:
        is_refused = False
    if is_refused:
        return f"`assay runs` lists it as refused; its logs are in {directory}"
    return f"what was measured until then is kept: assay show {shlex.quote(str(directory))}"


def end_by_verdict(verdict: str, what: str, *, strict: bool) -> None:
    """End the command with code 3 if the verdict requires it."""
    code = exit_code(verdict, strict=strict)
    if code:
        complain(f"the {what} is {verdict}")
        raise typer.Exit(code)
