"""Describes how a process ended, with the last lines of its output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.processes.launcher import Exit

LAST_LINES = 6
# Maximum length of a line, because some programs write their whole command line.
LINE_MAX = 240
LAST_BYTES = 8192


def how(ended: Exit) -> str:
    """Return text on how a process ended, such as `was ended by signal 9`."""
    if ended.signal is not None:
        return f"was ended by signal {ended.signal}"
    return f"ended with status {ended.status}"


def last_lines(log: Path, begin: int = 0) -> str:
    """Return the last lines written after an offset; empty if there are none."""
    try:
        with log.open("rb") as source:
            end = source.seek(0, os.SEEK_END)
            source.seek(max(begin, end - LAST_BYTES))
            text = source.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(_cut(line) for line in lines[-LAST_LINES:])


def _cut(line: str) -> str:
    return line if len(line) <= LINE_MAX else f"{line[:LINE_MAX]} ..."
