"""Which of Python's ways to SQLite loads and fetches rows faster: why the engine uses apsw.

The rows of TPC-H's lineitem, loaded by one prepared statement in one transaction and fetched whole,
interleaved. Prints the medians of each way, in thousand rows a second.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pyarrow

from assay._core import TableStream
from assay.engines.sqlite.database import statements
from assay.engines.sqlite.loading import tuples
from assay.workloads.discovery import find_workload

WAYS: dict[str, Callable[[str], Any]] = {
    "sqlite3": lambda place: sqlite3.connect(place, isolation_level=None),
    "apsw": apsw.Connection,
}
COLUMNS = 16
LOAD = f"insert into lineitem values ({', '.join('?' * COLUMNS)})"
FETCH = "select * from lineitem"


def rates(connection: Any, schema: list[str], rows: list[tuple[Any, ...]]) -> tuple[float, float]:
    """Rows a second of loading and of fetching."""
    for statement in schema:
        connection.execute(statement)
    begun_s = time.perf_counter()
    connection.execute("begin")
    connection.executemany(LOAD, rows)
    connection.execute("commit")
    loaded_s = time.perf_counter()
    fetched = len(connection.execute(FETCH).fetchall())
    ended_s = time.perf_counter()
    return len(rows) / (loaded_s - begun_s), fetched / (ended_s - loaded_s)


def main() -> None:
    """Prints a line a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    stream = TableStream("tpch", "lineitem", asked.scale, 1)
    rows = [r for b in pyarrow.RecordBatchReader.from_stream(stream) for r in tuples(b)]
    scripts = find_workload("tpch").setup(("sqlite",), asked.scale)
    schema = list(statements(scripts["schema/tables.sql"]))
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(asked.rounds):
        for way, connect in WAYS.items():
            with tempfile.TemporaryDirectory() as place:
                connection = connect(str(Path(place) / "x.sqlite"))
                taken[way].append(rates(connection, schema, rows))
                connection.close()
    for way, told in taken.items():
        load, fetch = (statistics.median(rates) / 1e3 for rates in zip(*told, strict=True))
        print(f"{way:<10}load {load:8.0f} k rows/s   fetch {fetch:8.0f} k rows/s")


if __name__ == "__main__":
    main()
