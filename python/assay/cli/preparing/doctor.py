"""`assay doctor`: shows what this host can measure, and the changes that runs made to it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson
from assay.cli.shared.output import complain, say_result
from assay.model.errors import RunFailedError


def doctor(
    *,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore",
            help="Revert the changes that killed runs left on this host, and list these changes.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Shows which measurements are possible on this host, and how to permit further measurements.

    `assay doctor` also lists the changes that running and killed runs made to this host's settings.

    \b
    Examples:
      assay doctor
      assay doctor --json
      assay doctor --restore     undo what a killed run left
    """
    from assay.report.terminal.lists.doctor import ability_lines
    from assay.verbs.preparing.doctor import doctor as examined

    if restore:
        _restore(as_json=as_json)
        return
    abilities = [asdict(ability) for ability in examined()]
    say_result(abilities, lambda: ability_lines(abilities), as_json=as_json)


def _restore(*, as_json: bool) -> None:
    """Revert changes of dead runs; the exit code is 2 if some could not be reverted."""
    from assay.report.terminal.lists.doctor import restored_lines
    from assay.verbs.preparing.doctor import restore

    restored = [asdict(left) for left in restore()]
    say_result(restored, lambda: restored_lines(restored), as_json=as_json)
    if any(left["problems"] for left in restored):
        complain("not all of it is put back: see what is said above, mend it, and try again")
        raise typer.Exit(RunFailedError.exit_code)
