"""Rewrites an operation so that it gathers the statistics of its temporary tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.temporary import created_temporary, filled_at, is_named
from assay.workloads.scripts import parts

if TYPE_CHECKING:
    from collections.abc import Sequence


def with_statistics(text: str, dialects: Sequence[str], statement: str) -> tuple[str, str]:
    """Return an operation with a statement for statistics, and the table that it is about.

    The statement follows the one that fills the temporary table.

    Args:
        text: Statements of the operation.
        dialects: Dialects of the engine in order of preference.
        statement: The engine's statement for statistics of the table.

    Raises:
        UsageError: If the operation creates and fills no temporary table that the statement names.
    """
    try:
        script_parts = parts(text, dialects)
    except ValueError as error:
        raise UsageError(str(error)) from error
    statements = [text[part.begin : part.end] for part in script_parts]
    for table in dict.fromkeys(map(created_temporary, statements)):
        place = None if table is None else filled_at(table, statements)
        if table is not None and place is not None and is_named(table, statement):
            end = script_parts[place].end
            return f"{text[:end]};\n{statement}{text[end:]}", table
    raise UsageError(f"it creates and fills no temporary table for `{statement}`")
