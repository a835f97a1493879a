"""Replaces closed or full standard streams, so that a run continues without them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import TextIO

STANDARD = (0, 1, 2)


class Outlet:
    """An output stream that accepts text even if it can no longer be written.

    Attributes:
        error: Reason why a text was not written; None if all were.
        is_used: Whether a text was given to the stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None
        self.is_used = False

    def write(self, text: str) -> int:
        """Write a text; return its length even if it could not be written."""
        self.is_used = True
        if self.error is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Write the buffered text."""
        if self.error is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        self.error = error
        self.discard()

    def discard(self) -> None:
        """Discard buffered text, so that the end of the process neither fails nor waits for it."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)


def open_standard_streams() -> None:
    """Open closed standard streams, so that no file of Assay gets their descriptors.

    Characters that the terminal's encoding lacks are written as escapes.
    """
    for number in STANDARD:
        try:
            os.fstat(number)
        except OSError:
            # The system uses the lowest free descriptor, which is this one.
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = cast("TextIO", Outlet(_of_all_letters(sys.stdout, 1)))
    sys.stderr = cast("TextIO", Outlet(_of_all_letters(sys.stderr, 2)))


def _of_all_letters(stream: Any, number: int) -> TextIO:  # noqa: ANN401 - None where it was closed
    if stream is None:
        return open(number, "w", encoding="utf-8", closefd=False)
    stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", stream)


def output_error() -> OSError | None:
    """Return why a result was not written; None if it was, or if its reader closed the pipe."""
    sys.stdout.flush()
    sys.stderr.flush()
    error = getattr(sys.stdout, "error", None)
    return None if isinstance(error, BrokenPipeError) else error


def is_result_begun() -> bool:
    """Return True if a part of a result was written to stdout."""
    return isinstance(sys.stdout, Outlet) and sys.stdout.is_used


def discard_result() -> None:
    """Discard the rest of a result that is only partly written, and that nobody may read."""
    if isinstance(sys.stdout, Outlet) and sys.stdout.is_used:
        sys.stdout.discard()
