"""Wraps sentences for a terminal without breaking commands at hyphens, or paths anywhere."""

from __future__ import annotations

import textwrap

# Width of the label column, including a blank.
LABEL_WIDTH = 14


def one_line(text: str) -> str:
    """Return a text on one line, without control characters that an engine may have added."""
    line = " ".join(text.split())
    return "".join(char for char in line if char.isprintable())


def indented(text: str, lead: str, width: int) -> list[str]:
    """Return lines of at most `width` columns: the first after `lead`, others aligned below."""
    return textwrap.wrap(
        one_line(text),
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )


def labelled(label: str, sentence: str, width: int, room: int = LABEL_WIDTH) -> list[str]:
    """Return a sentence after its label, in a column of `room`; a longer label shifts its line."""
    lead = f"{label:<{room}}" if len(label) < room else f"{label}  "
    first, *rest = indented(sentence, lead, width) or [lead.rstrip()]
    return [first, *(f"{'':<{room}}{line.lstrip()}" for line in rest)]
