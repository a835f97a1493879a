"""Types of a run's document on how operations' times affect metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, MetricKey, MetricUnit

SensitivityTime = Literal["seconds", "seconds_min", "seconds_max"]


class WhatIfMetric(TypedDict):
    """The value of one metric of a run."""

    metric: MetricKey
    label: str
    """Heading of the metric's column."""
    title: str
    """Full name of the metric, which says whether the metric is a TPC metric."""
    unit: MetricUnit
    better: Literal["lower", "higher"]
    value: MeasuredValue


class MetricWeight(TypedDict):
    """The weight of an operation's time in one metric."""

    metric: MetricKey
    elasticity: float
    """Change of the metric in percent for 1 % of the operation's time: d ln metric / d ln time."""
    at_min: MeasuredValue
    """Relative change of the metric if the operation's median were its fastest pass."""
    at_max: MeasuredValue
    """Relative change of the metric if the operation's median were its slowest pass."""


class SensitivityRow(TypedDict):
    """The weights of one operation's time in all metrics."""

    operation: str
    seconds: float
    """Median time of the operation over the passes; under a load the mean time."""
    seconds_min: MeasuredValue
    """Time of the operation in its fastest pass; null for a load."""
    seconds_max: MeasuredValue
    """Time of the operation in its slowest pass; null for a load."""
    weights: list[MetricWeight]
    """Weight of the operation in each metric."""


class WorthRow(TypedDict):
    """The metrics of a run if one kind of work or waiting took no time."""

    kind: Literal["work", "wait"]
    """Kind of the removed time: a kind of CPU work, or a cause of waiting as in operations[].where.
    """
    subject: str
    title: str
    metrics: list[MetricPrediction]
    assumption: str
    """Sentence on the assumption of this prediction."""


class WhatIfSection(TypedDict):
    """The metrics of a run, and how each operation's time affects them."""

    cores: int | None
    """Number of CPUs that the engine could use."""
    passes: int
    """Number of passes for the intervals of predictions; 0 means no intervals."""
    metrics: list[WhatIfMetric]
    """The run's metrics, in the order that all lists of metrics have."""
    sensitivity: list[SensitivityRow]
    """Weight of each operation in each metric, in the order of the first pass."""
    worth: list[WorthRow]
    """Metrics if one kind of work or one cause of waiting took no time, which is an upper limit of
    any improvement. Largest effect first, without effects below 0.5 % of the first metric."""


class MetricPrediction(TypedDict):
    """A metric before and after a supposed change, as predicted."""

    metric: MetricKey
    label: str
    """Heading of the metric's column."""
    title: str
    """Full name of the metric, which says whether the metric is a TPC metric."""
    unit: MetricUnit
    better: Literal["lower", "higher"]
    before: MeasuredValue
    after: MeasuredValue
    """Value of the metric after the change; null if it is unbounded because an operation would take
    no time."""
    change: MeasuredValue
    """Relative change of the metric: after / before - 1."""
    change_least: MeasuredValue
    """Lower bound of the metric's change by the model."""
    change_most: MeasuredValue
    """Upper bound of the metric's change by the model."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % interval of the metric's change over the passes; null for fewer than five."""
