"""Mixes whose throughput and reads are given: marks of them, and records with such marks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.analysis.load.steady_state import Mark
from assay.probes.streams import MIXES, Stream
from assay.record.layout import MIXES_STREAM
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.loads import an_operation, closed, write_load
from tests.records import BEGUN_NS, MS, S

Course = Callable[[int], float]
MIB = 1 << 20


def marks(
    mixes: int,
    rate: Course = lambda _: 10.0,
    reads: Course | None = lambda _: 0.0,
    *,
    noise: float = 0.1,
    likeness: float = 0.0,
    seed: int = 1,
    begun_ns: int = 0,
) -> list[Mark]:
    """A mark after each mix.

    Args:
        mixes: How many.
        rate: Mixes a second around a mix, by its number.
        reads: Bytes that it reads; None: not measured.
        noise: By which share the time of a mix differs; its reads by three times that.
        likeness: How much the time of a mix is like that of the one before it.
        seed: Of all this.
        begun_ns: When the phase began.
    """
    drawn, off, seconds, read = random.Random(seed), 0.0, 0.0, 0.0
    made = [Mark(0, begun_ns, *_both(reads, 0.0))]
    for number in range(mixes):
        off = likeness * off + math.sqrt(1 - likeness**2) * drawn.gauss(0, 1)
        seconds += max(0.05, 1 + noise * off) / rate(number)
        if reads is not None:
            read += reads(number) * max(0.0, 1 + 3 * noise * drawn.gauss(0, 1))
        made.append(Mark(number + 1, begun_ns + round(seconds * S), *_both(reads, read)))
    return made


def _both(reads: Course | None, read: float) -> tuple[int | None, int | None]:
    return (None, None) if reads is None else (int(read), int(read))


def falling(mixes: int, first: float = 8.0 * MIB, last: float = 0.0) -> Course:
    """Reads that fall as a cache fills: to a part of e after so many mixes."""
    return lambda number: last + (first - last) * math.exp(-number / mixes)


def write_mixes(
    runs: Path,
    measured: list[Mark],
    warmup: list[Mark] | None = None,
    *,
    mixes_max: int | None = None,
    why_no_reads: str | None = None,
    rate: str = "",
) -> Path:
    """The record of two clients that played an order by themselves, an operation a mix."""
    ends = [(mark.time_ns - BEGUN_NS) for mark in measured]
    rows = [
        an_operation(
            number,
            begun_ns,
            0,
            max(MS, ended_ns - begun_ns),
            **{"pass": number, "operation": "select"},
        )
        for number, (begun_ns, ended_ns) in enumerate(pairwise(ends))
    ]
    phase_facts: dict[str, Any] = {
        "in_order": True,
        "weights": [],
        "passes_min": 1,
        "duration_ns": 0,
    }
    phase_facts["operations"] = [0]
    if mixes_max is not None:
        phase_facts["passes_max"] = mixes_max
    directory = write_load(runs, closed(2), rows, ends[-1] / S, **phase_facts)
    with Stream(directory / "raw", MIXES_STREAM, MIXES) as stream:
        for phase, phase_marks in (("warmup", warmup or []), ("measured", measured)):
            for mark in phase_marks:
                stream.push(phase, mark.mixes, mark.time_ns, mark.asked_bytes, mark.fetched_bytes)
    facts = _facts(directory)
    facts["plan"]["operation_deadline_ns"] = 0
    if rate:
        names = {"rate": rate, "query_time": "", "power": "", "throughput": ""}
        facts["workload"]["sequence"] = names | {"size": "", "seconds": 3600.0, "unit": 1.0}
    facts["mixes"] = {
        "why_no_reads": why_no_reads,
        "enough": None,
        "looked_s": 0.1,
        "judged_s": 0.0,
    }
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def _facts(directory: Path) -> dict[str, Any]:
    import json

    facts: dict[str, Any] = json.loads((directory / "run.json").read_bytes())
    return facts


def steady_run(runs: Path) -> Path:
    """Mixes that became steady: throughput looks flat from the first, reads fall for long."""
    return write_mixes(
        runs,
        marks(600, reads=falling(20), begun_ns=BEGUN_NS),
        marks(30, lambda _: 5.0, lambda _: 12.0 * MIB, begun_ns=BEGUN_NS - 9 * S),
        mixes_max=3_000,
        rate="QMpH",
    )


def drifting_run(runs: Path) -> Path:
    """Mixes that were slower and slower, of a server elsewhere."""
    slower = marks(600, lambda number: 12.0 - number / 100, None, begun_ns=BEGUN_NS)
    return write_mixes(
        runs, slower, why_no_reads="the processes of the server are not known on this host"
    )
