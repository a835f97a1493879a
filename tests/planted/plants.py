"""What can be planted: a folder a cause, a workload with `plant.toml` beside it.

`plant.toml` says what is planted at each strength and what names it; code here only reads it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

CAUSES = Path(__file__).parent / "causes"
PLANT_FILE = "plant.toml"

Strength = Literal["none", "weak", "medium", "strong"]
# `none` is the twin without the cause.
STRENGTHS: tuple[Strength, ...] = ("none", "weak", "medium", "strong")
PLANTED: tuple[Strength, ...] = STRENGTHS[1:]
# Where the cause has to be named, and where nothing may name it.
NAMED: tuple[Strength, ...] = ("medium", "strong")
SILENT: tuple[Strength, ...] = ("none", "weak")


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: what a run is given.

    Attributes:
        scale: Of the workload's data.
        settings: Of the engine.
        prepare: Files whose SQL is run on the loaded data.
        outside: What somebody else does during the run: a function of `outside`, its arguments.
        operations: Folder whose files stand in for those of `operations/`; None: none do.
    """

    scale: float
    settings: dict[str, str]
    prepare: tuple[Path, ...] = ()
    outside: tuple[str, dict[str, Any]] | None = None
    operations: Path | None = None


@dataclass(frozen=True)
class Plant:
    """A cause that can be planted.

    Attributes:
        name: Of its folder.
        folder: The workload that suffers from it.
        told: What `plant.toml` says.
    """

    name: str
    folder: Path
    told: dict[str, Any]

    @property
    def says(self) -> str:
        """What is planted, in a sentence."""
        text: str = self.told["says"]
        return text

    @property
    def engine(self) -> str:
        """The engine, as `--engine` takes it."""
        text: str = self.told["engine"]
        return text

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods of findings that name it."""
        return tuple(self.told["methods"])

    @property
    def bound(self) -> tuple[str, ...]:
        """What a headline begins with that names it."""
        return tuple(self.told.get("bound", ()))

    @property
    def pin(self) -> dict[str, int]:
        """CPUs of `engine` and `client`; empty where they may share all."""
        return dict(self.told.get("pin", {}))

    @property
    def min_time_s(self) -> float:
        """How long it is measured."""
        return float(self.told.get("min_time_s", 2.0))

    def arm(self, strength: Strength) -> Arm:
        """What a run is given to have the cause; `none`: the data of the strongest without it."""
        if strength == "none":
            return self.twin("strong")
        told = self.told[strength]
        return Arm(
            scale=_scale(told),
            settings=self._settings | told.get("settings", {}),
            prepare=self._files(told),
            outside=next(iter(told.get("outside", {}).items()), None),
        )

    def twin(self, strength: Strength) -> Arm:
        """The same data and the same statements without the cause."""
        told, without = self.told[strength], self.told.get("without", {})
        return Arm(
            scale=_scale(told),
            settings=self._settings | without.get("settings", {}),
            prepare=self._files(told) + self._files(without),
            operations=self.folder / without["operations"] if "operations" in without else None,
        )

    @property
    def _settings(self) -> dict[str, str]:
        return dict(self.told.get("settings", {}))

    def _files(self, told: dict[str, Any]) -> tuple[Path, ...]:
        return tuple(self.folder / name for name in told.get("prepare", ()))


def _scale(told: dict[str, Any]) -> float:
    return float(told.get("scale", 1.0))


def all_plants() -> list[Plant]:
    """Every cause, by name."""
    return [_read(file.parent) for file in sorted(CAUSES.glob(f"*/{PLANT_FILE}"))]


def _read(folder: Path) -> Plant:
    told = tomllib.loads((folder / PLANT_FILE).read_text(encoding="utf-8"))
    return Plant(folder.name, folder, told)
