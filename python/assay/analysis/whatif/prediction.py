"""Predicts each metric of a run after supposed changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.whatif.changes import (
    RemoveWait,
    RemoveWork,
    ScaleOperation,
    SetCores,
    SetTime,
)
from assay.analysis.whatif.cores import QUEUE
from assay.analysis.whatif.metrics import Metric, metrics_of
from assay.analysis.whatif.resampling import Resamples, passes_of, resamples
from assay.analysis.whatif.specified import BOTH_TESTS
from assay.model.errors import UsageError
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.whatif.changes import SupposedChange
    from assay.analysis.whatif.timing import Measured, TimedOperation

# From this share of the machine on, the CPU use of other programs is mentioned.
BACKGROUND_SHARE_MAX = 0.1
LOW, HIGH = 0.025, 0.975
NOT_CHANGED = 1e-9
# Largest number of operations that one sentence names.
NAMED_MAX = 8


@dataclass(frozen=True)
class PredictedMetric:
    """The predicted value of one metric after supposed changes.

    Attributes:
        metric: The metric.
        before, after: Values before and after the changes; None if a time of 0 makes it
            infinite.
        change: Relative change: after / before - 1.
        change_least, change_most: Relative changes for the minimum and maximum time of the
            model, the smaller change first.
        interval: 95 % interval of the change over the passes; None with too few passes.
    """

    metric: Metric
    before: float | None
    after: float | None
    change: float | None
    change_least: float | None
    change_most: float | None
    interval: tuple[float, float] | None

    def facts(self) -> dict[str, Any]:
        """Return the predicted metric as JSON values."""
        return {
            "metric": self.metric.name,
            "label": self.metric.label,
            "title": self.metric.title,
            "unit": self.metric.unit,
            "better": self.metric.better,
            "before": self.before,
            "after": self.after,
            "change": self.change,
            "change_least": self.change_least,
            "change_most": self.change_most,
            "interval": None if self.interval is None else list(self.interval),
        }


@dataclass(frozen=True)
class PredictedOperation:
    """The predicted time of one operation after supposed changes, in seconds.

    Attributes:
        name: Name in the workload.
        before_s, after_s: Seconds before and after the changes.
        least_s, most_s: Lower and upper bound by the model.
        is_asked: Whether a change names the operation.
    """

    name: str
    before_s: float
    after_s: float
    least_s: float
    most_s: float
    is_asked: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the predicted operation as JSON values."""
        return {
            "operation": self.name,
            "before": self.before_s,
            "after": self.after_s,
            "least": self.least_s,
            "most": self.most_s,
            "is_asked": self.is_asked,
        }


@dataclass(frozen=True)
class Prediction:
    """The predicted metrics and operation times after a list of changes.

    Attributes:
        changes: Description of each change.
        assumptions: Assumptions of the prediction, one sentence each.
        notes: Facts that are missing in the run, one sentence each.
        metrics: Prediction of each metric of the run.
        operations: Operations whose time changes: first those that a change names, each group
            with the largest change first.
        passes: Number of passes for the intervals. 0 means no intervals.
        predictable: Number of operations with all facts that the changes need.
        measured: Number of all operations. Operations that lack these facts are predicted as
            unchanged.
    """

    changes: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    metrics: tuple[PredictedMetric, ...]
    operations: tuple[PredictedOperation, ...]
    passes: int
    predictable: int
    measured: int

    def metric(self, name: str) -> PredictedMetric:
        """Return the prediction of one metric by its name."""
        return next(metric for metric in self.metrics if metric.metric.name == name)

    def facts(self) -> dict[str, Any]:
        """Return the predicted metrics and operation times as JSON values."""
        return {
            "changes": list(self.changes),
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "metrics": [metric.facts() for metric in self.metrics],
            "operations": [operation.facts() for operation in self.operations],
            "passes": self.passes,
            "known_operations": self.predictable,
            "measured_operations": self.measured,
        }


@dataclass(frozen=True)
class _Course:
    """One operation's time while supposed changes are applied one after another.

    Attributes:
        now: The operation after the changes so far.
        least_s, most_s: Combined bounds of the models.
        factor: Factor of each pass; None means that every pass is as long as `now`.
    """

    now: TimedOperation
    least_s: float
    most_s: float
    factor: float | None = 1.0

    def after(self, change: SupposedChange, cores: int | None) -> _Course | None:
        """Return the operation's state after one more supposed change, or None."""
        made = change.of(self.now, cores)
        if made is None:
            return None
        seconds, before = made.operation.seconds, self.now.seconds
        if isinstance(change, SetTime) and change.name == self.now.name:
            return _Course(made.operation, seconds, seconds, None)
        ratio = (seconds / before, made.least_s / before, made.most_s / before) if before else None
        middle, least, most = ratio or (1.0, 1.0, 1.0)
        factor = None if self.factor is None else self.factor * middle
        return _Course(made.operation, self.least_s * least, self.most_s * most, factor)

    def of_pass(self, seconds: float) -> float:
        """Return the predicted seconds of one execution, from its measured seconds."""
        return self.now.seconds if self.factor is None else seconds * self.factor


