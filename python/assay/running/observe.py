"""Observes a running server: samples the statements that it executes for its clients.

Assay drives no load and changes nothing on the server: it has two sessions, which cannot write.
However the observation ends, its streams are complete and the record is sealed.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.observed.statements import statement_keys, watched_statements
from assay.engines.contract import EngineError, Server, TellsPort
from assay.engines.plan_reading import HasPlans
from assay.engines.watching import WatchesStatements
from assay.model.errors import AssayError, RunFailedError, UsageError
from assay.model.units import NS_PER_S
from assay.model.watched import HIDDEN_KEY, StatementText, statement_names
from assay.probes.contract import Refusing, Target
from assay.probes.discovery import find_probes
from assay.probes.engine import EngineProbe
from assay.probes.statements import StatementsProbe
from assay.probes.streams import write_no_events
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_PROBES, KIND_OBSERVED, LOG_FILE
from assay.record.reader import Run
from assay.record.writer import RunWriter, ensure_runs_dir, new_run_id
from assay.running.fleet.contract import HOST_PROBES
from assay.running.fleet.meeting import gathered
from assay.running.fleet.observer import engine_observer
from assay.running.host.environment import describe_host, describe_ourselves
from assay.running.log_file import log_into
from assay.running.observing import observed
from assay.running.processes.held_signals import let_ctrl_c_end_waits
from assay.running.server.subject import Subject
from assay.running.watched_plans import capture_plans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.observed.statements import Watched
    from assay.engines.contract import CounterReader, Instance
    from assay.engines.watching import StatementWatcher
    from assay.probes.contract import Probe
    from assay.running.asked.observe import Observation
    from assay.running.asked.request import RunRequest
    from assay.running.fleet.observer import Observer
    from assay.running.telling import Teller

    # A named statement: name, key and text.
    Named = tuple[str, Watched, StatementText]

log = logging.getLogger(__name__)

TICK_S = 0.1
# Seconds between samples of the host, whose counters are totals, by probes that sample more often
# in runs.
REST_INTERVAL_S = 2.0
INTERVALS_S = {StatementsProbe.name: 0.0, EngineProbe.name: 1.0}
WATCHES_NOT = "the server's statements cannot be watched: {}"
# Maximum number of statements with their own texts; the others are combined in the record.
NAMED_MAX = 200
HIDDEN_TEXT = StatementText("hidden: statements of other roles, which this one may not see")
# This probe samples the server's threads, which costs more than querying it and shows no statement.
LEFT_OUT = {"waits"}
ELSEWHERE = (
    "CPU time of the server's processes: they are not on this host, or this user may not see them"
)


def observe(observation: Observation, runs: Path, teller: Teller) -> Path:
    """Observe a server and return the directory of the finished record.

    Ctrl-C ends the observation early, in the same way as the end of its time.

    Raises:
        UsageError: If the server cannot be reached or watched; nothing was written.
        RunFailedError: If the run failed later. The partial record of a failed run is kept.
    """
    let_ctrl_c_end_waits()
    teller.phase("connect")
    with ExitStack() as opened:
        server = opened.enter_context(_reached(observation))
        run_id = new_run_id(KIND_OBSERVED, observation.engine.facts.name)
        facts = observation.facts(server.version)
        run = opened.enter_context(RunWriter(ensure_runs_dir(runs), run_id, facts))
        opened.enter_context(log_into(run.raw / LOG_FILE))
        teller.record(run.dir)
        agents = opened.enter_context(gathered(observation.request, None, run.raw, teller))
        request, subject = _of_agent(observation.request), server.subject(observation)
        observer = opened.enter_context(engine_observer(agents, request, subject, run))
        _Looking(observation, server, run, teller, observer).carry_out()
        return run.dir


def _of_agent(request: RunRequest) -> RunRequest:
    """Return the request for the agent on the server's host, with fewer samples."""
    probes = tuple(name for name in HOST_PROBES if name not in LEFT_OUT)
    interval_s = max(request.probe_interval_s, REST_INTERVAL_S)
    return request.changed(probes=probes, probe_interval_s=interval_s)


