"""Which of DuckDB's ways to fetch a result as Arrow costs a query least: why the session uses its own.

The 22 TPC-H queries on the data of the last `assay run tpch --scale S`, interleaved, hot. Prints the
sum and the geometric mean of the medians of each way, in milliseconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb

from assay.analysis.operations import geometric_mean
from assay.study.places import cache_dir
from assay.workloads.discovery import find_workload

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


def main() -> None:
    """Prints a line a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    data = sorted(cache_dir().glob(f"datasets/tpch-{asked.scale:g}-duckdb-*/data/assay.duckdb"))
    if not data:
        parser.error(f"no data yet: assay run tpch --scale {asked.scale:g}")
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
