"""Types of `assay try --json`: the measured effect of a finding's advice."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from assay.analysis.try_.trial import TryOutcome
from assay.report.documents.figures import MeasuredValue
from assay.report.documents.findings import FindingRow


class TimeGain(TypedDict):
    """Time before and after a change, in geometric means over the rounds."""

    before_s: float
    after_s: float
    share: float
    """Saved share of `before_s`; negative if the operation takes longer with the change."""
    interval: tuple[float, float] | None
    """95 % interval of the saved share; null with one round."""


class TriedOperation(TypedDict):
    """The time saved on one operation that the finding concerns."""

    operation: str
    predicted: MeasuredValue
    gain: TimeGain | None


class JudgedGain(TypedDict):
    """The saved time on which the verdict on a tried change is based."""

    operations: list[str]
    """Operations whose times are added up for the verdict; empty means the whole run."""
    predicted: MeasuredValue
    gain: TimeGain | None


class TriedPlanChange(TypedDict):
    """One change of a query plan in a trial, as text."""

    kind: str
    says: str


class TriedPlan(TypedDict):
    """The plan changes of one statement in a trial."""

    operation: str
    changed: bool
    """Whether the statement's plan changed."""
    changes: list[TriedPlanChange]


class TriedAnswers(TypedDict):
    """The comparison of query results before and after the tried change."""

    verdict: str
    words: str


class TriedRound(TypedDict):
    """Ids of the two runs of a trial's round, without and with the change."""

    before: str
    after: str


class TrialDocument(TypedDict):
    """The result of trying a change, without its directory and earlier trials."""

    run: str
    workload: str
    workload_title: str
    engine: str
    engine_title: str
    engine_version: str | None
    scale: float
    scale_name: str
    own_tables: NotRequired[bool]
    finding: FindingRow
    change: str
    verdict: TryOutcome
    hit: bool | None
    predicted: MeasuredValue
    gain: TimeGain | None
    of: str
    """Subject of the total time: a pass, or an operation of a load."""
    operations: list[TriedOperation]
    judged: JudgedGain
    left_out: list[str]
    """Operations that are left out because they failed in a run."""
    plans: list[TriedPlan] | None
    """Changes of plans; null if no plans were captured."""
    answers: TriedAnswers
    rounds: list[TriedRound]
    legal: str | None


class PlacedTrial(TrialDocument):
    """The result of trying a change, with the directory of its study."""

    study: str


class PredictionRecord(TypedDict):
    """The number and share of predicted savings that came true."""

    tried: int
    decided: int
    """Number of predictions with a known outcome."""
    hits: int
    hit_rate: MeasuredValue
    saved: int
    """Number of decided trials that saved time, as much as predicted or not."""
    ratio_median: MeasuredValue
    """Median of measured gain divided by predicted gain."""


class PredictionHistory(PredictionRecord):
    """The number of predicted savings that came true, in total and by method."""

    methods: dict[str, PredictionRecord]


class TryDocument(PlacedTrial):
    """The document of `assay try --json`: the measured effect of advice."""

    calibration: PredictionHistory


class PredictionRow(TypedDict):
    """One line of `predictions.jsonl`: a predicted saving and its trial."""

    schema: int
    time_utc: str
    study: str
    run: str
    rounds: list[TriedRound]
    engine: str
    engine_version: str | None
    workload: str
    scale: float
    finding: str
    method: str
    change: str
    judged: list[str]
    predicted: MeasuredValue
    measured: MeasuredValue
    interval: tuple[float, float] | None
    verdict: TryOutcome
    hit: bool | None
