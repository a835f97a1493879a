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
    """Share of its time that it takes longer, at least."""


class Experimented(TypedDict):
    """Declaration of an experiment."""

    kind: str
    changes: str
    set_up: str
    undo: str
    stays: bool
    """Whether its change may be recommended; otherwise it only measures the effect of a cause."""


class TriedCause(TypedDict):
    """One cause and the result of its experiment."""

    key: str
    cause: FindingRow
    change: str
    experiment: Experimented
    verdict: CauseVerdict
    says: str
    """Reason for the verdict. If it is undecided, also what would decide it."""
    by_plan: bool
    """Whether the cause was refuted because no plan changed."""
    rounds: int
    rounds_needed: int | None
    """Number of rounds that would decide it; null if it is decided, or the number is not known."""
    gain: TimeGain | None
    """Gain of the operations that the cause concerns. Its interval is valid after any number of
    rounds."""
    whole: TimeGain | None
    """Gain of all operations together."""
    slower: list[SlowerOperation]
    memory: tuple[MeasuredValue, MeasuredValue]
    """Peak memory in bytes: the highest of all runs without the change, the lowest of all runs with
    it."""
    disk: tuple[MeasuredValue, MeasuredValue]
    """Bytes of the data files before the timed part: the largest without the change, the smallest
    with it; null for a running server."""
    set_up_s: MeasuredValue
    """Longest time in seconds to make the change on the loaded data; null if it does not change
    data."""
    recommended: bool
    why_not: str | None
    """Why the change is not recommended; null if it is, or if the cause is not confirmed."""
    record: str | None
    """Results of earlier trials of such advice; null without earlier trials."""
    trial: TrialDocument


class UntriedCause(TypedDict):
    """A cause without an experiment."""

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
    """The change that later steps keep; null without one."""


class WayPoint(TypedDict):
    """Time with the changes that were kept so far; the first entry is without any change."""

    change: str | None
    seconds: float
    """Geometric mean over all runs with these changes."""
    runs: int


class DiagnoseDocument(TypedDict):
    """A diagnosis: causes with verdicts, and the time after each change that was kept."""

    run: str
    workload: str
    workload_title: str
    engine: str
    engine_title: str
    engine_version: str | None
    scale: float
    scale_name: str
    operations: list[str]
    """Requested operations; empty means all."""
    of: str
    """Subject of the times: an operation's name, a pass, or an operation of a load."""
    steps: list[DiagnosisStep]
    way: list[WayPoint]
    interactions: list[str]
    ending: Ending
    left: str
    """Sentence on the causes that remain at the end."""
    legal: str | None


class PlacedDiagnosis(DiagnoseDocument):
    """A diagnosis with the directory of its files."""

    study: str
    """Directory of the study with its runs; empty if nothing was run."""
    page: str | None
