"""Levels of durability: which crashes a committed transaction survives.

`full`: a committed transaction survives a crash of the engine and of the host. `relaxed`: it
survives a crash of the engine. A crash of the host may lose the last moments of transactions, but
the rest is consistent. `none`: a crash may lose transactions or corrupt the database. An engine's
README describes its levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, model_validator

if TYPE_CHECKING:
    from collections.abc import Mapping

Level = Literal["full", "relaxed", "none"]
LEVELS: tuple[Level, ...] = ("full", "relaxed", "none")
FULL: Level = "full"


class DurabilityFacts(BaseModel):
    """The settings for one level of durability, from `engine.toml`.

    Attributes:
        about: Failures that a committed transaction survives, for readers.
        settings: Values of settings as the engine reports them.
        moot: Settings that have no effect if other settings have the given values.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str = ""
    settings: dict[str, str]
    moot: dict[str, dict[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, declared: object) -> object:
        if not isinstance(declared, dict) or isinstance(declared.get("settings"), dict):
            return declared
        others = {name: declared[name] for name in ("about", "moot") if name in declared}
        settings = {name: value for name, value in declared.items() if name not in others}
        return {**others, "settings": settings}

    def kept(self, settings: Mapping[str, str]) -> bool:
        """Return True if some settings include all that the durability level needs."""
        return all(
            _agree({name: value}, settings)
            or (name in self.moot and _agree(self.moot[name], settings))
            for name, value in self.settings.items()
        )


def _agree(wanted: Mapping[str, str], settings: Mapping[str, str]) -> bool:
    return all(settings.get(name, "").lower() == value.lower() for name, value in wanted.items())


def level_of(levels: Mapping[Level, DurabilityFacts], settings: Mapping[str, str]) -> Level | None:
    """Return the first durability level that some settings fulfil; None without any."""
    for level in LEVELS:
        facts = levels.get(level)
        if facts is not None and facts.kept(settings):
            return level
    return None
