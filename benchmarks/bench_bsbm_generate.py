"""Generating BSBM's data: Assay beside the reference's generator, which is a program in Java.

All sides make N-Triples of the same number of products, as whole processes: what starting them takes
is in their time. Rounds are interleaved, and each ratio is taken within a round, to the side that is
named last of those that do the same. Without the reference files are compared with writing as many
bytes that are there already.

  nowhere: rows as a load takes them, and no file
    made     `assay`'s generator with one thread
    java0    the reference, whose file is /dev/null (`--java`, a directory with its `lib/*.jar` and
             its lists of words)
  into files of one disk
    one      `assay generate` with one thread
    all      the same with a thread a CPU
    raw      bytes that are in memory are written
    java     the reference

The goals are a million triples a second of a core, and 20 times the reference. What the data are made
of is told beside what was published of them: 2,785 products are a million triples, 28,481 are ten,
284,826 are a hundred. With the reference, its own counts stand there, too.

    .venv/bin/python benchmarks/bench_bsbm_generate.py [--products 28481] [--java DIR] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.workloads.generate import table_stream

# Triples that scales are named by in the specification, and in results that were published.
PUBLISHED = {2_785: 1_000_000, 28_481: 10_000_000, 284_826: 100_000_000}
BLOCK = 1 << 22
# Sides that do the same; the last one that is there is what the others are compared with.
NOWHERE = ("made", "java0")
FILES = ("one", "all", "raw", "java")
COUNTED = {
    "triples": r"(\d+) triples generated",
    "producttype": r"with (\d+) Product Types",
    "productfeature": r"(\d+) Product Features",
    "producer": r"(\d+) Producers",
    "product": r"(\d+) Products have",
    "vendor": r"(\d+) Vendors",
    "offer": r"(\d+) Offers",
    "person": r"(\d+) Persons",
    "review": r"(\d+) Reviews",
}
MADE = """
import sys
import pyarrow as pa
from assay.workloads.generate import table_stream
for batch in pa.RecordBatchReader.from_stream(table_stream("bsbm", "triples", {products}, 1)):
    pass
