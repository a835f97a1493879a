"""Which ways to SQLite load rows faster: Python's two and the core's own.

The rows of TPC-H's lineitem by one prepared statement in one transaction, interleaved. Prints the
medians of each way: thousand rows a second, and microseconds of CPU a row, SQLite's included, as it
works in the same thread. Rows are ready as Python's tuples for Python's ways, and as Arrow for the
core's.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pyarrow

from assay._core import TableStream, sqlite_load
from assay.engines.sqlite.database import give_to_core, statements
from assay.workloads.discovery import find_workload

COLUMNS = 16
LOAD = f"insert into lineitem values ({', '.join('?' * COLUMNS)})"
CORE = "core"


def by_python(connect: Callable[[str], Any]) -> Callable[[str, pyarrow.Table, list[Any]], None]:
    """Loading by a connection of Python's."""

    def load(place: str, _: pyarrow.Table, rows: list[Any]) -> None:
        connection = connect(place)
        connection.execute("begin")
        connection.executemany(LOAD, rows)
        connection.execute("commit")
        connection.close()

    return load


def by_core(place: str, table: pyarrow.Table, _: list[Any]) -> None:
    """Loading by the core, straight from Arrow."""
    sqlite_load(json.dumps({"path": place}), "lineitem", table)


WAYS = {
    "sqlite3": by_python(lambda place: sqlite3.connect(place, isolation_level=None)),
    "apsw": by_python(apsw.Connection),
    CORE: by_core,
}


def plain(table: pyarrow.Table) -> list[tuple[Any, ...]]:
    """Rows as Python's ways take them: fractions, and dates as texts."""
    columns = []
    for column in table.columns:
        if pyarrow.types.is_decimal(column.type):
            columns.append(column.cast(pyarrow.float64()).to_pylist())
        elif pyarrow.types.is_temporal(column.type):
            columns.append(column.cast(pyarrow.string()).to_pylist())
        else:
            columns.append(column.to_pylist())
    return list(zip(*columns, strict=True))


def main() -> None:
    """Prints a line a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    stream = TableStream("tpch", "lineitem", asked.scale, 1)
    table = pyarrow.RecordBatchReader.from_stream(stream).read_all()
    rows = plain(table)
    scripts = find_workload("tpch").setup(("sqlite",), asked.scale)
    schema = list(statements(scripts["schema/tables.sql"]))
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    give_to_core(apsw.Connection(":memory:"))
    for _ in range(asked.rounds):
        for way, load in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                place = str(Path(folder) / "x.sqlite")
                with apsw.Connection(place) as connection:
                    for statement in schema:
                        connection.execute(statement)
                connection.close()
                begun_s, cpu_s = time.perf_counter(), time.process_time()
                load(place, table, rows)
                spent_s, used_s = time.perf_counter() - begun_s, time.process_time() - cpu_s
                taken[way].append((len(rows) / spent_s / 1e3, used_s / len(rows) * 1e6))
    for way, measured in taken.items():
        rate, cpu_us = (statistics.median(figures) for figures in zip(*measured, strict=True))
        print(f"{way:<10}{rate:8.0f} k rows/s   {cpu_us:6.2f} us of CPU a row")


if __name__ == "__main__":
    main()
