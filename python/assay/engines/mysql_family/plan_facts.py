"""Reads indexes and optimiser settings that explain a MySQL plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.catalogue import ChangedSetting, Collation, Index, TriggerText
from assay.model.secrets import sql_without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

SWITCH = "optimizer_switch"


def trigger_texts_of(rows: Iterable[tuple[Any, ...]]) -> list[TriggerText]:
    """Return triggers from catalogue rows, without passwords in their texts."""
    return [
        TriggerText(str(name), str(table), str(event), sql_without_secrets(str(body)), str(schema))
        for name, table, event, body, schema in rows
    ]


def indexes_of(rows: Iterable[tuple[Any, ...]]) -> list[Index]:
    """Return indexes from catalogue rows, one row for each key column."""
    columns: dict[tuple[str, str, str], list[str]] = {}
    facts: dict[tuple[str, str, str], dict[str, Any]] = {}
    types: dict[tuple[str, str, str], list[str]] = {}
    directions: dict[tuple[str, str, str], list[str]] = {}
    for table, name, column, unique, valid, method, kind, state, mend, schema, direction in rows:
        key = (schema, table, name)
        columns.setdefault(key, []).append(str(column))
        types.setdefault(key, []).append(str(kind or ""))
        directions.setdefault(key, []).append(str(direction))
        facts_of_index = {"unique": bool(unique), "valid": bool(valid), "method": method}
        facts[key] = facts_of_index | {"state": state, "mend": mend, "schema": schema}
    return [
        Index(
            key[1],
            key[2],
            tuple(names),
            types=tuple(types[key]),
            directions=tuple(directions[key]),
            **facts[key],
        )
        for key, names in columns.items()
    ]


def collations_of(rows: Iterable[tuple[Any, ...]]) -> dict[str, dict[str, Collation]]:
    """Return collations by table and column from catalogue rows; the first table of a name wins."""
    schemas: dict[str, str] = {}
    collations: dict[str, dict[str, Collation]] = {}
    for schema, table, column, name, precedence in rows:
        if schemas.setdefault(str(table), str(schema)) == schema:
            collation = Collation(str(name), int(precedence))
            collations.setdefault(str(table), {})[str(column)] = collation
    return collations


def changed_of(rows: Iterable[tuple[Any, ...]]) -> list[ChangedSetting]:
    """Return the settings that differ from their default, from catalogue rows.

    For the optimiser switch, value and default contain only the flags that differ.
    """
    changed = []
    for name, value, default in rows:
        if name == SWITCH:
            value, default = _differing(str(value), str(default))  # noqa: PLW2901 - shortened
        if value != default:
            changed.append(ChangedSetting(str(name), str(value), str(default)))
    return changed


def _differing(value: str, default: str) -> tuple[str, str]:
    """Return the flags of the optimiser switch that differ from its default."""
    defaults = default.split(",")
    pairs = zip(value.split(","), defaults, strict=False)
    changed = [(flag, normal) for flag, normal in pairs if flag != normal]
    return ",".join(flag for flag, _ in changed), ",".join(normal for _, normal in changed)
