"""A finding's advice carried out: what `assay try --json` prints, and its history."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.analysis.try_.trial import TryOutcome
from assay.report.documents.figures import MeasuredValue
from assay.report.documents.findings import FindingRow


class TimeGain(TypedDict):
    """Time before and after a change, in geometric means over the rounds."""

    before_s: float
    after_s: float
    share: float
    """Of `before_s` that is saved; below zero: it takes longer."""
    interval: tuple[float, float] | None
    """95 %; null with one round."""


class TriedOperation(TypedDict):
    """One operation that the finding is about."""

    operation: str
    predicted: MeasuredValue
    gain: TimeGain | None


class JudgedGain(TypedDict):
    """The gain that the verdict is of."""

    operations: list[str]
    """Those whose times are added up; empty: the whole."""
    predicted: MeasuredValue
    gain: TimeGain | None


class TriedPlanChange(TypedDict):
    """One change of a plan, in words."""

    kind: str
    says: str


class TriedPlan(TypedDict):
    """Changes of one statement's plan."""

    operation: str
    changed: bool
    """Whether it is executed in another way."""
    changes: list[TriedPlanChange]


class TriedAnswers(TypedDict):
    """The comparison of answers before and after a change."""

    verdict: str
    words: str


class TriedRound(TypedDict):
    """Ids of the two runs of a round."""

    before: str
    after: str


class TrialDocument(TypedDict):
    """The result of a change, without its place and the history."""

    run: str
    workload: str
    workload_title: str
    engine: str
    engine_title: str
    engine_version: str | None
    scale: float
    scale_name: str
    finding: FindingRow
    change: str
    verdict: TryOutcome
    hit: bool | None
    predicted: MeasuredValue
    gain: TimeGain | None
    of: str
    """What the whole is: a pass, or an operation of a load."""
    operations: list[TriedOperation]
    judged: JudgedGain
    left_out: list[str]
    """Operations that did not succeed in every run."""
    plans: list[TriedPlan] | None
    """Null: none were captured."""
    answers: TriedAnswers
    rounds: list[TriedRound]
    legal: str | None


class PlacedTrial(TrialDocument):
    """The result of a change with the directory of its study."""

    study: str


class PredictionRecord(TypedDict):
    """The rate at which predictions came true."""

    tried: int
    decided: int
    """Those of which it is known whether they came true."""
    hits: int
    hit_rate: MeasuredValue
    ratio_median: MeasuredValue
    """Median of measured over predicted gain."""


class PredictionHistory(PredictionRecord):
    """The record of all predictions, and of each method."""

    methods: dict[str, PredictionRecord]


class TryDocument(PlacedTrial):
    """The document of `assay try --json`."""

    calibration: PredictionHistory


class PredictionRow(TypedDict):
    """One line of `predictions.jsonl`."""

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
