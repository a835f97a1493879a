"""How long, and in how much memory, a record of ten million operations is evaluated.

The record is a real one: eight sessions of the null engine in a closed loop over 22 operations.
`--run` evaluates another record instead. The memory of a step is the most that the process had
during the step, above what it had before the record was read.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay import _core
from assay.analysis.load.view import load_view
from assay.analysis.summarise import summarise
from assay.checks.judge import judge
from assay.record.reader import Run
from assay.record.writer import RunWriter
from assay.running.reference.rows import without_answers

OPERATIONS = [f"q{number:02}" for number in range(1, 23)]


def record(runs: Path, operations: int) -> Path:
    """Drives the null engine and seals the record."""
    phase = {
        "name": "measured",
        "arrival": {"shape": "closed", "clients": 8},
        "operations": list(range(len(OPERATIONS))),
        "operations_max": operations,
    }
    plan = {"operations": OPERATIONS, "phases": [phase], "seed": 1, "results_kept": 8}
    asked = {
        "request": {"scale": 1.0, "parameters": "default", "probe_interval_s": 0.1},
        "workload": {"name": "tpch", "operation_titles": {}},
        "engine": {"name": "null", "kind": "none", "answers": False},
        "plan": plan,
    }
    with RunWriter(runs, "analysis", asked) as run:
        sessions = [_core.NullSession()] * 8
        report = _core.drive(
            json.dumps(plan), sessions, run.raw, _core.CancelFlag(), lambda *_: None
        )
        (run.raw / "driver.json").write_text(report, encoding="utf-8")
        run.write_environment({})
        run.seal()
        return run.dir


def main() -> None:
    """Prints seconds and memory of each step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operations", type=int, default=10_000_000, help="of the record")
    parser.add_argument("--run", type=Path, help="the directory of a record to evaluate")
    asked = parser.parse_args()
    if asked.run is not None:
        evaluate(asked.run)
        return
    with tempfile.TemporaryDirectory() as place:
        evaluate(record(Path(place), asked.operations))


def evaluate(path: Path) -> None:
    """Print seconds of each step, and its memory for each operation."""
    run, before_bytes = Run(path), resident_peak_bytes()
    events_bytes = (run.dir / "raw" / "events.arrows").stat().st_size
    operations = sum(part.height for part in run.parts("events"))
    resident_peak_bytes()
    steps: list[tuple[str, Callable[[], object]]] = [
        ("before seal", lambda: list(without_answers(run))),
        ("read", lambda: run.table("events")),
        ("summarise", lambda: summarise(run)),
        ("judge", lambda: judge(run)),
        ("draw", lambda: load_view(run)),
    ]
    for name, step in steps:
        begun_s = time.monotonic()
        step()
        took_s = time.monotonic() - begun_s
        needed_bytes = (resident_peak_bytes() - before_bytes) / operations
        print(f"{name:<12}{took_s:6.2f} s {needed_bytes:6.0f} bytes an operation")
    print(f"{operations} operations, {events_bytes / operations:.0f} bytes each on disk")


def resident_peak_bytes() -> int:
    """Return the most resident memory since the last call, and begin to count anew."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak_kib = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return int(peak_kib) << 10


if __name__ == "__main__":
    main()
