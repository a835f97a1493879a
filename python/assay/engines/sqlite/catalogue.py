"""Reads indexes and changed settings of a SQLite database, which explain its plans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.database import script
from assay.engines.sqlite.settings import effective
from assay.model.catalogue import ChangedSetting, Index

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    keys: dict[tuple[str, str], list[tuple[str | None, bool, str | None]]] = {}
    facts: dict[tuple[str, str], dict[str, Any]] = {}
    for table, name, column, unique, partial, text, falling, collation in connection.execute(
        script("plans/indexes.sql")
    ):
        keys.setdefault((table, name), []).append((column, bool(falling), collation))
        predicate = _WHERE.search(text or "") if partial else None
        facts[table, name] = {
            "unique": bool(unique),
            "predicate": predicate["predicate"].strip() if predicate else None,
        }
    return [
        Index(
            table,
            name,
            tuple(column or EXPRESSION for column, _, _ in key),
            method="btree",
            collation=_unlike_columns(connection, table, key),
            directions=tuple("desc" if falling else "asc" for _, falling, _ in key),
            collations=tuple(collation for _, _, collation in key),
            **facts[table, name],
        )
        for (table, name), key in keys.items()
    ]


def _unlike_columns(
    connection: apsw.Connection, table: str, key: Iterable[tuple[str | None, bool, str | None]]
) -> str | None:
    """Return the collations of a key that are not those of its columns; None if all are."""
    unlike = {
        collation
        for column, _, collation in key
        if column is not None
        and collation is not None
        and collation != connection.column_metadata(None, table, column)[1].lower()
    }
    return " ".join(sorted(unlike)) or None


def changed_of(connection: apsw.Connection) -> list[ChangedSetting]:
    """Return optimiser and executor settings that differ from their default."""
    values = effective(connection)
    return [
        ChangedSetting(name, values[name], default)
        for name, default in DEFAULTS.items()
        if values.get(name, default) != default
    ]
