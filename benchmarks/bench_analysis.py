"""How long a record of ten million operations takes to be read, summarised, judged and drawn.

The record is a real one: eight sessions of the null engine in a closed loop over 22 operations.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from assay import _core
from assay.analysis.load.view import load_view
from assay.analysis.summarise import summarise
from assay.checks.judge import judge
from assay.record.reader import Run
from assay.record.writer import RunWriter

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
    """Prints seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = record(Path(place), asked.operations)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"{asked.operations} operations, {size / asked.operations:.0f} bytes each on disk")
        run = Run(path)
        for name, step in (
            ("read", lambda: run.table("events")),
            ("summarise", lambda: summarise(run)),
            ("judge", lambda: judge(run)),
            ("draw", lambda: load_view(run)),
        ):
            begun_s = time.monotonic()
            step()
            print(f"{name:<12}{time.monotonic() - begun_s:6.2f} s")


if __name__ == "__main__":
    main()
