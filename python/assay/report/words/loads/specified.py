"""Phrases on a TPC-H test: its metrics and the weights of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.load.specified import (
        SpecifiedTestSection,
        SpecifiedWeight,
    )


def metric_text(value: float | None) -> str:
    """Return a TPC-H metric as text with one decimal: `4,174.2`; `none` for None."""
    return "none" if value is None else f"{value:,.1f}"


def conditions_of_test(test: SpecifiedTestSection) -> list[str]:
    """Return texts on the kind of a TPC-H test and its number of streams."""
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
    """Return an operation's weight in TPC-H's composite, or else in the available metric."""
    weights = (weight[name] for name in ("composite", "power", "throughput"))
    return next((float(value) for value in weights if value is not None), 0.0)


def spread_moves(weight: SpecifiedWeight) -> float | None:
    """Return a metric's change from an interval's longest to its shortest value, or None."""
    if weight["at_min"] is None or weight["at_max"] is None:
        return None
    return float(weight["at_min"] - weight["at_max"])


UNROUNDED = "_unrounded"
