"""Compares the durability of committed transactions between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NOT_KNOWN = "not known"


def level_of(facts: Mapping[str, Any]) -> str | None:
    """Return the durability level of a run; None if the engine has none or it is unknown."""
    level: str | None = (facts.get("durability") or {}).get("level")
    return level


def unequal(levels: Iterable[str | None]) -> str | None:
    """Return text that names the durability levels of runs if they differ; None otherwise."""
    names = sorted({level for level in levels if level is not None})
    return " and ".join(names) if len(names) > 1 else None
