"""Sides that take turns on one engine, a pass over the 22 queries each, and what a side costs.

The order rotates, so that what else the host does meets all alike. For each query and round there
is a ratio to the side without; a query's ratio is the median over the rounds, and the ratio of all
is their mean, each query weighted by its seconds without. The 95 % interval is a bootstrap over
rounds.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import perf  # benchmarks/perf.py
from passes import Passes  # benchmarks/passes.py

RESAMPLES = 2_000
WITHOUT = "without"
Side = Callable[[Sequence[int], Path], AbstractContextManager[perf.Cost]]


@dataclass(frozen=True)
class Turn:
    """One side's passes: seconds of each query, and CPU seconds of engine and sampler."""

    seconds: list[float]
    cpu_s: float


Rounds = Sequence[dict[str, Turn]]


def rounds(
    running: Passes, sides: Mapping[str, Side], pairs: int, least_s: float, count: int = 1
) -> list[dict[str, Turn]]:
    """What each side took, in each round, with `count` passes a turn."""
    running.take()
    taken: list[dict[str, Turn]] = []
    while len(taken) < pairs or sum(sum(turns[WITHOUT].seconds) for turns in taken) < least_s:
        first = len(taken) % len(sides)
        order = (*list(sides)[first:], *list(sides)[:first])
        taken.append({side: turn(running, sides[side], count) for side in order})
        latest = (f"{side} {sum(taken[-1][side].seconds):.2f} s" for side in sides)
        print(f"  round {len(taken)}: {'  '.join(latest)}", flush=True)
    return taken


def turn(running: Passes, side: Side, count: int) -> Turn:
    with tempfile.TemporaryDirectory() as place, side(running.pids, Path(place)) as cost:
        before_s = perf.cpu_s(perf.family(running.pids))
        seconds = running.take(count)
        engine_s = perf.cpu_s(perf.family(running.pids)) - before_s
    return Turn(seconds, engine_s + cost.cpu_s)


def print_rounds(taken: Rounds, whose: str = "the sampler's") -> None:
    print("  times what it is without (95 % interval)")
    for side in taken[0]:
        if side != WITHOUT:
            seconds, cpu = (shown(taken, side, ratio) for ratio in (ratio_s, ratio_cpu))
            print(f"  {side:<11}seconds {seconds}   CPU seconds, {whose} with them, {cpu}")


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
