"""Do predicted gains come true? Advice on planted causes, carried out by `assay try`.

Each cause of the calibration half is planted, one run is explained, and what its finding advises is
tried in rounds of one run as it was and one with the change. What was predicted stands beside what was
measured, with its 95 % interval.

    .venv/bin/python benchmarks/bench_try.py [--cell spill] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.conftest import Lab
from tests.planted.arms import explained
from tests.planted.cells import Cell, all_cells

from bench_planted_causes import laboratory  # benchmarks/bench_planted_causes.py

HEAD = f"{'cause':<18}{'change':<34}{'predicted':<11}{'measured':<27}verdict"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cell", action="append", help="all that can be mended, by default")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--keep", type=Path, help="where runs are left")
    asked = options.parse_args()
    print(HEAD, flush=True)
    with laboratory(asked.keep) as lab:
        for cell in all_cells("calibration"):
            if not asked.cell or cell.name in asked.cell:
                line = tried(lab, cell, asked.rounds)
                if line is not None:
                    print(line, flush=True)
        print(lab.assay("try", "--history").stdout)


def tried(lab: Lab, cell: Cell, rounds: int) -> str | None:
    """A line of the table; None where there is nothing to carry out."""
    if cell.planted.outside:
        return None
    document = explained(lab, cell, cell.planted)
    advised = [finding for finding in document["findings"] if finding["advice"]]
    keys = [finding["key"] for finding in advised if finding["method"] in cell.methods]
    if not keys:
        return None
    ended = lab.assay("try", document["run"], keys[0], "--repeat", str(rounds), "--json")
    assert ended.returncode == 0, ended.stderr
    made = json.loads(ended.stdout)
    return f"{cell.name:<18}{text(made)}"


def text(made: dict[str, Any]) -> str:
    """Change, predicted and measured share of the time, and verdict, of one document of a try."""
    judged = made["judged"]
    gain = judged["gain"]
    least, most = gain["interval"] or (None, None)
    measured = f"{gain['share']:.1%}"
    if least is not None:
        measured += f" ({least:.1%} to {most:.1%})"
    predicted = "-" if judged["predicted"] is None else f"{judged['predicted']:.1%}"
    return f"{made['change']:<34}{predicted:<11}{measured:<27}{made['verdict']}"


if __name__ == "__main__":
    main()
