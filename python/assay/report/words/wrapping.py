"""Sentences as lines of a terminal: no command is broken at its hyphens, no path anywhere."""

from __future__ import annotations

import textwrap

# A column of labels, with the blank behind it.
LABEL_WIDTH = 14


def one_line(text: str) -> str:
    """The text on one line, without the control characters an engine may have put into it."""
    line = " ".join(text.split())
    return "".join(char for char in line if char.isprintable())


def indented(text: str, lead: str, width: int) -> list[str]:
    """Lines of at most `width`, the first behind `lead`, the others below its end."""
    return textwrap.wrap(
        one_line(text),
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )


def labelled(label: str, sentence: str, width: int, room: int = LABEL_WIDTH) -> list[str]:
    """A sentence behind what it is of, in a column of `room`; a longer label pushes its line."""
    lead = f"{label:<{room}}" if len(label) < room else f"{label}  "
    first, *rest = indented(sentence, lead, width) or [lead.rstrip()]
    return [first, *(f"{'':<{room}}{line.lstrip()}" for line in rest)]
