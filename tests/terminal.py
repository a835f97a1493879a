"""A terminal at which a test types an answer, as a person would."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import termios
import time
from types import TracebackType
from typing import Any, Self

PATIENCE_S = 60.0


def _take_terminal() -> None:
    """Make standard input the terminal of a process that leads a session of its own."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


# How a process is started whose standard input is a terminal's side.
AT_TERMINAL: dict[str, Any] = {"start_new_session": True, "preexec_fn": _take_terminal}


class Terminal:
    """A pseudo-terminal: the process has `side`, and the test types and reads at the other."""

    def __init__(self) -> None:
        self._ours, self.side = pty.openpty()
        self._shown = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._ours)
        os.close(self.side)

    def answer(self, prompt: str, typed: str) -> None:
        """Wait for the prompt, and type."""
        deadline_s = time.monotonic() + PATIENCE_S
        while prompt.encode() not in self._shown:
            assert time.monotonic() < deadline_s, f"no prompt: {self._shown!r}"
            self._read(0.1)
        # What is typed while the echo is still on would be shown.
        attributes = termios.tcgetattr(self.side)
        while attributes[3] & termios.ECHO:
            assert time.monotonic() < deadline_s, "the terminal still shows what is typed"
            time.sleep(0.01)
            attributes = termios.tcgetattr(self.side)
        os.write(self._ours, typed.encode())

    def shown(self) -> str:
        """All that the terminal has shown so far."""
        while self._read(0.1):
            pass
        return self._shown.decode(errors="replace")

    def _read(self, patience_s: float) -> bool:
        if not select.select([self._ours], [], [], patience_s)[0]:
            return False
        with contextlib.suppress(OSError):
            self._shown += os.read(self._ours, 4096)
            return True
        return False
