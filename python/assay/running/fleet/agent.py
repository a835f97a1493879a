"""Dask worker that drives a share of a load on its host, or observes the engine there.

Invariant: it works for one owner at a time, and stops as soon as that owner is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
from distributed import Scheduler, Worker
from distributed.comm import CommClosedError
from distributed.core import Status
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.utils import get_ip

from assay.model.errors import RunFailedError
from assay.running.fleet.contract import (
    FAILED,
    OP_CLOCK,
    OP_DRIVE,
    OP_OBSERVE,
    OP_WHO,
    SILENCE_S,
    whose,
)
from assay.running.fleet.driving import CANCEL_PATIENCE_S, Driving
from assay.running.fleet.observing import Observing

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed.comm import Comm
    from distributed.security import Security

    from assay.running.fleet.asked import Meeting
    from assay.running.fleet.work import Work

    Post = Callable[[dict[str, Any]], bool]

log = logging.getLogger("assay.agent")

# Dask's HTTP server is not used, so it is bound to loopback and has no page.
HTTP = "127.0.0.1:0"
QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.logging.distributed": "warning",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}
# Maximum number of messages that wait for a slow network before the share's thread is blocked.
WAITING_MAX = 32
RETRY_S = 1.0
# Seconds until a task that ignored its cancellation is cancelled again.
CANCEL_AGAIN_S = 1.0


class SharePlugin(WorkerPlugin):  # type: ignore[misc] # Dask's classes have no types
    """Dask worker plugin that drives a share of a load."""

    name = "assay-shares"
    idempotent = True

    def setup(self, worker: Worker) -> None:
        """Add the handlers of requests from runs to the Dask worker."""
        self._busy = False
        worker.handlers[OP_WHO] = self.who
        worker.handlers[OP_CLOCK] = self.clock
        worker.handlers[OP_DRIVE] = self.drive
        worker.handlers[OP_OBSERVE] = self.observe

    async def who(self) -> dict[str, Any]:
        """Return the identity of this Dask worker and its host."""
        return whose()

    async def clock(self) -> int:
        """Return this host's CLOCK_MONOTONIC in ns."""
        return time.monotonic_ns()

    async def drive(self, comm: Comm, job: dict[str, Any]) -> object:
        """Drive one share of a load for the owner of the connection."""
        return await self._serve(comm, lambda post: Driving(job, post))

    async def observe(self, comm: Comm, job: dict[str, Any]) -> object:
        """Observe the engine on this host for the owner of the connection."""
        return await self._serve(comm, lambda post: Observing(job, post))

    async def _serve(self, comm: Comm, begin: Callable[[Post], Work]) -> object:
        if self._busy:
            message = "an agent works for one run at a time, and this one is at work for another"
            await comm.write({"kind": FAILED, "message": message, "exit_code": 2})
            return Status.dont_reply
        self._busy = True
        try:
            await _Served(comm).serve(begin)
        finally:
            self._busy = False
        return Status.dont_reply


