"""Carries out one run: obtain, start, load, warm up, measure, record, seal.

Invariant: whatever ends a run, its directory says how, its processes are gone, and the instance's
directory with them.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assay.engines.contract import ChecksSettings
from assay.engines.discovery import find_engine
from assay.model.errors import EXIT_CODES, AssayError, RunFailedError
from assay.model.units import NS_PER_S
from assay.probes.contract import Target
from assay.probes.discovery import find_probes
from assay.record.layout import (
    ACCOUNT_ENGINE_AND_DRIVER,
    ACCOUNT_PROBES,
    DRIVER_FILE,
    EXPECTED_DIR,
    LOG_FILE,
    PHASE_MEASURED,
    RESULTS_DIR,
)
from assay.record.writer import RunWriter, ensure_runs_dir, new_run_id, write_json
from assay.study.control import Channel
from assay.study.datasets import DatasetCache, DatasetKey
from assay.study.environment import describe_host, describe_ourselves
from assay.study.instances import sweep
from assay.study.launcher import Guardian
from assay.study.places import cache_dir, instances_dir
from assay.study.request import PARAMETERS_DEFAULT, driver_plan
from assay.workloads.discovery import find_workload
from assay.workloads.generate import table_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engines.discovery import EngineFolder
    from assay.probes.contract import Probe
    from assay.study.launcher import Child
    from assay.study.request import RunRequest
    from assay.workloads.contract import Statement, Workload

log = logging.getLogger(__name__)

HOST_COMMAND = [sys.executable, "-m", "assay.study.host"]
HOST_GRACE_S = 10.0
DATASETS = "datasets"
CANCEL_PATIENCE_S = 30.0


class Teller(Protocol):
    """Whoever shows a person how far the run is."""

    def record(self, directory: Path) -> None:
        """The run's directory is there from now on, however the run ends."""
        ...

    def phase(self, name: str) -> None:
        """A new part of the run has begun."""
        ...

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """How much of the part is done."""
        ...


def execute(request: RunRequest, runs: Path, teller: Teller) -> Path:
    """Carries out a run and returns its sealed directory.

    Raises:
        UsageError: If the request names something that is not there; nothing was written.
        RunFailedError: If the run ended early; its partial record is kept.
        KeyboardInterrupt: On Ctrl-C, after the record was ended and all processes stopped.
    """
    workload, engine = find_workload(request.workload), find_engine(request.engine)
    _check_request(request, workload, engine)
    version = engine.engine().obtain()
    statements = _statements(request, workload, engine)
    sweep(instances_dir())
    DatasetCache(cache_dir() / DATASETS).sweep()
    run_id = new_run_id(request.workload, request.engine)
    asked = _asked(request, workload, engine, version, statements)
    try:
        with RunWriter(ensure_runs_dir(runs), run_id, asked) as run, _log_into(run.raw / LOG_FILE):
            teller.record(run.dir)
            _Execution(request, workload, engine, version, statements, run, teller).carry_out()
            return run.dir
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise RunFailedError(
            f"the system refused the run something: {error.strerror or error}{where}. Free what is"
            " short, or name another place with --runs, XDG_CACHE_HOME or XDG_STATE_HOME."
        ) from error


