"""Main program of the driver process: executes the load, and embedded engines.

The guardian starts it; it receives its job over its control socket, and ends when that closes. The
host has one of six jobs. `load` fills an engine with a workload's data. `prepare` changes the data
by requested SQL. `change` changes tables of a running server during a run, `change_file` those of a
database file. `drive` executes a load plan. `reference` has another engine compute the right rows.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import _core
from assay.engines.contract import (
    Embedded,
    Engine,
    HasCounters,
    Instance,
    Place,
    Restarts,
    Server,
    SharesSessions,
    TellsCached,
)
from assay.engines.discovery import find_engine
from assay.engines.loading import Prepares
from assay.engines.plan_reading import AssumesIndexes, HasPlans
from assay.model.errors import AssayError, RunFailedError
from assay.model.script import Script
from assay.model.units import NS_PER_S
from assay.probes.contract import Target
from assay.probes.engine import EngineProbe
from assay.probes.operation_counters import operation_counters
from assay.running.asked.played import PlayedStatement
from assay.running.asked.preflight import preflight
from assay.running.mixes import Mixes
from assay.running.observing import observed
from assay.running.plans import Capture, timed_seconds
from assay.running.processes.control import METERED_HOST, Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.engines.plan_reading import PlanReader


log = logging.getLogger("assay.host")

PROGRESS_INTERVAL_S = 0.2
# Report of a driver that executed no load.
NOTHING_DRIVEN: dict[str, Any] = {"phases": []}
# Prefix of thread names that samplers of threads skip.
OWN_THREAD = "assay-host"


def main() -> int:
    """Execute the one job that the driver process was started for.

    Returns the exit status.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    # The guardian sends SIGTERM to request the end. As an interrupt it reaches any wait: psycopg
    # then cancels the server's work, and so does the driver at its next tick.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    channel = Channel(socket.socket(fileno=int(os.environ.pop("ASSAY_CONTROL_FD"))))
    job = channel.receive()
    if job is None:
        return 1
    jobs = {
        "load": _load,
        "prepare": _prepare,
        "change": _change,
        "change_file": _change_file,
        "drive": _drive,
        "reference": _reference,
    }
    try:
        jobs[job.pop("kind")](channel, job)
    except AssayError as error:
        log.exception("the job failed")
        channel.send("failed", message=str(error), exit_code=error.exit_code)
    except (OSError, ValueError, RuntimeError) as error:
        log.exception("the job failed")
        message = f"{type(error).__name__}: {error}"
        channel.send("failed", message=message, exit_code=RunFailedError.exit_code)
    except KeyboardInterrupt:
        # The process that requested the end does not wait for an answer.
        log.warning("the run ended early on request")
        return RunFailedError.exit_code
    except BaseException as error:
        # A defect of Assay or of an engine's library is reported to the owner, with the trace in
        # the log.
        log.exception("the job broke down")
        message = "".join(traceback.format_exception_only(error)).strip()
        channel.send("failed", message=message, exit_code=RunFailedError.exit_code)
        raise
    return 0


@contextmanager
def _instance(job: dict[str, Any]) -> Iterator[tuple[Engine, Instance]]:
    """Yield the engine of a job: started if embedded, connected if a server."""
    engine = find_engine(job["engine"]).engine()
    if isinstance(engine, Server):
        instance = engine.attach(job["address"])
        try:
            yield engine, instance
        finally:
            engine.detach(instance)
    elif isinstance(engine, Embedded):
        file = job.get("file")
        place = Place(
            data=Path(job["data"]),
            scratch=Path(job["scratch"]),
            file=None if file is None else Path(file),
            reads_only=job.get("reads_only", False),
        )
        place.data.mkdir(parents=True, exist_ok=True)
        place.scratch.mkdir(parents=True, exist_ok=True)
        instance = engine.start(place, job["settings"])
        yield engine, instance
        engine.stop(instance)
    else:
        raise RunFailedError(
            f"Assay can neither start the engine {job['engine']} nor connect to it"
        )


