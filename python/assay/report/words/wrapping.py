"""Wraps sentences for a terminal without breaking commands at hyphens, or paths anywhere."""

from __future__ import annotations

import textwrap

# Width of the label column, including a blank.
LABEL_WIDTH = 14


def one_line(text: str) -> str:
    """Return text on one line, without control characters."""
    line = " ".join(text.split())
    return "".join(char for char in line if char.isprintable())


def indented(text: str, lead: str, width: int) -> list[str]:
    """Return text as lines of at most `width` columns, aligned behind a lead text."""
    return textwrap.wrap(
        one_line(text),
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )


def labelled(label: str, sentence: str, width: int, room: int = LABEL_WIDTH) -> list[str]:
    """Return a sentence as lines behind its label."""
    lead = f"{label:<{room}}" if len(label) < room else f"{label}  "
    first, *rest = indented(sentence, lead, width) or [lead.rstrip()]
    return [first, *(f"{'':<{room}}{line.lstrip()}" for line in rest)]
