"""Sensitivity of metrics in the document of a run."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, MetricKey, MetricUnit

SensitivityTime = Literal["seconds", "seconds_min", "seconds_max"]


class WhatIfMetric(TypedDict):
    """One metric of the run."""

    metric: MetricKey
    label: str
    """What a column is called."""
    title: str
    """In full: what is no TPC metric says so."""
    unit: MetricUnit
    better: Literal["lower", "higher"]
    value: MeasuredValue


class MetricWeight(TypedDict):
    """The weight of an operation in one metric."""

    metric: MetricKey
    elasticity: float
    """Per cent of the metric for one per cent of the operation's time: d ln metric / d ln time."""
    at_min: MeasuredValue
    """Change of the metric, as a share, if the operation's median were its fastest pass."""
    at_max: MeasuredValue
    """The same with its slowest pass."""


class SensitivityRow(TypedDict):
    """The weight of one operation in each metric."""

    operation: str
    seconds: float
    """Median over the passes; of a load the mean."""
    seconds_min: MeasuredValue
    """Its fastest pass; null for a load."""
    seconds_max: MeasuredValue
    """Its slowest pass; null for a load."""
    weights: list[MetricWeight]
    """One a metric."""


class WorthRow(TypedDict):
    """The metrics if one kind of work or waiting took no time."""

    kind: Literal["work", "wait"]
    """A word of CPU samples, or a cause as in operations[].where."""
    subject: str
    title: str
    metrics: list[MetricPrediction]
    assumption: str
    """One sentence."""


class WhatIfSection(TypedDict):
    """Metrics of the run and what they depend on."""

    cores: int | None
    """CPUs that the engine could use."""
    passes: int
    """That intervals of predictions are over; 0: there are none."""
    metrics: list[WhatIfMetric]
    """The run's metrics, in the order of all lists of them."""
    sensitivity: list[SensitivityRow]
    """What each operation weighs in each metric, in the order of the first pass."""
    worth: list[WorthRow]
    """What would be if one kind of work or one cause of waiting took no time: more than a mend can
    give. Most first; what gives less than 0.5 % of the first metric is left out."""


class MetricPrediction(TypedDict):
    """A metric before and after a change, by a model."""

    metric: MetricKey
    label: str
    """What a column is called."""
    title: str
    """In full: what is no TPC metric says so."""
    unit: MetricUnit
    better: Literal["lower", "higher"]
    before: MeasuredValue
    after: MeasuredValue
    """Null: without bound, because an operation would take no time."""
    change: MeasuredValue
    """After over before, less 1."""
    change_least: MeasuredValue
    """The lower end of what the model leaves open."""
    change_most: MeasuredValue
    """The upper end of what the model leaves open."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % of the change over the passes; null for fewer than five."""
