"""SQLite for tests: an instance on an empty file, and sessions with scripts of their own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import feather

from assay import _core
from assay.engines.contract import Instance, Place
from assay.engines.discovery import find_engine
from assay.engines.sqlite.engine import SqliteEngine, engine
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement


def made_engine() -> SqliteEngine:
    return engine(find_engine("sqlite").facts)


def place_in(folder: Path) -> Place:
    place = Place(folder / "data", folder / "scratch")
    place.data.mkdir(exist_ok=True)
    place.scratch.mkdir(exist_ok=True)
    return place


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[tuple[SqliteEngine, Instance]]:
    """An instance that is stopped in good order."""
    made = made_engine()
    instance = made.start(place_in(folder), settings)
    try:
        yield made, instance
    finally:
        made.stop(instance)


@dataclass
class Played:
    """What came of operations that were played one after another."""

    report: dict[str, Any]
    raw: Path

    def table(self, operation: int = 0) -> pa.Table:
        (file,) = (self.raw / "results").glob(f"o{operation}-*.arrow")
        return feather.read_table(file)

    def rows(self, operation: int = 0) -> list[tuple[object, ...]]:
        return list(zip(*[column.to_pylist() for column in self.table(operation)], strict=True))

    def stream(self, name: str) -> pl.DataFrame:
        return pl.read_ipc_stream(self.raw / f"{name}.arrows")

    def outcome(self, operation: int = 0) -> tuple[str, str | None]:
        """Outcome and class of the error."""
        events = self.stream("events").filter(pl.col("operation") == f"o{operation}")
        return events.select("outcome", "error").cast(pl.String).row(0)

    def errors_text(self) -> str:
        return json.dumps(self.report["errors"])


def script(*operations: list[str], value: int = 0, prepared: bool = True) -> Script:
    """Operations are lists of statements; `value` is bound for `$1`."""
    draw = (Draw("value", (value, value)),)
    return Script(
        tuple(
            ScriptOperation(
                f"o{number}",
                tuple(ScriptStatement(text, (0,) if "$1" in text else ()) for text in texts),
                draw,
            )
            for number, texts in enumerate(operations)
        ),
        prepared,
    )


def played(
    instance: Instance,
    *operations: list[str],
    value: int = 0,
    prepared: bool = True,
    during: Callable[[_core.CancelFlag], object] = lambda _: None,
    **plan: Any,
) -> Played:
    """Plays each operation once, in turn, by a session of its own; each tick calls `during`."""
    raw = Path(tempfile.mkdtemp(dir=instance.handle.path.parent))
    (raw / "results").mkdir()
    asked = script(*operations, value=value, prepared=prepared)
    (opened,) = made_engine().sessions(instance, asked, 1, 1)
    phase = {
        "name": "measured",
        "arrival": {"shape": "power"},
        "operations": list(range(len(operations))),
    }
    names = [operation.name for operation in asked.operations]
    whole = {"operations": names, "phases": [phase], "seed": 1, "results_kept": 8, **plan}
    flag = _core.CancelFlag()
    report = _core.drive(json.dumps(whole), [opened], raw, flag, lambda *_: during(flag))
    return Played(json.loads(report), raw)
