"""Delays signals that end a run until current writes are complete, and has Ctrl-C end waits."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def let_ctrl_c_end_waits() -> None:
    """Have a wait of the main thread, such as for a server's answer, end at Ctrl-C.

    When polars is imported, it changes this: the kernel then resumes a wait after the signal.
    """
    signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003 - it has no other form


class Interruptions:
    """Holds SIGTERM back, except in blocks that may be interrupted.

    `Interruptions` is for the main thread only.

    An end requested twice, by a closed channel and by the signal, could otherwise interrupt the
    writes that the first request started.
    """

    def __init__(self) -> None:
        self._welcome = False
        self._came = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold SIGTERM back during the block; raise `KeyboardInterrupt` at its end."""
        before = signal.signal(signal.SIGTERM, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)
            self._heed()

    @contextmanager
    def welcome(self) -> Iterator[None]:
        """Let SIGTERM interrupt at once during the block, inside of `held`."""
        self._welcome = True
        try:
            self._heed()
            yield
        finally:
            self._welcome = False

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._came = True
        if self._welcome:
            self._heed()

    def _heed(self) -> None:
        if self._came:
            self._came = False
            raise KeyboardInterrupt
