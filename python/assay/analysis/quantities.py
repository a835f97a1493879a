"""Formats quantities as text by their unit, and computes their spread over a study's rounds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text, rate_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SECONDS, BYTES, SHARE, PER_HOUR, PER_SECOND = "s", "bytes", "share", "/h", "/s"
TIMES, COUNT, MB_PER_SECOND = "times", "count", "MB/s"
UNITS = (SECONDS, BYTES, SHARE, PER_HOUR, PER_SECOND, TIMES, COUNT, MB_PER_SECOND)
DIGITS = 4
NAMED_MAX = 4
SUBJECTS_MAX = 8
# Above the first limit further digits are noise; above the second a metric has no tenths.
WHOLE_FROM = 100
TENTHS_BELOW = 10_000


@dataclass(frozen=True)
class Spread:
    """The values of one quantity over the rounds of a study.

    Attributes:
        middle: Median.
        low, high: Lowest and highest value.
        count: Number of rounds. A single round has no spread.
    """

    middle: float
    low: float
    high: float
    count: int = 1


def text(value: float | None, unit: str | None, digits: int | None = None) -> str:
    """Return a quantity as text for readers; '-' for None.

    Args:
        value: Value in the unit itself; a share as a fraction of 1.
        unit: One of `UNITS`. Any other unit is printed after the number.
        digits: Number of significant digits, for units without a fixed format.
    """
    if value is None:
        return "-"
    sign = "-" if value < 0 else ""
    if unit in TEXTS:
        return f"{sign}{TEXTS[unit](abs(value))}"
    is_whole = value == round(value) or abs(value) >= TENTHS_BELOW
    number = f"{value:,.0f}" if is_whole else f"{value:,.{digits or DIGITS}g}"
    if "e+" in number:
        number = f"{value:,.0f}"
    return number if unit in (None, COUNT) else f"{number} {unit}"


def _metric_text(per_h: float) -> str:
    return f"{per_h:,.1f}" if per_h < TENTHS_BELOW else f"{per_h:,.0f}"


def _times_text(times: float) -> str:
    return f"{times:.3g} x" if times < WHOLE_FROM else f"{times:,.0f} x"


TEXTS: dict[str | None, Callable[[float], str]] = {
    SECONDS: seconds_text,
    BYTES: bytes_text,
    SHARE: percent_text,
    PER_HOUR: _metric_text,
    PER_SECOND: rate_text,
    TIMES: _times_text,
}


def interval_text(ends: tuple[float, float] | None, unit: str | None) -> str:
    """Return an interval as text after a quantity, ` [91 %, 101 %]`; empty without an interval."""
    return "" if ends is None else f" [{text(ends[0], unit)}, {text(ends[1], unit)}]"


def change_text(share: float) -> str:
    """Return a change as text, such as `12 % higher` or `3.1 % lower`."""
    return (
        f"{percent_text(abs(share))} {'higher' if share > 0 else 'lower'}" if share else "the same"
    )


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return the median, lowest and highest known value; None without any."""
    numbers = [float(value) for value in values if value is not None]
    return Spread(median(numbers), min(numbers), max(numbers), len(numbers)) if numbers else None


def by_subject(spreads: Iterable[tuple[str, Spread | None]]) -> dict[str, Spread]:
    """Return the known spreads by the name of the engine or setting."""
    return {name: own for name, own in spreads if own is not None}


def each_text(texts: Iterable[tuple[str, str]]) -> str:
    """Return texts with the engine's name: `65 % (DuckDB) and 75 % (PostgreSQL)`."""
    return listed([f"{phrase} ({name})" for name, phrase in texts], SUBJECTS_MAX)


def listed(items: Sequence[str], most: int = NAMED_MAX) -> str:
    """Return names as text: `q01, q02 and q03`, or `q01, q02 and 7 others`."""
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {len(items) - most + 1} others"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
