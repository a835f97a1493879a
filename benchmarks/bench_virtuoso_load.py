"""Generating and loading TPC-H into Virtuoso: Assay beside tpchgen-cli's files and csv_load_file.

Both sides have a new private server of the same settings and end with the same rows, durable, with
the same statistics. The peer's files come in two parts a table where there are two CPUs, and as many
connections load them, largest first, without a log and without row locks, as the product's own
documents advise. Rounds are interleaved, and each ratio is taken within a round. The goal is 1.5
times as fast at SF 1.

    .venv/bin/python benchmarks/bench_virtuoso_load.py [--scale 1] [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from assay.engines.bridge.link import Link
from assay.engines.contract import Address, Place, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.virtuoso.engine import VirtuosoEngine
from assay.record.writer import new_run_id
from assay.running.host.places import engines_dir
from assay.running.processes.hosting import host
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from assay.workloads.discovery import find_workload
from servers import STREAMS, filling_of  # benchmarks/servers.py

TPCHGEN = [Path(sys.executable).parent / "uv", "tool", "run", "--quiet", "tpchgen-cli"]
TPCH = find_workload("tpch")
TABLES = TPCH.facts.tables
DIALECTS = ("virtuoso",)
LOAD = (
    "csv_load_file ('{file}', 1, null, 'DB.DBA.{table}', 2,"
    " vector ('csv-delimiter', ',', 'csv-quote', '\"', 'txn', 0))"
)
SUMS = "select count(*), sum(l_orderkey), sum(l_linenumber), sum(length(l_comment)), min(l_shipdate) from lineitem"
Side = Callable[[Address, float, Path], None]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    # The first call of the tool installs it; that is not what is compared.
    subprocess.run([*TPCHGEN, "--version"], check=True, capture_output=True)
    sides: dict[str, Side] = {"assay": ours, "peer": peer}
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(asked.rounds):
        held = {}
        for side in list(sides) if number % 2 == 0 else list(reversed(sides)):
            seconds, cpu_s, held[side] = one_load(asked.scale, sides[side])
            taken[side].append(seconds)
            print(
                f"round {number + 1}  {side:<6}{seconds:7.2f} s, server {cpu_s:.1f} CPU s",
                flush=True,
            )
        assert held["assay"] == held["peer"], held
    ratios = [peers / own for peers, own in zip(taken["peer"], taken["assay"], strict=True)]
    medians = {side: statistics.median(seconds) for side, seconds in taken.items()}
    print(f"\nTPC-H SF {asked.scale:g} into Virtuoso, median of {asked.rounds} rounds:", end=" ")
    print(f"assay {medians['assay']:.2f} s, files and csv_load_file {medians['peer']:.2f} s")
    print(f"{statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})")


def one_load(scale: float, side: Side) -> tuple[float, float, object]:
    """Seconds from an empty server to a loaded one, the server's CPU seconds, and what it holds."""
    with tempfile.TemporaryDirectory() as place, server() as (engine, address):
        before_s, begun_s = cpu_s(address["pid"]), time.monotonic()
        side(address, scale, Path(place))
        seconds = time.monotonic() - begun_s
        used_s = cpu_s(address["pid"]) - before_s
        instance = engine.attach(address)
        counted = {table: engine.count(instance, table) for table in TABLES}
        sums = instance.handle.text(SUMS)
        engine.detach(instance)
        return seconds, used_s, (counted, sums)


def ours(address: Address, scale: float, _: Path) -> None:
    """As a run does it."""
    filling = filling_of(TPCH, DIALECTS, scale)
    job = {"engine": "virtuoso", "address": address, "filling": filling}
    with Guardian(new_run_id("benchmark", "load")) as guardian:
        log = guardian.directory / "host.log"
        with host(guardian, "load", job, log) as loader:
            while loader.next()["kind"] != "loaded":
                pass


def peer(address: Address, scale: float, _: Path) -> None:
    """Files, the product's own loader, then what our engine does after the rows."""
    engine = behaviour()
    instance = engine.attach(address)
    place = Path(address["scratch"]) / "load" / "files"
    for script in TPCH.setup(DIALECTS, scale).values():
        engine.run_script(instance, script)
    parts = ["--parts", str(STREAMS)]
    command = [*TPCHGEN, "csv", "-s", str(scale), "--output-dir", place, *parts]
    subprocess.run(command, check=True, capture_output=True)
    files = sorted(place.rglob("*.csv"), key=lambda file: -file.stat().st_size)
    with ThreadPoolExecutor(STREAMS) as pool:
        list(pool.map(lambda file: csv_load(address, file), files))
    engine.finish_load(instance)
    engine.detach(instance)


def csv_load(address: Address, file: Path) -> None:
    with Link.connect(address) as link:
        link.run("log_enable (2, 1)")
        link.run(LOAD.format(file=file, table=file.parent.name))


@contextmanager
def server() -> Iterator[tuple[VirtuosoEngine, Address]]:
    """A new server with the settings that a load has; gone when the block is left."""
    engine = behaviour()
    product = engine.obtain(Wanted(engines_dir()), tell_nobody)
    with Guardian(new_run_id("benchmark", "virtuoso")) as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, guardian.directory / "server.log")
        launcher.own(data)
        place = Place(data, launcher.scratch)
        yield engine, engine.start(product, place, engine.load_settings(), launcher)


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def behaviour() -> VirtuosoEngine:
    engine = find_engine("virtuoso").engine()
    assert isinstance(engine, VirtuosoEngine)
    return engine


if __name__ == "__main__":
    main()
