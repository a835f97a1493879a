"""Elasticities beside the truth: operations whose time is a known mixture, in coarse and fine slices.

The engine of `tests/mixtures` says how long it computed, read and slept. `assay why` makes the CPU
and the disk scarce by every method that there is. Printed is what each method found, the truth, and
how far apart they are; what counts in a verdict is marked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.mixtures.truth import ENGINES, WORKLOAD, true_shares

from assay.record.reader import Run
from assay.record.studies import read_study
from assay.report.sections.why import why_document

ASSAY = [sys.executable, "-m", "assay.cli.main"]
# What the elasticities of a mixture are to be known to.
WITHIN = 0.1
SMOKE_BUDGET = "20s"


def main() -> None:
    """Carries out the study, unless one is named, and prints the table."""
    asked = _arguments()
    study = asked.study or _why(asked)
    document, free = why_document(read_study(study), None), _unhindered(study)
    print(f"{'operation':<14} {'resource, method':<18} {'truth':>6} {'found':>6}  interval")
    errors = [
        error
        for operation in document["operations"]
        for error in _operation(operation, true_shares(free, operation["operation"]))
    ]
    largest = f"{max(errors):.2f}" if errors else "not measured: nothing counts"
    print(f"largest error of what counts {largest}, to be within {WITHIN}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="rounds")
    parser.add_argument("--min-time", default="1s", help="of each run's measured part")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="directory of runs")
    parser.add_argument("--study", type=Path, help="the directory of one that was made")
    parser.add_argument("--smoke", action="store_true", help="few levels, one round, some seconds")
    return parser.parse_args()


def _why(asked: argparse.Namespace) -> Path:
    command = [*ASSAY, "why", str(WORKLOAD), "--engine", "mixture", "--min-time", asked.min_time]
    options = ["--repeat", str(asked.repeat), "--runs", str(asked.runs), "--json"]
    options += ["--quick", "--budget", SMOKE_BUDGET] if asked.smoke else []
    environment = {**os.environ, "ASSAY_ENGINES": str(ENGINES)}
    done = subprocess.run(
        [*command, *options], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return Path(json.loads(done.stdout)["study"])


def _unhindered(study: Path) -> list[Run]:
    runs = read_study(study).complete
    return [Run(run.path) for run in runs if run.variant == "as it is" and run.path is not None]


def _operation(operation: dict[str, Any], truth: dict[str, float]) -> list[float]:
    """Prints a row a method; how far what counts is from the truth."""
    errors = []
    for elasticity in operation["elasticities"]:
        name = f"{elasticity['resource']}, {elasticity['method']}"
        true = -truth[elasticity["resource"]]
        if elasticity["value"] is None:
            print(f"{operation['operation']:<14} {name:<18} {true:6.2f}      -  not measured")
            continue
        ends = elasticity["interval"]
        interval = f"[{ends[0]:5.2f}, {ends[1]:5.2f}]" if ends else ""
        counts = "counts" if elasticity["counts"] else f"{elasticity['shape']}, does not count"
        print(
            f"{operation['operation']:<14} {name:<18} {true:6.2f} {elasticity['value']:6.2f}  {interval:<16}"
            f" {counts}"
        )
        if elasticity["counts"]:
            errors.append(abs(elasticity["value"] - true))
    return errors


if __name__ == "__main__":
    main()
