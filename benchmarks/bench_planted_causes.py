"""Are real causes named? Each cell of the planted set is run with its cause and without, in turns.

A cell is a small workload and a cause, see `tests/planted/README.md`. What the cause costs (one less
the time without through the time with) is measured in the very runs that are explained: the median
over rounds, with the least and the largest. Figures are of the first run with the cause; the second
table has all of them. `--controls` runs workloads that ship, healthy, instead.

    .venv/bin/python benchmarks/bench_planted_causes.py --half calibration --keep DIR
    .venv/bin/python benchmarks/bench_planted_causes.py --cell 'spill*' --rounds 1
    .venv/bin/python benchmarks/bench_planted_causes.py --keep DIR --again   today's rules, same runs
    .venv/bin/python benchmarks/bench_planted_causes.py --controls
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.conftest import Lab, reachable_directory
from tests.planted.cells import HALVES, Cell, all_cells
from tests.planted.controls import ControlResult, all_controls, run_control
from tests.planted.measuring import Judged, Kept, explained_anew, judged, measure, print_lines
from tests.planted.scoring import wilson
from tests.planted.tables import HEAD, kinds_table, line, table

from assay.running.host.places import cache_dir

PAGE = Path(__file__).parents[1] / "docs" / "proof" / "how-right.md"
BEGIN, END = "<!-- planted: begin -->", "<!-- planted: end -->"
CONTROLS_FILE = "controls.json"
# An embedded engine, one round: some seconds.
SMOKE_CELL = "columns-read"


def main() -> None:
    asked = arguments()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    if asked.write_docs:
        write_docs(asked.keep)
        return
    with laboratory(asked.keep) as lab:
        if asked.controls:
            controls(lab, asked)
        else:
            planted(lab, asked)


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--half", choices=HALVES, help="both by default")
    options.add_argument("--cell", default="*", help="names, with * and ?")
    options.add_argument("--engine", default="*", help="engines, with * and ?")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument(
        "--keep", type=Path, help="where figures and runs are left, and taken up again"
    )
    options.add_argument(
        "--again", action="store_true", help="explain runs that were kept once more"
    )
    options.add_argument(
        "--share-only", action="store_true", help="what causes cost; no explanation"
    )
    options.add_argument("--controls", action="store_true", help="healthy workloads instead")
    options.add_argument("--write-docs", action="store_true", help="tables of --keep into docs")
    options.add_argument("--smoke", action="store_true", help="one cell, one round")
    asked = options.parse_args()
    if asked.smoke:
        asked.cell, asked.rounds, asked.half = SMOKE_CELL, 1, "calibration"
    if (asked.write_docs or asked.again) and not asked.keep:
        options.error("--write-docs and --again read what --keep names")
    return asked


def planted(lab: Lab, asked: argparse.Namespace) -> None:
    print_lines(HEAD)
    kept = Kept(asked.keep, explain=not asked.share_only)
    cells = []
    for cell in chosen(asked):
        measured = kept.read(cell)
        if measured is None and not asked.again:
            measured = measure(lab, cell, asked.rounds, explain=not asked.share_only)
            kept.write(cell, measured)
        elif measured is not None and asked.again:
            measured = explained_anew(lab, measured)
            kept.write(cell, measured)
        if measured is not None:
            cells.append(judged(cell, measured))
            print_lines(line(cells[-1]))
    print_lines("", *tables(cells))
    write_json(asked.keep, cells)


def chosen(asked: argparse.Namespace) -> Iterator[Cell]:
    for cell in all_cells(*([asked.half] if asked.half else ())):
        if fnmatch(cell.name, asked.cell) and fnmatch(cell.engine, asked.engine):
            yield cell


def tables(cells: Sequence[Judged]) -> list[str]:
    again = ["Every run with the cause:", "", *table(cells, every_run=True), ""]
    has_rounds = any(len(cell.scores) > 1 for cell in cells)
    return [
        "First run with the cause:",
        "",
        *table(cells),
        "",
        *(again if has_rounds else []),
        *kinds_table(cells),
    ]


def write_json(keep: Path | None, cells: Sequence[Judged]) -> None:
    if keep is not None:
        rows = [{**asdict(cell), "shares": cell.measured.shares} for cell in cells]
        (keep / "planted-causes.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


def controls(lab: Lab, asked: argparse.Namespace) -> None:
    results = []
    for control in all_controls():
        if fnmatch(control.workload, asked.cell) and fnmatch(control.engine, asked.engine):
            results.append(run_control(lab, control))
            print_lines(results[-1].line())
    print_lines("", controls_line(results))
    if asked.keep:
        text = json.dumps([asdict(result) for result in results], indent=1)
        (asked.keep / CONTROLS_FILE).write_text(text, encoding="utf-8")


def controls_line(results: Sequence[ControlResult]) -> str:
    ran = [result for result in results if result.skipped is None]
    clean = sum(not result.false for result in ran)
    least, most = wilson(clean, len(ran))
    return f"{clean} of {len(ran)} healthy runs without a false cause ({least:.0%} to {most:.0%})."


def write_docs(keep: Path) -> None:
    """Puts the tables of what was kept between the page's markers."""
    kept = Kept(keep, explain=True)
    pairs = [(cell, kept.read(cell)) for cell in all_cells()]
    cells = [judged(cell, measured) for cell, measured in pairs if measured is not None]
    commit = subprocess.check_output(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - wherever the path has it
        cwd=PAGE.parent,
        text=True,
    )
    lines = [f"Written {datetime.now(UTC):%Y-%m-%d} at {commit.strip()}.", "", *tables(cells)]
    if (file := keep / CONTROLS_FILE).is_file():
        results = [ControlResult(**row) for row in json.loads(file.read_text(encoding="utf-8"))]
        lines += ["", controls_line(results)]
    lines += ["", "```", HEAD, *map(line, cells), "```"]
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


@contextmanager
def laboratory(keep: Path | None) -> Iterator[Lab]:
    """Places of its own, with the cache that all runs share."""
    with reachable_directory() as root:
        (root / "cache").mkdir()
        cache_dir().mkdir(parents=True, exist_ok=True)
        (root / "cache" / "assay").symlink_to(cache_dir())
        if keep is not None:
            (keep / "runs").mkdir(parents=True, exist_ok=True)
            (root / "runs").symlink_to((keep / "runs").absolute())
        with closing(Lab(root)) as lab:
            yield lab
            lab.assert_nothing_left()


if __name__ == "__main__":
    main()
