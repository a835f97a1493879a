"""Connects to the agents on client hosts: identities, connections and clocks.

One thread with its own event loop does all work with Dask. A run calls the loop and waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from assay.model.errors import RunFailedError
from assay.running.fleet.asked import (
    ENCRYPTED,
    Fleet,
    Meeting,
    parse_engine_host,
    parse_fleet,
    security,
    tls_directory,
)
from assay.running.fleet.clocks import Exchange, Offset, estimated
from assay.running.fleet.contract import (
    OP_CLOCK,
    OP_DRIVE,
    OP_OBSERVE,
    OP_WHO,
    SILENCE_S,
    whose,
)
from assay.running.fleet.credentials import write_credentials
from assay.running.processes.endings import how, last_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

    from distributed import Scheduler
    from distributed.comm import Comm
    from distributed.security import Security

    from assay.running.asked.request import RunRequest
    from assay.running.processes.launcher import Child, Guardian
    from assay.running.telling import Teller

T = TypeVar("T")

log = logging.getLogger(__name__)

AGENT = [sys.executable, "-m", "assay.running.fleet.agent"]
AGENT_GRACE_S = 15.0
# Maximum seconds for hosts to join, and for one host to answer.
JOINING_S, ANSWERING_S = 30.0, 10.0
LOOK_S = 0.1
EXCHANGES, EXCHANGE_PAUSE_S = 40, 0.005
# Number of the agent that only observes, on the engine's host.
ENGINE_HOST = -1


@dataclass(frozen=True)
class Agent:
    """One agent (Dask worker) that has joined.

    Attributes:
        name: Name of the agent.
        address: Address of the agent.
        who: Facts that it reported about itself, see `contract.whose`.
    """

    name: str
    address: str
    who: dict[str, Any]


class Agents:
    """The agents on other hosts of one run, and the event loop that talks to them.

    `met` are the agents that drive, by number. `engine_host` is the agent that observes the engine,
    if there is one; its number is `ENGINE_HOST`. `inbox` has a pair for each message of a share:
    the host's number and the message, or None after the host is lost. `observed` has the messages
    of the engine's host in the same form.
    """

    def __init__(self, safety: Security) -> None:
        self.met: list[Agent] = []
        self.engine_host: Agent | None = None
        # Returns how an agent that this run started has ended; None while all run.
        self.last_words: Callable[[], str | None] = lambda: None
        self.inbox: queue.SimpleQueue[tuple[int, dict[str, Any] | None]] = queue.SimpleQueue()
        self.observed: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._security = safety
        self._comms: dict[int, Comm] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="assay-fleet", daemon=True
        )
        self._thread.start()

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the agents' event loop and return its result."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result()

    def close(self) -> None:
        """Disconnect from all agents, and end the event loop."""
        self.leave_all()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def drive(self, number: int, job: dict[str, Any]) -> None:
        """Give the agent of a client host its share of the load.

        Raises `RunFailedError` if the agent is not connected.
        """
        self.run(self._ask_for(number, OP_DRIVE, job))

    def observe(self, job: dict[str, Any]) -> None:
        """Have the agent on the engine's host observe it.

        Raises `RunFailedError` if the agent is not connected.
        """
        self.run(self._ask_for(ENGINE_HOST, OP_OBSERVE, job))

    def say(self, number: int, kind: str, **facts: object) -> None:
        """Send a message to the driver on a client host, if it is still connected."""
        self.run(self._say(number, {"kind": kind, "facts": facts}))

    def leave(self, number: int) -> None:
        """Disconnect from a client host's agent."""
        self.run(self._leave_one(number))

    def leave_all(self) -> None:
        """Disconnect from all agents."""
        self.run(self._leave())

    def clock(self, number: int) -> Offset | None:
        """Return the clock offset of a client host; None if the host does not answer."""
        return self.run(self._clock(self._agent(number).address))

    async def meet(
        self, meeting: Meeting, wanted: int | None, engine_host: str | None, tell: Teller
    ) -> None:
        """Wait until enough agents are connected.

        `wanted` agents drive; None means all that there are, at least one.

        Raises:
            RunFailedError: If agents are missing after the timeout, or one that this run started
                has ended.
        """
        from distributed.core import rpc

        arguments = self._security.get_connection_args("client")
        least = 1 if wanted is None else wanted
        deadline_s = time.monotonic() + JOINING_S
        drivers: list[tuple[str, str]] = []
        named: dict[str, str] = {}
        failure = ""
        while time.monotonic() < deadline_s:
            if (ending := self.last_words()) is not None:
                raise RunFailedError(f"--fleet: {ending}")
            try:
                async with asyncio.timeout(ANSWERING_S):
                    async with rpc(meeting.address, connection_args=arguments) as scheduler:
                        workers = (await scheduler.identity())["workers"]
            except (OSError, TimeoutError) as error:
                failure = str(error.__cause__ or error) or "it does not answer"
                await asyncio.sleep(LOOK_S)
                continue
            named = {str(worker["name"]): address for address, worker in workers.items()}
            drivers = sorted(item for item in named.items() if item[0] != engine_host)
            tell.amount(len(drivers), wanted, "hosts")
            if len(drivers) >= least and (engine_host is None or engine_host in named):
                break
            await asyncio.sleep(LOOK_S)
        if len(drivers) < least:
            raise RunFailedError(_too_few(meeting, len(drivers), wanted, failure))
        if engine_host is not None:
            self.engine_host = await self._met(engine_host, named.get(engine_host), meeting)
        for name, address in drivers[:wanted]:
            self.met.append(await self._met(name, address, meeting))

    async def _met(self, name: str, address: str | None, meeting: Meeting) -> Agent:
        if address is None:
            raise RunFailedError(
                f"--engine-host: no agent with the name {name} joined {meeting.address} within "
                f"{JOINING_S:.0f} s: start `assay agent {meeting.address} --name {name}` on the "
                "engine's host"
            )
        return _checked(name, address, await self._ask(address, OP_WHO))

    async def _ask(self, address: str, op: str) -> Any:  # noqa: ANN401 - whatever it answers
        from distributed.comm import connect

        try:
            async with asyncio.timeout(ANSWERING_S):
                comm = await connect(address, **self._security.get_connection_args("client"))
                await comm.write({"op": op, "reply": True})
                answer = await comm.read()
                await comm.close()
        except (OSError, TimeoutError) as error:
            raise RunFailedError(
                f"--fleet: the agent at {address} does not answer ({error}): this host must be "
                "able to connect to every agent"
            ) from error
        return answer

    async def _clock(self, address: str) -> Offset | None:
        from distributed.comm import connect

        exchanges = []
        try:
            async with asyncio.timeout(ANSWERING_S):
                comm = await connect(address, **self._security.get_connection_args("client"))
                for _ in range(EXCHANGES):
                    sent_ns = time.monotonic_ns()
                    await comm.write({"op": OP_CLOCK, "reply": True})
                    theirs_ns = await comm.read()
                    exchanges.append(Exchange(sent_ns, theirs_ns, time.monotonic_ns()))
                    await asyncio.sleep(EXCHANGE_PAUSE_S)
                await comm.close()
        except (OSError, TimeoutError) as error:
            log.warning("the clock of %s is not known: %s", address, error)
        return estimated(exchanges) if exchanges else None

    def _agent(self, number: int) -> Agent:
        agent = self.engine_host if number == ENGINE_HOST else self.met[number]
        assert agent is not None  # noqa: S101 - asked of only where it was met
        return agent

    async def _ask_for(self, number: int, op: str, job: dict[str, Any]) -> None:
        from distributed.comm import connect

        agent, arguments = self._agent(number), self._security.get_connection_args("client")
        try:
            comm = await connect(agent.address, timeout=ANSWERING_S, **arguments)
            self._comms[number] = comm
            await comm.write({"op": op, "job": job, "reply": False})
        except (OSError, TimeoutError) as error:
            raise RunFailedError(
                f"--fleet: the connection to host {agent.name} was lost: {error}"
            ) from error
        listening = asyncio.create_task(self._listen(number, comm))
        self._tasks.add(listening)
        listening.add_done_callback(self._tasks.discard)

    async def _listen(self, number: int, comm: Comm) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            while True:
                async with asyncio.timeout(SILENCE_S):
                    message = await comm.read()
                self._put(number, message)
        self._put(number, None)

    def _put(self, number: int, message: dict[str, Any] | None) -> None:
        if number == ENGINE_HOST:
            self.observed.put(message)
        else:
            self.inbox.put((number, message))

    async def _say(self, number: int, message: dict[str, Any]) -> None:
        comm = self._comms.get(number)
        if comm is not None:
            # The reader of the connection is notified of its end.
            with contextlib.suppress(OSError):
                await comm.write(message)

    async def _leave_one(self, number: int) -> None:
        comm = self._comms.pop(number, None)
        if comm is not None:
            comm.abort()

    async def _leave(self) -> None:
        for number in list(self._comms):
            await self._leave_one(number)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextmanager
