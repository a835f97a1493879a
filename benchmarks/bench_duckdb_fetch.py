"""Which of DuckDB's ways to fetch a result as Arrow costs a query least: why the session uses its own.

The 22 TPC-H queries on the data of the last `assay run tpch --scale S`, interleaved, hot. Prints the
sum and the geometric mean of the medians of each way, in milliseconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb

from assay.analysis.operations import geometric_mean
from assay.running.host.places import cache_dir
from assay.workloads.discovery import find_workload

ASSAY = [sys.executable, "-m", "assay.cli.main"]

Fetch = Callable[[duckdb.DuckDBPyConnection, str], object]

WAYS: dict[str, Fetch] = {
    "sql, table": lambda connection, text: connection.sql(text).to_arrow_table(),
    "execute, table": lambda connection, text: connection.execute(text).to_arrow_table(),
    "execute, reader": lambda connection, text: (
        connection.execute(text).to_arrow_reader().read_all()
    ),
}


def medians_ms(
    connection: duckdb.DuckDBPyConnection, texts: list[str], rounds: int
) -> dict[str, list[float]]:
    """Median milliseconds of each query, by way of fetching. The first round is not counted."""
    taken: dict[str, list[list[float]]] = {way: [[] for _ in texts] for way in WAYS}
    for _ in range(rounds + 1):
        for number, text in enumerate(texts):
            for way, fetch in WAYS.items():
                begun_s = time.perf_counter()
                fetch(connection, text)
                taken[way][number].append((time.perf_counter() - begun_s) * 1e3)
    return {way: [statistics.median(ms[1:]) for ms in queries] for way, queries in taken.items()}


def made(scale: float) -> list[Path]:
    """Return the databases of that scale in the cache; a run makes the first."""
    pattern = f"datasets/tpch-{scale:g}-duckdb-*/data/assay.duckdb"
    if not any(cache_dir().glob(pattern)):
        with tempfile.TemporaryDirectory() as runs:
            command = [*ASSAY, "run", "tpch", "--scale", f"{scale:g}", "--runs", runs]
            subprocess.run([*command, "--min-time", "0s"], check=True, capture_output=True)
    return sorted(cache_dir().glob(pattern))


def main() -> None:
    """Prints a line a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    data = made(asked.scale)
    workload = find_workload("tpch")
    texts = [
        workload.statement(q, ("duckdb",), asked.scale, None, 0).text for q in workload.facts.order
    ]
    with tempfile.TemporaryDirectory() as place:
        copied = shutil.copy(data[-1], Path(place) / "copy.duckdb")
        with duckdb.connect(copied) as connection:
            for way, ms in medians_ms(connection, texts, asked.rounds).items():
                print(
                    f"{way:<18}sum {sum(ms):8.1f} ms   geometric mean {geometric_mean(ms):7.2f} ms"
                )


if __name__ == "__main__":
    main()
