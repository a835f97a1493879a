"""Columns that statements read against those that they need: what projection pruning leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.record.reader import Run


@dataclass(frozen=True)
class TableColumns:
    """One table of one statement.

    Attributes:
        operation: The operation.
        statement: Which of its statements, from 0.
        name: What the statement is called; None: it has no name.
        table: The table.
        read: Columns that the engine says it reads; None: it does not say.
        needed: Columns that the statement names.
        unneeded: Those that are read and not needed; empty where reading is not told.
        unneeded_bytes: How wide those may be in a row at most, by their declared types; None where
            one of them has no declared width.
    """

    operation: str
    statement: int
    name: str | None
    table: str
    read: tuple[str, ...] | None
    needed: tuple[str, ...]
    unneeded: tuple[str, ...]
    unneeded_bytes: int | None


def table_columns(run: Run) -> tuple[TableColumns, ...]:
    """Tables of all statements that a run has a plan of, in the order of plans."""
    return ()
