"""Do time trees close? Healthy runs of shipped workloads, and how much of their time is explained.

Of each run: how much of the thread time independent sources accounted for before any scaling (100 %
is right, and it goes both ways), the largest difference between a node and the sum of its parts,
and the share that is not explained.

    .venv/bin/python benchmarks/bench_time_tree.py                  runs that are made for it
    .venv/bin/python benchmarks/bench_time_tree.py --runs DIR       runs that are there
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_planted_causes import laboratory
from tests.planted.controls import Control, all_controls

from assay.record.reader import Run
from assay.report.document import document

# Stored figures are rounded, so sums are compared with this tolerance.
CLOSURE_ERROR_MAX = 0.05
SMOKE = Control(
    "point-select", "duckdb", ("--clients", "1", "--time", "300ms", "--warmup", "100ms")
)
# Accounted for within so much of the time that there was.
WITHIN = 0.05


@dataclass(frozen=True)
class Closed:
    """How far the tree of a run closes.

    Attributes:
        name: Workload and engine.
        accounted: Share of thread time that sources came to before scaling; None: not split.
        closure_error: Largest difference between a node and its parts; None without a tree.
        unexplained: Share of the wall time; None without a tree.
    """

    name: str
    accounted: float | None
    closure_error: float | None
    unexplained: float | None

    def line(self) -> str:
        """As a row of the table."""
        figures = (self.accounted, self.closure_error, self.unexplained)
        cells = " | ".join("not split" if share is None else f"{share:.1%}" for share in figures)
        return f"| {self.name} | {cells} |"


HEAD = "| run | accounted for | closure error | not explained |\n| --- | ---: | ---: | ---: |"


def closed(report: dict[str, Any]) -> Closed:
    """Return how far the tree of a document closes."""
    tree, where = report["time"]["run"], report["where"]
    parts = {} if tree is None else {child["name"]: child["share"] for child in tree["children"]}
    return Closed(
        f"{report['workload']} on {report['engine_title']} {report['engine_version']}",
        None if where is None else where["coverage"],
        report["time"]["closure_error"],
        None if tree is None else parts.get("unexplained", 0.0),
    )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--runs", type=Path, help="a directory of runs that were made before")
    options.add_argument("--smoke", action="store_true", help="one short run")
    asked = options.parse_args()
    print(HEAD)
    rows = []
    for kept in _kept(asked.runs) if asked.runs else _made(smoke=asked.smoke):
        rows.append(closed(kept))
        print(rows[-1].line(), flush=True)
    print(summary(rows))


def summary(rows: list[Closed]) -> str:
    """Return how many runs closed."""
    split = [row for row in rows if row.closure_error is not None]
    sums = sum((row.closure_error or 0.0) <= CLOSURE_ERROR_MAX for row in split)
    within = sum(abs((row.accounted or 0.0) - 1) <= WITHIN for row in split)
    return (
        f"{len(split)} of {len(rows)} runs were split; nodes are the sums of their parts within"
        f" {CLOSURE_ERROR_MAX:.0%} in {sums}; sources came to {1 - WITHIN:.0%} to {1 + WITHIN:.0%}"
        f" of the time before scaling in {within}"
    )


def _kept(directory: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(directory.iterdir()):
        if (path / "run.json").is_file():
            yield document(Run(path), path)


def _made(*, smoke: bool) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as keep, laboratory(Path(keep)) as lab:
        for control in [SMOKE] if smoke else all_controls():
            lab.assay("run", control.workload, "--engine", control.engine, *control.options)
        yield from _kept(Path(keep) / "runs")


if __name__ == "__main__":
    main()
