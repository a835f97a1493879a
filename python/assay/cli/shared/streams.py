"""Standard output and error that may be closed, full, or of few letters: a run goes on without."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import TextIO

STANDARD = (0, 1, 2)


class Outlet:
    """A stream that takes everything, also when nobody can have it any more.

    Attributes:
        error: Why what was written did not arrive; None: it did.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Writes a text; returns its length, as if it had been written."""
        if self.error is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Writes what was kept back."""
        if self.error is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        """Has nothing of what is kept back fail once more when the process ends."""
        self.error = error
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)


def open_standard_streams() -> None:
    """Opens those that were closed, so that no file of ours gets their number.

    Letters that the terminal's encoding lacks are written as their codes.
    """
    for number in STANDARD:
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free: this one.
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = cast("TextIO", Outlet(_of_all_letters(sys.stdout, 1)))
    sys.stderr = cast("TextIO", Outlet(_of_all_letters(sys.stderr, 2)))


def _of_all_letters(stream: Any, number: int) -> TextIO:  # noqa: ANN401 - None where it was closed
    if stream is None:
        return open(number, "w", encoding="utf-8", closefd=False)
    stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", stream)


def output_error() -> OSError | None:
    """Return why a result did not arrive; None if it did, or its reader had read enough."""
    sys.stdout.flush()
    sys.stderr.flush()
    error = getattr(sys.stdout, "error", None)
    return None if isinstance(error, BrokenPipeError) else error