def _load(channel: Channel, job: dict[str, Any]) -> None:
    """Create tables, load them from the row generator, and report rows and checksums."""
    with _instance(job) as (engine, instance):
        _fill(channel, job, engine, instance)


def _fill(channel: Channel, job: dict[str, Any], engine: Engine, instance: Instance) -> None:
    def tell(phase: str, done: float, expected: float | None, unit: str) -> None:
        channel.send("amount", phase=phase, done=done, expected=expected, unit=unit)

    # Only a job that loads needs the libraries of tables.
    from assay.running.data.filling import fill

    filled = fill(engine, instance, job["filling"], tell)
    channel.send("loaded", **filled.facts())


def _change(channel: Channel, job: dict[str, Any]) -> None:
    """Change tables of a running server, and undo that on request or when the run is gone."""
    from assay.running.server.changed_tables import serve_changes

    with _instance(job) as (engine, instance):
        serve_changes(channel, job, engine, instance)


def _change_file(channel: Channel, job: dict[str, Any]) -> None:
    """Change tables of a database file; the run's journal reverts the changes."""
    from assay.running.server.changed_file import serve_file_changes

    serve_file_changes(channel, job, Path(job["file"]))


def _prepare(channel: Channel, job: dict[str, Any]) -> None:
    """Run SQL files on the loaded data, and report their seconds."""
    with _instance(job) as (engine, instance):
        if not isinstance(engine, Prepares):
            raise RunFailedError(
                f"--prepare is not possible: the engine {job['engine']} does not execute SQL"
            )
        prepared = []
        for number, (name, sql) in enumerate(job["files"].items()):
            channel.send("amount", done=number, expected=len(job["files"]), unit="files")
            begun_s = time.monotonic()
            try:
                engine.prepare(instance, sql)
                engine.settle(instance)
            except AssayError as error:
                raise RunFailedError(
                    f"--prepare {name}: {error}\nCorrect the file, or leave it out; the stored "
                    "data set is unchanged."
                ) from error
            prepared.append({"file": name, "seconds": time.monotonic() - begun_s})
    channel.send("prepared", files=prepared)


def _reference(channel: Channel, job: dict[str, Any]) -> None:
    """Compute the expected rows of the run's queries, and report them."""
    # The reference engine's libraries are large, and would be in the memory of every host.
    from assay.running.reference.making import ReferenceMaking

    reported_at_s = 0.0

    def tell(phase: str, done: float, expected: float | None, unit: str) -> None:
        nonlocal reported_at_s
        if done == expected or time.monotonic() - reported_at_s >= PROGRESS_INTERVAL_S:
            reported_at_s = time.monotonic()
            channel.send("amount", phase=phase, done=done, expected=expected, unit=unit)

    channel.send("made", facts=ReferenceMaking(job, tell).make())


def _drive(channel: Channel, job: dict[str, Any]) -> None:
    """Start the engine, wait for the signal, execute the load plan, and report the counts.

    If the run starts in state `loaded` with an embedded engine, the engine is filled here first. If
    plans are requested, it then waits for a message, and reports when the plans are captured. If
    only plans are requested, the load is not executed.
    """
    if job["cpus"]:
        os.sched_setaffinity(0, job["cpus"])
    begun_s = time.monotonic()
    with _instance(job) as (engine, instance):
        started_s = time.monotonic() - begun_s
        if job["filling"] is not None:
            _fill(channel, job, engine, instance)
        cached = _cached(engine, instance) if job["looks_into_cache"] else None
        settings = engine.effective_settings(instance)
        if job["tried"] is not None:
            trials = [[PlayedStatement(**facts) for facts in some] for some in job["tried"]]
            preflight(trials, engine, instance)
        script = Script.read(job["script"])
        sessions = [] if job["plans_only"] else _sessions(job, engine, instance, script)
        channel.send("ready", effective_settings=settings, engine_cache=cached, started_s=started_s)
        if job["plans_only"]:
            messages = _OwnerMessages(channel)
            planned = _captured(channel, job, engine, instance, script, NOTHING_DRIVEN, messages)
            channel.send("planned", **planned)
            return
        go = channel.receive()
        if go is None or go["kind"] != "go":
            return
        messages, probes = _OwnerMessages(channel), dict[str, Any]()
        with _thread_of_ours(), _observed(job, engine, instance, probes):
            played = _played(channel, job, engine, instance, sessions, messages)
        del sessions
        report = played["report"]
        last = "driven", {**played, "probes": probes}
        if job["plans"] and isinstance(engine, HasPlans):
            channel.send(last[0], **last[1])
            last = "planned", _captured(channel, job, engine, instance, script, report, messages)
    channel.send(last[0], **last[1])