def predict(
    measured: Measured,
    changes: Sequence[SupposedChange],
    resampled: Resamples | None = None,
) -> Prediction:
    """Return the prediction of each metric after supposed changes, applied in order.

    Args:
        measured: The run.
        changes: The changes in the order of their application.
        resampled: Resamples of the run from `resamples`; None means that they are drawn. Without
            resamples the prediction has no intervals.

    Raises:
        UsageError: If the run lacks what a change needs, or has no metrics.
    """
    check_whole(measured)
    drawn = resamples(measured) if resampled is None else resampled
    courses = [_Course(op, op.seconds, op.seconds) for op in measured.operations]
    cores, notes = measured.cores, []
    unknown: set[str] = set()
    for change in changes:
        change.check(measured)
        moved = [course.after(change, cores) for course in courses]
        missed = [
            course.now.name for course, new in zip(courses, moved, strict=True) if new is None
        ]
        if missed:
            notes.append(_note(change.says, missed))
            unknown.update(missed)
        courses = [new or course for course, new in zip(courses, moved, strict=True)]
        cores = change.cores if isinstance(change, SetCores) else cores
    if any(_needs_a_processor(change) for change in changes):
        notes += _competition(measured)
    return Prediction(
        changes=tuple(change.says for change in changes),
        assumptions=tuple(dict.fromkeys(_assumptions(measured, changes))),
        notes=tuple(notes),
        metrics=tuple(
            _predicted(metric, courses, measured, drawn) for metric in metrics_of(measured)
        ),
        operations=_changed(measured, courses, changes),
        passes=passes_of(measured) if drawn.times else 0,
        predictable=len(courses) - len(unknown),
        measured=len(courses),
    )


def _needs_a_processor(change: SupposedChange) -> bool:
    """Return True if the prediction depends on waits for a CPU."""
    return isinstance(change, RemoveWork | SetCores) or change == RemoveWait(QUEUE)


def _competition(measured: Measured) -> list[str]:
    """Return a note if other programs used enough CPU time to affect a prediction."""
    share = measured.background_share
    waited = any((op.thread_s or {}).get(QUEUE) for op in measured.operations)
    if share is None or share < BACKGROUND_SHARE_MAX or not waited:
        return []
    sentence = (
        f"Others used {percent_text(share)} of the machine's CPU time, so a part of the waiting for"
        " a CPU is for them: predictions that rest on it hold for as much competition."
    )
    return [sentence]


def check_whole(measured: Measured) -> None:
    """Raise `UsageError` for a run whose metrics have no value."""
    if measured.without_time:
        raise UsageError(
            f"{', '.join(measured.without_time)} never succeeded in the run {measured.run}, so "
            "its metric cannot be predicted"
        )
    if measured.why_not is not None:
        raise UsageError(
            f"the run {measured.run} has no metric that could be predicted: {measured.why_not}"
        )
    if not measured.operations:
        raise UsageError(
            f"the run {measured.run} measured no operation, so nothing can be predicted"
        )


def _assumptions(measured: Measured, changes: Sequence[SupposedChange]) -> list[str]:
    said = [change.assumption for change in changes]
    if measured.test is not None and measured.test.streams is not None:
        return [*said, BOTH_TESTS]
    if measured.clients is None:
        return said
    if measured.rate_per_s is None:
        law = "each client issues an operation when its last has ended, and nothing else fills up"
        return [*said, f"The law of the closed loop: {law}."]
    return [*said, "The rate is asked for from outside, so the throughput stays what it is."]


def _note(says: str, names: list[str]) -> str:
    shown = ", ".join(names[:NAMED_MAX])
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return f"{says}: the run has no figures of {shown}{more}, which stay as they are."


def _predicted(
    metric: Metric,
    courses: Sequence[_Course],
    measured: Measured,
    resampled: Resamples,
) -> PredictedMetric:
    now = [operation.seconds for operation in measured.operations]
    before = metric.of(now)
    after = [course.now.seconds for course in courses]
    least, most = [course.least_s for course in courses], [course.most_s for course in courses]
    bounds = [_change(metric.of(times), before) for times in (least, after, most)]
    bounds += [_change(other(after), other(now)) for other in metric.also]
    known_bounds = sorted(bound for bound in bounds if bound is not None)
    return PredictedMetric(
        metric=metric,
        before=before if math.isfinite(before) else None,
        after=metric.value(after),
        change=bounds[1],
        change_least=known_bounds[0] if None not in bounds else None,
        change_most=known_bounds[-1] if None not in bounds else None,
        interval=_interval(metric, courses, resampled),
    )


def _change(after: float, before: float) -> float | None:
    change = after / before - 1 if before > 0 else math.inf
    if not math.isfinite(change):
        return None
    return 0.0 if abs(change) < NOT_CHANGED else change


def _interval(
    metric: Metric, courses: Sequence[_Course], resampled: Resamples
) -> tuple[float, float] | None:
    """Return the 95 % interval of a metric's predicted change, by the bootstrap over passes."""
    changes = []
    for times, before in zip(resampled.times, resampled.values(metric), strict=True):
        moved = [course.of_pass(seconds) for course, seconds in zip(courses, times, strict=True)]
        changes.append(_change(metric.of(moved), before))
    ordered = sorted(change for change in changes if change is not None)
    if not ordered:
        return None
    return ordered[int(LOW * len(ordered))], ordered[math.ceil(HIGH * len(ordered)) - 1]


def _changed(
    measured: Measured, courses: Sequence[_Course], changes: Sequence[SupposedChange]
) -> tuple[PredictedOperation, ...]:
    asked = {change.name for change in changes if isinstance(change, ScaleOperation | SetTime)}
    made = [
        PredictedOperation(
            op.name, op.seconds, course.now.seconds, course.least_s, course.most_s, op.name in asked
        )
        for op, course in zip(measured.operations, courses, strict=True)
    ]
    moved = [op for op in made if abs(op.after_s - op.before_s) > NOT_CHANGED * op.before_s]
    return tuple(sorted(moved, key=lambda op: (not op.is_asked, -abs(op.after_s - op.before_s))))
