"""Makes one record and its document; one that ended early is told and left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from assay.cli.output import complain, folded, say_json
from assay.model.errors import AssayError, RunFailedError, stopped_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.cli.progress import Progress


def executed(
    make: Callable[[Progress], Path], progress: Progress, *, as_json: bool, with_page: bool = True
) -> dict[str, Any]:
    """The document of what was made.

    Args:
        make: Makes a record, tells how far it is, and returns the record's directory.
        progress: Is closed in any case.
        as_json: Print the document of a partial record, too.
        with_page: Write the report's page.

    Raises:
        AssayError: If it failed before there was a record; so does Ctrl-C, as a KeyboardInterrupt.
        Exit: If it ended early and there is a partial record.
    """
    try:
        directory = make(progress)
        progress.phase("checks and report")
        return _document(directory, with_page=with_page)
    except (AssayError, KeyboardInterrupt) as error:
        progress.close()
        if progress.partial is None:
            raise
        if isinstance(error, KeyboardInterrupt):
            complain(f"stopped by {stopped_by(error)}")
        else:
            complain(folded(str(error)))
        complain(f"what was measured until then is kept: assay show {progress.partial}")
        if as_json:
            say_json(_document(progress.partial, with_page=with_page))
        raise typer.Exit(RunFailedError.exit_code) from error
    finally:
        progress.close()


def _document(directory: Path, *, with_page: bool) -> dict[str, Any]:
    # What was refused or is measured yet needs none of the analysis, which is half of all modules.
    from assay.report.build import build

    return build(directory, with_page=with_page)