"""


@dataclass(frozen=True)
class Cost:
    """What a side took: a process from its start to its end.

    Attributes:
        output: What it printed.
    """

    seconds: float
    cpu_s: float
    output: str


Side = Callable[[int, Path], Cost]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=28_481)
    options.add_argument("--java", type=Path, help="directory of the reference")
    options.add_argument("--dir", type=Path, help="where files are written [default: the system's]")
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    sides: dict[str, Side] = {"made": made, "one": one_thread, "all": every, "raw": raw}
    if asked.java is not None:
        home = asked.java.resolve()
        sides["java0"] = lambda products, place: java_nowhere(home, products, place)
        sides["java"] = lambda products, place: java(home, products, place)
    taken: dict[str, list[Cost]] = {side: [] for side in sides}
    for number in range(asked.rounds):
        for side in list(sides)[number % len(sides) :] + list(sides)[: number % len(sides)]:
            with tempfile.TemporaryDirectory(dir=asked.dir) as place:
                cost = sides[side](asked.products, Path(place))
            taken[side].append(cost)
            print(f"  round {number + 1}  {side:<5} {cost.seconds:7.2f} s", flush=True)
    triples = counts(asked.products)["triples"]
    print(f"\n{asked.products:,} products, {triples:,} triples, {os.cpu_count()} CPUs")
    for same in (NOWHERE, FILES):
        tell_costs({side: taken[side] for side in same if side in taken}, triples)
    tell_counts(asked.products, counted(taken["java"][0].output) if "java" in taken else None)


def played(command: list[str | Path], where: Path | None = None) -> Cost:
    begun_s = time.monotonic()
    with subprocess.Popen(command, cwd=where, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return Cost(time.monotonic() - begun_s, used.ru_utime + used.ru_stime, output)


def made(products: int, _: Path) -> Cost:
    return played([sys.executable, "-c", MADE.format(products=products)])


def one_thread(products: int, place: Path) -> Cost:
    return generated(products, place, 1)


def every(products: int, place: Path) -> Cost:
    return generated(products, place, os.cpu_count() or 1)


def generated(products: int, place: Path, threads: int) -> Cost:
    command = [sys.executable, "-m", "assay.cli.main", "generate", "bsbm", "--format", "nt"]
    asked = ["--scale", str(products), "--threads", str(threads), "--json", "--out", str(place)]
    cost = played([*command, *asked])
    (file,) = json.loads(cost.output)["files"]
    assert file["rows"] == counts(products)["triples"]
    return cost


def java(home: Path, products: int, place: Path) -> Cost:
    # It looks for its lists of words where it is started. -fc: products are of all types above.
    for word_list in home.glob("*.txt"):
        shutil.copy(word_list, place)
    command = ["java", "-Xmx512M", "-cp", f"{home}/lib/*", "benchmark.generator.Generator"]
    return played([*command, "-s", "nt", "-fc", "-pc", str(products), "-fn", "data"], place)


def java_nowhere(home: Path, products: int, place: Path) -> Cost:
    (place / "data.nt").symlink_to(os.devnull)
    return java(home, products, place)


def raw(products: int, place: Path) -> Cost:
    """Writes as many bytes as the lines have, from memory."""
    size = sum(batch_bytes(products))
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    block = memoryview(os.urandom(BLOCK))
    with (place / "raw").open("wb", buffering=0) as file:
        for first in range(0, size, BLOCK):
            file.write(block[: size - first])
    return Cost(time.monotonic() - begun_s, time.process_time() - begun_cpu_s, "")


def batch_bytes(products: int) -> list[int]:
    import pyarrow as pa

    rows = pa.RecordBatchReader.from_stream(table_stream("bsbm", "triples", products, 1))
    return [batch.column(0).buffers()[2].size for batch in rows]


def counts(products: int) -> dict[str, int]:
    """Rows of each table that the reference counts."""
    return {name: table_stream("bsbm", name, products, 1).rows_expected for name in COUNTED}


def counted(output: str) -> dict[str, int]:
    matches = {name: re.search(pattern, output) for name, pattern in COUNTED.items()}
    return {name: int(match[1]) for name, match in matches.items() if match is not None}


def tell_costs(taken: Mapping[str, list[Cost]], triples: int) -> None:
    peer = list(taken)[-1]
    print(f"\n{'':<6}{'seconds':>8}{'M triples/s':>13}{'CPU us a triple':>17}   rate, and", end="")
    print(f" triples a CPU second, times those of {peer} (least to most)")
    for side, costs in taken.items():
        seconds = statistics.median(cost.seconds for cost in costs)
        cpu_us = statistics.median(cost.cpu_s for cost in costs) / triples * 1e6
        pairs = list(zip(costs, taken[peer], strict=True))
        rate = ranged([theirs.seconds / ours.seconds for ours, theirs in pairs])
        cpu = ranged([theirs.cpu_s / ours.cpu_s for ours, theirs in pairs])
        rates = f"{seconds:8.2f}{triples / seconds / 1e6:13.2f}{cpu_us:17.3f}"
        print(f"{side:<6}{rates}   {rate}; {cpu}")


def ranged(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def tell_counts(products: int, theirs: Mapping[str, int] | None) -> None:
    print("\nwhat the data are made of")
    for scale, published in PUBLISHED.items():
        ours = counts(scale)
        off = ours["triples"] / published - 1
        print(
            f"  {scale:>7,} products: {ours['triples']:>11,} triples ({off:+.2%} of"
            f" {published:,}), {ours['triples'] / scale:.1f} a product; {ours['producttype']:,} types,"
            f" {ours['productfeature']:,} features, {ours['producer']:,} producers,"
            f" {ours['vendor']:,} vendors, {ours['offer']:,} offers, {ours['person']:,} persons,"
            f" {ours['review']:,} reviews"
        )
    if theirs is not None:
        print(f"  at {products:,} products, ours and the reference's")
        for name, count in counts(products).items():
            there = theirs[name]
            print(f"    {name:<16}{count:>12,}{there:>12,}  {count / there - 1:+.2%}")


if __name__ == "__main__":
    main()
