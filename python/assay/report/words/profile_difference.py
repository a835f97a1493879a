"""Phrases on differences between the CPU samples of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text

if TYPE_CHECKING:
    from assay.report.documents.profile.profile_difference import (
        ProfileDifference,
        SampleDifference,
        WorkDifference,
    )


# Smaller differences are rounding errors of sums.
RESOLUTION_S = 1e-9
# With one pass per run there are no intervals, so only the largest differences are shown.
WORKS_WITHOUT_INTERVAL = 8


def operations_words(difference: ProfileDifference) -> str:
    """Return text with the names of the compared operations."""
    names = difference["operations"]
    return str(names[0]) if len(names) == 1 else f"the {len(names)} operations that both have"


def scaled_words(difference: ProfileDifference) -> str:
    """Return text on why the other run's seconds are scaled."""
    factor = difference["scaled_by"]
    return (
        f"The other run has another scale: its seconds are multiplied by {factor:.3g}, so that "
        "both totals are equal"
    )


def shown_works(difference: ProfileDifference) -> list[WorkDifference]:
    """Return kinds of work whose CPU time changed, or that have a changed function."""
    if difference["total"] is None or difference["total"]["is_noise"] is None:
        return difference["work"][:WORKS_WITHOUT_INTERVAL]
    return [row for row in difference["work"] if not _quiet(row)]


def noise_words(difference: ProfileDifference) -> str:
    """Return a sentence on kinds of work and functions whose change is within noise."""
    quiet = [row for row in difference["work"] if _quiet(row)]
    symbols = [
        symbol for row in difference["work"] for symbol in row["symbols"] if symbol["is_noise"]
    ]
    if not symbols:
        return "All differences exceed the noise."
    together = sum(symbol["difference_s"] for symbol in symbols)
    return (
        f"Within noise: {len(quiet)} kinds of work and {len(symbols)} symbols,"
        f" {signed_text(together)} together. One in twenty unchanged rows may appear as changed."
    )


def _quiet(row: WorkDifference) -> bool:
    return bool(row["is_noise"]) and all(symbol["is_noise"] for symbol in row["symbols"])


def signed_text(seconds: float) -> str:
    """Return a time difference as text with its sign."""
    if abs(seconds) < RESOLUTION_S:
        return seconds_text(0.0)
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"


def interval_text(row: SampleDifference) -> str:
    """Return a time difference as text, with half the width of its interval."""
    text = signed_text(row["difference_s"])
    if row["low_s"] is None or row["high_s"] is None:
        return text
    return f"{text} ± {seconds_text((row['high_s'] - row['low_s']) / 2):>7}"
