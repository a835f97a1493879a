"""SQLite for tests: an instance on an empty file, and sessions with scripts of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from assay.engines.contract import Instance, Place
from assay.engines.discovery import find_engine
from assay.engines.sqlite.engine import SqliteEngine, engine
from assay.engines.sqlite.session import SqliteSession, described
from assay.model.script import Script, ScriptOperation, ScriptStatement


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


def session(instance: Instance, *operations: list[str]) -> SqliteSession:
    """A session whose operations are lists of statements; draw 0 is the value of `$1`."""
    script = Script(
        tuple(
            ScriptOperation(
                str(number),
                tuple(ScriptStatement(one, (0,) if "$1" in one else ()) for one in texts),
            )
            for number, texts in enumerate(operations)
        )
    )
    connection = instance.handle.session()
    return SqliteSession(connection, script, described(connection, script))


def rows(session: SqliteSession, operation: int = 0, *values: object) -> list[tuple[object, ...]]:
    told = session.execute(operation, values)
    assert isinstance(told, pa.Table)
    return [tuple(row.values()) for row in told.to_pylist()]
