"""Writes tables as Parquet files into a directory that all nodes of a cluster read.

Each table is a directory with one file per concurrent reader; all files are written together from
one stream of rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from assay.engines.contract import EngineError
from assay.engines.server_files import new_server_directory, server_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.loading import ArrowStream

# Maximum rows of a row group, which one reader takes at a time or skips by its statistics.
GROUP_ROWS = 1 << 17
# A table with fewer rows is one file, because more files would only cost opening.
FILE_ROWS_MIN = 1 << 16
# Every Parquet reader supports it, and decompression is cheap.
COMPRESSION = "snappy"


def write_table(lake: Path, table: str, rows: ArrowStream, files: int) -> int:
    """Write all rows of a table as Parquet files, and return their number.

    Row groups go to the files in turns, so that all files have the same size and rows from all
    parts of the table. Texts are written as plain strings, whatever their layout in memory.

    Args:
        lake: The directory of all tables.
        table: Name of the table, whose directory must not exist.
        rows: Stream of rows, which is read once.
        files: Number of files. A small table always has one file.

    Raises:
        EngineError: If the directory exists, or the files cannot be written.
    """
    folder = lake / table
    count = 0
    try:
        reader = pa.RecordBatchReader.from_stream(rows)
        schema = _plain(reader.schema)
        with ExitStack() as opened:
            tables = opened.enter_context(server_directory(lake))
            made = new_server_directory(table, tables, replaces=False)
            # By this path the files are made in the open directory, also if a link is put in its
            # place.
            place = Path(f"/proc/self/fd/{opened.enter_context(made)}")
            writers: list[pq.ParquetWriter] = []
            for number, group in enumerate(_groups(reader)):
                at = number % files
                if at == len(writers):
                    writer = _writer(place / f"part-{at:05}.parquet", schema)
                    writers.append(opened.enter_context(writer))
                writers[at].write_table(group.cast(schema), row_group_size=GROUP_ROWS)
                count += group.num_rows
            if not writers:
                opened.enter_context(_writer(place / "part-00000.parquet", schema))
    except (OSError, pa.ArrowException) as error:
        raise EngineError(f"table {table} cannot be written to {folder}: {error}") from error
    return count


def count_rows(lake: Path, table: str) -> int:
    """Return the number of rows of a table, from the metadata of its Parquet files.

    Raises:
        EngineError: If a file cannot be read.
    """
    try:
        return sum(pq.read_metadata(file).num_rows for file in table_files(lake, table))
    except (OSError, pa.ArrowException) as error:
        raise EngineError(f"table {table} cannot be read: {error}") from error


def table_files(lake: Path, table: str) -> list[Path]:
    """Return the Parquet files of a table; empty if the table does not exist."""
    return sorted((lake / table).glob("*.parquet"))


def _groups(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield rows in groups that are large enough for a Parquet file."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in reader:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= FILE_ROWS_MIN:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(file, schema, compression=COMPRESSION, store_schema=False)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return an Arrow schema with plain string types."""
    return pa.schema([pa.field(column.name, _plain_type(column.type)) for column in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return pa.string()
    return kind
