"""Carries out one run: obtain, start, generate, load, warm up, measure, record, seal.

Invariant: however a run ends, its directory records the outcome, and its processes and the
    instance's directory are removed.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.engines.contract import HasCounters, Server
from assay.model.errors import AssayError, RunFailedError
from assay.model.units import NS_PER_S
from assay.probes.contract import HearsMeasured, Refusing, Target
from assay.probes.discovery import find_probes
from assay.probes.engine import EngineProbe
from assay.record.layout import (
    ACCOUNT_PROBES,
    DRIVER_FILE,
    LOG_FILE,
    PHASE_MEASURED,
    PHASE_WARMUP,
)
from assay.record.writer import RunWriter, ensure_runs_dir, new_run_id, write_json
from assay.running.asked.asking import understood
from assay.running.asked.parsing import STATE_HOT, STATE_LOADED
from assay.running.changes.changing import END, START, changing
from assay.running.changes.copies import COPY
from assay.running.changes.device import NotMountedError
from assay.running.data.loading import Loading, loaded_now
from assay.running.driver_job import driver_job, wants_plans
from assay.running.host.devices import stat_file
from assay.running.host.environment import describe_host, describe_ourselves
from assay.running.host.slowing import slowed
from assay.running.host.state import State, look_after_start, set_state, state_of
from assay.running.leftovers import remove_leftovers
from assay.running.load_progress import LoadProgress
from assay.running.log_file import log_into
from assay.running.observing import observed
from assay.running.processes.hosting import host
from assay.running.processes.launcher import Guardian
from assay.running.reference.rows import References
from assay.running.server.crashes import Crashes
from assay.running.server.faults import KILL, Kill
from assay.running.server.recovery import Recoveries
from assay.running.server.starting import Steps, ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from assay.engines.contract import CounterReader
    from assay.probes.contract import Probe
    from assay.running.asked.asked_run import Asked
    from assay.running.asked.request import RunRequest
    from assay.running.changes.changing import Changes
    from assay.running.fleet.meeting import Agents
    from assay.running.fleet.observer import Observer
    from assay.running.processes.hosting import Driver
    from assay.running.server.subject import Subject
    from assay.running.telling import Teller

log = logging.getLogger(__name__)

CANCEL_PATIENCE_S = 30.0
# Maximum seconds between a server's last message to a client and its end.
LEAVING_PATIENCE_S = 8.0
LOOK_S = 0.05


def execute(request: RunRequest, runs: Path, teller: Teller) -> Path:
    """Carry out a run and return its sealed directory.

    Raises:
        UsageError: If the request names something that does not exist. In this case nothing was
            written.
        RunFailedError: If the run ended early; its partial record is kept.
        KeyboardInterrupt: On Ctrl-C, after the record was completed and all processes stopped.
    """
    asked = understood(request, teller)
    remove_leftovers()
    run_id = new_run_id(asked.workload.facts.name, request.engine)
    try:
        with (
            RunWriter(ensure_runs_dir(runs), run_id, asked.facts()) as run,
            log_into(run.raw / LOG_FILE),
        ):
            teller.record(run.dir)
            _Execution(asked, run, teller).carry_out()
            return run.dir
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise RunFailedError(
            f"the operating system reported an error: {error.strerror or error}{where}. Free "
            "the resource, or name another directory with --runs, XDG_CACHE_HOME or "
            "XDG_STATE_HOME."
        ) from error


class _Execution:
    """One run in progress."""

    def __init__(self, asked: Asked, run: RunWriter, teller: Teller) -> None:
        self._asked = asked
        self._request = asked.request
        self._run = run
        self._teller = teller
        self._progress = LoadProgress(asked, teller)
        self._settled: tuple[State, Path] | None = None
        self._observing: list[Probe] = []
        # Cost of each probe by its name, including probes in the driver's process.
        self._observed: dict[str, Any] = {}
        self._before_measured = False
        self._crashes = Crashes(asked.engine.facts.title, run)
        self._changes: Changes
        self._agents: Agents | None = None
        kill_s = asked.request.kill_s
        self._kill = None if kill_s is None else Kill(kill_s, run)

    def carry_out(self) -> None:
        """Carry out all steps of the run, in the order of its phases."""
        # The module that merges streams is imported late, because it takes longer than refusing a
        # wrong request.
        from assay.running.fleet.meeting import gathered

        with (
            Guardian(self._run.id) as guardian,
            gathered(self._request, guardian, self._run.raw, self._teller) as self._agents,
        ):
            loading = Loading(self._asked, self._run.raw, self._teller)
            references = References(self._asked, self._run, self._teller)
            with changing(self._request, guardian.directory, self._run) as self._changes:
                steps = self._steps(guardian)
                with ready(self._asked, guardian, loading, self._run.raw, steps) as started:
                    if self._request.plans_only:
                        self._plan(guardian, started[0], loading)
                    else:
                        references.keep_known()
                        self._measure(guardian, *started, loading)
                self._recover(guardian, started[0])
            if not self._request.plans_only:
                references.make(guardian)
            # The engine's files are removed before the seal, so no measurement includes this.
        self._teller.phase("seal")
        self._run.seal()

    def _recover(self, guardian: Guardian, subject: Subject) -> None:
        """Start the stopped engine on its remaining data, and query them."""
        copies = self._changes.copies
        if self._kill is None and copies is None:
            return
        assert subject.anew is not None  # noqa: S101 - only an engine of ours is killed or copied
        self._teller.phase("recover")
        data = self._changes.room.data
        recoveries = Recoveries(self._asked, guardian, self._run)
        if self._kill is not None:
            recoveries.add(KILL, None, subject.anew(data))
        if copies is None:
            return
        for copy in copies.taken:
            self._teller.amount(copy.number, self._request.copies, "copies")
            try:
                with copies.opened(copy):
                    recoveries.add(COPY, copy.began_ns, subject.anew(data))
            except NotMountedError as error:
                recoveries.add_refused(COPY, copy.began_ns, error)

    def _steps(self, guardian: Guardian) -> Steps:
        """Return the steps between loading the data and timing."""
        if self._request.dsn is not None:
            state = state_of(self._request)
            if self._asked.file is not None:
                state.data_bytes = self._asked.file.stat().st_size
            self._run.update(state=state.facts())
        return Steps(
            self._changes,
            change=partial(self._prepare, guardian) if self._request.prepare else None,
            settle=self._set_state,
            restart=self._request.state != STATE_HOT,
        )

    def _set_state(self, data: Path) -> None:
        self._changes.settle()
        if self._request.state != STATE_HOT:
            self._teller.phase(f"state {self._request.state}")
        state = set_state(self._request, data)
        state.page_cache = self._asked.engine.facts.page_cache
        self._settled = (state, data)
        self._run.update(state=state.facts())

    def _look_after_start(self, engine_cache: list[dict[str, Any]] | None) -> None:
        if self._settled is None or self._request.state == STATE_HOT:
            return
        state, data = self._settled
        state.engine_cache = engine_cache
        look_after_start(state, data)
        self._run.update(state=state.facts())

    def _prepare(self, guardian: Guardian, subject: Subject) -> None:
        """Change the loaded data as requested, in a separate process like loading."""
        self._teller.phase("prepare")
        job = subject.job() | {"files": self._request.prepare}
        with host(guardian, "prepare", job, self._run.raw / "host-prepare.log") as preparing:
            while (message := preparing.next())["kind"] != "prepared":
                self._teller.amount(message["done"], message["expected"], message["unit"])
        self._run.update(prepared=message["files"])

    def _measure(
        self,
        guardian: Guardian,
        subject: Subject,
        dataset: dict[str, Any] | None,
        loading: Loading,
    ) -> None:
        from assay.running.fleet.observer import engine_observer

        self._teller.phase("start")
        if nodes := subject.nodes:
            self._run.update(cluster={"nodes": [asdict(node) for node in nodes]})
        described = describe_host(guardian.directory, self._data_dir())
        job = self._job(loading, guardian, subject)
        job["device_stat"] = stat_file(described["data_device"])
        with (
            self._driver(guardian, subject, job) as driver,
            engine_observer(self._agents, self._request, subject, self._run) as observer,
            ExitStack() as slowing,
        ):
            if job["filling"] is not None:
                dataset = loaded_now(partial(loading.filled, driver), driver.pids)
            announced = driver.next()
            accounts = subject.accounts(driver.pids) | slowing.enter_context(
                slowed(
                    self._request,
                    guardian,
                    subject,
                    driver.pids,
                    self._changes.room.data,
                    self._run,
                )
            )
            if observer is not None:
                accounts = observer.followed_here(accounts)
            self._describe(described, announced, dataset, accounts, observer)
            if self._request.dsn is not None:
                self._run.update(durability=self._asked.durability(announced["effective_settings"]))
            self._look_after_start(announced["engine_cache"])
            with (
                self._counters(subject) as counters,
                self._probes(accounts, counters, observer),
                self._copied(),
            ):
                self._changes.edge(START)
                driver.send("go")
                self._driven(driver, subject)
            slowing.close()
            # No probe runs any more, so these queries are in no figure of the run.
            if wants_plans(self._asked):
                self._explained(driver, subject)

    def _plan(self, guardian: Guardian, subject: Subject, loading: Loading) -> None:
        """Capture the plans of all operations, without executing the load."""
        job = self._job(loading, guardian, subject)
        with self._driver(guardian, subject, job) as driver:
            if job["filling"] is not None:
                loaded_now(partial(loading.filled, driver), driver.pids)
            driver.next()
            self._explained(driver, subject)

    def _job(self, loading: Loading, guardian: Guardian, subject: Subject) -> dict[str, Any]:
        """Return the driver's job; in state `loaded`, an embedded engine is filled by it."""
        loads = self._request.state == STATE_LOADED and subject.embedded
        data = loading.filling(guardian) if loads else None
        return driver_job(self._asked, subject, self._run.raw, data)

    def _describe(
        self,
        host: dict[str, Any],
        announced: dict[str, Any],
        dataset: dict[str, Any] | None,
        accounts: dict[int, str],
        observer: Observer | None,
    ) -> None:
        """Record the host, Assay, the engine's own description, and the accounts of processes.

        `host` and `accounts` of the record belong to the host from which its samples are.
        """
        own = {str(pid): account for pid, account in accounts.items()}
        whose: dict[str, Any] = {"host": host, "accounts": own}
        if observer is not None:
            whose = {"host": observer.host, "accounts": observer.accounts, "run_host": whose}
        self._run.write_environment(
            {
                **whose,
                "assay": describe_ourselves(),
                "engine": {
                    "version": self._asked.version,
                    "origin": dict(self._asked.origin),
                    "settings": announced["effective_settings"],
                },
                "data": dataset,
                "pin": self._request.pin,
            }
        )

    def _driver(
        self, guardian: Guardian, subject: Subject, job: dict[str, Any]
    ) -> AbstractContextManager[Driver]:
        """Start the driver: a process on this host, or the hosts of a fleet."""
        if self._agents is None:
            groups = self._changes.room.groups if subject.embedded else ()
            return host(guardian, "drive", job, self._run.raw / "host-drive.log", groups)
        from assay.running.fleet.hosts import fleet_driver

        return fleet_driver(self._agents, subject, job, self._run)

    def _data_dir(self) -> Path | None:
        """Return the directory of the instance's data; None for a running server."""
        if self._request.dsn is not None:
            return None
        data = self._changes.room.data
        return data if data.is_dir() else data.parent

    def _explained(self, driver: Driver, subject: Subject) -> None:
        """Capture every operation's plan; a failure is recorded and does not end the run."""
        self._teller.phase("plans")
        try:
            driver.send("plan")
            while (message := driver.next())["kind"] != "planned":
                self._teller.amount(message["done"], message["expected"], message["unit"])
                self._check_presence(subject)
            error = message["error"]
        except AssayError as failure:
            error = str(failure)
        if error is not None:
            log.warning("some plans were not recorded: %s", error)
        self._run.update(plans={"error": error})

    @contextmanager
    def _copied(self) -> Iterator[None]:
        """Flush all data to the device; then take snapshots from `begin` on."""
        copies = self._changes.copies
        if copies is None:
            yield
            return
        copies.settle()
        try:
            yield
        finally:
            copies.end()
            self._run.update(copies=[asdict(copy) for copy in copies.taken])
        copies.check()

    @contextmanager
    def _counters(self, subject: Subject) -> Iterator[CounterReader | None]:
        """Yield the reader of the engine's own counters, on a separate connection."""
        engine = self._asked.behaviour
        asked_for = self._request.runs_probe(EngineProbe.name) and not subject.embedded
        if not asked_for or not (isinstance(engine, HasCounters) and isinstance(engine, Server)):
            yield None
            return
        instance = engine.attach(subject.address)
        reader = engine.counters(instance)
        try:
            yield reader
        finally:
            reader.close()
            engine.detach(instance)

    def _driven(self, driver: Driver, subject: Subject) -> None:
        """Wait for the driver; on Ctrl-C or an error, stop it so that it writes all its data."""
        try:
            message = self._last_word(driver, subject)
        except BaseException:
            self._teller.phase("stopping")
            self._end(driver)
            raise
        self._changes.edge(END)
        if message is None:
            return
        self._keep_report(message)
        ended_ns = max(phase["ended_ns"] for phase in message["report"]["phases"])
        self._teller.phase("plans" if wants_plans(self._asked) else "stop", ended_ns / NS_PER_S)
        if message["report"]["ended"] != "done" and self._kill is None:
            self._await_absence(subject)
            raise RunFailedError(
                f"the driver ended early ({message['report']['ended']}); "
                f"{self._run.raw}/host-drive.log has the cause"
            )

    def _last_word(self, driver: Driver, subject: Subject) -> dict[str, Any] | None:
        """Return the driver's last message; None if it was killed with the engine in it."""
        kill = self._kill
        while True:
            message = driver.next_within(None if kill is None else kill.due_in_s)
            if kill is not None and message is None:
                kill.strike(subject, driver.pids)
                if subject.embedded:
                    return None
                driver.send("cancel")
            elif message is not None:
                if message["kind"] == "driven":
                    break
                self._tell(message)
                if kill is None or not kill.done:
                    self._crashes.look(subject)
                if kill is not None:
                    kill.hear(message)
        if kill is not None:
            kill.check()
        return message

    def _check_presence(self, subject: Subject) -> None:
        if (last_words := subject.last_words()) is not None:
            raise RunFailedError(
                f"{self._asked.engine.facts.title} ended unexpectedly: {last_words}"
            )

    def _await_absence(self, subject: Subject) -> None:
        """Wait for a server that is ending; its connections close before its process ends."""
        deadline_s = time.monotonic() + LEAVING_PATIENCE_S
        while subject.pids and time.monotonic() < deadline_s:
            self._check_presence(subject)
            time.sleep(LOOK_S)

    def _end(self, driver: Driver) -> None:
        """Have the driver cancel running operations and write its data."""
        try:
            driver.send("cancel")
            while (message := driver.next(CANCEL_PATIENCE_S))["kind"] != "driven":
                pass
            self._keep_report(message)
        except AssayError as error:
            log.warning("the driver did not end normally: %s", error)

    def _keep_report(self, message: dict[str, Any]) -> None:
        write_json(self._run.raw / DRIVER_FILE, message["report"])
        self._observed.update(message["probes"])
        if message["mixes"] is not None:
            self._run.update(mixes=message["mixes"])

    def _tell(self, message: dict[str, Any]) -> None:
        if message["kind"] != "progress":
            return
        self._tell_probes(message["phase"])
        if message["phase"] == PHASE_MEASURED and self._changes.copies is not None:
            self._changes.copies.begin(message["begun_s"])
        self._progress.show(message)

    def _tell_probes(self, phase: str) -> None:
        """Signal to probes that the measured part begins after a warm-up."""
        if phase == PHASE_MEASURED and self._before_measured:
            self._changes.edge(START)
            for probe in self._observing:
                if isinstance(probe, HearsMeasured):
                    probe.measured()
        self._before_measured = phase == PHASE_WARMUP

    @contextmanager
    def _probes(
        self,
        accounts: dict[int, str],
        counters: CounterReader | None,
        observer: Observer | None,
    ) -> Iterator[None]:
        """Run all probes during the block; run.json gets their costs, or why one did not start."""
        followed = (*accounts.items(), (os.getpid(), ACCOUNT_PROBES))
        request = self._request
        target = Target(
            self._run.raw,
            request.probe_interval_s,
            followed,
            counters,
            request.profile_hz,
            request.block_trace,
        )
        probes = self._chosen_probes()
        with ExitStack() as stack:
            stack.callback(lambda: self._run.update(probes=self._observed))
            if observer is not None:
                probes = stack.enter_context(observer.at_work(probes, target, self._observed))
            self._observing = stack.enter_context(observed(probes, target, self._observed))
            yield

    def _chosen_probes(self) -> list[Probe]:
        """Return the probes that run: default ones that are not excluded, and requested ones."""
        return [
            probe
            for probe in find_probes()
            if isinstance(probe, Refusing) or self._request.runs_probe(probe.name)
        ]
