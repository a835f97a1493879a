"""Prepares a user's statements on SQLite without executing them."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING

import apsw

from assay.engines.checking import KnownTable, Refusal, RefusalKind, Tried
from assay.engines.contract import EngineError
from assay.engines.sqlite.catalogue import EXPRESSION, indexes_of
from assay.engines.sqlite.database import script
from assay.model.declared import CatalogueColumn, tables_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from assay.engines.checking import Trial
    from assay.model.declared import DeclaredColumns

# Mode of apsw for EXPLAIN.
PROGRAM = 1
MISSING = re.compile(r"no such (table|column|function): (\S+)|has no column named (\S+)")
KINDS: dict[str, RefusalKind] = {"table": "table", "column": "column", "function": "function"}
SYNTAX = re.compile(r"syntax error|unrecognized token|incomplete input")
NO_VALUES = "its values are those of a program"


def try_statements(
    connection: apsw.Connection, operations: Sequence[Sequence[Trial]]
) -> list[list[Tried]]:
    """Prepare statements with EXPLAIN, and return refusals."""
    return [[_tried(connection, trial) for trial in trials] for trials in operations]


def known_tables(connection: apsw.Connection) -> list[KnownTable]:
    """Return the tables of the file with their columns."""
    rows = connection.execute(script("preflight/tables.sql")).fetchall()
    return [
        KnownTable("", str(name), tuple(str(column) for _, column in columns))
        for name, columns in groupby(rows, key=lambda row: row[0])
    ]


def declared_tables(
    connection: apsw.Connection, names: Collection[str]
) -> dict[str, DeclaredColumns]:
    """Return the tables and views of the file with these names."""
    listed = json.dumps(sorted(names))
    try:
        columns = connection.execute(script("preflight/columns.sql"), (listed,)).fetchall()
        views = connection.execute(script("preflight/views.sql"), (listed,)).fetchall()
        indexes = indexes_of(connection)
    except apsw.Error as error:
        raise EngineError(f"SQLite does not list its tables: {error}") from error
    # An index with another collation than its column may have values that are equal by the column.
    keys = [
        (index.table, index.columns)
        for index in indexes
        if index.unique and index.predicate is None and index.collation is None
    ]
    return tables_of_catalogue(
        [
            CatalogueColumn(str(table), str(name), str(kind), bool(required))
            for table, name, kind, required in columns
        ],
        [(table, key) for table, key in keys if EXPRESSION not in key],
        [(str(name), str(text)) for name, text in views],
    )


def _tried(connection: apsw.Connection, trial: Trial) -> Tried:
    if trial.values is None:
        return Tried(untried=NO_VALUES)
    try:
        connection.execute(trial.text, trial.values, explain=PROGRAM).fetchall()
    except (apsw.BusyError, apsw.LockedError) as error:
        return Tried(untried=f"SQLite said: {error}")
    except apsw.Error as error:
        return Tried(_refused(trial.text, error))
    return Tried()


def _refused(text: str, error: apsw.Error) -> Refusal:
    message = str(error)
    match = MISSING.search(message)
    kind: RefusalKind = "syntax" if SYNTAX.search(message) else "other"
    name = None
    if match is not None:
        kind, name = KINDS[match[1] or "column"], match[2] or match[3]
    # SQLite reports positions in bytes.
    offset = getattr(error, "error_offset", -1)
    position = len(text.encode()[:offset].decode(errors="ignore")) if offset >= 0 else None
    return Refusal(kind, message, name, position)
