"""Types of `assay diagnose --json`: causes of a run, tried by experiments."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from assay.analysis.diagnose.judging import CauseVerdict
from assay.analysis.diagnose.way import Ending
from assay.report.documents.figures import MeasuredValue
from assay.report.documents.findings import FindingRow
from assay.report.documents.try_ import TimeGain, TrialDocument


class SlowerOperation(TypedDict):
    """Another operation that the tried change makes slower."""

    operation: str
    share: float
    """Lower bound of the operation's relative increase in time."""


class DependentTime(TypedDict):
    """The share of the time that depends on a resource that was slowed."""

    share: float
    interval: tuple[float, float] | None
    """Interval of the share, valid after any number of rounds; null with too few rounds."""


class Experimented(TypedDict):
    """An experiment that tries a change, as declared in its file."""

    kind: str
    changes: str
    set_up: str
    undo: str
    stays: bool
    """Whether the experiment's change may be recommended. If false, the change only measures the
    effect of a cause."""
    gain_means: str | None
    """Clause on the meaning of the gain, if the change may not be recommended; otherwise null."""


class TriedCause(TypedDict):
    """One cause and the result of its experiment."""

    key: str
    cause: FindingRow
    change: str
    experiment: Experimented
    verdict: CauseVerdict
    says: str
    """Reason for the verdict on the cause. For an undecided cause, the reason includes what would
    decide it."""
    by_plan: bool
    """Whether the experiment refuted the cause because no plan changed."""
    rounds: int
    """Number of compared rounds; 0 if plans that were captured without execution refuted the
    cause."""
    rounds_needed: int | None
    """Number of rounds that would decide the verdict; null if it is decided, or if the number is
    not known."""
    gain: TimeGain | None
    """Gain of the operations that the cause concerns. The gain's interval is valid after any number
    of rounds."""
    whole: TimeGain | None
    """Gain of all operations of the run together."""
    dependence: DependentTime | None
    """Share of the time that depends on a resource that was slowed; null for a change that removes
    a cause."""
    slower: list[SlowerOperation]
    takes_back: NotRequired[str | None]
    """Earlier kept change that this change leaves out again, which is confirmed if little time is
    lost without it; null for other changes."""
    memory: tuple[MeasuredValue, MeasuredValue]
    """Peak memory in bytes: the highest of all runs without the change, and the lowest of all runs
    with the change."""
    disk: tuple[MeasuredValue, MeasuredValue]
    """Bytes of the data files before the timed part: the largest without the change, and the
    smallest with the change; null for a running server."""
    set_up_s: MeasuredValue
    """Longest time in seconds to make the change on the loaded data; null if the change does not
    concern data."""
    recommended: bool
    why_not: str | None
    """Reason why the change is not recommended; null if it is recommended, or if the cause is not
    confirmed."""
    record: str | None
    """Results of earlier trials of the same kind of advice; null without earlier trials."""
    trial: TrialDocument | None
    """Comparison of the runs; null if nothing was run."""


class UntriedCause(TypedDict):
    """A cause of a run's time that no experiment tried."""

    key: str
    claim: str
    why: str
    change: str | None


class DiagnosisStep(TypedDict):
    """The causes of one run that a step of a diagnosis tried in alternating rounds."""

    run: str
    on_top_of: list[str]
    tried: list[TriedCause]
    cannot_be_tried: list[UntriedCause]
    left_out: list[UntriedCause]
    kept: str | None
    """The change that later steps of the diagnosis keep; null without one."""


class WayPoint(TypedDict):
    """The time with all changes adopted so far; the first entry is the time without any."""

    change: str | None
    seconds: float
    """Geometric mean of the times over all runs with these changes, in seconds."""
    runs: int


class DiagnoseDocument(TypedDict):
    """The document of a diagnosis: causes with verdicts, and the time after each adopted change."""

    run: str
    workload: str
    workload_title: str
    engine: str
    engine_title: str
    engine_version: str | None
    scale: float
    scale_name: str
    own_tables: NotRequired[bool]
    operations: list[str]
    """Requested operations of the diagnosis; empty means all operations."""
    of: str
    """Subject of the times: the name of an operation, a pass, or an operation of a load."""
    steps: list[DiagnosisStep]
    way: list[WayPoint]
    interactions: list[str]
    ending: Ending
    left: str
    """Sentence on the causes that remain after the last step."""
    legal: str | None


class PlacedDiagnosis(DiagnoseDocument):
    """The document of a diagnosis, with the directory of its files."""

    study: str
    """Directory of the study that contains the diagnosis's runs; empty if nothing was run."""
    page: str | None
