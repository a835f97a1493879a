"""What a profile costs the queries: TPC-H without, with ours, and with `perf record -F 499 -g`.

One instance of an engine; the sides take turns on it, a pass over the 22 queries each, in an order
that rotates, so that what else the host does meets all alike. For each query and round there is a
ratio to the side without; a query's ratio is the median over the rounds, and the ratio of all is
their mean, each query weighted by its seconds without. The 95 % interval is a bootstrap over rounds.
Seconds are what counts; where the host has other work, CPU seconds of engine and sampler together,
by pass, are the steadier guide. `perf -g` follows frame pointers; `--dwarf` adds a side with `perf
record --call-graph dwarf`, which copies stacks and leaves them for later.

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

RESAMPLES = 2_000
WITHOUT, OURS, THEIRS, DWARF = "without", "assay", "perf -g", "perf dwarf"
Side = Callable[[Sequence[int], Path], AbstractContextManager[perf.Cost]]


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
            told(rounds(running, asked.pairs, asked.seconds, dwarf=asked.dwarf))


@dataclass(frozen=True)
class Turn:
    """One side's pass: seconds of each query, and CPU seconds of engine and sampler."""

    seconds: list[float]
    cpu_s: float


def rounds(running: Passes, pairs: int, least_s: float, *, dwarf: bool) -> list[dict[str, Turn]]:
    """What each side took, in each round."""
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
    taken: list[dict[str, Turn]] = []
    while len(taken) < pairs or sum(sum(turns[WITHOUT].seconds) for turns in taken) < least_s:
        first = len(taken) % len(sides)
        order = (*list(sides)[first:], *list(sides)[:first])
        taken.append({side: turn(running, sides[side]) for side in order})
        latest = (f"{side} {sum(taken[-1][side].seconds):.2f} s" for side in sides)
        print(f"  round {len(taken)}: {'  '.join(latest)}", flush=True)
    return taken


def turn(running: Passes, side: Side) -> Turn:
    with tempfile.TemporaryDirectory() as place, side(running.pids, Path(place)) as cost:
        before_s = perf.cpu_s(perf.family(running.pids))
        seconds = running.take()
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


Rounds = Sequence[dict[str, Turn]]


def told(taken: Rounds) -> None:
    print("  times what it is without (95 % interval)")
    for side in taken[0]:
        if side != WITHOUT:
            seconds, cpu = (shown(taken, side, ratio) for ratio in (ratio_s, ratio_cpu))
            print(f"  {side:<11}seconds {seconds}   CPU seconds, the sampler's with them, {cpu}")


def ratio_s(taken: Rounds, side: str) -> float:
    ratios, weights = [], []
    for query in range(len(taken[0][WITHOUT].seconds)):
        pairs = [(turns[side].seconds[query], turns[WITHOUT].seconds[query]) for turns in taken]
        ratios.append(statistics.median(seconds / without for seconds, without in pairs))
        weights.append(statistics.median(without for _, without in pairs))
    return statistics.fmean(ratios, weights)


def ratio_cpu(taken: Rounds, side: str) -> float:
    return statistics.median(turns[side].cpu_s / turns[WITHOUT].cpu_s for turns in taken)


def shown(taken: Rounds, side: str, ratio: Callable[[Rounds, str], float]) -> str:
    """A ratio with its interval by the percentile bootstrap (Efron and Tibshirani, 1993, 13.3)."""
    drawn = random.Random(1)  # noqa: S311 - nothing is to be kept secret
    resampled = sorted(ratio(drawn.choices(taken, k=len(taken)), side) for _ in range(RESAMPLES))
    low, high = resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]
    return f"{ratio(taken, side):.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
