"""Generating and loading TPC-H: Assay beside tpchgen-cli's files and the products' own import.

Both sides start with nothing and end with the same rows, durable, and queries can start. Rounds are
interleaved, and each ratio is taken within a round.

DuckDB: Assay against Parquet and CSV files, loaded by DuckDB's own readers, up to a checkpoint.

PostgreSQL: both sides have a new private server of the same settings. Assay's rows never are a file;
the peer's are CSV files in two parts a table, taken largest first by as many `psql \\copy` as there
are CPUs. Then come, by the same code on both sides, keys, indexes, VACUUM, ANALYZE and a checkpoint.
The goal is 1.3 times as fast at SF 1.

    .venv/bin/python benchmarks/bench_tpch_load.py [--scale 1] [--rounds 3] [--only postgresql]
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

import duckdb

from assay.engines.discovery import find_engine
from assay.engines.postgresql.engine import PostgresEngine
from assay.record.writer import new_run_id
from assay.running.processes.hosting import host
from assay.running.processes.launcher import Guardian
from assay.workloads.discovery import find_workload
from run import left_out  # benchmarks/run.py
from servers import STREAMS, Server, filling_of, server  # benchmarks/servers.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engines.contract import Instance
    from assay.engines.loading import HasKeys

BIN = Path(sys.executable).parent
PSQL = shutil.which("psql")
TPCHGEN = [BIN / "uv", "tool", "run", "--quiet", "tpchgen-cli"]
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
CHECKPOINT = "statistics and checkpoint"
PHASES = ("data", "primary keys", "indexes", "statistics", "foreign keys", CHECKPOINT)
TPCH = find_workload("tpch")
DIALECTS = ("postgresql",)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--engine", default="postgresql@18", help="which PostgreSQL")
    options.add_argument("--only", choices=["duckdb", "postgresql"])
    asked = options.parse_args()
    # The first call of the tool installs it; that is not what is compared.
    subprocess.run([*TPCHGEN, "--version"], check=True, capture_output=True)
    if asked.only != "postgresql":
        compare_duckdb(asked.scale, asked.rounds)
    if asked.only != "duckdb":
        if PSQL is None:
            left_out("psql is not installed, whose \\copy this compares with (postgresql-client)")
        compare_postgresql(asked.engine, asked.scale, asked.rounds)


def compare_duckdb(scale: float, rounds: int) -> None:
    taken: dict[str, list[float]] = {"assay": [], "parquet": [], "csv": []}
    for number in range(rounds):
        for kind, seconds_of in taken.items():
            with empty_place() as place:
                seconds, rows = (
                    duckdb_ours(place, scale)
                    if kind == "assay"
                    else duckdb_peer(place, scale, kind)
                )
            seconds_of.append(seconds)
            print(
                f"DuckDB round {number + 1}  {kind:<8}{seconds:8.2f} s  {rows:>10} rows  {rows / seconds / 1e6:.2f} M rows/s",
                flush=True,
            )
    for kind in ("parquet", "csv"):
        print_ratios(f"DuckDB: Assay beside {kind} files and import", taken[kind], taken["assay"])


def duckdb_ours(place: Path, scale: float) -> tuple[float, int]:
    """Seconds from nothing to a loaded data set, and its rows, as the run's own manifest tells."""
    env = {**os.environ, "XDG_CACHE_HOME": str(place), "XDG_STATE_HOME": str(place)}
    command = [sys.executable, "-m", "assay.cli.main", "run", "tpch", "--scale", str(scale)]
    subprocess.run(
        [*command, "--min-time", "0s", "--runs", place / "runs"],
        env=env,
        check=False,
        capture_output=True,
    )
    (manifest,) = place.glob("assay/datasets/*/manifest.json")
    made = json.loads(manifest.read_text())
    return made["seconds"], sum(table["rows"] for table in made["tables"].values())


def duckdb_peer(place: Path, scale: float, kind: str) -> tuple[float, int]:
    """Seconds for files by tpchgen-cli, then DuckDB's own import of them, and the rows."""
    begun_s = time.monotonic()
    generate(kind, scale, place / "files")
    rows = 0
    with duckdb.connect(place / "peer.duckdb") as connection:
        for table in TABLES:
            source = f"read_{kind}('{place}/files/{table}.{kind}')"
            connection.execute(f"create table {table} as from {source}")
            rows += connection.table(table).count("*").fetchall()[0][0]
        connection.execute("checkpoint")
    return time.monotonic() - begun_s, rows


