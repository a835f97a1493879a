"""A test of a specification in words: its metrics and what an operation weighs in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.specified import (
        SpecifiedTestSection,
        SpecifiedWeight,
    )


def metric_text(value: float | None) -> str:
    """A metric to a tenth, thousands apart, such as `4,174.2`; 'none' for None."""
    return "none" if value is None else f"{value:,.1f}"


def conditions_of_test(told: SpecifiedTestSection) -> list[str]:
    """What the test was, in a few words."""
    count = told["streams"]
    streams = "" if count is None else f"{count} stream{'s' if count != 1 else ''}"
    words = {
        "power": "power test",
        "throughput": "throughput test",
        "full": "two runs",
        "steady": "power passes until steady",
    }[told["kind"]]
    return [word for word in (words, streams) if word]


def first_weight(one: SpecifiedWeight) -> float:
    """What an operation weighs in the composite, else in what there is of it; zero or less."""
    known = (one[name] for name in ("composite", "power", "throughput"))
    return next((float(value) for value in known if value is not None), 0.0)


def spread_moves(one: SpecifiedWeight) -> float | None:
    """From the longest to the shortest interval, by how much the metric moves; None of one."""
    if one["at_min"] is None or one["at_max"] is None:
        return None
    return float(one["at_min"] - one["at_max"])


UNROUNDED = "_unrounded"