def _sessions(
    job: dict[str, Any], engine: Engine, instance: Instance, script: Script
) -> list[object]:
    """Return all sessions of the load plan, or this host's share of them."""
    seed = job["plan"]["seed"]
    if job["share"] is None:
        return engine.sessions(instance, script, seed, job["clients"])
    if not isinstance(engine, SharesSessions):
        raise RunFailedError(f"engine {job['engine']} cannot be driven by several hosts")
    return engine.share_of_sessions(instance, script, seed, range(*job["share"]))


def _cached(engine: Engine, instance: Instance) -> list[dict[str, Any]] | None:
    """Return the tables in the engine's own cache; None if the engine hides it."""
    if not isinstance(engine, TellsCached):
        return None
    try:
        return [asdict(entry) for entry in engine.cached(instance)]
    except AssayError as error:
        log.warning("the contents of the engine's cache are unknown: %s", error)
        return None


def _captured(
    channel: Channel,
    job: dict[str, Any],
    engine: Engine,
    instance: Instance,
    script: Script,
    report: dict[str, Any],
    messages: _OwnerMessages,
) -> dict[str, Any]:
    """Return the plans of all operations, or the reason why there are none."""
    if messages.next() != "plan":
        return {"error": "the run ended before"}
    if not isinstance(engine, HasPlans):
        return {"error": "this engine reports no plans"}

    def tell(done: int, expected: int) -> None:
        channel.send("amount", phase="plans", done=done, expected=expected, unit="operations")

    try:
        reader = engine.plan_reader(instance)
    except AssayError as error:
        return {"error": str(error)}
    try:
        if refusal := _not_assumed(reader, job["hypothetical_indexes"]):
            return {"error": refusal}
        seed = job["plan"]["seed"]
        # The inputs are those of the first session, so these executions really happened.
        player = _core.Player(json.dumps(script.facts()), seed, 0)
        raw_dir = Path(job["raw_dir"])
        capture = Capture(engine, reader, raw_dir, seed, player, job["schema"])
        own_s = job["plan"]["operation_deadline_ns"] / NS_PER_S
        deadline_s = own_s if job["plans_executed"] else None
        chosen = replace(script, operations=script.operations[: job["explained"]])
        alternatives = not job["plans_only"]
        capture.all(chosen, timed_seconds(report), deadline_s, tell, alternatives=alternatives)
    finally:
        reader.close()
    return {"error": None}


def _not_assumed(reader: PlanReader, indexes: Sequence[str]) -> str | None:
    """Let the optimiser assume that indexes exist; return the reason if this is not possible."""
    if not indexes:
        return None
    if not isinstance(reader, AssumesIndexes):
        return "this engine has no hypothetical indexes"
    try:
        reader.assume_indexes(indexes)
    except AssayError as error:
        return str(error)
    return None


