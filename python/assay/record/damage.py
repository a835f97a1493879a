"""Warns when an opened record was changed after it was finished.

A changed record is still read, because the rest of it may be useful. Python code receives a
warning. The command line prints the warning's sentence and ends with exit code 3.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.model.errors import RecordDamagedError
from assay.record.layout import SEAL_FILE
from assay.record.seal import broken_seals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO


class DamagedRecordWarning(UserWarning):
    """Warning that an opened record was changed after its checksums were written."""


def damage_of(run_dir: Path) -> str | None:
    """Return a sentence on files that differ from their checksums; None if none does."""
    broken = broken_seals(run_dir) if (run_dir / SEAL_FILE).is_file() else []
    if not broken:
        return None
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    return (
        f"the record {run_dir.name} is not as it was sealed: {broken[0]}{more}; figures from it may"
        " be wrong. Restore it from a copy."
    )


def warn_if_damaged(run_dir: Path) -> None:
    """Warn if a record was changed after its checksums were written."""
    sentence = damage_of(run_dir)
    if sentence is not None:
        warnings.warn(sentence, DamagedRecordWarning, stacklevel=3)


def refuse_damaged(run_dir: Path) -> None:
    """Raise an error if a record was changed after its checksums were written.

    Raises:
        RecordDamagedError: If the record was changed after it was sealed.
    """
    sentence = damage_of(run_dir)
    if sentence is not None:
        raise RecordDamagedError(sentence)


@contextmanager
def hearing_damage() -> Iterator[list[str]]:
    """Collect sentences about changed records, instead of issuing warnings."""
    sentences: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamagedRecordWarning)
        show = warnings.showwarning

        def hear(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, DamagedRecordWarning):
                show(message, category, filename, lineno, file, line)
            elif str(message) not in sentences:
                sentences.append(str(message))

        warnings.showwarning = hear
        yield sentences
