"""Causes of a run, tried by experiments: what `assay diagnose --json` prints."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.analysis.diagnose.judging import CauseVerdict
from assay.analysis.diagnose.way import Ending
from assay.report.documents.figures import MeasuredValue
from assay.report.documents.findings import FindingRow
from assay.report.documents.try_ import TimeGain, TrialDocument


class SlowerOperation(TypedDict):
    """Another operation that the change makes slower."""

    operation: str
    share: float
    """By how much of its time, at least."""


class Experimented(TypedDict):
    """An experiment, as it declares itself."""

    kind: str
    changes: str
    set_up: str
    undo: str
    stays: bool
    """Whether its change may be recommended; else it only shows what a cause is worth."""


class TriedCause(TypedDict):
    """One cause and what its experiment came to."""

    key: str
    cause: FindingRow
    change: str
    experiment: Experimented
    verdict: CauseVerdict
    says: str
    """What the verdict rests on, and what would decide it where it is undecided."""
    by_plan: bool
    """Whether it was refuted because no plan changed."""
    rounds: int
    rounds_needed: int | None
    """How many would decide it; null: decided, or not known."""
    gain: TimeGain | None
    """Of the operations that the cause is claimed of; its interval may be looked at at any time."""
    whole: TimeGain | None
    """Of all operations together."""
    slower: list[SlowerOperation]
    memory: tuple[MeasuredValue, MeasuredValue]
    """Bytes at most: the most of all runs as it is, the least of all with the change."""
    disk: tuple[MeasuredValue, MeasuredValue]
    """The same of bytes of the data files, before anything was timed; null: they are not ours."""
    set_up_s: MeasuredValue
    """Seconds that the change took on the loaded data, at most; null: it is none of the data."""
    recommended: bool
    why_not: str | None
    """Why the change is not recommended; null: it is, or the cause is not confirmed."""
    record: str | None
    """What became of such advice so far; null: none was tried before."""
    trial: TrialDocument


class UntriedCause(TypedDict):
    """A cause of which nothing was tried."""

    key: str
    claim: str
    why: str
    change: str | None


class DiagnosisStep(TypedDict):
    """The causes of one run, tried side by side."""

    run: str
    on_top_of: list[str]
    tried: list[TriedCause]
    cannot_be_tried: list[UntriedCause]
    left_out: list[UntriedCause]
    kept: str | None
    """The change that is kept from here on; null: none is."""


class WayPoint(TypedDict):
    """The time after a change was kept; the first one is without any."""

    change: str | None
    seconds: float
    """Geometric mean over all runs with the changes so far."""
    runs: int


class DiagnoseDocument(TypedDict):
    """A diagnosis: causes with verdicts, and the way down."""

    run: str
    workload: str
    workload_title: str
    engine: str
    engine_title: str
    engine_version: str | None
    scale: float
    scale_name: str
    operations: list[str]
    """Those that were asked for; empty: all."""
    of: str
    """What times are of: an operation's name, a pass, or an operation of a load."""
    steps: list[DiagnosisStep]
    way: list[WayPoint]
    interactions: list[str]
    ending: Ending
    left: str
    """What is left at the end, in a sentence."""
    legal: str | None


class PlacedDiagnosis(DiagnoseDocument):
    """A diagnosis with the place of its files."""

    study: str
    """Directory of its runs' study; empty: nothing was run."""
    page: str | None
