"""Whether our samples say what `perf record` says: both at the same time, on the same queries.

TPC-H passes on one instance; shares of the symbols with the most samples, by name, of all samples
of the engine's processes. They are to agree within two points. What one side has no name for is told
beside: `perf` may take an address for the symbol before it, ours says that it has none. A function
of two names (`free` is `cfree`) has two lines where the sides chose differently.

    .venv/bin/python benchmarks/bench_profile_agreement.py [--engine postgresql] [--scale 1] [--seconds 30]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl

import perf  # benchmarks/perf.py
from assay._core import Profiler
from assay.analysis.work.names import label, without_clone
from passes import Passes, passes  # benchmarks/passes.py

TOP = 20
POINTS = 2.0
NAMED = ("symbol", "dynamic", "debug", "kernel", "jit", "go")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", action="append", help="both by default")
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--seconds", type=float, default=30.0, help="of queries")
    asked = options.parse_args()
    perf.program()
    for engine in asked.engine or ["duckdb", "postgresql"]:
        with passes(engine, asked.scale) as running, tempfile.TemporaryDirectory() as place:
            print(f"{engine} {running.version}, TPC-H SF {asked.scale:g}", flush=True)
            print_agreement(*both(running, Path(place), asked.seconds))


def both(
    running: Passes, place: Path, seconds: float
) -> tuple[Counter[str | None], Counter[str | None]]:
    """Samples by symbol, ours and perf's; None is what has no name."""
    running.take()
    profiler = Profiler(place, running.pids, perf.FREQUENCY_HZ)
    # Events of single threads do not see a process end, and see less of one that lives short.
    followed = None if profiler.granted()["whole_machine"] else running.pids
    with perf.recording(followed, place / "perf.data", "-g"):
        taken = 0.0
        while taken < seconds:
            taken += sum(running.take())
    report = profiler.stop()
    assert report["error"] is None, report["error"]
    theirs: Counter[str | None] = Counter()
    tids = set(pl.read_ipc_stream(place / "samples.arrows")["tid"])
    for name, samples in perf.samples_by_symbol(place / "perf.data", tids).items():
        theirs[None if name.startswith("0x") else named(name)] += samples
    return ours_by_symbol(place), theirs


def ours_by_symbol(raw: Path) -> Counter[str | None]:
    def stream(name: str) -> pl.DataFrame:
        return pl.read_ipc_stream(raw / f"{name}.arrows")

    innermost = (
        stream("samples").join(stream("stacks"), on="stack").join(stream("symbols"), on="frame")
    )
    counts: Counter[str | None] = Counter()
    for name, kind, samples in innermost.group_by("name", "kind").len().iter_rows():
        counts[named(name) if kind in NAMED else None] += samples
    return counts


def named(name: str) -> str:
    """As both are shown: without parameters, and without what the compiler adds to a copy."""
    return without_clone(label(name))


def print_agreement(ours: Counter[str | None], theirs: Counter[str | None]) -> None:
    percent = [
        {name: 100 * samples / counts.total() for name, samples in counts.items()}
        for counts in (ours, theirs)
    ]
    top = {
        name: None
        for counts in (theirs, ours)
        for name, _ in counts.most_common(TOP + 1)[:TOP]
        if name is not None
    }
    print(f"  {'assay %':>8}{'perf %':>8}{'points':>8}  symbol")
    apart = []
    for name in sorted(top, key=lambda name: -percent[1].get(name, 0.0)):
        mine, peer = (side.get(name, 0.0) for side in percent)
        apart.append(abs(mine - peer))
        print(f"  {mine:>8.2f}{peer:>8.2f}{mine - peer:>+8.2f}  {name[:100]}")
    unnamed = [side.get(None, 0.0) for side in percent]
    print(f"  {unnamed[0]:>8.2f}{unnamed[1]:>8.2f}            without a name")
    within = sum(points <= POINTS for points in apart)
    print(
        f"  {within} of {len(apart)} symbols within {POINTS:g} points, the farthest {max(apart):.2f};"
        f" {ours.total()} samples of ours, {theirs.total()} of perf"
    )


if __name__ == "__main__":
    main()
