"""Are causes that `assay diagnose` confirms true, and those that it refutes false?

Each cell of the planted set that nobody acts on from outside is diagnosed within a budget, with its
cause and without (`tests/planted/README.md`). What the cause costs is measured apart: runs with it
and without, in turns, that no diagnosis saw. `--controls` diagnoses workloads that ship, healthy. With the directory of an
earlier execution, `--keep` goes on where that one ended.

    .venv/bin/python benchmarks/bench_diagnosis.py --half heldout --keep DIR
    .venv/bin/python benchmarks/bench_diagnosis.py --half calibration --sample 20 --keep DIR
    .venv/bin/python benchmarks/bench_diagnosis.py --cell 'spill*' --budget 2m
    .venv/bin/python benchmarks/bench_diagnosis.py --controls
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_planted_causes import laboratory
from tests.e2e.conftest import Lab
from tests.planted.arms import RunEndedError, arguments, explained
from tests.planted.cells import HALVES, Arm, Cell, all_cells
from tests.planted.controls import all_controls
from tests.planted.outside import UnplantableError
from tests.planted.scoring import names_root, wilson

from assay.analysis.try_.trial import Times, gain_over, judged_times, times_of
from assay.record.reader import Run

BUDGET = "3m"
PAIRS = 3
# An embedded engine, some seconds.
SMOKE_CELL = "page-views"
VERDICTS = ("confirmed", "refuted", "undecided")
# A cause that costs less is listed and not counted, as for explanations.
SHARE_MIN = 0.15


@dataclass(frozen=True)
class Diagnosed:
    """The result of diagnosing one arm.

    Attributes:
        name: Of the cell or the control.
        planted: Whether the arm has the cause.
        true_share: Of the time that the cause costs; None: not measured.
        right, other: Causes of the first step by verdict: those that were planted, and others.
        root: Whether a planted cause was confirmed by its root.
        covers: Whether the interval of a confirmed planted cause covers the true share of the whole.
        seconds: How long it took.
        failed: Why there is none.
    """

    name: str
    planted: bool
    true_share: float | None = None
    right: dict[str, list[str]] | None = None
    other: dict[str, list[str]] | None = None
    root: bool = False
    covers: bool | None = None
    seconds: float = 0.0
    failed: str | None = None

    def line(self) -> str:
        """In a line."""
        arm = "planted" if self.planted else "free"
        if self.failed is not None:
            return f"{self.name:<24}{arm:<9}failed: {' '.join(self.failed.split())[-140:]}"
        share = "" if self.true_share is None else f"{self.true_share:.0%}"
        verdicts = [
            f"{verdict} {', '.join(keys)}{mark}"
            for mark, causes in ((" (planted)", self.right), ("", self.other))
            for verdict, keys in (causes or {}).items()
            if keys
        ]
        return f"{self.name:<24}{arm:<9}{share:>5}  {self.seconds:4.0f} s  {'; '.join(verdicts)}"


def main() -> None:
    asked = _arguments()
    kept = Kept(asked.keep, "diagnosed-controls.json" if asked.controls else "diagnosed.json")
    with laboratory(asked.keep) as lab:
        for result in (_controls if asked.controls else _planted)(lab, asked, kept):
            print(result.line(), flush=True)
            kept.add(result)
    print("", *summary(kept.results), sep="\n")


class Kept:
    """The results so far, in a file if a directory is given; the next execution begins with them.

    Attributes:
        results: Those of the file, then those of this execution.
    """

    def __init__(self, directory: Path | None, name: str) -> None:
        self._file = directory / name if directory else None
        self.results: list[Diagnosed] = []
        if self._file and self._file.exists():
            rows = json.loads(self._file.read_text(encoding="utf-8"))
            self.results = [Diagnosed(**row) for row in rows]

    def has(self, name: str, *, planted: bool) -> bool:
        """True if this arm was diagnosed already."""
        return any((result.name, result.planted) == (name, planted) for result in self.results)

    def add(self, result: Diagnosed) -> None:
        """Keeps a result."""
        self.results.append(result)
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            rows = [asdict(result) for result in self.results]
            self._file.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--half", choices=HALVES, help="both by default")
    options.add_argument("--cell", default="*", help="names, with * and ?")
    options.add_argument("--engine", default="*", help="engines, with * and ?")
    options.add_argument("--sample", type=int, help="so many of these cells, drawn at random")
    options.add_argument("--seed", type=int, default=1, help="of that draw")
    options.add_argument("--budget", default=BUDGET)
    options.add_argument("--pairs", type=int, default=PAIRS, help="of runs that measure the cause")
    options.add_argument("--free", action="store_true", help="the arms without the cause as well")
    options.add_argument("--keep", type=Path, help="where figures and runs are left")
    options.add_argument("--controls", action="store_true", help="healthy workloads instead")
    options.add_argument("--smoke", action="store_true", help="one cell, a short budget")
    asked = options.parse_args()
    if asked.smoke:
        asked.cell, asked.budget, asked.pairs = SMOKE_CELL, "12s", 0
    return asked


def _planted(lab: Lab, asked: argparse.Namespace, kept: Kept) -> Iterator[Diagnosed]:
    for cell in _cells(asked):
        arms = [cell.planted, *([cell.free] if asked.free else [])]
        for arm in arms:
            is_planted = arm is cell.planted
            if kept.has(cell.name, planted=is_planted):
                continue
            share = _true_share(lab, cell, asked.pairs) if is_planted else None
            yield _diagnosed(lab, cell, arm, share, asked.budget)


def _cells(asked: argparse.Namespace) -> list[Cell]:
    """The cells that were asked for, without those that a program beside the engine disturbs."""
    cells = [
        cell
        for cell in all_cells(*([asked.half] if asked.half else ()))
        if fnmatch(cell.name, asked.cell) and fnmatch(cell.engine, asked.engine)
        if not (cell.planted.outside or cell.free.outside)
    ]
    if asked.sample is None:
        return cells
    return Random(asked.seed).sample(cells, asked.sample)  # noqa: S311 - nothing is secret


def _true_share(lab: Lab, cell: Cell, pairs: int) -> float | None:
    """The share of the time that the cause costs, by runs that no diagnosis sees.

    It is the share of the whole that a diagnosis gives: of a pass, or of the time of an operation
    under a load. A mean of latencies is another quantity and would fall outside of the interval.
    """
    rounds = []
    for number in range(pairs):
        arms = (cell.planted, cell.free) if number % 2 == 0 else (cell.free, cell.planted)
        try:
            times = {arm is cell.planted: _times(lab, cell, arm) for arm in arms}
        except (RunEndedError, UnplantableError):
            return None
        rounds.append((times[True], times[False]))
    if not rounds:
        return None
    _, seconds = judged_times(rounds, ())
    gain = gain_over(seconds)
    return None if gain is None else gain.share


def _times(lab: Lab, cell: Cell, arm: Arm) -> Times:
    return times_of(Run(Path(explained(lab, cell, arm)["path"])))


def _diagnosed(lab: Lab, cell: Cell, arm: Arm, share: float | None, budget: str) -> Diagnosed:
    is_planted = arm is cell.planted
    given = arguments(cell, arm, lab.root)
    document = _document(lab, given, budget)
    if isinstance(document, str):
        return Diagnosed(cell.name, is_planted, share, failed=document)
    right: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    other: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    has_root, covers = False, None
    for number, step in enumerate(document["steps"]):
        for tried in _causes(step):
            causes = [cause for cause in cell.causes if tried["cause"]["method"] in cause.methods]
            if number == 0 or causes:
                by_verdict = right if causes and is_planted else other
                by_verdict[tried["verdict"]].append(tried["key"])
            if not causes or not is_planted or tried["verdict"] != "confirmed":
                continue
            has_root |= any(names_root(cause, tried["cause"]) for cause in causes)
            if covers is None and share is not None and len(cell.causes) == 1:
                low, high = (tried["whole"] or {}).get("interval") or (-9.0, 9.0)
                covers = low <= share <= high
    seconds = document["spent_s"]
    return Diagnosed(cell.name, is_planted, share, right, other, has_root, covers, seconds)


def _causes(step: dict[str, Any]) -> list[dict[str, Any]]:
    """The tried causes of a step, without a resource that was slowed because nothing was tried."""
    return [tried for tried in step["tried"] if tried["dependence"] is None]


def _controls(lab: Lab, asked: argparse.Namespace, kept: Kept) -> Iterator[Diagnosed]:
    for control in all_controls():
        if not (fnmatch(control.workload, asked.cell) and fnmatch(control.engine, asked.engine)):
            continue
        if kept.has(control.name, planted=False):
            continue
        given = [control.workload, "--engine", control.engine, *control.options]
        document = _document(lab, given, asked.budget)
        if isinstance(document, str):
            yield Diagnosed(control.name, planted=False, failed=document)
            continue
        other: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
        for step in document["steps"]:
            for tried in _causes(step):
                other[tried["verdict"]].append(f"{tried['key']} ({tried['change']})")
        yield Diagnosed(control.name, planted=False, other=other, seconds=document["spent_s"])


def _document(lab: Lab, given: Sequence[str], budget: str) -> dict[str, Any] | str:
    """The document of a diagnosis, or why there is none."""
    import time

    began_s = time.monotonic()
    ended = lab.assay("diagnose", *given, "--budget", budget, "--json")
    if ended.returncode != 0:
        return ended.stderr or f"ended with {ended.returncode}"
    document: dict[str, Any] = json.loads(ended.stdout)
    return {**document, "spent_s": time.monotonic() - began_s}


def summary(results: Sequence[Diagnosed]) -> Iterator[str]:
    """Yield how often verdicts were right, a line each."""
    ran = [result for result in results if result.failed is None]
    planted = [result for result in ran if result.planted]
    counted = [
        result for result in planted if result.true_share is None or result.true_share >= SHARE_MIN
    ]
    of_verdict = {
        verdict: (
            sum(len((result.right or {}).get(verdict, ())) for result in counted),
            sum(len((result.other or {}).get(verdict, ())) for result in counted),
        )
        for verdict in VERDICTS
    }
    free = [result for result in ran if not result.planted]
    clean = sum(not (result.other or {}).get("confirmed") for result in free)
    covers = [result.covers for result in counted if result.covers is not None]
    confirmed = sum(bool((result.right or {}).get("confirmed")) for result in counted)
    yield f"{len(results)} diagnosed, {len(results) - len(ran)} failed"
    if counted:
        yield _of("a planted cause is confirmed in", confirmed, len(counted), "cells")
        yield _of("its root is reached in", sum(r.root for r in counted), len(counted), "cells")
        for verdict, (right, other) in of_verdict.items():
            yield f"{verdict}: {right} of planted causes, {other} of others"
        yield _of("the interval covers the true share in", sum(covers), len(covers), "cells")
    if free:
        yield _of("nothing is confirmed in", clean, len(free), "runs without a planted cause")


def _of(says: str, part: int, whole: int, what: str) -> str:
    if not whole:
        return f"{says} 0 of 0 {what}"
    least, most = wilson(part, whole)
    return f"{says} {part} of {whole} {what} ({least:.0%} to {most:.0%})"


if __name__ == "__main__":
    main()
