"""What is in memory at the start against what a run reports: TPC-H's power order, states by buffers.

Each cell is some runs of a fresh instance: cold (data files evicted), os-warm (all of them in the
page cache) and hot (after one untimed pass), with a small and a large cache of the engine's own. All
cells take turns, every second round backwards. Seconds and geometric mean are medians over the
runs, with the lowest and the highest; 'power-like' is 3600 times the scale over the geometric
mean of the queries alone, which is no TPC metric. Runs are kept as any others are, with --runs.

    .venv/bin/python benchmarks/bench_states.py [--engine postgresql] [--scale 0.1] [--repetitions 3]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.analysis.host.state import starting_state
from assay.analysis.host.task_counters import executions
from assay.analysis.operations import measured
from assay.analysis.summarise import summarise
from assay.checks import state as state_check
from assay.engines.discovery import find_engine
from assay.model.units import bytes_text, parse_bytes, percent_text, seconds_text
from assay.record.reader import Run
from assay.running.asked.parsing import parse_state
from assay.running.asked.request import RunRequest
from assay.running.execute import execute
from assay.study.variants import interleaved
from passes import Silent  # benchmarks/passes.py

STATES = ("cold", "os-warm", "hot")
# One far below the data at scale 1, one that holds all of it.
BUFFERS = {"postgresql": ("128MB", "4GB"), "duckdb": ("512MB", "8GB")}
SECONDS_AN_HOUR = 3600


@dataclass(frozen=True)
class Cell:
    """One state with one size of the engine's cache."""

    state: str
    buffer: str

    @property
    def name(self) -> str:
        return f"{self.state:<8} {self.buffer:>6}"


@dataclass(frozen=True)
class Seen:
    """One run: what it took, what it read from devices, and whether the state was reached."""

    seconds: float
    geometric_mean_s: float
    read_bytes: float | None
    first_read_bytes: float | None
    resident_share: float | None
    reached: bool


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", action="append", help="both by default")
    options.add_argument("--scale", type=float, default=0.1)
    options.add_argument("--repetitions", type=int, default=3, help="runs of each cell")
    options.add_argument("--buffer", action="append", help="two sizes by default")
    options.add_argument("--allow-host-changes", action="store_true", help="of cold runs")
    options.add_argument("--runs", type=Path, help="keep the runs here")
    asked = options.parse_args()
    for engine in asked.engine or list(BUFFERS):
        with tempfile.TemporaryDirectory() as place:
            table(asked, engine, asked.runs or Path(place))


def table(asked: argparse.Namespace, engine: str, runs: Path) -> None:
    cells = {
        cell.name: cell
        for buffer in asked.buffer or BUFFERS[engine]
        for cell in (Cell(state, buffer) for state in STATES)
    }
    seen: dict[str, list[Seen]] = defaultdict(list)
    for planned in interleaved(list(cells), asked.repetitions, seed=1):
        request = requested(asked, engine, cells[planned.variant])
        seen[planned.variant].append(looked_at(Run(execute(request, runs, Silent()))))
        latest = seen[planned.variant][-1]
        print(f"  round {planned.round}: {planned.variant} {latest.seconds:.2f} s", flush=True)
    print(f"{engine}, TPC-H SF {asked.scale:g}, {asked.repetitions} runs of each, in turns")
    print(
        f"  {'state':<8} {'buffer':>6}  {'seconds (low to high)':>26}  {'geometric mean':>24}"
        f"  {'power-like':>10}  {'read':>9}  {'by first':>9}  {'resident':>8}"
    )
    for name in cells:
        print(f"  {name}  {line(seen[name], asked.scale)}")


def requested(asked: argparse.Namespace, engine: str, cell: Cell) -> RunRequest:
    state, passes = parse_state(cell.state)
    advising = find_engine(engine).advising()
    name, value = advising.setting("cache", str(parse_bytes(cell.buffer)))
    return RunRequest(
        workload="tpch",
        engine=engine,
        scale=asked.scale,
        settings={name: value},
        min_time_s=0.0,
        plans=False,
        state=state,
        state_passes=passes,
        allow_host_changes=asked.allow_host_changes and state == "cold",
    )


def looked_at(run: Run) -> Seen:
    metrics = summarise(run).metrics
    state = starting_state(run)
    done = executions(measured(run.table("events")), run.table("tasks"))
    reads = done["read_bytes"]
    assert state is not None
    assert metrics["total_seconds"] is not None
    assert metrics["geometric_mean_seconds"] is not None
    return Seen(
        metrics["total_seconds"],
        metrics["geometric_mean_seconds"],
        None if reads.null_count() else float(done.select(pl.col("read_bytes").sum()).item()),
        state.first_read_bytes,
        state.resident_share,
        state_check.check(run).verdict.word == "valid",
    )


def line(seen: Sequence[Seen], scale: float) -> str:
    means = [run.geometric_mean_s for run in seen]
    power = SECONDS_AN_HOUR * scale / statistics.median(means)
    doubt = "" if all(run.reached for run in seen) else "  state not reached in all"
    return (
        f"{spread([run.seconds for run in seen]):>26}  {spread(means):>24}  {power:>10,.0f}"
        f"  {median_bytes([run.read_bytes for run in seen]):>9}"
        f"  {median_bytes([run.first_read_bytes for run in seen]):>9}"
        f"  {percent_text(seen[0].resident_share):>8}{doubt}"
    )


def spread(seconds: Sequence[float]) -> str:
    middle, low, high = statistics.median(seconds), min(seconds), max(seconds)
    return f"{seconds_text(middle)} ({seconds_text(low)} to {seconds_text(high)})"


def median_bytes(sizes: Sequence[float | None]) -> str:
    known_sizes = [size for size in sizes if size is not None]
    return bytes_text(statistics.median(known_sizes) if known_sizes else None)


if __name__ == "__main__":
    main()
