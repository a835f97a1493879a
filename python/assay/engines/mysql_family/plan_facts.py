"""Facts of a server's catalogue that explain a plan: indexes, and optimiser settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.catalogue import ChangedSetting, Index

if TYPE_CHECKING:
    from collections.abc import Iterable

SWITCH = "optimizer_switch"


def indexes_of(rows: Iterable[tuple[Any, ...]]) -> list[Index]:
    """Return indexes of `plans/indexes.sql`, which has a row for each key column in order."""
    columns: dict[tuple[str, str, str], list[str]] = {}
    facts: dict[tuple[str, str, str], dict[str, Any]] = {}
    types: dict[tuple[str, str, str], list[str]] = {}
    for table, name, column, unique, valid, method, kind, state, mend, schema in rows:
        key = (schema, table, name)
        columns.setdefault(key, []).append(str(column))
        types.setdefault(key, []).append(str(kind or ""))
        facts_of_index = {"unique": bool(unique), "valid": bool(valid), "method": method}
        facts[key] = facts_of_index | {"state": state, "mend": mend, "schema": schema}
    return [
        Index(key[1], key[2], tuple(names), types=tuple(types[key]), **facts[key])
        for key, names in columns.items()
    ]


def changed_of(rows: Iterable[tuple[Any, ...]]) -> list[ChangedSetting]:
    """Return settings that differ from their default, from rows of name, value and default.

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
    """Return the flags of a switch that differ from its default, in value and default."""
    defaults = default.split(",")
    pairs = zip(value.split(","), defaults, strict=False)
    changed = [(flag, normal) for flag, normal in pairs if flag != normal]
    return ",".join(flag for flag, _ in changed), ",".join(normal for _, normal in changed)
