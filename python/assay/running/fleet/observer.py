"""Records the samples of the agent on the engine's host, with times on the run's clock.

Streams of two hosts are never merged. Streams of the engine's host are the record's own; those of
the run's host are in a separate directory. The loss of an agent only ends its probes.
"""

from __future__ import annotations

import logging
import queue
import shutil
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError
from assay.record.layout import ENGINE_ACCOUNTS, FLEET_DIR, RUN_HOST_DIR
from assay.running.fleet.asked import parse_engine_host
from assay.running.fleet.clocks import ClockOf
from assay.running.fleet.contract import (
    BEGUN,
    CANCEL,
    FAILED,
    GO,
    HOST_PROBES,
    HOST_TIMES,
    OBSERVED,
    READY,
    SILENCE_S,
    STREAM,
    TOLD,
    whose,
)
from assay.running.fleet.meeting import ENGINE_HOST
from assay.running.fleet.merging import AgentPart, keep, merge_streams
from assay.running.observing import observed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.probes.contract import Probe, Target
    from assay.record.writer import RunWriter
    from assay.running.asked.request import RunRequest
    from assay.running.fleet.meeting import Agents
    from assay.running.server.subject import Subject

log = logging.getLogger(__name__)

GONE = "its connection broke, or it said nothing any more"
# Seconds to wait for an answer before the agent counts as dead.
PATIENCE_S = 2 * SILENCE_S


class Observer:
    """The connection to the agent on the engine's host.

    Attributes:
        host: Description of that host from `describe_host`.
        accounts: Processes that are followed on that host.

    Raises:
        RunFailedError: If no process of the engine is found.
    """

    def __init__(
        self, agents: Agents, request: RunRequest, subject: Subject, run: RunWriter
    ) -> None:
        asked, agent = parse_engine_host(request.engine_host), agents.engine_host
        assert asked is not None and agent is not None  # noqa: PT018, S101 - made only where one is
        self._agents, self._agent, self._run = agents, agent, run
        self._directory = run.raw / FLEET_DIR / "engine"
        self._messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._error: str | None = None
        self._run_host: dict[str, Any] = {}
        self._directory.mkdir(parents=True)
        agents.observe(
            {
                "probes": [name for name in HOST_PROBES if request.runs_probe(name)],
                "interval_s": request.probe_interval_s,
                "pids": list(asked.pids),
                "port": subject.port,
            }
        )
        self._thread = threading.Thread(target=self._listen, name="assay-observer", daemon=True)
        self._thread.start()
        ready, offset = self._answer(READY), agents.clock(ENGINE_HOST)
        if ready is None or offset is None:
            self.leave()
            raise RunFailedError(f"--engine-host: {agent.name}: {self._error or GONE}")
        self.host: dict[str, Any] = ready["host"]
        self.accounts: dict[str, str] = ready["accounts"]
        self._clock = ClockOf(offset, same=agent.who["clock"] == whose()["clock"])
        self._note()

    @contextmanager
    def at_work(
        self, probes: Sequence[Probe], target: Target, probe_facts: dict[str, Any]
    ) -> Iterator[list[Probe]]:
        """Run probes on this host and on the engine's host during the block.

        Args:
            probes: Probes of the run's host, not yet started.
            target: Target of these probes.
            probe_facts: Facts of the engine host's probes, as in `observed`.
        """
        own = [probe for probe in probes if probe.name in HOST_PROBES]
        beside = replace(target, raw_dir=target.raw_dir / RUN_HOST_DIR)
        beside.raw_dir.mkdir()
        with observed(own, beside, self._run_host):
            self._agents.say(ENGINE_HOST, GO)
            begun = self._answer(BEGUN)
            self._tell(probe_facts, begun)
            try:
                yield [probe for probe in probes if probe not in own]
            finally:
                self._agents.say(ENGINE_HOST, CANCEL)
                self._end(probe_facts)
        self._note()

    def leave(self) -> None:
        """Disconnect from the agent on the engine's host, which then ends its probes."""
        self._agents.leave(ENGINE_HOST)
        self._thread.join(PATIENCE_S)

    def followed_here(self, accounts: dict[int, str]) -> dict[int, str]:
        """Return the processes to sample on this host, without the engine's."""
        return {pid: account for pid, account in accounts.items() if account not in ENGINE_ACCOUNTS}

    def _end(self, probe_facts: dict[str, Any]) -> None:
        """Receive the last samples from the engine's host, and add them to the record."""
        last = self._answer(OBSERVED)
        self._tell(probe_facts, last)
        after = None if last is None else self._agents.clock(ENGINE_HOST)
        self._clock = replace(self._clock, after=after)
        self.leave()
        streams = {path.stem: HOST_TIMES for path in self._directory.glob("*.arrows")}
        merge_streams([AgentPart(self._directory, 0, self._clock)], self._run.raw, streams)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _tell(self, probe_facts: dict[str, Any], answer: dict[str, Any] | None) -> None:
        """Record the facts of each probe on the engine's host."""
        for name, facts in ({} if answer is None else answer["probes"]).items():
            probe_facts[name] = facts | {"host": self._agent.name}
        if answer is not None:
            return
        text = f"the agent {self._agent.name} on the engine's host went away: {self._error}"
        log.warning("%s", text)
        for name in HOST_PROBES:
            if name in probe_facts and probe_facts[name].get("host") == self._agent.name:
                probe_facts[name] = probe_facts[name] | {"error": text}

    def _answer(self, kind: str) -> dict[str, Any] | None:
        """Return the next message from the engine's host; None if the agent is lost."""
        try:
            message = self._messages.get(timeout=PATIENCE_S)
        except queue.Empty:
            message = None
        if message is None or message["kind"] != kind:
            self._error = self._error or GONE
            # A later call then gets the same answer.
            self._messages.put(None)
            return None
        return message

    def _listen(self) -> None:
        """Receive messages from the engine's host until the last one, in a thread."""
        try:
            while (message := self._agents.observed.get()) is not None:
                if message["kind"] == STREAM:
                    keep(self._directory, self._agent.name, message)
                elif message["kind"] == TOLD:
                    self._messages.put(message["message"])
                    if message["message"]["kind"] == OBSERVED:
                        return
                elif message["kind"] == FAILED:
                    self._error = message["message"]
                    break
        except (OSError, RunFailedError) as error:
            self._error = str(error)
        self._messages.put(None)

    def _note(self) -> None:
        who = self._agent.who
        self._run.update(
            engine_host={
                "name": self._agent.name,
                **{name: who[name] for name in ("host", "kernel", "machine", "cpus")},
                "clock": self._clock.facts(),
                "error": self._error,
                "run_host_probes": self._run_host,
            }
        )


@contextmanager
def engine_observer(
    agents: Agents | None, request: RunRequest, subject: Subject, run: RunWriter
) -> Iterator[Observer | None]:
    """Yield the connection to the agent on the engine's host; None if not requested.

    Raises:
        RunFailedError: If the engine does not run there.
    """
    if agents is None or request.engine_host is None:
        yield None
        return
    observer = Observer(agents, request, subject, run)
    try:
        yield observer
    finally:
        observer.leave()
