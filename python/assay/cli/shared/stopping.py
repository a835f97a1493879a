"""Turns Ctrl-C and signals into one error that names them.

Each signal raises `KeyboardInterrupt`, until the end of the command is reported. From then on,
signals have no effect: a further Ctrl-C neither cuts the report short nor changes the exit code.
"""

from __future__ import annotations

import signal
from threading import Event
from typing import TYPE_CHECKING

from assay.model.errors import RunFailedError, stopped_by

if TYPE_CHECKING:
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_is_reported = Event()


class StoppedError(RunFailedError):
    """Error: Ctrl-C or a signal ended the command."""


def hear_signals() -> None:
    """Have Ctrl-C, SIGTERM and a closed terminal raise `KeyboardInterrupt`.

    A signal that the caller has ignored, as `nohup` does, stays ignored.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def ignore_signals() -> None:
    """Give further signals no effect, because the end of the command is being reported."""
    _is_reported.set()


def ignore_signals_at_exit() -> None:
    """Give signals no effect until the process has ended.

    While Python takes itself down, it gives its own handlers up: the process would then be killed.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def stop_error(interrupt: BaseException) -> StoppedError:
    """Return the error of a command that a signal ended, and ignore further signals."""
    ignore_signals()
    signal_name = stopped_by(interrupt) if isinstance(interrupt, KeyboardInterrupt) else "Ctrl-C"
    return StoppedError(f"stopped by {signal_name}")


def _stop(number: int, _frame: FrameType | None) -> None:
    if not _is_reported.is_set():
        raise KeyboardInterrupt("" if number == signal.SIGINT else signal.Signals(number).name)
