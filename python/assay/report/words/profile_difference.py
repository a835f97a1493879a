"""Differences between the CPU samples of two runs, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text

if TYPE_CHECKING:
    from assay.report.documents.profile_difference import (
        ProfileDifference,
        SampleDifference,
        WorkDifference,
    )


# Differences of sums are off by their rounding, which is no difference.
RESOLUTION_S = 1e-9
# With one pass a side nothing is told from noise, so only the largest differences are shown.
WORKS_WITHOUT_INTERVAL = 8


def operations_words(told: ProfileDifference) -> str:
    """Which operations are compared."""
    names = told["operations"]
    return str(names[0]) if len(names) == 1 else f"the {len(names)} operations that both have"


def scaled_words(told: ProfileDifference) -> str:
    """Why the other's seconds are not those that it took."""
    factor = told["scaled_by"]
    return f"Of another scale: its seconds are times {factor:.3g}, as if both took as long in all"


def shown_works(told: ProfileDifference) -> list[WorkDifference]:
    """Kinds of work that changed, or of which some function did."""
    if told["total"] is None or told["total"]["is_noise"] is None:
        return told["work"][:WORKS_WITHOUT_INTERVAL]
    return [row for row in told["work"] if not _quiet(row)]


def noise_words(told: ProfileDifference) -> str:
    """What did not change as far as can be told, in one sentence."""
    quiet = [row for row in told["work"] if _quiet(row)]
    symbols = [one for row in told["work"] for one in row["symbols"] if one["is_noise"]]
    if not symbols:
        return "Nothing is within noise."
    together = sum(one["difference_s"] for one in symbols)
    return (
        f"Within noise: {len(quiet)} kinds of work and {len(symbols)} symbols,"
        f" {signed_text(together)} together. Of rows that did not change one in twenty may seem to."
    )


def _quiet(row: WorkDifference) -> bool:
    return bool(row["is_noise"]) and all(one["is_noise"] for one in row["symbols"])


def signed_text(seconds: float) -> str:
    """A difference with its sign."""
    if abs(seconds) < RESOLUTION_S:
        return seconds_text(0.0)
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"


def interval_text(row: SampleDifference) -> str:
    """A difference with half the width of its interval."""
    told = signed_text(row["difference_s"])
    if row["low_s"] is None or row["high_s"] is None:
        return told
    return f"{told} ± {seconds_text((row['high_s'] - row['low_s']) / 2):>7}"