class _Reached:
    """A connected server with two permanent connections."""

    def __init__(self, behaviour: Any, instance: Instance, *, has_agent: bool) -> None:  # noqa: ANN401 - many protocols
        self.instance = replace(instance, handle=None)
        self.counters: CounterReader | None = None
        self.version: str = behaviour.version(instance)
        self.settings: dict[str, str] = behaviour.effective_settings(instance)
        self.pids: tuple[int, ...] = behaviour.processes(instance)
        self.port = behaviour.port(instance) if isinstance(behaviour, TellsPort) else None
        self.watcher: StatementWatcher = behaviour.watcher(instance)
        self.limits = list(self.watcher.sight.limits)
        if not self.pids and not has_agent:
            self.limits.append(ELSEWHERE)
        self._read_counters(behaviour, instance)

    def _read_counters(self, behaviour: WatchesStatements, instance: Instance) -> None:
        try:
            self.counters = behaviour.counters_beside(instance)
        except (EngineError, OSError) as error:
            self.limits.append(f"the engine's own counters: {error}")

    def subject(self, observation: Observation) -> Subject:
        """Return the server in the form that an agent on its host needs."""
        reached = {"address": self.instance.address}
        return Subject(observation.engine.facts.name, reached, self.pids, port=self.port)

    def close(self) -> None:
        """Close both connections to the server."""
        self.watcher.close()
        if self.counters is not None:
            self.counters.close()


@contextmanager
def _reached(observation: Observation) -> Iterator[_Reached]:
    """Connect to a running server as an ordinary client.

    Raises `EngineError` with the remedy.
    """
    behaviour = observation.behaviour
    assert isinstance(behaviour, WatchesStatements)  # noqa: S101 - others were refused
    assert isinstance(behaviour, Server)  # noqa: S101 - as above
    try:
        instance = behaviour.attach(behaviour.guest(observation.dsn))
        try:
            has_agent = observation.request.engine_host is not None
            server = _Reached(behaviour, instance, has_agent=has_agent)
        finally:
            behaviour.detach(instance)
    except OSError as error:
        raise UsageError(f"{observation.engine.facts.title} cannot be observed: {error}") from error
    try:
        yield server
    finally:
        server.close()


