"""Manages Spark tables: Parquet files that each new driver must register.

Spark keeps its table catalogue in the driver's memory. No file contains a path, so the directory
can be copied and moved. The files define columns and types.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from assay.engines.bridge.statements import split
from assay.engines.contract import EngineError
from assay.engines.lake import count_rows, table_files, write_table
from assay.engines.own_tables import OwnTables
from assay.engines.spark.connecting import filled, name_of, run, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engines.bridge.link import Link
    from assay.engines.contract import Instance
    from assay.engines.loading import ArrowStream

# Spark's names of Arrow types, except decimals and lists.
NAMES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_date32, "date"),
    (pa.types.is_timestamp, "timestamp_ntz"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
)


def run_script(instance: Instance, sql: str) -> None:
    """Run statements of a schema one by one.

    Raises `EngineError` with the failed statement.
    """
    for statement in split(sql):
        run(instance.handle, statement)


def load(instance: Instance, table: str, rows: ArrowStream) -> None:
    """Write a table's Parquet files and register it with Spark.

    Raises `EngineError`.
    """
    lake, shape = lake_of(instance), instance.address["shape"]
    run(instance.handle, filled("drop_table.sql", table=name_of(table)))
    write_table(lake, table, rows, shape["workers"] * shape["cores"])
    run(instance.handle, _creation(lake, table))


def count(instance: Instance, table: str) -> int:
    """Return the number of rows of a table, counted by Spark.

    Raises `EngineError`.
    """
    ((counted,),) = instance.handle.text(filled("count.sql", table=name_of(table)))
    rows, stored = int(counted or -1), count_rows(lake_of(instance), table)
    if rows != stored:
        raise EngineError(
            f"Spark counts {rows} rows in table {table}, and the table's files contain {stored}."
        )
    return rows


def register(link: Link, lake: Path) -> None:
    """Register all existing tables with a new driver.

    Raises `EngineError`.
    """
    for folder in sorted(lake.iterdir()):
        if table_files(lake, folder.name):
            run(link, _creation(lake, folder.name))


def gather_statistics(link: Link, lake: Path) -> None:
    """Count rows and values of all tables for the optimiser.

    Raises `EngineError`.
    """
    for folder in sorted(lake.iterdir()):
        run(link, filled("analyze.sql", table=name_of(folder.name)))


def lake_of(instance: Instance) -> Path:
    """Return the directory of all Parquet tables of a private Spark cluster.

    Raises `EngineError` if the cluster is not private.
    """
    if "lake" not in instance.address:
        raise EngineError(OwnTables.no_tables)
    return Path(instance.address["lake"])


def type_name(kind: pa.DataType) -> str:
    """Return Spark's name of a Parquet type.

    Raises `EngineError` if Spark has no such type.
    """
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    for is_it, name in NAMES:
        if is_it(kind):
            return name
    raise EngineError(f"Spark has no type for columns of type {kind}: cast the column in the data.")


def _creation(lake: Path, table: str) -> str:
    """Return the SQL that registers a table with Spark."""
    schema = pq.read_schema(table_files(lake, table)[0])
    columns = ", ".join(f"{name_of(field.name)} {type_name(field.type)}" for field in schema)
    location = text_of((lake / table).absolute().as_uri())
    return filled("create_table.sql", table=name_of(table), columns=columns, location=location)


def write_out(instance: Instance) -> None:
    """Wait until all table files are flushed to disk."""
    for file in lake_of(instance).rglob("*.parquet"):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
