"""Fills ClickHouse tables from Arrow streams, and merges each table into one part."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow
from chdb import ChdbError

from assay.engines.chdb.database import asked
from assay.engines.chdb.statements import file_text, quoted, split
from assay.engines.contract import EngineError
from assay.model.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engines.chdb.database import Database
    from assay.engines.loading import ArrowStream


class _Pushed:
    """A file object that passes its bytes to a ClickHouse insert."""

    closed = False

    def __init__(self, append: Callable[[bytes], object]) -> None:
        self._append = append

    def write(self, content: memoryview) -> int:
        self._append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Flush nothing: every batch is written at once."""

    def close(self) -> None:
        """Close nothing, because the caller ends the ClickHouse insert."""


def fill(database: Database, table: str, rows: ArrowStream) -> None:
    """Append all rows of an Arrow stream to a ClickHouse table.

    Raises:
        RunFailedError: If ClickHouse refuses rows. The error message is ClickHouse's.
    """
    reader = pyarrow.RecordBatchReader.from_stream(rows)
    text = file_text("append.sql", table=quoted(table))
    try:
        with (
            database.own.send_insert(text, "ArrowStream") as insert,
            pyarrow.PythonFile(_Pushed(insert.append), "w") as sink,
        ):
            with pyarrow.ipc.new_stream(sink, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            insert.finish()
    except (ChdbError, RuntimeError) as error:
        raise RunFailedError(f"chDB cannot load {table}: {' '.join(str(error).split())}") from error


def run(database: Database, sql: str) -> None:
    """Run SQL statements one by one on chDB.

    Raises:
        EngineError: If a statement fails. The error message has the statement.
    """
    for statement in split(sql):
        try:
            asked(database.own, statement)
        except ChdbError as error:
            message = " ".join(str(error).split())
            raise EngineError(
                f"chDB reports an error: {message}\nThe statement: {statement}"
            ) from error


def merge(database: Database) -> None:
    """Merge each ClickHouse table into one part.

    Raises `RunFailedError` with ClickHouse's message.
    """
    try:
        tables = asked(database.own, file_text("tables.sql"))
        for name in [] if tables is None else tables["name"].to_pylist():
            asked(database.own, file_text("merge.sql", table=quoted(name)))
    except ChdbError as error:
        raise RunFailedError(f"chDB cannot finish the load: {error}") from error


def write_out(path: Path) -> None:
    """Flush every file below a directory to disk."""
    for place in path.rglob("*"):
        try:
            descriptor = os.open(place, os.O_RDONLY)
        except FileNotFoundError:  # Merged parts are deleted once no query reads them.
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
