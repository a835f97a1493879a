"""Types of values that several sections of a document share, such as percentiles."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

MeasuredValue = TypeAliasType(
    "MeasuredValue", Annotated[float | None, Field(description="Null: not measured.")]
)
CountedValue = TypeAliasType(
    "CountedValue", Annotated[int | None, Field(description="Null: not counted.")]
)
MetricKey = TypeAliasType(
    "MetricKey",
    Literal[
        "total_seconds",
        "geometric_mean_seconds",
        "power_like_per_h",
        "throughput_like_per_h",
        "composite_per_h",
        "test_power_per_h",
        "test_throughput_per_h",
        "test_composite_per_h",
        "test_power_per_h_unrounded",
        "test_throughput_per_h_unrounded",
        "test_composite_per_h_unrounded",
        "service_seconds_mean",
        "throughput_per_s",
    ],
)


Percentile = Literal["p50", "p90", "p95", "p99", "p999", "max"]
MetricUnit = Literal["s", "/h", "/s"]


class TimeDistribution(TypedDict):
    """Distribution of the seconds of successful executions, with percentiles by nearest rank.

    A percentile is null if there are too few values for it.
    """

    count: int
    p50: MeasuredValue
    p90: MeasuredValue
    p95: MeasuredValue
    p99: MeasuredValue
    p999: MeasuredValue
    max: MeasuredValue