def gathered(
    request: RunRequest, guardian: Guardian | None, raw: Path, teller: Teller
) -> Iterator[Agents | None]:
    """Yield the agents of a run; those that the run started end with the block.

    The result is None if no fleet is requested. Without a guardian there is no load, and only the
    agent on the engine's host is awaited.

    Raises:
        RunFailedError: If agents are missing after the timeout.
    """
    if request.fleet is None:
        yield None
        return
    import dask

    from assay.running.fleet.agent import QUIET

    teller.phase("fleet")
    asked = parse_fleet(request.fleet)
    tls = _credentials(request, asked, guardian)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(QUIET):
        agents = Agents(security(tls))
        try:
            with _place(asked, agents, tls, guardian, raw) as meeting:
                named = parse_engine_host(request.engine_host)
                name = None if named is None else named.name
                wanted = 0 if guardian is None else asked.hosts
                agents.run(agents.meet(meeting, wanted, name, teller))
                yield agents
                # Shares end with their connections, before agents of this run end.
                agents.leave_all()
        finally:
            agents.close()


def _credentials(request: RunRequest, asked: Fleet, guardian: Guardian | None) -> Path | None:
    """Return the folder of TLS certificates: the requested one, or a new one."""
    if asked.meeting is None:
        assert guardian is not None  # noqa: S101 - an observation names a place
        return write_credentials(guardian.directory)
    return None if request.fleet_tls is None else tls_directory(request.fleet_tls, "--fleet-")


