"""Sorts a table's rows between the generator and the engine.

Rows with equal values in the columns keep the generator's order, so the result is the same on any
machine. Rows that do not fit into memory are spilled to files.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.model.errors import RunFailedError
from assay.model.units import bytes_text
from assay.running.host.memory import available_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import duckdb

    from assay.workloads.generate import Rows

PLACE = "place_of_the_row"
# Share of available memory for sorting; the loading engine needs the rest.
MEMORY_SHARE = 0.25
MEMORY_MIN_BYTES = 256 << 20
# Memory in bytes per thread: with less, each thread's own sort fails, even with spilling.
BYTES_A_THREAD = 64 << 20
# Size of spilled rows as a multiple of their size in Arrow, which `tests/unit/test_sorting.py`
# checks.
SPILLED_SIZES = 1.5


class SortedRows:
    """A stream of a table's rows in sorted order, which can be read once."""

    def __init__(
        self, rows: Rows, columns: Sequence[str], sorter: duckdb.DuckDBPyConnection
    ) -> None:
        self._rows = rows
        self._columns = columns
        self._sorter = sorter
        self._handed_out = 0
        # An Arrow stream passes on only the text of an error.
        self.failure: RunFailedError | None = None

    def end(self) -> None:
        """Have the next read of the stream fail, and interrupt the sorting."""
        self._rows.end()
        self._sorter.interrupt()

    @property
    def rows(self) -> int:
        """The number of sorted rows handed out so far."""
        return self._handed_out

    @property
    def rows_expected(self) -> int:
        """The estimated total number of rows to sort."""
        return self._rows.rows_expected

    @property
    def checksum(self) -> str:
        """The checksum of the generated rows, independent of their order."""
        return self._rows.checksum

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the sorted rows as an Arrow stream; sorting begins at its first read."""
        source = pa.RecordBatchReader.from_stream(self._rows)
        batches = self._sorted(source)
        stream = pa.RecordBatchReader.from_batches(source.schema, batches)
        capsule: object = stream.__arrow_c_stream__(requested_schema)
        return capsule

    def _sorted(self, source: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        import duckdb

        try:
            for batch in self._ordered(source):
                self._handed_out += batch.num_rows
                yield batch.cast(source.schema)
        except duckdb.Error as error:
            message = str(error).partition("\n")[0]
            self.failure = RunFailedError(
                f"the rows could not be sorted: {message}. Free memory or space in "
                "XDG_STATE_HOME, or sort smaller tables"
            )
            raise self.failure from error
        if self._handed_out != self._rows.rows:
            self.failure = RunFailedError(
                f"{self._rows.rows} rows were sorted, but the result has {self._handed_out} rows"
            )
            raise self.failure

    def _ordered(self, source: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        from duckdb import ColumnExpression, StarExpression

        by = [ColumnExpression(name).asc().nulls_last() for name in (*self._columns, PLACE)]
        ordered = self._sorter.from_arrow(_numbered(source)).sort(*by)
        batches: Iterable[pa.RecordBatch] = ordered.select(
            StarExpression(exclude=[PLACE])
        ).to_arrow_reader()
        return batches


@contextmanager
def sorter(spill: Path, needed_bytes: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB connection that sorts, with temporary files below `spill`.

    Args:
        spill: Directory for temporary files.
        needed_bytes: Estimated memory of all rows that are sorted at once.

    Raises:
        RunFailedError: If the rows fit neither into memory nor onto the disk.
    """
    import duckdb

    spill.mkdir(mode=0o700)
    memory_bytes = max(MEMORY_MIN_BYTES, round(available_bytes() * MEMORY_SHARE))
    check_room(needed_bytes, memory_bytes, spill)
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory_bytes}B",
        "temp_directory": str(spill),
        "threads": max(1, min(os.cpu_count() or 1, memory_bytes // BYTES_A_THREAD)),
    }
    try:
        with duckdb.connect(":memory:", config=config) as connection:
            yield connection
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def check_room(needed_bytes: float, memory_bytes: int, spill: Path) -> None:
    """Refuse a sort that fits neither into memory nor, spilled, onto the disk."""
    spilled_bytes = round(needed_bytes * SPILLED_SIZES)
    free_bytes = shutil.disk_usage(spill).free
    if spilled_bytes > memory_bytes and spilled_bytes > free_bytes:
        raise RunFailedError(
            f"--sorted: sorting needs about {bytes_text(spilled_bytes)}; "
            f"{bytes_text(memory_bytes)} of memory and {bytes_text(free_bytes)} of disk space "
            f"in {spill.parent} are available: set XDG_STATE_HOME to a directory with more "
            "space, or sort smaller tables"
        )


def _numbered(source: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return rows with their positions, which break ties when sorting."""
    schema = source.schema.append(pa.field(PLACE, pa.int64()))

    def batches() -> Iterator[pa.RecordBatch]:
        begun = 0
        for batch in source:
            places = pa.arange(begun, begun + batch.num_rows)
            begun += batch.num_rows
            yield pa.record_batch([*batch.columns, places], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())
