"""Refuses log files of different formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def common_form(files: Sequence[Path], form_of: Callable[[Path], str | None]) -> str | None:
    """Return the format of all files; None if the first file has no known format.

    Raises:
        EngineError: If a file has another format than the first one.
    """
    first, *others = files
    form = form_of(first)
    for file in others if form is not None else ():
        if form_of(file) != form:
            raise EngineError(
                f"{file} is not a {form}, but {first} is one: name files of one format only"
            )
    return form