class _Served:
    """The work of a Dask worker for one run, with the connection to it."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(WAITING_MAX)
        self._gone = False

    async def serve(self, begin: Callable[[Post], Work]) -> None:
        work = begin(self._post)
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(work.say))
        try:
            while work.at_work and not self._gone:
                await asyncio.wait({reading, writing}, timeout=0.05)
                self._gone = reading.done() or writing.done()
            if not self._gone:
                await self._drain(writing)
        finally:
            self._gone = True
            work.abandon()
            writing.cancel()
            reading.cancel()
            await asyncio.to_thread(work.join, CANCEL_PATIENCE_S)

    async def _drain(self, writing: asyncio.Task[None]) -> None:
        """Write the queued messages until the owner closes the connection."""
        joined = asyncio.create_task(self._waiting.join())
        await asyncio.wait({joined, writing}, timeout=SILENCE_S, return_when="FIRST_COMPLETED")
        joined.cancel()

    async def _read(self, say: Callable[[dict[str, Any]], None]) -> None:
        with contextlib.suppress(CommClosedError, OSError):
            while True:
                say(await self._comm.read())

    async def _write(self) -> None:
        with contextlib.suppress(CommClosedError, OSError):
            while True:
                message = await self._waiting.get()
                await self._comm.write(message)
                self._waiting.task_done()

    def _post(self, message: dict[str, Any]) -> bool:
        """Queue a message for the owner; wait while the queue is full."""
        if self._gone:
            return False
        put = asyncio.run_coroutine_threadsafe(self._waiting.put(message), self._loop)
        while not self._gone:
            with contextlib.suppress(TimeoutError):
                put.result(0.2)
                return True
        put.cancel()
        return False


def serve(
    meeting: Meeting,
    security: Security,
    *,
    name: str | None,
    listen: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve as an agent, or as the meeting place of agents, until a signal.

    Raises:
        RunFailedError: If the address cannot be bound, or another agent has the name.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(QUIET):
        role = _meet(meeting, security, tell) if listen else _join(meeting, security, name, tell)
        with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
            asyncio.run(_until_signal(role))


async def _until_signal(role: Any) -> None:  # noqa: ANN401 - a coroutine of either role
    task, stopped = asyncio.ensure_future(role), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    signalled = asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, signalled}, return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    # While Dask is closing, it may ignore a cancellation.
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_AGAIN_S)
    if not task.cancelled():
        task.result()


def scheduler_at(meeting: Meeting, security: Security) -> Scheduler:
    """Return a Dask scheduler that is bound only to the given address and not started."""
    return Scheduler(
        protocol=meeting.scheme,
        host=meeting.host,
        port=meeting.port,
        dashboard=False,
        dashboard_address=HTTP,
        security=security,
    )


async def _meet(meeting: Meeting, security: Security, tell: Callable[[str], None]) -> None:
    try:
        scheduler = await scheduler_at(meeting, security)
    except (OSError, RuntimeError) as error:
        # Dask wraps the system's error in its own.
        why = error.__cause__ or error
        raise RunFailedError(f"the agent cannot listen at {meeting.address}: {why}") from error
    try:
        tell(f"agents and runs meet at {scheduler.address}")
        await scheduler.finished()
    finally:
        await scheduler.close()


async def _join(
    meeting: Meeting, security: Security, name: str | None, tell: Callable[[str], None]
) -> None:
    """Join the Dask scheduler, retrying because it may start later."""
    waiting = False
    while True:
        try:
            reader, writer = await asyncio.wait_for(
                asyncio.open_connection(meeting.host, meeting.port), RETRY_S
            )
            writer.close()
            del reader
        except (OSError, TimeoutError):
            if not waiting:
                tell(f"waiting for {meeting.address}")
                waiting = True
            await asyncio.sleep(RETRY_S)
            continue
        waiting = False
        await _work(meeting, security, name or whose()["host"], tell)


async def _work(
    meeting: Meeting, security: Security, name: str, tell: Callable[[str], None]
) -> None:
    with tempfile.TemporaryDirectory(prefix="assay-agent-") as directory:
        worker = Worker(
            meeting.address,
            name=name,
            host="127.0.0.1" if meeting.is_loopback else get_ip(meeting.host, meeting.port),
            nthreads=1,
            memory_limit=0,
            local_directory=directory,
            dashboard=False,
            dashboard_address=HTTP,
            security=security,
            plugins=(SharePlugin(),),
        )
        try:
            await worker
        except (OSError, RuntimeError, ValueError) as error:
            await worker.close(executor_wait=False)
            message = str(error.__cause__ or error)
            if "name" in message and "taken" in message:
                raise RunFailedError(
                    f"another agent at {meeting.address} has the name {name}: choose a "
                    "different one with --name"
                ) from error
            tell(f"{meeting.address} did not take this agent: {message}")
            await asyncio.sleep(RETRY_S)
            return
        try:
            tell(f"{name} drives for {meeting.address}, at {worker.address}")
            await worker.finished()
            tell(f"{meeting.address} is gone")
        finally:
            await worker.close(executor_wait=False)


def main() -> int:
    """Serve as an agent for one run on this host."""
    from assay.running.fleet.asked import parse_meeting, security

    address, name, credentials = sys.argv[1:]
    meeting = parse_meeting(address, "agent")
    serve(meeting, security(Path(credentials)), name=name, listen=False, tell=log.warning)
    return 0


if __name__ == "__main__":
    sys.exit(main())
