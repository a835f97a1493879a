"""What asking BSBM's Explore mix costs a client: Assay beside the reference's driver, in Java.

Both ask an Oxigraph server of their own on this host, one client, data of as many products as each
side's generator makes. Assay's figure is the CPU time of its driver a query in the measured part.
The reference's is that of its process for so many mixes more, over their queries: what its start
and its compiler take is in neither. Rounds are interleaved, and each ratio is taken within a round.

    .venv/bin/python benchmarks/bench_bsbm_driver.py --java DIR [--products 2785] [--mixes 200]

DIR is a directory with the reference's `lib/*.jar`, its lists of words and its `usecases`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from assay.engines.contract import tell_nobody
from run import left_out  # benchmarks/run.py
from servers import started  # benchmarks/servers.py

ENGINE = "oxigraph-server"
QUERIES = 25
WARMUP = 50
LINES = 20_000
DRIVER_CPU = "driver_cpu_seconds_per_operation"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--java", type=Path, help="directory of the reference")
    options.add_argument("--products", type=int, default=2_785)
    options.add_argument("--mixes", type=int, default=200)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    if asked.java is None:
        left_out("the reference's driver is not here: name its directory with --java")
    home = asked.java.resolve()
    with tempfile.TemporaryDirectory(prefix="assay-") as place:
        generated(home, asked.products, Path(place))
        with serving(Path(place)) as endpoint:
            ratios = []
            for number in range(asked.rounds):
                ours = assay_s(asked.products, asked.mixes, Path(place))
                theirs = reference_s(home, endpoint, asked.mixes, Path(place))
                ratios.append(ours / theirs)
                print(
                    f"  round {number + 1}: {ours * 1e6:.0f} µs of CPU a query, the reference"
                    f" {theirs * 1e6:.0f} µs, {ratios[-1]:.2f} of it",
                    flush=True,
                )
    middle = statistics.median(ratios)
    print(
        f"client CPU a query, as a share of the reference's: {middle:.2f}"
        f" ({min(ratios):.2f} to {max(ratios):.2f}), {asked.products:,} products, {asked.mixes} mixes"
    )


def assay_s(products: int, mixes: int, place: Path) -> float:
    """CPU seconds of Assay's driver a query."""
    command = [sys.executable, "-m", "assay.cli.main", "run", "bsbm", "--engine", ENGINE]
    command += ["--products", str(products), "--mixes", str(mixes), "--json"]
    command += ["--warmup-mixes", str(WARMUP), "--runs", str(place / "runs"), "--no-plans"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"assay run ended with {done.returncode}: {done.stderr}")
    driver_s: float = json.loads(done.stdout)["metrics"][DRIVER_CPU]
    return driver_s


def reference_s(home: Path, endpoint: str, mixes: int, place: Path) -> float:
    """CPU seconds of the reference's driver a query, from how much more it takes for twice as many."""
    once, twice = (driven_s(home, endpoint, count, place) for count in (mixes, 2 * mixes))
    return (twice - once) / (mixes * QUERIES)


def driven_s(home: Path, endpoint: str, mixes: int, place: Path) -> float:
    """CPU seconds of a process of it, from its start to its end."""
    command = ["java", "-cp", f"{home}/lib/*", "benchmark.testdriver.TestDriver"]
    command += ["-idir", str(place / "td"), "-o", str(place / "result.xml")]
    command += ["-runs", str(mixes), "-w", str(WARMUP), endpoint]
    process = subprocess.Popen(
        command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the reference's driver ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def generated(home: Path, products: int, place: Path) -> None:
    """The reference's data, and what its driver has to know of them."""
    command = ["java", "-cp", f"{home}/lib/*", "benchmark.generator.Generator", "-fc"]
    command += ["-pc", str(products), "-s", "nt", "-fn", str(place / "data")]
    command += ["-dir", str(place / "td")]
    subprocess.run(command, cwd=home, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def serving(place: Path) -> Iterator[str]:
    """A server that holds the reference's data; its endpoint."""
    with started(ENGINE, {}) as running:
        instance = running.behaviour.attach(running.address)
        running.behaviour.load_triples(instance, lines_of(place / "data.nt"), 2, tell_nobody)
        running.behaviour.finish_triples(instance)
        running.behaviour.detach(instance)
        yield f"http://127.0.0.1:{running.address['port']}{running.address['query']}"


def lines_of(file: Path) -> pa.RecordBatchReader:
    """Lines of a file as engines load them."""
    schema = pa.schema([("line", pa.string())])

    def batches() -> Iterator[pa.RecordBatch]:
        with file.open() as text:
            while lines := [line for _, line in zip(range(LINES), text, strict=False)]:
                yield pa.record_batch([pa.array(lines)], schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


if __name__ == "__main__":
    main()