class _Looking:
    """One observation of a server in progress."""

    def __init__(
        self,
        observation: Observation,
        server: _Reached,
        run: RunWriter,
        teller: Teller,
        observer: Observer | None,
    ) -> None:
        self._observation = observation
        self._server = server
        self._run = run
        self._teller = teller
        self._observer = observer
        self._probe_facts: dict[str, Any] = {}
        self._begun_ns = self._ended_ns = 0
        self._stopped = False
        self._aliases: dict[str, str] = {}

    def carry_out(self) -> None:
        """Sample the server, capture plans, and finish the record."""
        try:
            self._describe()
            write_no_events(self._run.raw)
            self._look_with(self._probes())
        except OSError as error:
            raise RunFailedError(f"the record cannot be written: {error}") from error
        self._run.update(probes=self._probe_facts)
        if lost := self._probe_facts[StatementsProbe.name]["error"]:
            raise RunFailedError(f"the observation of the server ended early: {lost}")
        statements = self._statements()
        self._update(statements)
        if self._observation.request.plans:
            self._plans(statements)
        self._teller.phase("seal")
        self._run.seal()

    def _describe(self) -> None:
        own = {str(pid): name for pid, name in self._followed()}
        whose: dict[str, Any] = {"host": describe_host(Path("/")), "accounts": own}
        if self._observer is not None:
            there = {"host": self._observer.host, "accounts": self._observer.accounts}
            whose = {**there, "run_host": whose}
        self._run.write_environment(
            {
                **whose,
                "assay": describe_ourselves(),
                "engine": {
                    "version": self._server.version,
                    "origin": {},
                    "settings": self._server.settings,
                },
                "data": None,
                "pin": {},
            }
        )

    def _followed(self) -> tuple[tuple[int, str], ...]:
        here = self._server.pids if self._observer is None else ()
        pids = dict.fromkeys(here, ACCOUNT_ENGINE)
        return (*pids.items(), (os.getpid(), ACCOUNT_PROBES))

    def _look_with(self, probes: list[Probe]) -> None:
        """Have sessions sampled as often as requested, and other sources less often."""
        often = self._observation.request.probe_interval_s
        facts = self._probe_facts
        with ExitStack() as stack:
            if self._observer is not None:
                beside = self._target(max(often, REST_INTERVAL_S))
                probes = stack.enter_context(self._observer.at_work(probes, beside, facts))
            # The probe that all analyses need is started first.
            for probe in sorted(probes, key=lambda probe: probe.name != StatementsProbe.name):
                interval_s = max(often, INTERVALS_S.get(probe.name, REST_INTERVAL_S))
                at_work = stack.enter_context(observed([probe], self._target(interval_s), facts))
                if isinstance(probe, StatementsProbe):
                    watching = probe
                    if not at_work:
                        raise RunFailedError(WATCHES_NOT.format(facts[probe.name]["error"]))
            self._look(watching)
        self._ended_ns = time.monotonic_ns()
        for name, probe_facts in facts.items():
            interval_s = max(often, INTERVALS_S.get(name, REST_INTERVAL_S))
            probe_facts["interval_s"] = probe_facts.get("interval_s") or interval_s
        self._tell({})

    def _target(self, interval_s: float) -> Target:
        return Target(
            self._run.raw,
            interval_s,
            self._followed(),
            self._server.counters,
            statements=self._server.watcher,
        )

    @staticmethod
    def _probes() -> list[Probe]:
        """Return the probes that run by default in an observation."""
        return [
            probe
            for probe in find_probes()
            if not isinstance(probe, Refusing) and probe.name not in LEFT_OUT
        ]

    def _look(self, watching: StatementsProbe) -> None:
        """Wait while probes sample the server, until the time is up or the server ends."""
        self._teller.phase("observe")
        begun_s = time.monotonic()
        self._begun_ns = round(begun_s * NS_PER_S)
        self._tell({})
        time_s = self._observation.time_s
        try:
            while watching.at_work and (time_s is None or time.monotonic() - begun_s < time_s):
                passed_s = time.monotonic() - begun_s
                left_s = TICK_S if time_s is None else time_s - passed_s
                self._teller.amount(passed_s, time_s, "s")
                time.sleep(max(0.0, min(TICK_S, left_s)))
        except KeyboardInterrupt:
            self._stopped = True
            self._teller.phase("stopping")

    def _statements(self) -> list[Named]:
        """Return the observed statements in order of time, with names and texts."""
        record = Run(self._run.dir)
        looks, counts = record.table("looks"), record.table("statement-counts")
        texts: dict[str, StatementText] = {HIDDEN_KEY: HIDDEN_TEXT}
        try:
            texts |= self._server.watcher.texts(statement_keys(looks, counts))
        except OSError as error:
            self._server.limits.append(f"texts of statements: {error}")
        self._aliases = self._server.watcher.aliases()
        window = self._begun_ns, self._ended_ns
        watched = watched_statements(looks, counts, window, self._aliases)
        named = [statement for statement in watched if statement.statement in texts][:NAMED_MAX]
        names = statement_names(
            {statement.statement: texts[statement.statement].text for statement in named}
        )
        return [
            (names[statement.statement], statement, texts[statement.statement])
            for statement in named
        ]

    def _update(self, statements: list[Named]) -> None:
        self._tell({watched.statement: name for name, watched, _ in statements})
        self._run.update(
            statements={
                name: {"operation": name, "file": None, "parameters": {}, "text": text.text}
                for name, _, text in statements
            }
        )

    def _tell(self, names: dict[str, str]) -> None:
        """Record how the server was sampled, and the names of its statements."""
        self._run.update(
            observed={
                "begun_ns": self._begun_ns,
                "ended_ns": self._ended_ns or None,
                "asked_s": self._observation.time_s,
                "stopped": self._stopped,
                "source": self._server.watcher.sight.source,
                "limits": self._server.limits,
                "aliases": self._aliases,
                "names": names,
            }
        )

    def _plans(self, statements: list[Named]) -> None:
        """Capture the plans of observed statements; failures are recorded."""
        behaviour = self._observation.behaviour
        if not isinstance(behaviour, HasPlans) or not isinstance(behaviour, WatchesStatements):
            return
        self._teller.phase("plans")
        error = None
        try:
            reader = behaviour.watched_plans(self._server.instance)
            try:
                capture_plans(behaviour, reader, self._run.raw, statements, self._teller)
            finally:
                reader.close()
        except (AssayError, OSError) as failure:
            log.warning("some plans were not recorded: %s", failure)
            error = str(failure)
        except KeyboardInterrupt:
            error = "it was stopped before"
        self._run.update(plans={"error": error})
