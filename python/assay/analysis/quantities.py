"""Numbers of figures: their texts by unit, and their spread over the rounds of a study."""

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
# From here on more digits are not known, and from there on a metric has no tenths to speak of.
WHOLE_FROM = 100
TENTHS_BELOW = 10_000


@dataclass(frozen=True)
class Spread:
    """One quantity over the rounds of a study.

    Attributes:
        middle: Median.
        low, high: Lowest and highest.
        count: Number of rounds. A single round has no spread.
    """

    middle: float
    low: float
    high: float
    count: int = 1


def text(value: float | None, unit: str | None, digits: int | None = None) -> str:
    """A quantity as people read it; '-' for None.

    Args:
        value: In the unit itself; a share as a part of one.
        unit: One of `UNITS`; of any other it stands behind the number.
        digits: Significant digits, where the unit leaves them open.
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
    """Ends of an interval behind a quantity, ` [91 %, 101 %]`; nothing if there are none."""
    return "" if ends is None else f" [{text(ends[0], unit)}, {text(ends[1], unit)}]"


def change_text(share: float) -> str:
    """Return a change in words, such as `12 % higher` or `3.1 % lower`; of 0 'the same'."""
    return (
        f"{percent_text(abs(share))} {'higher' if share > 0 else 'lower'}" if share else "the same"
    )


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return median, lowest and highest of the known values; None without any."""
    numbers = [float(value) for value in values if value is not None]
    return Spread(median(numbers), min(numbers), max(numbers), len(numbers)) if numbers else None


def by_subject(spreads: Iterable[tuple[str, Spread | None]]) -> dict[str, Spread]:
    """The known spreads by their subjects."""
    return {name: own for name, own in spreads if own is not None}


def each_text(texts: Iterable[tuple[str, str]]) -> str:
    """Return texts with their subjects: `65 % (DuckDB) and 75 % (PostgreSQL)`."""
    return listed([f"{phrase} ({name})" for name, phrase in texts], SUBJECTS_MAX)


def listed(items: Sequence[str], most: int = NAMED_MAX) -> str:
    """Words as a sentence has them: `q01, q02 and q03`, `q01, q02 and 7 others`."""
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {len(items) - most + 1} others"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
