"""Generates rows of tables by queries on one engine, equal for every engine under test."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow

from assay.model.errors import RunFailedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH_ROWS = 65_536
DIGEST_BYTES = 8
# DuckDB's types of one query; a PIVOT whose columns are found in the data is of several statements.
QUERIES = {duckdb.StatementType.SELECT, duckdb.StatementType.MULTI}
# Functions that read memory at an address, which no setting of DuckDB forbids.
OF_ADDRESSES = re.compile(
    r"""(?ix) \b (arrow_scan | arrow_scan_dumb | pandas_scan | python_arrow_scan
    | python_map_function | json_execute_serialized_sql) \b"""
)
MEND = "Generate the rows by expressions, such as range(), or insert them by a file of `setup`"


def version() -> str:
    """Return the version of DuckDB, which generates the rows."""
    return f"duckdb {duckdb.__version__}"


class RowQuery:
    """The rows of a query as an Arrow stream that can be read once.

    The rows have the query's order, independent of the number of threads. The query cannot read or
    write files, or change settings.

    Raises:
        UsageError: If the text is not exactly one query, or DuckDB refuses it; `label` names it.
    """

    def __init__(self, text: str, label: str, threads: int) -> None:
        self._text = text
        self._digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._rows = 0
        self._is_ended = False
        # Nothing is spilled, so no files remain in the current directory.
        self._connection = duckdb.connect(config={"threads": threads, "temp_directory": ""})
        # As options of `connect`, these settings do not work together with `temp_directory`.
        self._connection.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
        try:
            self._check_statement(label)
            self._relation = self._connection.sql(text)
        except duckdb.PermissionException as error:
            raise UsageError(
                f"{label}: the query reads or writes a file, which is not allowed ({error}). {MEND}"
            ) from error
        except duckdb.Error as error:
            raise UsageError(f"{label}: DuckDB reports an error in the query: {error}") from error

    def _check_statement(self, label: str) -> None:
        """Raise `UsageError` unless the text is one query that calls no forbidden function."""
        statements = self._connection.extract_statements(self._text)
        if len(statements) != 1:
            raise UsageError(
                f"{label}: the file has {len(statements)} statements, and exactly one query is "
                "allowed: leave only the query whose rows fill the table"
            )
        if statements[0].type not in QUERIES:
            name = statements[0].type.name.replace("_", " ")
            raise UsageError(
                f"{label}: the statement is {name}, and only a query is allowed: write a SELECT, "
                "and leave other statements to a file of `setup`"
            )
        if match := OF_ADDRESSES.search(self._text):
            function = match[1]
            raise UsageError(f"{label}: the function {function} is not allowed. {MEND}")

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
