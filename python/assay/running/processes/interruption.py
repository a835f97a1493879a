"""Interruptions that wait: what is being written is whole before the end is heeded."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Interruptions:
    """Holds SIGTERM back, but for where it may interrupt. For the main thread alone.

    An end that is asked for twice, by a closed channel and by the signal, would otherwise cut off
    what the first one has written down.
    """

    def __init__(self) -> None:
        self._welcome = False
        self._came = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it a signal is remembered; at its end it is a `KeyboardInterrupt`."""
        before = signal.signal(signal.SIGTERM, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)
            self._heed()

    @contextmanager
    def welcome(self) -> Iterator[None]:
        """Within it, inside of `held`, a signal interrupts at once."""
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
