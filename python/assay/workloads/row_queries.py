"""Generates rows of tables by queries on one engine, equal for every engine under test."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

import duckdb
import pyarrow

from assay.model.errors import RunFailedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Dialects of the engine that executes the queries.
BATCH_ROWS = 65_536
DIGEST_BYTES = 8


def version() -> str:
    """Return the version of DuckDB, which generates the rows."""
    return f"duckdb {duckdb.__version__}"


class RowQuery:
    """The rows of a query as an Arrow stream that can be read once.

    The rows have the query's order, independent of the number of threads.

    Raises:
        UsageError: If DuckDB refuses the query; `label` names it.
    """

    def __init__(self, text: str, label: str, threads: int) -> None:
        self._text = text
        self._digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._rows = 0
        self._is_ended = False
        # Nothing is spilled, so no files remain in the current directory.
        self._connection = duckdb.connect(config={"threads": threads, "temp_directory": ""})
        try:
            self._relation = self._connection.sql(text)
        except duckdb.Error as error:
            raise UsageError(f"{label}: DuckDB reports an error in the query: {error}") from error

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream, generated while it is read."""
        reader = self._relation.to_arrow_reader(BATCH_ROWS)
        counted = pyarrow.RecordBatchReader.from_batches(reader.schema, self._counted(reader))
        return counted.__arrow_c_stream__(requested_schema)

    def end(self) -> None:
        """Have the next read of the stream fail, and interrupt the query."""
        self._is_ended = True
        self._connection.interrupt()

    @property
    def rows(self) -> int:
        """The number of generated rows that were read."""
        return self._rows

    @cached_property
    def rows_expected(self) -> int:
        """The total number of rows that the query generates."""
        counting = self._connection.cursor().sql(self._text)
        counted: int = counting.count("*").fetchall()[0][0]
        return counted

    @property
    def checksum(self) -> str:
        """The checksum of all generated rows read, as 16 hexadecimal digits."""
        return self._digest.hexdigest()

    def _counted(self, reader: pyarrow.RecordBatchReader) -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            if self._is_ended:
                raise RunFailedError("loading was ended")
            self._digest.update(batch.serialize())
            self._rows += batch.num_rows
            yield batch
