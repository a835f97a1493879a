"""Starts the driver process, exchanges messages with it, and detects its end."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from assay.model.errors import EXIT_CODES, RunFailedError
from assay.running.processes.control import Channel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from assay.running.processes.launcher import Child, Guardian

COMMAND = [sys.executable, "-m", "assay.running.processes.host"]
GRACE_S = 10.0


class Driver(Protocol):
    """Interface of a driver: a process on this host, or several hosts that act as one."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the pids of the driver's processes on this host."""
        ...

    def send(self, kind: str, **facts: object) -> None:
        """Send a message to the driver.

        Raises `RunFailedError` if the driver is gone.
        """
        ...

    def next(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Return the driver's next message, or raise its failure."""
        ...

    def next_within(self, timeout_s: float | None) -> dict[str, Any] | None:
        """Return the driver's next message; None if there was none in time."""
        ...


class Host:
    """A running driver process on this host."""

    def __init__(self, channel: Channel, guardian: Guardian, child: Child, log: Path) -> None:
        self._channel = channel
        self._guardian = guardian
        self._child = child
        self._log = log

    @property
    def pid(self) -> int:
        """The pid of the driver process."""
        return self._child.pid

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the load generator on this host: a single one."""
        return (self._child.pid,)

    def send(self, kind: str, **facts: object) -> None:
        """Send a message to the driver process.

        Raises `RunFailedError` if the host has ended.
        """
        try:
            self._channel.send(kind, **facts)
        except OSError as error:
            raise self._gone() from error

    def next(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Return the driver process's next message, or raise its failure."""
        message = self.next_within(timeout_s)
        if message is None:
            raise RunFailedError(f"the driver process sent no message for {timeout_s} s")
        return message

    def next_within(self, timeout_s: float | None) -> dict[str, Any] | None:
        """Return the driver process's next message; None if there was none in time.

        Raises the errors of `next`.
        """
        try:
            message = self._channel.receive(timeout_s)
        except TimeoutError:
            return None
        return self._understood(message)

    def _understood(self, message: dict[str, Any] | None) -> dict[str, Any]:
        if message is None:
            raise self._gone()
        if message["kind"] == "failed":
            raise EXIT_CODES[message["exit_code"]](message["message"])
        return message

    def _gone(self) -> RunFailedError:
        """Return the error for a driver process that does not answer any more."""
        ended = self._guardian.wait(self._child, GRACE_S)
        how = "went away"
        if ended is not None and ended.signal is not None:
            how = f"was ended by signal {ended.signal}"
        elif ended is not None:
            how = f"ended with status {ended.status}"
        return RunFailedError(f"the driver process {how}; its last output is in {self._log}")


@contextmanager
def host(
    guardian: Guardian,
    kind: str,
    job: dict[str, Any],
    log: Path,
    groups: Sequence[Path] = (),
    grace_s: float = GRACE_S,
) -> Iterator[Host]:
    """Start a driver process with a job; it ends with the block.

    Args:
        guardian: Starts the host, and ends it after the owner's end.
        kind: Kind of the job.
        job: Facts of the job. Facts of a job are sent over the control socket only, because they
            may hold a password.
        log: File of the host's output.
        groups: Control groups that the host joins.
        grace_s: Seconds for the host to end after a request.
    """
    ours, theirs = socket.socketpair()
    child = guardian.start(
        COMMAND,
        env=os.environ,
        cwd=guardian.directory,
        log=log,
        stop_grace_s=grace_s,
        control=theirs,
        groups=groups,
    )
    theirs.close()
    channel = Channel(ours)
    try:
        hosting = Host(channel, guardian, child, log)
        hosting.send(kind, **job)
        yield hosting
    finally:
        channel.close()
        guardian.stop(child)
