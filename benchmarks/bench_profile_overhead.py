"""What a profile costs the queries: TPC-H without, with ours, and with `perf record -F 499 -g`.

One instance of an engine; the sides take turns on it, see rounds.py, with intervals of 95 %. Seconds are what counts; where the host has other work, CPU seconds of engine and sampler together,
by pass, are the steadier guide. `perf -g` follows frame pointers; `--dwarf` adds a side with `perf
record --call-graph dwarf`, which copies stacks and leaves them for later.

    .venv/bin/python benchmarks/bench_profile_overhead.py [--engine postgresql] [--scale 1] [--pairs 7]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import perf  # benchmarks/perf.py
from assay._core import Profiler
from passes import passes  # benchmarks/passes.py
from rounds import WITHOUT, Side, print_rounds, rounds  # benchmarks/rounds.py

OURS, THEIRS, DWARF = "assay", "perf -g", "perf dwarf"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", action="append", help="both by default")
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--pairs", type=int, default=7, help="rounds, at least")
    options.add_argument("--seconds", type=float, default=30.0, help="of each side, at least")
    options.add_argument("--dwarf", action="store_true")
    asked = options.parse_args()
    perf.program()
    for engine in asked.engine or ["duckdb", "postgresql"]:
        with passes(engine, asked.scale) as running:
            print(f"{engine} {running.version}, TPC-H SF {asked.scale:g}", flush=True)
            print_rounds(rounds(running, sides(dwarf=asked.dwarf), asked.pairs, asked.seconds))


def sides(*, dwarf: bool) -> dict[str, Side]:
    by_name: dict[str, Side] = {
        WITHOUT: lambda *_: nullcontext(perf.Cost()),
        OURS: ours,
        THEIRS: lambda pids, place: perf.recording(pids, place / "perf.data", "-g"),
    }
    if dwarf:
        by_name[DWARF] = lambda pids, place: perf.recording(
            pids, place / "perf.data", "--call-graph", "dwarf"
        )
    return by_name


@contextmanager
def ours(pids: Sequence[int], place: Path) -> Iterator[perf.Cost]:
    cost = perf.Cost()
    profiler = Profiler(place, list(pids), perf.FREQUENCY_HZ)
    try:
        yield cost
    finally:
        report = profiler.stop()
    assert report["error"] is None, report["error"]
    cost.cpu_s = report["cpu_ns"] / 1e9


if __name__ == "__main__":
    main()
