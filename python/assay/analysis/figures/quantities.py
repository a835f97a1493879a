"""Numbers of figures: their texts by unit, and their spread over the rounds of a study."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Spread
from assay.model.units import bytes_text, count_text, grouped_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SECONDS, BYTES, SHARE, PER_HOUR, PER_SECOND = "s", "bytes", "share", "/h", "/s"
TIMES, COUNT, POINTS = "times", "count", "points"
UNITS = (SECONDS, BYTES, SHARE, PER_HOUR, PER_SECOND, TIMES, COUNT, POINTS)
NAMED_MAX = 4
# From here on more digits are not known, and from there on a metric has no tenths to speak of.
WHOLE_FROM = 100
TENTHS_BELOW = 10_000


def text(value: float | None, unit: str | None, digits: int | None = None) -> str:
    """A quantity as people read it; '-' for None.

    Args:
        value: In the unit itself; a share as a part of one.
        unit: One of `UNITS`; of any other the number stands before it.
        digits: Significant digits instead of the unit's own.
    """
    if value is None:
        return "-"
    match unit:
        case "s":
            return seconds_text(value) if value >= 0 else f"-{seconds_text(-value)}"
        case "bytes":
            return bytes_text(value)
        case "share":
            return _share_text(value)
        case "/h":
            return f"{value:,.1f}" if abs(value) < TENTHS_BELOW else f"{value:,.0f}"
        case "/s":
            return f"{grouped_text(value)}/s"
        case "times":
            return f"{value:.3g} x" if value < WHOLE_FROM else f"{value:,.0f} x"
        case "points":
            return f"{value * 100:+.1f}"
        case "count":
            return count_text(value) if value >= TENTHS_BELOW else f"{value:,.{digits or 4}g}"
        case None:
            return f"{value:.{digits or 4}g}"
        case _:
            return f"{value:.{digits or 4}g} {unit}"


def _share_text(share: float) -> str:
    return percent_text(share) if share >= 0 else f"-{percent_text(-share)}"


def change_text(share: float) -> str:
    """By how much something differs, such as `12 % higher` or `3.1 % lower`; 'the same'."""
    return f"{percent_text(abs(share))} {'higher' if share > 0 else 'lower'}" if share else "the same"


def spread(values: Iterable[float | None]) -> Spread | None:
    """Median, lowest and highest of what is known; None of nothing."""
    known = [float(value) for value in values if value is not None]
    return Spread(median(known), min(known), max(known), len(known)) if known else None


def by_subject(found: Iterable[tuple[str, Spread | None]]) -> dict[str, Spread]:
    """The known spreads by their subjects."""
    return {name: one for name, one in found if one is not None}


def listed(words: Sequence[str], most: int = NAMED_MAX) -> str:
    """Words as a sentence has them: `q01, q02 and q03`, `q01, q02 and 7 others`."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} and {len(words) - most + 1} others"
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
