"""What a profile costs the queries: TPC-H without, with ours, and with `perf record -F 499 -g`.

One instance of an engine; the sides take turns on it, some passes over the 22 queries each, in an
order that rotates, so that what else the host does meets all alike. Each round gives a ratio of
total seconds to the side without; told are the median of the ratios and its 95 % interval (bootstrap
over rounds). Seconds are what counts; on a host that has more to do, CPU seconds are the steadier
guide. `perf -g` follows frame pointers; `--dwarf` adds a side with `perf record --call-graph
dwarf`, which copies stacks, and leaves them for later.

    .venv/bin/python benchmarks/bench_profile_overhead.py [--engine postgresql] [--scale 1] [--pairs 7]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import perf  # benchmarks/perf.py
from assay._core import Profiler
from passes import Passes, passes  # benchmarks/passes.py

RESAMPLES = 10_000
WITHOUT, OURS, THEIRS, DWARF = "without", "assay", "perf -g", "perf dwarf"
Side = Callable[[Sequence[int], Path], AbstractContextManager[perf.Cost]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", action="append", help="both by default")
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--pairs", type=int, default=7)
    options.add_argument("--turn-seconds", type=float, default=5.0, help="of a side, at least")
    options.add_argument("--dwarf", action="store_true")
    asked = options.parse_args()
    perf.program()
    for engine in asked.engine or ["duckdb", "postgresql"]:
        with passes(engine, asked.scale) as running:
            print(f"{engine} {running.version}, TPC-H SF {asked.scale:g}", flush=True)
            told(rounds(running, asked.pairs, asked.turn_seconds, dwarf=asked.dwarf))


@dataclass(frozen=True)
class Turn:
    """One side's passes: seconds of all queries, and CPU seconds of engine and sampler."""

    seconds: float
    cpu_s: float


def rounds(running: Passes, pairs: int, turn_s: float, *, dwarf: bool) -> dict[str, list[Turn]]:
    """What each side took, by round."""
    sides: dict[str, Side] = {
        WITHOUT: lambda *_: nullcontext(perf.Cost()),
        OURS: ours,
        THEIRS: lambda pids, place: perf.recording(pids, place / "perf.data", "-g"),
    }
    if dwarf:
        sides[DWARF] = lambda pids, place: perf.recording(
            pids, place / "perf.data", "--call-graph", "dwarf"
        )
    running.take()
    count = max(1, round(turn_s / sum(running.take())))
    taken: dict[str, list[Turn]] = {side: [] for side in sides}
    for number in range(pairs):
        first = number % len(sides)
        for side in (*list(sides)[first:], *list(sides)[:first]):
            taken[side].append(turn(running, count, sides[side]))
        latest = (f"{side} {turns[-1].seconds:.2f} s" for side, turns in taken.items())
        print(f"  round {number + 1}, {count} passes each: {'  '.join(latest)}", flush=True)
    return taken


def turn(running: Passes, count: int, side: Side) -> Turn:
    with tempfile.TemporaryDirectory() as place, side(running.pids, Path(place)) as cost:
        before_s = perf.cpu_s(perf.family(running.pids))
        seconds = sum(running.take(count))
        engine_s = perf.cpu_s(perf.family(running.pids)) - before_s
    return Turn(seconds, engine_s + cost.cpu_s)


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


def told(taken: dict[str, list[Turn]]) -> None:
    print("  times what it is without (median; 95 % interval)")
    without = taken.pop(WITHOUT)
    for side, turns in taken.items():
        pairs = list(zip(turns, without, strict=True))
        seconds = shown([turn.seconds / bare.seconds for turn, bare in pairs])
        cpu = shown([turn.cpu_s / bare.cpu_s for turn, bare in pairs])
        print(f"  {side:<11}seconds {seconds}   CPU seconds, the sampler's with them, {cpu}")


def shown(ratios: list[float]) -> str:
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"


def interval(ratios: list[float]) -> tuple[float, float]:
    """95 % interval of the median by the percentile bootstrap (Efron and Tibshirani, 1993, 13.3)."""
    drawn = random.Random(1)  # noqa: S311 - nothing is to be kept secret
    medians = sorted(
        statistics.median(drawn.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


if __name__ == "__main__":
    main()
