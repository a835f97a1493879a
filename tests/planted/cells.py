"""Reads cells: a folder each, with a small workload that suffers from a cause and `plant.toml`.

`plant.toml` says what is planted, which findings name it, and what a run is given to have the cause
(`with`) and to be free of it (`without`). What both arms share stands above these tables.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

HERE = Path(__file__).parent
PLANT_FILE = "plant.toml"

Half = Literal["calibration", "heldout"]
HALVES: tuple[Half, ...] = get_args(Half)
# A load is measured for so long; with more clients than one, throughput is steady by then.
LOAD_S, WARMUP_S = 3.0, 1.0
# Passes over an order are repeated for so long.
ORDER_S = 2.0
ANY_SHARE = (0.0, 1.0)


@dataclass(frozen=True)
class Cause:
    """One cause that a cell has.

    Attributes:
        kind: A word for tables, such as `missing-index`.
        methods: Methods of findings that name it.
        root: Regular expressions; one has to match the finding for its root to be named.
    """

    kind: str
    methods: tuple[str, ...]
    root: tuple[str, ...]


@dataclass(frozen=True)
class Outsider:
    """Somebody beside the clients: a function of `outside`, and its arguments."""

    does: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Arm:
    """What one run is given.

    Attributes:
        settings: Of the engine.
        options: Of `assay run`.
        prepare: Files whose SQL is run on the loaded data.
        outside: Who acts beside the clients while the load is on.
        operations: Folder whose files stand in for those of `operations/`; None: none do.
    """

    settings: dict[str, str]
    options: tuple[str, ...] = ()
    prepare: tuple[Path, ...] = ()
    outside: tuple[Outsider, ...] = ()
    operations: Path | None = None


@dataclass(frozen=True)
class Cell:
    """A cause, or two, planted in one workload on one engine.

    Attributes:
        name: Of its folder.
        half: Which half of the set it belongs to.
        folder: The workload.
        says: What is planted, in a sentence.
        engine: As `--engine` takes it.
        causes: What is to be named.
        also: Methods of other findings that are true of both arms, with the share that they may
            claim, from least to most.
        planted: The arm with the cause.
        free: Its twin without.
    """

    name: str
    half: Half
    folder: Path
    says: str
    engine: str
    causes: tuple[Cause, ...]
    planted: Arm
    free: Arm
    also: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def methods(self) -> frozenset[str]:
        """Methods of findings that are right in the arm with the cause."""
        return frozenset(method for cause in self.causes for method in cause.methods)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is planted, in a word each."""
        return tuple(cause.kind for cause in self.causes)

    @property
    def product(self) -> str:
        """The engine without its version."""
        return self.engine.partition("@")[0]


def all_cells(*halves: Half) -> list[Cell]:
    """Every cell of some halves, or of all, by name."""
    return [
        read_cell(file.parent, half)
        for half in halves or HALVES
        for file in sorted((HERE / half).glob(f"*/{PLANT_FILE}"))
    ]


def read_cell(folder: Path, half: Half) -> Cell:
    """The cell in a folder. Raises `ValueError` for a key that no cell has."""
    table = tomllib.loads((folder / PLANT_FILE).read_text(encoding="utf-8"))
    _refuse_unknown(folder, table)
    return Cell(
        name=folder.name,
        half=half,
        folder=folder,
        says=table["says"],
        engine=table["engine"],
        causes=tuple(_cause(entry) for entry in table.get("causes", [table])),
        planted=_arm(folder, table, table.get("with", {})),
        free=_arm(folder, table, table.get("without", {})),
        also=_also(table.get("also", {})),
    )


OF_CAUSES = frozenset({"kind", "methods", "root"})
OF_ARMS = frozenset({"settings", "options", "prepare", "outside", "operations"})
OF_CELLS = frozenset({"says", "engine", "causes", "also", "with", "without"})
# What both arms have of `assay run`, in short.
SHORT = frozenset({"clients", "time_s", "scale", "pin"})


def _refuse_unknown(folder: Path, table: dict[str, Any]) -> None:
    unknown = set(table) - OF_CAUSES - OF_ARMS - OF_CELLS - SHORT
    for arm in ("with", "without"):
        unknown |= set(table.get(arm, {})) - OF_ARMS
    for cause in table.get("causes", ()):
        unknown |= set(cause) - OF_CAUSES
    if unknown:
        raise ValueError(f"{folder.name}: no cell has {', '.join(sorted(unknown))}")


def _cause(entry: dict[str, Any]) -> Cause:
    return Cause(entry["kind"], tuple(entry["methods"]), tuple(entry["root"]))


def _arm(folder: Path, shared: dict[str, Any], own: dict[str, Any]) -> Arm:
    outside = shared.get("outside", []) + own.get("outside", [])
    return Arm(
        settings=shared.get("settings", {}) | own.get("settings", {}),
        options=(*_load(shared), *shared.get("options", ()), *own.get("options", ())),
        prepare=tuple(folder / name for name in shared.get("prepare", []) + own.get("prepare", [])),
        outside=tuple(_outsider(folder, entry) for entry in outside),
        operations=folder / own["operations"] if "operations" in own else None,
    )


def _load(shared: dict[str, Any]) -> list[str]:
    if (clients := shared.get("clients")) is None:
        options = ["--min-time", f"{shared.get('time_s', ORDER_S):g}s"]
    else:
        options = ["--clients", str(clients), "--time", f"{shared.get('time_s', LOAD_S):g}s"]
        options += ["--warmup", f"{WARMUP_S:g}s"]
    if "scale" in shared:
        options += ["--scale", f"{shared['scale']:g}"]
    if "pin" in shared:
        options += ["--pin", ",".join(f"{who}={cpu}" for who, cpu in shared["pin"].items())]
    return options


def _outsider(folder: Path, entry: dict[str, Any]) -> Outsider:
    """One entry of `outside`; what it calls `sql` is a file of the cell."""
    arguments = {name: value for name, value in entry.items() if name != "does"}
    if "sql" in arguments:
        arguments["sql"] = (folder / arguments["sql"]).read_text(encoding="utf-8")
    return Outsider(entry["does"], arguments)


def _also(given: list[str] | dict[str, list[float]]) -> dict[str, tuple[float, float]]:
    if isinstance(given, list):
        return dict.fromkeys(given, ANY_SHARE)
    return {method: (least, most) for method, (least, most) in given.items()}
