"""Phrases on a specified test: its metrics and the weights of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.load.specified import (
        SpecifiedTestSection,
        SpecifiedWeight,
    )


def metric_text(value: float | None) -> str:
    """Return a metric with one decimal and thousands separators: `4,174.2`; `none` for None."""
    return "none" if value is None else f"{value:,.1f}"


def conditions_of_test(test: SpecifiedTestSection) -> list[str]:
    """Return the kind of a test and its streams, in a few words."""
    count = test["streams"]
    streams = "" if count is None else f"{count} stream{'s' if count != 1 else ''}"
    kind = {
        "power": "power test",
        "throughput": "throughput test",
        "full": "two runs",
        "steady": "power passes until steady",
    }[test["kind"]]
    return [word for word in (kind, streams) if word]


def first_weight(weight: SpecifiedWeight) -> float:
    """Return an operation's weight in the composite, or else in the available metric."""
    weights = (weight[name] for name in ("composite", "power", "throughput"))
    return next((float(value) for value in weights if value is not None), 0.0)


def spread_moves(weight: SpecifiedWeight) -> float | None:
    """Return the metric's change from the longest to the shortest interval; None if only one."""
    if weight["at_min"] is None or weight["at_max"] is None:
        return None
    return float(weight["at_min"] - weight["at_max"])


UNROUNDED = "_unrounded"
