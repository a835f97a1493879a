"""What the probes cost the queries: TPC-H with all that observe every run, and with none of them.

One instance of an engine; the two sides take turns on it, see rounds.py. A turn is as many passes as
take some seconds, so that a start of the probes is a small part of it. Seconds are what counts;
where the host has other work, CPU seconds of engine and probes together are the steadier guide. The
threads of the probes state their own CPU time, which is told as a share of one core.

    .venv/bin/python benchmarks/bench_probe_overhead.py [--engine postgresql] [--scale 0.1] [--pairs 9]
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import perf  # benchmarks/perf.py
from assay.probes.contract import CounterReader, Refusing, Target
from assay.probes.discovery import find_probes
from assay.record.layout import ACCOUNT_ENGINE
from passes import Passes, passes  # benchmarks/passes.py
from rounds import WITHOUT, print_rounds, rounds  # benchmarks/rounds.py

WITH = "probes"
TURN_S = 3.0
INTERVAL_S = 0.1


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", action="append", help="both by default")
    options.add_argument("--scale", type=float, default=0.1)
    options.add_argument("--pairs", type=int, default=9, help="rounds, at least")
    options.add_argument("--seconds", type=float, default=30.0, help="of each side, at least")
    options.add_argument("--turn", type=float, default=TURN_S, help="seconds of passes, at least")
    options.add_argument("--probe", action="append", help="only this one; all by default")
    asked = options.parse_args()
    for engine in asked.engine or ["duckdb", "postgresql"]:
        with passes(engine, asked.scale) as running, running.counters() as counters:
            print(f"{engine} {running.version}, TPC-H SF {asked.scale:g}", flush=True)
            compare(running, Probes(counters, asked.probe), asked)


def compare(running: Passes, probes: Probes, asked: argparse.Namespace) -> None:
    running.take()
    count = math.ceil(asked.turn / sum(running.take()))
    sides = {WITHOUT: lambda *_: nullcontext(perf.Cost()), WITH: probes.observing}
    print_rounds(rounds(running, sides, asked.pairs, asked.seconds, count), "the probes'")
    shares = {name: statistics.median(samples) for name, samples in probes.core_shares.items()}
    listed = ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
    print(f"  the probes' own CPU: {sum(shares.values()):.2%} of one core ({listed})")


class Probes:
    """All that observe a run without being asked, and what each took of a core in each turn."""

    def __init__(self, counters: CounterReader | None, names: Collection[str] | None) -> None:
        self._counters = counters
        self._names = names
        self.core_shares: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def observing(self, pids: Sequence[int], place: Path) -> Iterator[perf.Cost]:
        followed = tuple((pid, ACCOUNT_ENGINE) for pid in pids)
        target = Target(place, INTERVAL_S, followed, self._counters)
        probes = [
            probe
            for probe in find_probes()
            if not isinstance(probe, Refusing)
            and probe.applies(target)
            and (self._names is None or probe.name in self._names)
        ]
        cost, begun_s = perf.Cost(), time.monotonic()
        for probe in probes:
            probe.start(target)
        try:
            yield cost
        finally:
            took_s = time.monotonic() - begun_s
            for probe in probes:
                stated = probe.stop()
                assert stated.error is None, stated.error
                cost.cpu_s += stated.cpu_ns / 1e9
                self.core_shares[probe.name].append(stated.cpu_ns / 1e9 / took_s)


if __name__ == "__main__":
    main()