def _check_request(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuses what could only fail later, after data was loaded."""
    facts = workload.facts
    for table in facts.tables:
        table_stream(facts.generator or "", table, request.scale, 1)
    checking = engine.engine()
    if isinstance(checking, ChecksSettings):
        checking.check_settings(request.settings)


def _statements(
    request: RunRequest, workload: Workload, engine: EngineFolder
) -> dict[str, Statement]:
    seed = None if request.parameters == PARAMETERS_DEFAULT else request.seed
    return {
        operation: workload.statement(operation, engine.facts.dialects, request.scale, seed, 0)
        for operation in dict.fromkeys(workload.facts.order)
    }


def _asked(
    request: RunRequest,
    workload: Workload,
    engine: EngineFolder,
    version: str,
    statements: dict[str, Statement],
) -> dict[str, Any]:
    """What stands in run.json from the first moment on."""
    facts = workload.facts
    return {
        "request": request.facts(),
        "workload": workload.recorded(),
        "engine": {
            "name": engine.facts.name,
            "title": engine.facts.title,
            "kind": engine.facts.kind,
            "session": engine.facts.session,
            "version": version,
            "answers": engine.facts.answers,
        },
        "plan": driver_plan(request, facts.order),
        "statements": {name: asdict(statement) for name, statement in statements.items()},
    }


class _LogFile(logging.FileHandler):
    """A full disk is told by what measures; the log does not add its own complaint to it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Lets the line go."""


@contextmanager
def _log_into(path: Path) -> Iterator[None]:
    """Everything that Assay logs during the run goes into the record."""
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    root = logging.getLogger("assay")
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


class _Execution:
    """One run under way."""

    def __init__(
        self,
        request: RunRequest,
        workload: Workload,
        engine: EngineFolder,
        version: str,
        statements: dict[str, Statement],
        run: RunWriter,
        teller: Teller,
    ) -> None:
        self._request = request
        self._workload = workload
        self._engine = engine
        self._version = version
        self._statements = statements
        self._run = run
        self._teller = teller

    def carry_out(self) -> None:
        """All steps, in the order in which the record tells them."""
        with Guardian(self._run.id) as guardian:
            data = guardian.directory / "data"
            dataset = self._load(guardian, data)
            self._keep_expected()
            self._measure(guardian, data, dataset)
            # The engine's files are gone before the seal, so that nothing measures their removal.
        self._teller.phase("seal")
        self._run.seal()

    def _load(self, guardian: Guardian, data: Path) -> dict[str, Any] | None:
        """Brings the loaded data to `data`; None for an engine without any."""
        if self._engine.facts.kind == "none" or not self._workload.makes_data:
            return None
        key = DatasetKey(
            workload=self._workload.facts.name,
            content_hash=self._workload.content_hash,
            scale=self._request.scale,
            engine=self._engine.facts.name,
            version=self._version,
        )
        self._teller.phase("data")
        waiting = "waiting for another run that uses this data"
        cache = DatasetCache(cache_dir() / DATASETS, lambda: self._teller.phase(waiting))
        return cache.copy_to(key, data, lambda place: self._make(guardian, place))

    def _make(self, guardian: Guardian, place: Path) -> dict[str, Any]:
        """Generates and loads all tables into `place`."""
        facts = self._workload.facts
        job = self._job(guardian, place) | {
            "settings": {},
            "ddl": "\n".join(self._setup()),
            "tables": list(facts.tables),
            "generator": facts.generator,
            "scale": self._request.scale,
            "threads": os.cpu_count() or 1,
        }
        with self._host(guardian, "load", job) as (channel, child):
            while True:
                message = self._next(channel, guardian, child)
                if message["kind"] == "loaded":
                    return {"tables": message["tables"], "key": _made_from(self._workload, job)}
                self._tell_load(message)

    def _setup(self) -> Iterable[str]:
        dialects = self._engine.facts.dialects
        return self._workload.setup(dialects, self._request.scale).values()

    def _tell_load(self, message: dict[str, Any]) -> None:
        if message["kind"] == "rows":
            self._teller.phase(f"loading {message['table']}")
            self._teller.amount(message["rows"], message["expected"], "rows")
        elif message["kind"] == "phase":
            self._teller.phase(message["name"])

    def _keep_expected(self) -> None:
        """Copies the rows that are expected, with their origin, into the record."""
        expected = self._run.raw / RESULTS_DIR / EXPECTED_DIR
        answers = None
        if self._request.parameters == PARAMETERS_DEFAULT and self._engine.facts.answers:
            answers = self._workload.answers(self._request.scale)
        if answers is None:
            return
        for path in sorted(answers.glob("*.csv")):
            shutil.copyfile(path, expected / path.name)
        origin = f"workloads/{self._workload.facts.name}/answers/{answers.name}"
        write_json(expected / "origin.json", {"origin": origin})

    def _measure(self, guardian: Guardian, data: Path, dataset: dict[str, Any] | None) -> None:
        self._teller.phase("start")
        order = self._run_plan()["operations"]
        job = self._job(guardian, data) | {
            "settings": self._request.settings,
            "statements": [self._statements[name].text for name in order],
            "clients": 1,
            "plan": self._run_plan(),
            "raw_dir": str(self._run.raw),
            "metered": True,
        }
        with self._host(guardian, "drive", job) as (channel, child):
            ready = self._next(channel, guardian, child)
            self._run.write_environment(
                {
                    "host": describe_host(data),
                    "assay": describe_ourselves(),
                    "engine": {"version": self._version, "settings": ready["effective_settings"]},
                    "data": dataset,
                    "accounts": {str(child.pid): ACCOUNT_ENGINE_AND_DRIVER},
                }
            )
            with self._probes(child):
                self._send(channel, guardian, child, "go")
                self._driven(channel, guardian, child)

    def _run_plan(self) -> dict[str, Any]:
        return driver_plan(self._request, self._workload.facts.order)

    def _driven(self, channel: Channel, guardian: Guardian, child: Child) -> None:
        """Waits for the driver; on Ctrl-C asks it to end, so that all it saw is written."""
        try:
            while (message := self._next(channel, guardian, child))["kind"] != "driven":
                self._tell_drive(message)
            self._keep_report(message)
            if message["report"]["ended"] != "done":
                raise RunFailedError(
                    f"the driver ended early ({message['report']['ended']}); why is in"
                    f" {self._run.raw}/host-drive.log"
                )
        except KeyboardInterrupt:
            self._teller.phase("stopping")
            self._end_driver(channel, guardian, child)
            raise

    def _end_driver(self, channel: Channel, guardian: Guardian, child: Child) -> None:
        try:
            channel.send("cancel")
            message = self._next(channel, guardian, child, CANCEL_PATIENCE_S)
            while message["kind"] != "driven":
                message = self._next(channel, guardian, child, CANCEL_PATIENCE_S)
            self._keep_report(message)
        except (AssayError, OSError) as error:
            log.warning("the driver did not end in good order: %s", error)

    def _keep_report(self, message: dict[str, Any]) -> None:
        write_json(self._run.raw / DRIVER_FILE, message["report"])

    def _tell_drive(self, message: dict[str, Any]) -> None:
        if message["kind"] != "progress":
            return
        self._teller.phase(message["phase"])
        expected = self._request.min_time_s if message["phase"] == PHASE_MEASURED else None
        self._teller.amount(message["phase_ns"] / NS_PER_S, expected, "s")

    def _job(self, guardian: Guardian, data: Path) -> dict[str, Any]:
        return {
            "engine": self._engine.facts.name,
            "data": str(data),
            "scratch": str(guardian.directory / "scratch"),
        }

    @contextmanager
    def _host(
        self, guardian: Guardian, kind: str, job: dict[str, Any]
    ) -> Iterator[tuple[Channel, Child]]:
        """A driver host with a job; gone when the block is left."""
        ours, theirs = socket.socketpair()
        child = guardian.start(
            HOST_COMMAND,
            env=os.environ,
            cwd=guardian.directory,
            log=self._run.raw / f"host-{kind}.log",
            stop_grace_s=HOST_GRACE_S,
            control=theirs,
        )
        theirs.close()
        channel = Channel(ours)
        try:
            self._send(channel, guardian, child, kind, **job)
            yield channel, child
        finally:
            channel.close()
            guardian.stop(child)

    def _send(
        self, channel: Channel, guardian: Guardian, child: Child, kind: str, **facts: object
    ) -> None:
        try:
            channel.send(kind, **facts)
        except OSError as error:
            raise self._host_gone(guardian, child) from error

    def _host_gone(self, guardian: Guardian, child: Child) -> RunFailedError:
        """What to say of a host that does not talk any more."""
        ended = guardian.wait(child, HOST_GRACE_S)
        how = "went away"
        if ended is not None and ended.signal is not None:
            how = f"was ended by signal {ended.signal}"
        elif ended is not None:
            how = f"ended with status {ended.status}"
        return RunFailedError(
            f"the driver's host with {self._engine.facts.title} in it {how}; its last words are"
            f" in {self._run.raw}/host-*.log"
        )

    def _next(
        self, channel: Channel, guardian: Guardian, child: Child, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """The host's next message; its failures become ours."""
        try:
            message = channel.receive(timeout_s)
        except TimeoutError as error:
            raise RunFailedError(f"the driver's host was silent for {timeout_s} s") from error
        if message is None:
            raise self._host_gone(guardian, child)
        if message["kind"] == "failed":
            raise EXIT_CODES[message["exit_code"]](message["message"])
        return message

    @contextmanager
    def _probes(self, child: Child) -> Iterator[None]:
        """All probes at work; what each cost, or why it could not start, goes into run.json."""
        followed = ((child.pid, ACCOUNT_ENGINE_AND_DRIVER), (os.getpid(), ACCOUNT_PROBES))
        target = Target(self._run.raw, self._request.probe_interval_s, followed)
        told: dict[str, Any] = {}
        with ExitStack() as stack:
            stack.callback(lambda: self._run.update(probes=told))
            for probe in find_probes():
                told[probe.name] = {"cost": probe.cost, "stream": probe.stream, "error": None}
                try:
                    probe.start(target)
                except OSError as error:
                    log.warning("probe %s does not run: %s", probe.name, error)
                    told[probe.name]["error"] = str(error)
                else:
                    stack.callback(_stop_probe, probe, told[probe.name])
            yield


def _stop_probe(probe: Probe, told: dict[str, Any]) -> None:
    try:
        told.update(asdict(probe.stop()))
    except OSError as error:
        log.warning("probe %s ended badly: %s", probe.name, error)
        told["error"] = str(error)


def _made_from(workload: Workload, job: dict[str, Any]) -> dict[str, Any]:
    """What a data set was made from, for its manifest."""
    return {
        "workload": workload.facts.name,
        "content_sha256": workload.content_hash,
        "generator": job["generator"],
        "scale": job["scale"],
        "engine": job["engine"],
    }
