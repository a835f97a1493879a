"""Runs every benchmark, goes on after one that fails, and prints one table at the end.

    .venv/bin/python benchmarks/run.py                 all of them, as README quotes them
    .venv/bin/python benchmarks/run.py --smoke         each in its smallest form: do they still run?
    .venv/bin/python benchmarks/run.py --only 'tpch*'

What they print, and the table, is also in `target/benchmarks/`.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn, TextIO

from assay.running.processes.process_table import all_processes

HERE = Path(__file__).parent
RESULTS = HERE.parent / "target" / "benchmarks"
PREFIX = "bench_"
# A whole benchmark may take half an hour. Its smallest form takes seconds, and longer where an engine
# has to be brought first, or where other tests run beside it.
LIMIT_S, SMOKE_LIMIT_S = 7_200.0, 600.0
# One that took too long may remove what it made.
GRACE_S = 20.0
# The status with which a benchmark says that this host lacks what it compares with.
LEFT_OUT = 77
# To draw the page of a run takes as long as a short run, and no benchmark reads one.
NO_PAGE = {"ASSAY_RUN_PAGE": "no"}
# The smallest form of each, in its own options. A benchmark that is not here is not known.
SMOKE: dict[str, tuple[str, ...]] = {
    "analysis": ("--operations", "20000"),
    "bsbm_driver": ("--products", "20", "--mixes", "2", "--rounds", "1"),
    "bsbm_generate": ("--products", "100", "--rounds", "1"),
    "diagnosis": ("--smoke",),
    "disk_vs_fio": (
        "--size",
        "16MB",
        "--sizes",
        "4096",
        "--depths",
        "1",
        "--rounds",
        "1",
        "--time",
        "0.2",
    ),
    "damaged_records": ("--flips", "8"),
    "driver_null": ("--operations", "2000"),
    "driver_vs_peers": (
        "--rounds",
        "1",
        "--seconds",
        "1",
        "--engines",
        "postgresql@15",
        "--only",
        "point-select    1 clients",
    ),
    "duckdb_fetch": ("--scale", "0.01", "--rounds", "1"),
    "elasticity": ("--smoke", "--repeat", "1", "--min-time", "100ms"),
    "engine_kills": ("--smoke", "--engine", "sqlite"),
    "fleet": ("--seconds", "0.5", "--smoke"),
    "fuzz": ("--smoke", "--python-only"),
    "jdbc": ("--rounds=1", "--seconds=0.1", "--clients=1", "--scale=1", "--no-warm-up"),
    # Beside other tests, a run writes later than on a host of its own.
    "kills": ("--kind", "embedded, load", "--kills", "1", "--lost-max", "30"),
    "planted_causes": ("--smoke",),
    "probe_overhead": (
        "--engine=postgresql",
        "--scale=0.01",
        "--pairs=1",
        "--seconds=0.2",
        "--turn=0.2",
    ),
    "profile_agreement": ("--scale", "0.01", "--seconds", "0.5", "--engine", "postgresql"),
    "profile_overhead": ("--engine=duckdb", "--scale=0.01", "--pairs=1", "--seconds=0.2"),
    "profile_table": ("--scale=0.01", "--samples=100", "--rounds=1", "--trial=0.1", "--hz=499"),
    "reference_memory": ("--scale", "0.01"),
    "soak": ("--smoke",),
    "sqlite_binding": ("--scale", "0.01", "--rounds", "1"),
    "states": ("--scale", "0.01", "--repetitions", "1", "--engine", "duckdb", "--buffer", "512MB"),
    "time_tree": ("--smoke",),
    "tpcc_load": ("--warehouses", "1", "--rounds", "1", "--tables", "warehouse,district,history"),
    "tpch_load": ("--scale", "0.01", "--rounds", "1", "--only", "postgresql"),
    "try": ("--cell", "page-views", "--rounds", "1"),
    "virtuoso_load": ("--scale", "0.01", "--rounds", "1"),
    "whatif": ("--scale=0.01", "--rounds=1", "--min-time=200ms", "--only=halve", "--engine=duckdb"),
}


@dataclass(frozen=True)
class Ended:
    """How a benchmark ended.

    Attributes:
        name: Of its file, without what all have in common.
        status: Of its process; None: it was ended because it took too long.
        seconds: How long it took.
        last: The last line that it printed.
    """

    name: str
    status: int | None
    seconds: float
    last: str

    @property
    def word(self) -> str:
        """How it ended, in a word or two."""
        labels = {0: "ran", LEFT_OUT: "left out", None: "took too long"}
        return labels.get(self.status, f"failed with {self.status}")

    @property
    def is_right(self) -> bool:
        return self.status in {0, LEFT_OUT}

    def line(self) -> str:
        """As a row of the table."""
        return f"| {self.name} | {self.word} | {self.seconds:.1f} s | {self.last[:100]} |"


def left_out(why: str) -> NoReturn:
    """End a benchmark that this host cannot carry out, and say why."""
    print(f"left out: {why}")
    raise SystemExit(LEFT_OUT)


def benchmarks() -> list[Path]:
    """Return every benchmark, by name."""
    return sorted(HERE.glob(f"{PREFIX}*.py"))


def name_of(path: Path) -> str:
    """Return what a benchmark is called."""
    return path.stem.removeprefix(PREFIX)


def ran(
    path: Path,
    *,
    smoke: bool,
    variables: Mapping[str, str] = MappingProxyType({}),
    pass_fds: Sequence[int] = (),
) -> Ended:
    """Run one benchmark; what it prints goes to a file of its own, and to the terminal in full form."""
    name = name_of(path)
    own = SMOKE[name] if smoke else ()
    begun_s = time.monotonic()
    log = RESULTS / f"{name}.txt"
    command = [sys.executable, str(path), *own]
    limit_s = SMOKE_LIMIT_S if smoke else LIMIT_S
    given = {**variables, **NO_PAGE} if smoke else variables
    with log.open("w", encoding="utf-8") as out:
        status = waited_for(command, out, limit_s, given, pass_fds)
    text = log.read_text(encoding="utf-8", errors="replace")
    if not smoke:
        print(text, flush=True)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return Ended(name, status, time.monotonic() - begun_s, lines[-1] if lines else "")


def waited_for(
    command: Sequence[str],
    out: TextIO,
    limit_s: float,
    variables: Mapping[str, str] = MappingProxyType({}),
    pass_fds: Sequence[int] = (),
) -> int | None:
    """Return the status of a command; None: it took too long, and has ended with all that it began."""
    with subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdout=out,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=pass_fds,
    ) as running:
        try:
            return running.wait(limit_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
            end(running)
            if isinstance(error, KeyboardInterrupt):
                raise
            return None


def end(running: subprocess.Popen[bytes]) -> None:
    """End a command and all that it began, which may remove what it made before it is killed."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, number)
        with suppress(subprocess.TimeoutExpired):
            running.wait(GRACE_S)
    # A kill is carried out later than it is sent, and only the command itself is waited for above.
    deadline_s = time.monotonic() + GRACE_S
    while has_live_member(running.pid) and time.monotonic() < deadline_s:
        time.sleep(0.01)


def has_live_member(group: int) -> bool:
    """Return whether a process of this group still runs; one that only waits to be reaped does not."""
    return any(process.alive for process in all_processes() if process.pgid == group)


def commit() -> str:
    """Return the commit that was measured, with a mark where files differ from it."""
    asked = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    return ended.stdout.strip() or "no commit"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--smoke", action="store_true", help="each in its smallest form")
    options.add_argument("--only", default="*", help="names, with * and ?")
    asked = options.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    every: list[Ended] = []
    for path in benchmarks():
        if fnmatch.fnmatch(name_of(path), asked.only):
            every.append(ran(path, smoke=asked.smoke))
            print(every[-1].line(), flush=True)
    failed = [ended for ended in every if not ended.is_right]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    head = f"Benchmarks of {today}, commit {commit()}: {len(every)} run, {len(failed)} failed"
    table = "\n".join(
        [head, "", "| benchmark | ended | time | last line |", "| --- | --- | ---: | --- |"]
        + [ended.line() for ended in every]
    )
    (RESULTS / "table.md").write_text(f"{table}\n", encoding="utf-8")
    print(f"\n{table}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
