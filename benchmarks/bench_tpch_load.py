"""Generating and loading TPC-H into DuckDB: Assay against tpchgen-cli's files and DuckDB's import.

Both sides start with nothing and end with a checkpointed database file with the same rows; rounds
are interleaved, and the ratio is taken within each round. `--scale 1 --rounds 3`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

BIN = Path(sys.executable).parent
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def ours(place: Path, scale: float) -> tuple[float, int]:
    """Seconds from nothing to a loaded data set, and its rows, as the run's own manifest tells."""
    env = {**os.environ, "XDG_CACHE_HOME": str(place), "XDG_STATE_HOME": str(place)}
    command = [BIN / "assay", "run", "tpch", "--scale", str(scale), "--min-time", "0s"]
    subprocess.run([*command, "--runs", place / "runs"], env=env, check=False, capture_output=True)
    (manifest,) = place.glob("assay/datasets/*/manifest.json")
    told = json.loads(manifest.read_text())
    return told["seconds"], sum(table["rows"] for table in told["tables"].values())


def theirs(place: Path, scale: float, kind: str) -> tuple[float, int]:
    """Seconds for files by tpchgen-cli, then DuckDB's own import of them, and the rows."""
    begun_s = time.monotonic()
    command = [BIN / "uv", "tool", "run", "--quiet", "tpchgen-cli", kind, "-s", str(scale)]
    subprocess.run([*command, "--output-dir", place / "files"], check=True, capture_output=True)
    rows = 0
    with duckdb.connect(place / "peer.duckdb") as connection:
        for table in TABLES:
            source = f"read_{kind}('{place}/files/{table}.{kind}')"
            connection.execute(f"create table {table} as from {source}")
            rows += connection.table(table).count("*").fetchall()[0][0]
        connection.execute("checkpoint")
    return time.monotonic() - begun_s, rows


def main() -> None:
    """Prints the rounds and, at the end, medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    # The first call of the tool installs it; that is not what is compared.
    subprocess.run([BIN / "uv", "tool", "run", "--quiet", "tpchgen-cli", "--version"], check=True)
    taken: dict[str, list[float]] = {"assay": [], "parquet": [], "csv": []}
    for number in range(asked.rounds):
        for kind, seconds_of in taken.items():
            place = Path(tempfile.mkdtemp())
            try:
                seconds, rows = (
                    ours(place, asked.scale)
                    if kind == "assay"
                    else theirs(place, asked.scale, kind)
                )
            finally:
                shutil.rmtree(place, ignore_errors=True)
            seconds_of.append(seconds)
            print(
                f"round {number + 1}  {kind:<8}{seconds:8.2f} s  {rows:>10} rows  {rows / seconds / 1e6:.2f} M rows/s"
            )
    for kind in ("parquet", "csv"):
        ratios = [peer / own for peer, own in zip(taken[kind], taken["assay"], strict=True)]
        print(
            f"Assay is {statistics.median(ratios):.2f} times as fast as {kind} files and import"
            f" (from {min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
