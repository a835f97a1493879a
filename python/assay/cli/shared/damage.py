"""Says that a record was changed after it was sealed, and ends a command with exit code 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from assay.cli.shared.options import EXIT_INVALID
from assay.cli.shared.output import complain

if TYPE_CHECKING:
    from pathlib import Path


def end_if_damaged(*directories: Path) -> None:
    """Print a sentence for each record that was changed after its seal; end with 3 if one was.

    To be called when the result is printed: what can be read is still of use.
    """
    from assay.record.reader import Run

    broken = {place: Run(place).broken_seals() for place in dict.fromkeys(directories)}
    damaged = {place: reasons for place, reasons in broken.items() if reasons}
    for place, reasons in damaged.items():
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        complain(
            f"the record {place.name} is not as it was sealed: {reasons[0]}{more}; what was"
            " written of it may be wrong. Restore it from a copy."
        )
    if damaged:
        raise typer.Exit(EXIT_INVALID)
