"""Reads indexes and changed settings of a SQLite database, which explain its plans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.database import script
from assay.engines.sqlite.settings import effective
from assay.model.catalogue import ChangedSetting, Index

if TYPE_CHECKING:
    import apsw

# Default settings of SQLite's optimiser and executor, from the manual.
DEFAULTS = {
    "automatic_index": "on",
    "cache_size": "-2000",
    "mmap_size": "0",
    "reverse_unordered_selects": "off",
    "temp_store": "default",
    "threads": "0",
}
EXPRESSION = "an expression"
_WHERE = re.compile(r"\bwhere\b(?P<predicate>.+)", re.IGNORECASE | re.DOTALL)


def indexes_of(connection: apsw.Connection) -> list[Index]:
    """Return indexes of all tables, including primary keys.

    Raises apsw's errors.
    """
    columns: dict[tuple[str, str], list[str]] = {}
    facts: dict[tuple[str, str], dict[str, Any]] = {}
    for table, name, column, unique, partial, text in connection.execute(
        script("plans/indexes.sql")
    ):
        columns.setdefault((table, name), []).append(column or EXPRESSION)
        predicate = _WHERE.search(text or "") if partial else None
        facts[table, name] = {
            "unique": bool(unique),
            "predicate": predicate["predicate"].strip() if predicate else None,
        }
    return [
        Index(table, name, tuple(names), method="btree", **facts[table, name])
        for (table, name), names in columns.items()
    ]


def changed_of(connection: apsw.Connection) -> list[ChangedSetting]:
    """Return optimiser and executor settings that differ from their default."""
    values = effective(connection)
    return [
        ChangedSetting(name, values[name], default)
        for name, default in DEFAULTS.items()
        if values.get(name, default) != default
    ]
