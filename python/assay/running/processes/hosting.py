"""The owner's side of a driver's host: start it with a job, talk to it, know when it is gone."""

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
    """A driver: a process on this host, or several hosts that act as one."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the driver on this host."""
        ...

    def send(self, kind: str, **facts: object) -> None:
        """Sends a message. Raises `RunFailedError` if nobody is there."""
        ...

    def next(self, timeout_s: float | None = None) -> dict[str, Any]:
        """The next message; a driver's failures become ours."""
        ...

    def next_within(self, timeout_s: float | None) -> dict[str, Any] | None:
        """The next message; None if none came in time."""
        ...


class Host:
    """One host at work."""

    def __init__(self, channel: Channel, guardian: Guardian, child: Child, log: Path) -> None:
        self._channel = channel
        self._guardian = guardian
        self._child = child
        self._log = log

    @property
    def pid(self) -> int:
        """The host's process."""
        return self._child.pid

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the driver on this host."""
        return (self._child.pid,)

    def send(self, kind: str, **facts: object) -> None:
        """Sends a message. Raises `RunFailedError` if the host is gone."""
        try:
            self._channel.send(kind, **facts)
        except OSError as error:
            raise self._gone() from error

    def next(self, timeout_s: float | None = None) -> dict[str, Any]:
        """The host's next message; its failures become ours."""
        message = self.next_within(timeout_s)
        if message is None:
            raise RunFailedError(f"the driver's host was silent for {timeout_s} s")
        return message

    def next_within(self, timeout_s: float | None) -> dict[str, Any] | None:
        """The host's next message; None if none came in time. Raises as `next` does."""
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
        """Return the error for a host that does not answer any more."""
        ended = self._guardian.wait(self._child, GRACE_S)
        how = "went away"
        if ended is not None and ended.signal is not None:
            how = f"was ended by signal {ended.signal}"
        elif ended is not None:
            how = f"ended with status {ended.status}"
        return RunFailedError(f"the driver's host {how}; its last words are in {self._log}")


@contextmanager
def host(
    guardian: Guardian,
    kind: str,
    job: dict[str, Any],
    log: Path,
    groups: Sequence[Path] = (),
    grace_s: float = GRACE_S,
) -> Iterator[Host]:
    """A driver's host with a job, in control groups if it is to be; gone when the block is left.

    Args:
        guardian: Starts it, and ends it when we are gone.
        kind: The job.
        job: Its facts. They go over the control socket alone: they may hold a password.
        log: File of what it says.
        groups: Control groups that it is in.
        grace_s: So long it may take to end after it was asked to.
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