@contextmanager
def _place(
    asked: Fleet, agents: Agents, tls: Path | None, guardian: Guardian | None, raw: Path
) -> Iterator[Meeting]:
    """Yield the address where agents meet: the requested one, or a new Dask scheduler."""
    if asked.meeting is not None:
        yield asked.meeting
        return
    assert guardian is not None  # noqa: S101 - an observation names a place
    scheduler = agents.run(_scheduler(tls))
    children: list[Child] = []
    try:
        meeting = Meeting(ENCRYPTED, "127.0.0.1", scheduler.port)
        for number in range(asked.hosts or 1):
            # Each child is registered at once, so that it ends even if the next one cannot start.
            child = guardian.start(
                [*AGENT, meeting.address, f"agent-{number}", str(tls)],
                # Temporary files of an agent are deleted with the run, however the agent ends.
                env=os.environ | {"TMPDIR": str(guardian.directory)},
                cwd=guardian.directory,
                log=raw / f"agent-{number}.log",
                stop_grace_s=AGENT_GRACE_S,
            )
            children.append(child)
        agents.last_words = lambda: _last_words(guardian, children, raw)
        yield meeting
    finally:
        for child in children:
            guardian.stop(child)
        agents.run(scheduler.close())


def _last_words(guardian: Guardian, children: Sequence[Child], raw: Path) -> str | None:
    """Return how the first of the run's own agents ended; None while all run."""
    for number, child in enumerate(children):
        ended = guardian.wait(child, 0.0)
        if ended is not None:
            said = last_lines(raw / f"agent-{number}.log") or "it left no message"
            return f"agent-{number} {how(ended)} before it had joined: {said}"
    return None


async def _scheduler(tls: Path | None) -> Scheduler:
    from assay.running.fleet.agent import scheduler_at

    return await scheduler_at(Meeting(ENCRYPTED, "127.0.0.1", 0), security(tls))


def _checked(name: str, address: str, who: object) -> Agent:
    if not isinstance(who, dict) or "clock" not in who:
        raise RunFailedError(
            f"--fleet: {name} at {address} is a Dask worker, not an agent of Assay: start "
            "`assay agent` on its host, or name an address that only agents join"
        )
    if who["version"] != (ours := whose()["version"]):
        raise RunFailedError(
            f"--fleet: the agent {name} has Assay {who['version']} and this host has {ours}: "
            "all hosts need the same version"
        )
    return Agent(name, address, who)


def _too_few(meeting: Meeting, joined: int, wanted: int | None, failure: str) -> str:
    mend = f"start `assay agent {meeting.address}` on each host"
    if failure and not joined:
        return (
            f"--fleet: nobody meets at {meeting.address} ({failure}): start `assay agent"
            f" {meeting.address} --listen` there, and {mend}"
        )
    there = "no agent" if joined == 0 else f"{joined} of {wanted} agents"
    return f"--fleet: {there} had joined {meeting.address} after {JOINING_S:.0f} s: {mend}"