def _played(
    channel: Channel,
    job: dict[str, Any],
    engine: Engine,
    instance: Instance,
    sessions: list[object],
    messages: _OwnerMessages,
) -> dict[str, Any]:
    """Return the driver's report after executing the load plan, and facts of query mixes."""
    with ExitStack() as opened:
        mixes, observer = None, None
        phases = job["plan"]["phases"]
        if any(phase.get("in_order") for phase in phases):
            mixes = opened.enter_context(Mixes(Path(job["raw_dir"]), phases, job["reads_of"]))
        serial = all(map(_is_serial, phases))
        if serial and job["counters"] and isinstance(engine, HasCounters):
            anew = partial(engine.counters, instance) if isinstance(engine, Restarts) else None
            raw_dir = Path(job["raw_dir"])
            counters = operation_counters(engine.counters(instance), raw_dir, anew)
            observer = opened.enter_context(counters).read
        report = _core.drive(
            json.dumps(job["plan"]),
            sessions,
            job["raw_dir"],
            messages.cancel,
            _teller(channel, mixes),
            [os.getpid()] if job["metered"] == METERED_HOST else job["metered"],
            observer,
            job["device_stat"],
            None if mixes is None else mixes.heard,
            0 if job["share"] is None else job["share"][0],
            None if job["share"] is None else partial(_begins_ns, channel, messages),
        )
        mix_facts = None if mixes is None else mixes.facts()
    return {"report": json.loads(report), "mixes": mix_facts}


def _begins_ns(channel: Channel, messages: _OwnerMessages, phase: str) -> int | None:
    """Return the time in ns at which all hosts begin a phase; None if it never begins."""
    channel.send("gate", phase=phase)
    return messages.next_begin()


def _teller(channel: Channel, mixes: Mixes | None) -> Callable[[str, int, int], None]:
    """Return a function that reports the driver's progress to the run."""
    last_told_s, last_phase = 0.0, ""

    def tick(phase: str, ended: int, phase_ns: int) -> None:
        nonlocal last_told_s, last_phase
        now_s = time.monotonic()
        if phase != last_phase or now_s - last_told_s >= PROGRESS_INTERVAL_S:
            last_told_s, last_phase = now_s, phase
            begun_s = now_s - phase_ns / NS_PER_S
            played = None if mixes is None else mixes.ended
            channel.send("progress", phase=phase, ended=ended, begun_s=begun_s, mixes=played)

    return tick


def _is_serial(phase: dict[str, Any]) -> bool:
    """Return True if a phase's operations run one after another."""
    arrival = phase["arrival"]
    return arrival["shape"] == "power" or bool(phase.get("in_order") and arrival["clients"] == 1)


@contextmanager
def _observed(
    job: dict[str, Any], engine: Engine, instance: Instance, probe_facts: dict[str, Any]
) -> Iterator[None]:
    """Read an embedded engine's counters during the load, from within its process."""
    if job["probed_s"] is None or not isinstance(engine, HasCounters):
        yield
        return
    reader = engine.counters(instance)
    target = Target(Path(job["raw_dir"]), job["probed_s"], followed=(), counters=reader)
    try:
        with observed([EngineProbe()], target, probe_facts):
            yield
    finally:
        reader.close()


@contextmanager
def _thread_of_ours() -> Iterator[None]:
    """Name this thread as Assay's, so that samples of the engine leave it out.

    These threads report progress and read counters. The engine's work runs in threads of sessions,
    which the driver names.
    """
    name = Path("/proc/thread-self/comm")
    before = name.read_text()
    name.write_text(OWN_THREAD)
    try:
        yield
    finally:
        name.write_text(before)


class _OwnerMessages:
    """Messages from the run that arrive while the driver executes the load.

    'plan' requests plans, 'begin' has the start time of a phase that other hosts share. Any other
    message, and the end of the channel, request the end of the run.
    """

    def __init__(self, channel: Channel) -> None:
        self.cancel = _core.CancelFlag()
        self._channel = channel
        self._heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._begins: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        threading.Thread(target=self._hear, daemon=True).start()

    def next(self) -> str:
        """Wait for the next message from the run, and return its kind."""
        return self._heard.get()

    def next_begin(self) -> int | None:
        """Wait for the start time in ns of the next phase; None if the run ends."""
        return self._begins.get()

    def _hear(self) -> None:
        while (message := self._channel.receive()) is not None and message["kind"] == "begin":
            self._begins.put(message["at_ns"])
        word = "end" if message is None else str(message["kind"])
        if word != "plan":
            self.cancel.cancel()
        self._begins.put(None)
        self._heard.put(word)


if __name__ == "__main__":
    sys.exit(main())
