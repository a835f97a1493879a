"""Controls: workloads that ship, healthy, at small scale, on the engines that they run on here.

Loads that write commit without waiting for the disk, for that wait is a real cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.e2e.conftest import Lab
from tests.planted.measuring import host_busy
from tests.planted.scoring import brief, wrong

SQL = ("duckdb", "sqlite", "postgresql@15", "postgresql@18", "mariadb", "mysql")
TRIPLES = ("oxigraph", "virtuoso", "fuseki")
LOAD = ("--clients", "4", "--time", "3s", "--warmup", "1s")
ORDER = ("--min-time", "3s")
MIXES = ("--clients", "2", "--scale", "100", "--warmup-mixes", "2", "--mixes", "10")
RELAXED = ("--durability", "relaxed")
# Engines without levels of durability.
NO_LEVELS = ("duckdb",)
# With one writer at a time one client that writes is healthy, and a cache that sorts fit into.
ONE_WRITER = {"sqlite": ("--clients", "1")}
# As many branches as clients, as TPC-B asks for: with fewer, clients wait for one row.
BRANCHES = ("--scale", "4")
ROOM = {"sqlite": ("--set", "cache_size=-65536")}


@dataclass(frozen=True)
class Control:
    """A healthy run."""

    workload: str
    engine: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.workload} on {self.engine}"


@dataclass(frozen=True)
class ControlResult:
    """What it came to.

    Attributes:
        false: Causes of 5 % or more that sound sure.
        skipped: Why it did not run.
    """

    name: str
    path: str = ""
    false: tuple[str, ...] = ()
    skipped: str | None = None

    def line(self) -> str:
        """In a line."""
        if self.skipped is not None:
            return f"{self.name:<42}skipped: {' '.join(self.skipped.split())[-160:]}"
        return f"{self.name:<42}{len(self.false):<4}{next(iter(self.false), '')[:110]}".rstrip()


def all_controls() -> Iterator[Control]:
    """Every healthy run."""
    for engine in SQL:
        relaxed = () if engine in NO_LEVELS else RELAXED
        for workload in ("tpch", "ssb"):
            room = ROOM.get(engine, ())
            yield Control(workload, engine, ("--scale", "0.05", *ORDER, *room))
        for workload in ("point-select", "oltp-read"):
            yield Control(workload, engine, LOAD)
        for workload in ("oltp-read-write", "oltp-write", "tpcb", "tpcc"):
            load = (*LOAD, *ONE_WRITER.get(engine, ()))
            load += BRANCHES if workload == "tpcb" else ()
            yield Control(workload, engine, (*load, *relaxed, "--retries", "100"))
        yield Control("bsbm", engine, MIXES)
    for engine in TRIPLES:
        for workload in ("bsbm", "bsbm-explore-and-update"):
            yield Control(workload, engine, MIXES)
        yield Control("bsbm-bi", engine, MIXES)


def run_control(lab: Lab, control: Control) -> ControlResult:
    """Runs one and looks for causes in its findings."""
    ended = lab.assay(
        "run", control.workload, "--engine", control.engine, *control.options, "--json"
    )
    if ended.returncode not in {0, 3} or not ended.stdout:
        return ControlResult(control.name, skipped=ended.stderr)
    document: dict[str, Any] = json.loads(ended.stdout)
    false = tuple(map(brief, wrong(None, document["findings"], host_busy(document), planted=False)))
    return ControlResult(control.name, document["path"], false)
