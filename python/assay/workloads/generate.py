"""The door to the data generators of the compiled core."""

from __future__ import annotations

from assay import _core
from assay._core import TableStream
from assay.model.errors import UsageError

# What was made of a generator's rows is kept as long as this is the same.
VERSION = _core.GENERATORS_VERSION


def table_stream(
    generator: str, table: str, scale: float, threads: int, sets: int = 0
) -> TableStream:
    """A table's rows, made on `threads` threads, the same bytes for any number of them.

    `sets` is how many refresh sets are made, of a table that holds them.

    Raises:
        UsageError: If the scale or the number of sets is out of range, or the generator has no such
            table.
    """
    try:
        return TableStream(generator, table, scale, threads, sets)
    except ValueError as error:
        raise UsageError(str(error)) from error


def refresh_sets_max(scale: float) -> int:
    """How many refresh sets there can be at a scale: together they take out what was loaded."""
    return _core.refresh_sets_max(scale)


def column_names(generator: str, table: str, scale: float) -> list[str]:
    """The columns of a table. Raises `UsageError` if the generator has no such table."""
    import pyarrow as pa

    rows = table_stream(generator, table, scale, 1, sets=1)
    names: list[str] = pa.RecordBatchReader.from_stream(rows).schema.names
    return names


def estimated_bytes(generator: str, table: str, scale: float) -> float:
    """What all rows of a table take in memory, from its first ones.

    Raises:
        UsageError: If the generator has no such table.
    """
    import pyarrow as pa

    rows = table_stream(generator, table, scale, 1, sets=1)
    first = next(iter(pa.RecordBatchReader.from_stream(rows)), None)
    return 0.0 if not first else first.nbytes / first.num_rows * rows.rows_expected
