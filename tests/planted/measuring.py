"""Measures cells: rounds of runs with and without the cause, and what is kept of them."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.e2e.conftest import Lab
from tests.planted.arms import RunEndedError, explained, service_s
from tests.planted.cells import Arm, Cell
from tests.planted.outside import UnplantableError
from tests.planted.scoring import Score, brief, scored, wrong

WITH, WITHOUT = "with", "without"
# A run that is not to be explained asks for nothing that explanations need.
PLAIN = ("--no-plans", "--probes", "none")
PLAIN_NAME, FULL_NAME = "share", "cell"


@dataclass(frozen=True)
class ArmRun:
    """One run of one arm.

    Attributes:
        arm: `with` or `without`.
        name: Of its record, in the directory of runs.
        service_s: Seconds of an operation, see `arms.service_s`.
        findings: As the document has them; None where nobody looked.
        host_busy: Share of the CPU time in use that the hypervisor and others took.
    """

    arm: str
    name: str
    service_s: float
    findings: list[dict[str, Any]] | None
    host_busy: float = 0.0


@dataclass(frozen=True)
class Measured:
    """A cell, measured.

    Attributes:
        name, half, engine, kinds: Of the cell.
        runs: In the order in which they were made, two a round.
        skipped: Why it could not be measured here; None: it was.
    """

    name: str
    half: str
    engine: str
    kinds: tuple[str, ...]
    runs: tuple[ArmRun, ...] = ()
    skipped: str | None = None

    @property
    def shares(self) -> list[float]:
        """Of the time with the cause, what it costs; one a round."""
        rounds = zip(self.runs[::2], self.runs[1::2], strict=True)
        return [_share(first, second) for first, second in rounds]

    @property
    def share(self) -> float:
        """The median over rounds."""
        return statistics.median(self.shares)

    def of(self, arm: str) -> list[ArmRun]:
        """Runs of one arm that were explained."""
        return [run for run in self.runs if run.arm == arm and run.findings is not None]


def _share(first: ArmRun, second: ArmRun) -> float:
    seconds = {run.arm: run.service_s for run in (first, second)}
    return 1 - seconds[WITHOUT] / seconds[WITH]


@dataclass(frozen=True)
class Judged:
    """A measured cell and what its explanations are worth.

    Attributes:
        scores: One a run with the cause.
        false: Wrong and sure causes of each run without it.
    """

    measured: Measured
    scores: tuple[Score, ...] = ()
    false: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def first(self) -> Score:
        """The score of the first run with the cause."""
        return self.scores[0]


def judged(cell: Cell, measured: Measured) -> Judged:
    """Scores the runs of a cell."""
    if measured.skipped is not None:
        return Judged(measured)
    share = measured.share
    return Judged(
        measured,
        tuple(scored(cell, run.findings or [], share, run.host_busy) for run in measured.of(WITH)),
        tuple(
            tuple(map(brief, wrong(cell, run.findings or [], run.host_busy, planted=False)))
            for run in measured.of(WITHOUT)
        ),
    )


def measure(lab: Lab, cell: Cell, rounds: int, *, explain: bool = True) -> Measured:
    """Runs both arms in turns: with and without, then without and with, and so on."""
    about = (cell.name, cell.half, cell.engine, cell.kinds)
    runs: list[ArmRun] = []
    try:
        for number in range(rounds):
            for arm in (WITH, WITHOUT) if number % 2 == 0 else (WITHOUT, WITH):
                runs.append(_run(lab, cell, arm, explain=explain))
                lab.assert_nothing_left()
    except (UnplantableError, RunEndedError) as reason:
        return Measured(*about, skipped=str(reason))
    return Measured(*about, tuple(runs))


def _run(lab: Lab, cell: Cell, name: str, *, explain: bool) -> ArmRun:
    arm = cell.planted if name == WITH else cell.free
    document = explained(lab, cell, arm if explain else _plain(arm))
    findings = document["findings"] if explain else None
    return ArmRun(name, document["run"], service_s(document), findings, host_busy(document))


def host_busy(document: dict[str, Any]) -> float:
    """Share that others than we had of the CPU time that was not idle; 0 where not measured.

    A CPU that is idle is taken from nobody: one busy thread on two CPUs that the hypervisor keeps
    from running for a tenth of its time loses a tenth, of which the machine's share is the half.
    """
    accounts = document["accounts"]
    if accounts is None:
        return 0.0
    taken_s = (accounts["steal_s"] or 0.0) + (accounts["background_s"] or 0.0)
    used_s = accounts["capacity_s"] - (accounts["idle_s"] or 0.0)
    return float(taken_s / used_s) if used_s > 0 else 0.0


def _plain(arm: Arm) -> Arm:
    return Arm(arm.settings, (*arm.options, *PLAIN), arm.prepare, arm.outside, arm.operations)


class Kept:
    """Figures of cells in a directory: a cell that is there is not run again."""

    def __init__(self, directory: Path | None, *, explain: bool) -> None:
        self._directory = directory
        self._kind = FULL_NAME if explain else PLAIN_NAME

    def read(self, cell: Cell) -> Measured | None:
        """What was measured of a cell; None where nothing was."""
        file = self._file(cell)
        if file is None or not file.is_file():
            return None
        table = json.loads(file.read_text(encoding="utf-8"))
        table["runs"] = tuple(ArmRun(**run) for run in table["runs"])
        return Measured(**table | {"kinds": tuple(table["kinds"])})

    def write(self, cell: Cell, measured: Measured) -> None:
        """Keeps it, unless it was skipped."""
        file = self._file(cell)
        if file is not None and measured.skipped is None:
            file.write_text(json.dumps(asdict(measured), indent=1), encoding="utf-8")

    def _file(self, cell: Cell) -> Path | None:
        if self._directory is None:
            return None
        return self._directory / f"{self._kind}-{cell.half}-{cell.name}.json"


def explained_anew(lab: Lab, measured: Measured) -> Measured:
    """The same runs, explained by the rules of today; records are read, nothing is run."""
    runs = []
    for run in measured.runs:
        document = json.loads(lab.assay("show", str(lab.runs / run.name), "--json").stdout)
        runs.append(replace(run, findings=document["findings"]))
    return replace(measured, runs=tuple(runs))


def print_lines(*lines: str) -> None:
    """Prints lines at once, so that whoever waits sees them."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
