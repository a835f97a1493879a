"""Types of `assay why --json`: the resources that limit a workload's operations."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class SecondsSpread(TypedDict):
    """Median, lowest and highest of several times, in seconds."""

    middle: float
    low: float
    high: float
    count: int


class VariantTime(TypedDict):
    """The time of an operation in one variant of a study of bottlenecks."""

    name: str
    seconds: SecondsSpread
    change: MeasuredValue
    """Relative change of the time from the unlimited run of the same round."""
    change_interval: list[float] | None


class ScarcityLevel(TypedDict):
    """The time of an operation at one level of scarcity of a resource."""

    name: str
    times_as_scarce: MeasuredValue
    """Full capacity of the resource divided by this level's; null if the capacity is not known."""
    seconds: SecondsSpread
    left_out: str | None
    """Reason why this level of the resource does not count; null if it counts."""


class ResourceElasticity(TypedDict):
    """The response of an operation's time to the scarcity of one resource."""

    resource: str
    method: str
    value: MeasuredValue
    interval: tuple[float, float] | None
    shape: str | None
    binds_below: MeasuredValue
    may_be: MeasuredValue
    counts: bool
    levels: list[ScarcityLevel]


class BottleneckVerdict(TypedDict):
    """The resources that limit one operation, with a sentence."""

    kind: str
    resources: list[str]
    words: str
    sum_words: str | None
    remarks: list[str]


class DeviceReads(TypedDict):
    """Disk reads of an operation compared with the disk's capacity."""

    mean_bytes: MeasuredValue
    per_second: MeasuredValue
    at_once: MeasuredValue
    ceiling_per_second: MeasuredValue
    share_of_ceiling: MeasuredValue


class BoundOperation(TypedDict):
    """The resource that limits one operation, with the measurements behind it."""

    operation: str
    verdict: BottleneckVerdict
    seconds: SecondsSpread
    variants: list[VariantTime]
    elasticities: list[ResourceElasticity]
    unmeasured: dict[str, str]
    sum: MeasuredValue
    sum_interval: tuple[float, float] | None
    missing_from_1: MeasuredValue
    shares: dict[str, float]
    reads: DeviceReads | None


class MissingVariant(TypedDict):
    """A planned run of the study of bottlenecks that was not made."""

    part: str
    variant: str
    reason: str


class WhyHead(TypedDict):
    """Facts that all runs of a study of bottlenecks share."""

    workload: NotRequired[str]
    workload_title: NotRequired[str]
    scale: NotRequired[float]
    scale_name: NotRequired[str]
    own_tables: NotRequired[bool]
    engine: NotRequired[str]
    engine_title: NotRequired[str]
    engine_version: NotRequired[str | None]
    state: NotRequired[str | None]
    verdict: str
    answers: str | None
    legal: str | None


class WhyDocument(WhyHead):
    """The document of `assay why --json`: resources that limit a workload's operations."""

    question: str
    study: str
    report: str | None
    status: str
    status_reason: str | None
    pilot: Any
    ceiling: str | None
    rounds: int
    operations: list[BoundOperation]
    unvaried: dict[str, str]
    missing: list[MissingVariant]
    unreadable: dict[str, str]