def compare_postgresql(product: str, scale: float, rounds: int) -> None:
    sides: dict[str, Callable[[Server, float, Path], Iterator[str]]] = {
        "assay": postgresql_ours,
        "peer": postgresql_peer,
    }
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for number in range(rounds):
        order = list(sides) if number % 2 == 0 else list(reversed(sides))
        held = {}
        for side in order:
            seconds, held[side] = one_load(product, scale, sides[side])
            taken[side].append(seconds)
            phases = "  ".join(f"{phase} {seconds[phase]:.2f}" for phase in PHASES)
            total = sum(seconds.values())
            print(f"PostgreSQL round {number + 1}  {side:<6}{total:7.2f} s: {phases}", flush=True)
        assert held["assay"] == held["peer"], held
    print(f"\nTPC-H SF {scale:g} into {product}, seconds, median of {rounds} rounds")
    print(f"{'':<27}   assay    peer   peer / assay (lowest to highest)")
    for phase in (*PHASES, "all"):
        ours, peers = (
            [sum(load.values()) if phase == "all" else load[phase] for load in taken[side]]
            for side in ("assay", "peer")
        )
        ratios = [peer / own for peer, own in zip(peers, ours, strict=True)]
        print(
            f"{phase:<27}  {statistics.median(ours):6.2f}  {statistics.median(peers):6.2f}   {statistics.median(ratios):.2f}  ({min(ratios):.2f} to {max(ratios):.2f})"
        )


def one_load(
    product: str, scale: float, side: Callable[[Server, float, Path], Iterator[str]]
) -> tuple[dict[str, float], dict[str, tuple[int, int]]]:
    """Seconds of each phase on a new server, and, off the clock, what each table holds."""
    engine = behaviour()
    seconds = dict.fromkeys(PHASES, 0.0)
    with empty_place() as place, server(product, dict(engine.load_settings())) as running:
        begun_s, phase = time.monotonic(), PHASES[0]
        for entered in side(running, scale, place):
            now_s = time.monotonic()
            seconds[phase] += now_s - begun_s
            begun_s, phase = now_s, entered
        seconds[phase] += time.monotonic() - begun_s
        with attached(engine, running) as instance:
            return seconds, {table: contents(instance, table) for table in TABLES}


def contents(instance: Instance, table: str) -> tuple[int, int]:
    """Rows of a table, and a digest of all values in it that their order does not change."""
    text = f"select count(*), sum(hashtextextended(row::text, 0)) from {table} as row"
    return instance.handle.execute(text).fetchone()


def postgresql_ours(running: Server, scale: float, _: Path) -> Iterator[str]:
    """Loads as a run does; yields each phase as it begins."""
    filling = filling_of(TPCH, DIALECTS, scale)
    job = {"engine": "postgresql", "address": {"dsn": running.dsn}, "filling": filling}
    phase = PHASES[0]
    with Guardian(new_run_id("benchmark", "load")) as guardian:
        log = guardian.directory / "host.log"
        with host(guardian, "load", job, log) as loader:
            while (message := loader.next())["kind"] != "loaded":
                if message["phase"] in PHASES and message["phase"] != phase:
                    phase = message["phase"]
                    yield phase


def postgresql_peer(running: Server, scale: float, place: Path) -> Iterator[str]:
    """Files and `\\copy`, then what our engine does after the rows; yields each phase as it begins."""
    engine = behaviour()
    with attached(engine, running) as instance:
        for script in TPCH.setup(DIALECTS, scale).values():
            engine.run_script(instance, script)
        generate("csv", scale, place, "--parts", str(STREAMS))
        files = sorted(place.rglob("*.csv"), key=lambda file: -file.stat().st_size)
        with ThreadPoolExecutor(STREAMS) as pool:
            list(pool.map(lambda file: copy_file(running, file), files))
        yield from timed_keys(engine, instance, "\n".join(TPCH.keys(DIALECTS, scale).values()))
        yield PHASES[-1]
        engine.finish_load(instance)


def timed_keys(engine: HasKeys, instance: Instance, script: str) -> Iterator[str]:
    """Makes the keys of a script in a thread, yielding each kind as it begins."""
    begun_kinds: Queue[str | None] = Queue()

    def tell(phase: str, done: float, *_: object) -> None:
        if done == 0:
            begun_kinds.put(phase)

    def make() -> None:
        try:
            engine.make_keys(instance, script, STREAMS, tell)
        finally:
            begun_kinds.put(None)

    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(make)
        while (kind := begun_kinds.get()) is not None:
            yield kind
        made.result()


def copy_file(running: Server, file: Path) -> None:
    command = f"\\copy {file.parent.name} from '{file}' with (format csv, header)"
    subprocess.run(
        [PSQL or "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--command", command],
        env=running.env,
        check=True,
        capture_output=True,
    )


def behaviour() -> PostgresEngine:
    engine = find_engine("postgresql").engine()
    assert isinstance(engine, PostgresEngine)
    return engine


@contextmanager
def attached(engine: PostgresEngine, running: Server) -> Iterator[Instance]:
    instance = engine.attach(engine.address(running.dsn))
    try:
        yield instance
    finally:
        engine.detach(instance)


@contextmanager
def empty_place() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp())
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def generate(kind: str, scale: float, target: Path, *options: str) -> None:
    command = [*TPCHGEN, kind, "-s", str(scale), "--output-dir", target, *options]
    subprocess.run(command, check=True, capture_output=True)


def print_ratios(what: str, peers: list[float], ours: list[float]) -> None:
    ratios = [peer / own for peer, own in zip(peers, ours, strict=True)]
    print(
        f"{what}: {statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    main()
