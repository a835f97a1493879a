"""Drives a server for long, and looks whether memory stays flat and every event is recorded.

Operations become due at a rate, and the server is the same all the time. Asked is: does the memory
of the driver, of the probes and of the process that watches them grow after its beginning? Is there
an event of every operation that the driver counted, once, by its number? Do the clocks agree? How
much memory does the evaluation of all events need?

    .venv/bin/python benchmarks/bench_soak.py --minutes 120 --rate 10000
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_analysis import resident_peak_bytes
from benchmarks.bench_planted_causes import laboratory
from tests.e2e.conftest import Lab

from assay.model.units import NS_PER_S, bytes_text
from assay.record.reader import Run
from assay.report.build import build

MINUTES, RATE = 120.0, 10_000.0
SMOKE_MINUTES, SMOKE_RATE = 5 / 60, 200.0
ENGINE = "postgresql@16"
CLIENTS = 16
# The server's own processes grow as its cache fills, and are not what is asked about.
SERVER = "engine"
# Buffers reach their size in the first part; what comes after is compared.
BEGINNING = 0.4
# A page cache of an allocator, and a twentieth of what a process has, are no growth.
GROWTH_MIN_BYTES, GROWTH_SHARE = 8 << 20, 0.05
PART = 0.2
# What the evaluation may need: of each event, and for a run without any.
EVENT_BYTES, EVALUATION_BYTES = 250, 512 << 20


@dataclass(frozen=True)
class Memory:
    """Resident memory of an account: its median soon after the beginning and at the end."""

    account: str
    before_bytes: float
    after_bytes: float

    @property
    def is_flat(self) -> bool:
        """Whether it did not grow beyond what an allocator keeps."""
        allowed_bytes = max(GROWTH_MIN_BYTES, GROWTH_SHARE * self.before_bytes)
        return self.after_bytes - self.before_bytes <= allowed_bytes

    def line(self) -> str:
        """Return the row of the table."""
        before, after = bytes_text(self.before_bytes), bytes_text(self.after_bytes)
        return f"| memory of {self.account} | {before}, then {after} | {_word(self.is_flat)} |"


@dataclass(frozen=True)
class Soaked:
    """Figures of a long run.

    Attributes:
        seconds: Of the measured part, from its first event to its last.
        measured: Events of that part.
        events: That were recorded, with those of the warm-up.
        counted: That the driver counted.
        is_whole: Whether their numbers are all there, each once.
        memory: By account.
        clocks: Verdict on the clocks, and why.
        evaluated_bytes: The most resident memory that the evaluation of the record had.
    """

    seconds: float
    measured: int
    events: int
    counted: int
    is_whole: bool
    memory: tuple[Memory, ...]
    clocks: tuple[str, str]
    evaluated_bytes: int

    @property
    def is_right(self) -> bool:
        """Whether nothing grew, nothing was lost, and the evaluation needed little memory."""
        flat = all(memory.is_flat for memory in self.memory)
        return flat and self._all_there and self.clocks[0] == "valid" and self._is_lean

    @property
    def _is_lean(self) -> bool:
        return self.evaluated_bytes <= EVALUATION_BYTES + EVENT_BYTES * self.events

    @property
    def _all_there(self) -> bool:
        return self.is_whole and self.events == self.counted

    def lines(self) -> Iterator[str]:
        """Yield a table of Markdown."""
        yield "| what | figure | as promised |"
        yield "|---|---|---|"
        rate = self.measured / self.seconds
        yield f"| driven | {self.seconds:,.0f} s, {rate:,.0f} operations a second | |"
        events = f"{self.events:,} recorded of {self.counted:,}"
        yield f"| events | {events} | {_word(self._all_there)} |"
        yield from (memory.line() for memory in self.memory)
        yield f"| clocks | {self.clocks[1]} | {_word(self.clocks[0] == 'valid')} |"
        needed = f"{bytes_text(self.evaluated_bytes)}, {self.evaluated_bytes / self.events:,.0f} B an event"
        yield f"| memory of the evaluation | {needed} | {_word(self._is_lean)} |"


def _word(is_so: bool) -> str:  # noqa: FBT001 - the one argument
    return "yes" if is_so else "no"


def main() -> None:
    asked = _arguments()
    minutes, rate = (SMOKE_MINUTES, SMOKE_RATE) if asked.smoke else (asked.minutes, asked.rate)
    if asked.run is not None:
        soaked = looked_at(Run(asked.run))
    else:
        with laboratory(asked.keep) as lab:
            soaked = soak(lab, minutes * 60, rate)
    print("", *soaked.lines(), sep="\n")
    sys.exit(0 if soaked.is_right else 1)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=MINUTES, help="how long")
    options.add_argument("--rate", type=float, default=RATE, help="operations a second")
    options.add_argument("--keep", type=Path, help="where the run is left")
    options.add_argument("--run", type=Path, help="a finished run, which is only looked at")
    options.add_argument("--smoke", action="store_true", help="5 s at 200 a second")
    return options.parse_args()


def soak(lab: Lab, seconds: float, rate: float) -> Soaked:
    """Drive a server so long; what its record shows."""
    load = ("--rate", f"{rate:g}", "--clients", str(CLIENTS), "--time", f"{seconds:g}s")
    asked = ("point-select", "--engine", ENGINE, *load, "--warmup", "1s", "--no-plans")
    started = lab.begin("run", *asked)
    _, errors = started.communicate()
    if started.returncode:
        raise SystemExit(errors)
    return looked_at(Run(lab.latest()))


def looked_at(run: Run) -> Soaked:
    """Return the figures of a run's record."""
    before_bytes = resident_peak_bytes()
    document = build(run.dir)
    evaluated_bytes = resident_peak_bytes() - before_bytes
    events = run.table("events")
    numbers = events["sequence"]
    counted = sum(
        operation["counts"]["scheduled"]
        for phase in (run.driver_report or {})["phases"]
        for operation in phase["operations"]
    )
    clocks = next(check for check in document["checks"] if check["check"] == "clock_order")
    measured, begun_ns, ended_ns = (
        events.lazy()
        .filter(pl.col("phase") == "measured")
        .select(pl.len(), pl.col("started_ns").min(), pl.col("finished_ns").max())
        .collect()
        .row(0)
    )
    return Soaked(
        (ended_ns - begun_ns) / NS_PER_S,
        measured,
        events.height,
        counted,
        numbers.n_unique() == events.height == numbers.max() - numbers.min() + 1,  # type: ignore[operator]
        tuple(memory_of(run.table("processes"))),
        (clocks["verdict"], clocks["reason"]),
        evaluated_bytes,
    )


def memory_of(processes: pl.DataFrame) -> Iterator[Memory]:
    """Yield what each account but the server's had after its beginning, and at the end."""
    total = (
        processes.with_columns(pl.col("account").cast(pl.String))
        .filter(pl.col("account") != SERVER, pl.col("rss_bytes").is_not_null())
        .group_by("account", "time_ns")
        .agg(pl.col("rss_bytes").sum())
    )
    begun, ended = processes["time_ns"].min(), processes["time_ns"].max()
    share = (pl.col("time_ns") - begun) / max(1, ended - begun)  # type: ignore[operator]
    for (account,), rows in total.sort("account", "time_ns").group_by(
        "account", maintain_order=True
    ):
        before = rows.filter(share.is_between(BEGINNING, BEGINNING + PART))["rss_bytes"].median()
        after = rows.filter(share >= 1 - PART)["rss_bytes"].median()
        if before is not None and after is not None:
            yield Memory(str(account), before, after)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
