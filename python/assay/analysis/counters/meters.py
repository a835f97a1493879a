"""Virtuoso's activity line: its counters, printing and parsing.

The line has four significant digits, which limits the precision of parsed values. A suffix
stands for a power of 1000, or of 1024 for the length of messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RND, SEQ, SAME_SEGMENT, SAME_PAGE, SAME_PARENT = "rnd", "seq", "same seg", "same pg", "same par"
DISK, SPECULATIVE_DISK, BYTES, MESSAGES, FORK = "disk", "spec disk", "bytes", "messages", "fork"
# In the order of the line. The length of messages stands before their number, without a name.
COUNTED = (RND, SEQ, SAME_SEGMENT, SAME_PAGE, SAME_PARENT, DISK, SPECULATIVE_DISK)
AFTER_BYTES = (MESSAGES, FORK)
WORDS = (*COUNTED, BYTES, *AFTER_BYTES)
# Titles of the counters in terms of the field.
TITLES = {
    RND: "random look-ups",
    SEQ: "sequential rows",
    SAME_SEGMENT: "same segment",
    SAME_PAGE: "same page",
    SAME_PARENT: "same parent",
    DISK: "disk reads",
    SPECULATIVE_DISK: "speculative disk reads",
    MESSAGES: "messages",
    FORK: "threads forked",
}
SUFFIXES = ("", "K", "M", "G", "T")
DECIMAL, BINARY = 1000.0, 1024.0
SIGNIFICANT_DIGITS, NUMBER_WIDTH = 4, 6

_NUMBER = r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?)([KMGT]?)"
_LINE = re.compile(
    r"\s*"
    + r"\s+".join(rf"{_NUMBER}\s+{word}" for word in COUNTED)
    + rf"\s+{_NUMBER}B\s*/\s*{_NUMBER}\s+{MESSAGES}\s+{_NUMBER}\s+{FORK}\s*"
)


@dataclass(frozen=True)
class Locality:
    """Shares of index look-ups that hit the previous one's segment, page or parent.

    Attributes:
        same_segment: Share in the segment of the previous look-up.
        same_page: Share in the page of the previous look-up.
        same_parent: Share in another page under the same parent.
        rows_each: Number of rows that were read sequentially after each look-up.
    """

    same_segment: float | None
    same_page: float | None
    same_parent: float | None
    rows_each: float | None


def scaled_text(value: float, step: float = DECIMAL) -> str:
    """Return a count with four significant digits and the suffix of a power of `step`: 1.674G."""
    power = 0
    while power + 1 < len(SUFFIXES) and value >= step ** (power + 1):
        power += 1
    return f"{value / step**power:{NUMBER_WIDTH}.{SIGNIFICANT_DIGITS}g}{SUFFIXES[power]}"


def activity_line(counted: Mapping[str, float]) -> str:
    """Return activity counts as one line of text in the layout of Virtuoso's status.

    Missing counts are left out.
    """
    parts = [
        f"{scaled_text(counted[word])} {word}{' ' if word == SAME_SEGMENT else ''}"
        for word in COUNTED
        if word in counted
    ]
    if BYTES in counted:
        parts.append(f"{scaled_text(counted[BYTES], BINARY)}B /")
    parts += [f"{scaled_text(counted[word])} {word}" for word in AFTER_BYTES if word in counted]
    return " ".join(parts)


def parse_activity(line: str) -> dict[str, float]:
    """Parse a line of Virtuoso's activity counts into numbers by name.

    Raises:
        ValueError: If the text is not an activity line.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(
            f"{line.strip()[:80]!r} is not a line of activity; allowed words: {', '.join(WORDS)}"
        )
    groups = match.groups()
    numbers = zip(WORDS, groups[::2], groups[1::2], strict=True)
    return {word: _value(word, number, suffix) for word, number, suffix in numbers}


def _value(word: str, number: str, suffix: str) -> float:
    step = BINARY if word == BYTES else DECIMAL
    value = float(number) * step ** SUFFIXES.index(suffix)
    # A count is an integer, so digits beyond it come from the conversion.
    return float(round(value)) if suffix else value


def locality(counted: Mapping[str, float]) -> Locality:
    """Return shares of index look-ups that hit the previous one's segment, page or parent."""

    def of_lookups(word: str) -> float | None:
        lookups = counted.get(RND)
        return counted[word] / lookups if lookups and word in counted else None

    return Locality(
        of_lookups(SAME_SEGMENT), of_lookups(SAME_PAGE), of_lookups(SAME_PARENT), of_lookups(SEQ)
    )
