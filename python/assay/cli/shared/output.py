"""Prints results of `--json` on stdout, and everything else for users on stderr."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.model.foreign_text import shown, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Modules that only read records.
ANALYSIS = "assay.analysis"
LATE_CONTROLS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def complain(message: str) -> None:
    """Print one error message on stderr, escaping control characters."""
    print(f"assay: {shown(message)}", file=sys.stderr)


@contextmanager
def each_warning_once(damaged: Sequence[str]) -> Iterator[None]:
    """Print no warning of the log twice, and none on the analysis of a damaged record.

    Args:
        damaged: Sentences on damaged records heard so far. They are printed at the end.
    """
    printed: set[str] = set()

    def is_news(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if text in printed or (damaged and record.name.startswith(ANALYSIS)):
            return False
        printed.add(text)
        return True

    # Prints warnings where no handler is installed.
    printing = logging.lastResort or logging.StreamHandler()
    printing.addFilter(is_news)
    try:
        yield
    finally:
        printing.removeFilter(is_news)


def folded(message: str) -> str:
    """Return a message on one line; engines' messages may have several lines and advice.

    Lines that only point at a place of the line above (`^`) are left out.
    """
    pointers = {"^", "~"}
    lines = (
        line for line in message.splitlines() if not line.strip() or set(line.strip()) - pointers
    )
    return " ".join(" ".join(lines).split())


def say_json(document: object) -> None:
    """Print exactly one JSON document on stdout."""
    try:
        text = _json_text(document)
    except ValueError:
        # Infinity and NaN are not JSON, and readers refuse the whole document.
        text = _json_text(_finite(document))
    # JSON does not escape these control characters, which some terminals execute.
    sys.stdout.write(LATE_CONTROLS.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text) + "\n")
    sys.stdout.flush()


def _json_text(document: object) -> str:
    """Return a document as JSON; numbers that JSON lacks raise `ValueError`."""
    few_letters = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(document, indent=1, ensure_ascii=few_letters, default=str, allow_nan=False)


def _finite(document: object) -> object:
    """Return a document with null in place of numbers that are infinite or not a number."""
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_finite(value) for value in document]
    is_wrong = isinstance(document, float) and not math.isfinite(document)
    return None if is_wrong else document


def say(text: str) -> None:
    """Print one line of a command's result on stdout."""
    print(visible(text))


def say_lines(lines: Iterable[str]) -> None:
    """Print several lines of a command's result on stdout."""
    for line in lines:
        say(line)


def say_result(document: object, lines: Callable[[], Iterable[str]], *, as_json: bool) -> None:
    """Print a command's result: its document with `--json`, else its lines."""
    if as_json:
        say_json(document)
    else:
        say_lines(lines())


def width() -> int:
    """Return the maximum width of result lines."""
    from assay.report.terminal.summary import width_of

    return width_of(console(stderr=False))


def console(*, stderr: bool = True) -> Any:  # noqa: ANN401 - rich is imported only when it is used
    """Return a console that respects NO_COLOR; without a terminal it has at least 80 columns."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=80)
