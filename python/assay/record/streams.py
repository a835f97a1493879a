"""Reads Arrow files of a record: streams, also incomplete ones, and stored query results."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.model.errors import RecordDamagedError, RecordUnreadableError
from assay.record.access import denied
from assay.record.arrow_limits import (
    refuse_compressed_file,
    refuse_compressed_stream,
    refuse_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl
    import pyarrow as pa


def read_result(path: Path) -> pl.DataFrame:
    """Return the rows of a stored query result.

    Raises:
        RecordUnreadableError: If the file is damaged.
    """
    import pyarrow as pa

    with readable(path):
        refuse_compressed_file(path)
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
            return frame(batches, reader.schema, path)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise `RecordUnreadableError` for any error while a file of the record is read.

    Raises:
        RecordDeniedError: If this user may not read it.
        RecordDamagedError: If its content cannot be read.
    """
    import polars as pl
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise RecordUnreadableError(f"the file {path} is missing from the record.") from error
    except PermissionError as error:
        raise denied(path, error) from error
    except (
        pa.ArrowException,
        pl.exceptions.PolarsError,
        OSError,
        ValueError,
        MemoryError,
    ) as error:
        raise RecordDamagedError(
            f"{path} cannot be read: {error}. The record is damaged; restore it from a copy."
        ) from error


@contextmanager
def opened(path: Path) -> Iterator[pa.RecordBatchStreamReader]:
    """Open a stream of a record, whose batches may not be compressed."""
    import pyarrow as pa

    refuse_compressed_stream(path)
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield reader


def frame(batches: list[pa.RecordBatch], schema: pa.Schema, path: Path) -> pl.DataFrame:
    """Return batches of a file as one table, after checking their offsets and their rows."""
    import polars as pl
    import pyarrow as pa

    refuse_rows(sum(map(len, batches)), path)
    table = pa.Table.from_batches(batches, schema=schema)
    # Indices and lengths that point outside their buffers would crash the process later.
    table.validate(full=True)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table gives a frame, not a series
    # A load's batches have about a thousand rows; kept apart, they need half as much memory again.
    return frame.rechunk()


def whole_batches(reader: pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    """Yield all complete batches of a stream; the last one of a killed run may be partial."""
    import pyarrow as pa

    while True:
        try:
            batch = reader.read_next_batch()
        except (StopIteration, pa.ArrowException, OSError):
            return
        yield batch
