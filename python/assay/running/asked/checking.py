"""Refuses requests that could only fail later, after data was loaded."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from assay import _core
from assay.engines.checking import OpensFiles
from assay.engines.contract import Bridged, Engine, HasSessionSettings, Server
from assay.engines.discovery import EngineFolder, find_engine, find_engines
from assay.engines.loading import Prepares
from assay.model.errors import UsageError, suggestion
from assay.probes.contract import Refusing
from assay.probes.discovery import find_probes
from assay.running.asked.asked_run import language_asked
from assay.running.asked.order import check_order
from assay.running.asked.parsing import STATE_HOT, STATE_LOADED
from assay.running.asked.specified import specified, streams_max
from assay.running.changes.asking import check_conditions
from assay.running.fleet.asked import check_fleet
from assay.running.host.slowing import check_slow
from assay.running.server.faults import check_faults
from assay.workloads.generate import refresh_sets_max, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.language import Language
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

# Matches a statement that begins a transaction, after comments.
BEGINS = re.compile(r"(?i)(?:\s|--[^\n]*\n)*(?:begin|start\s+transaction)\b")


def check_request(
    request: RunRequest,
    workload: Workload,
    engine: EngineFolder,
    behaviour: Engine,
    language: Language,
) -> None:
    """Refuse a request that contradicts itself, the workload, the engine or the host.

    Raises:
        UsageError: If options contradict each other. The error message says what to use instead.
    """
    _check_dsn_and_pin(request, workload, behaviour, language)
    _check_programs(request, engine)
    _check_drivers(request, behaviour)
    _check_state(request, workload, engine)
    check_order(request, workload, engine.facts.kind)
    check_faults(request, workload)
    check_fleet(request, workload, behaviour)
    check_conditions(request, engine.facts.kind)
    check_slow(request, engine.facts.kind)
    _check_probes(request)
    _check_prepare(request, workload, behaviour)
    _check_test(request, workload)
    _check_transactions(request, workload, engine)
    _check_clients(request, workload, engine)


def _check_dsn_and_pin(
    request: RunRequest, workload: Workload, behaviour: Engine, language: Language
) -> None:
    """Refuse combinations of `--dsn` and `--pin` that would fail only after data were loaded."""
    _check_tables(workload, workload.tables(language), request.scale, 0)
    server = isinstance(behaviour, Server)
    opens_files = isinstance(behaviour, OpensFiles)
    if request.dsn is not None and not (server or opens_files):
        raise UsageError(f"--dsn: {request.engine} is no server; leave --engine out")
    if request.dsn is not None and opens_files:
        _check_file(request.dsn, workload, request.engine)
    if (
        request.dsn is not None
        and request.settings
        and not isinstance(behaviour, HasSessionSettings | OpensFiles)
    ):
        raise UsageError(
            f"--set needs a private server: sessions of {request.engine} have no settings,"
            " and a running server has its owner's"
        )
    if "engine" in request.pin and (request.dsn is not None or not server):
        who = "a running server is not ours to move" if server else "it shares the driver's process"
        raise UsageError(f"--pin engine: {who}; pin the client only")
    allowed = os.sched_getaffinity(0)
    if strange := sorted({cpu for cpus in request.pin.values() for cpu in cpus} - allowed):
        raise UsageError(
            f"--pin: CPU {', '.join(map(str, strange))} is not there or not ours; there are"
            f" {', '.join(map(str, sorted(allowed)))}"
        )


def _check_file(dsn: str, workload: Workload, engine: str) -> None:
    """Refuse a DSN that is not a file of the engine, and loading data into a user's file."""
    schemes = find_engine(engine).facts.schemes
    if not any(dsn.startswith(f"{scheme}:") for scheme in schemes):
        raise UsageError(
            f"--dsn: {engine} is no server; write {schemes[0]}:FILE, or leave --engine out"
        )
    if workload.makes_data:
        raise UsageError(
            f"--dsn {dsn}: {workload.facts.name} makes tables, which are not made in a file of"
            " yours: leave --dsn out, or name a folder of .sql files that asks its tables"
        )


def _check_drivers(request: RunRequest, behaviour: Engine) -> None:
    if request.drivers and not isinstance(behaviour, Bridged):
        raise UsageError(
            f"--driver: {request.engine} is not reached by a JDBC driver; leave it out, or say"
            " --engine jdbc"
        )


def _check_state(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse starting states that cannot be produced."""
    if request.state == STATE_HOT:
        return
    if request.dsn is not None:
        why = (
            "what a running server has in memory beside our tables is its owner's, and not known"
            if request.state == STATE_LOADED
            else "a running server and its files are its owner's, who alone may restart it"
        )
        raise UsageError(f"--state {request.state}: {why}. Leave one of --state and --dsn out")
    if engine.facts.kind == "none":
        raise UsageError(f"--state {request.state}: {request.engine} keeps no data; leave it out")
    if request.state == STATE_LOADED:
        _check_loaded(request, workload)


def _check_loaded(request: RunRequest, workload: Workload) -> None:
    if not workload.makes_data:
        raise UsageError(f"--state loaded: {workload.facts.name} loads nothing; leave it out")
    if request.prepare:
        raise UsageError(
            "--state loaded and --prepare: what changes the data comes between loading and the"
            " first query; leave one of the two out"
        )


def _check_probes(request: RunRequest) -> None:
    probes = find_probes()
    names = [probe.name for probe in probes if not isinstance(probe, Refusing)]
    for name in request.probes or ():
        if any(name == probe.name and isinstance(probe, Refusing) for probe in probes):
            raise UsageError(f"--probes {name}: this probe runs with --{name}; use that option")
        if name not in names:
            raise UsageError(f"--probes: unknown probe {name!r}; {suggestion(name, names)}")


def _check_programs(request: RunRequest, engine: EngineFolder) -> None:
    """Refuse options about a private server's programs and directories without such a server."""
    if request.keep_data and request.dsn is None:
        raise UsageError(
            "--keep-data needs --dsn: data of private engines are kept anyway. Leave it out"
        )
    if request.bin_dir is not None and request.dsn is not None:
        raise UsageError("--bin-dir: a running server has its programs; leave it or --dsn out")
    if request.bin_dir is not None and not engine.facts.products:
        raise UsageError(
            f"--bin-dir: {request.engine} has no programs of its own; leave it out, or name a"
            " server with --engine"
        )


def _check_prepare(request: RunRequest, workload: Workload, behaviour: Engine) -> None:
    if not request.prepare:
        return
    if not isinstance(behaviour, Prepares):
        raise UsageError(f"--prepare: {request.engine} knows no SQL; leave it out")
    if request.keep_data:
        raise UsageError(
            "--prepare changes the tables, and --keep-data leaves them to runs that want the plain"
            " ones: leave one of the two out"
        )
    if request.dsn is not None and not workload.makes_data:
        raise UsageError(
            f"--prepare changes tables that Assay made, and {workload.facts.name} reads those that"
            " the running server has: change these yourself, or leave it out"
        )


def _check_tables(workload: Workload, tables: Iterable[str], scale: float, sets: int) -> None:
    """Refuse tables whose rows cannot be generated."""
    facts = workload.row_facts(scale, sets)
    for table in tables:
        table_rows(facts, table, 1)


def _check_test(request: RunRequest, workload: Workload) -> None:
    """Refuse a test that the workload does not support, or that would change kept data."""
    test = specified(request, workload)
    if test is None or test.refresh is None:
        return
    most = refresh_sets_max(request.scale)
    if test.refresh.sets > most:
        raise UsageError(
            f"--test {test.kind}: it uses {test.refresh.sets} refresh sets, and at scale"
            f" {request.scale:g} there can be {most}; say --streams {streams_max(test.kind, most)}"
            " at most, or --no-refresh"
        )
    facts = workload.facts
    tables = facts.refresh.tables if facts.refresh is not None else ()
    _check_tables(workload, tables, request.scale, test.refresh.sets)
    if request.keep_data:
        raise UsageError(
            "--test changes the tables by its refresh functions, and --keep-data leaves them to"
            " runs that want the plain ones: leave --keep-data out, or say --no-refresh"
        )


def _check_transactions(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse transactions on an engine without transactions."""
    if engine.facts.transactions:
        return
    test = specified(request, workload)
    if test is not None and test.refresh is not None:
        raise UsageError(
            f"--test {test.kind}: refresh functions are transactions, and {engine.facts.title} has"
            " none: say --no-refresh"
        )
    dialects = engine.facts.dialects_of(language_asked(request, workload, engine))
    script = workload.script(dialects, request.scale, request.seed)
    for operation in script.operations:
        if any(BEGINS.match(statement.text) for statement in operation.statements):
            raise UsageError(
                f"{operation.name} of {workload.facts.title} is a transaction, and"
                f" {engine.facts.title} has none: choose another engine"
            )


def _check_clients(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse clients that the workload or the engine's sessions do not support."""
    name = workload.facts.name
    programs = [
        operation.program for operation in workload.facts.operations.values() if operation.program
    ]
    reading = [program for program in programs if _reads_rows(name, program)]
    if reading and not engine.facts.programs:
        able = ", ".join(
            folder.facts.name for folder in find_engines().values() if folder.facts.programs
        )
        raise UsageError(
            f"{name} is played by programs of the driver that read rows, and the session of"
            f" {request.engine} plays none: choose one of {able} with --engine"
        )
    _check_receipt(workload)
    if request.think_time and not workload.waits:
        raise UsageError(f"--think-time: {name} does not say how long people wait; leave it out")
    if request.think_time and request.rate_per_s is not None:
        raise UsageError(
            "--think-time and --rate: people at terminals make the rate; leave one of the two out"
        )
    if request.statements is not None and not engine.facts.prepares:
        raise UsageError(
            f"--statements: the session of {request.engine} sends statements in one way; leave it"
            " out"
        )
    if request.rate_per_s is not None and request.rate_per_s * request.time_s < 1:
        raise UsageError(
            f"--rate {request.rate_per_s:g}: no operation becomes due within {request.time_s:g} s;"
            " measure longer with --time, or raise the rate"
        )
    if request.pipeline and not engine.facts.pipelines:
        raise UsageError(
            f"--pipeline: the session of {request.engine} waits for each answer; leave it out"
        )


def _reads_rows(workload: str, program: str) -> bool:
    try:
        return _core.program_reads_rows(program)
    except ValueError as error:
        raise UsageError(f"{workload}: {error}") from None


def _check_receipt(workload: Workload) -> None:
    """Refuse receipt names that do not belong to the operation's program."""
    receipt = workload.facts.receipt
    if receipt is None:
        return
    program = workload.facts.operations[receipt.operation].program
    assert program is not None  # noqa: S101 - the manifest was refused without
    names = _core.program_receipt(program)
    if list(receipt.names) != names:
        listed = ", ".join(names) or "none"
        raise UsageError(
            f"{workload.facts.name}: receipt.names are those of {program}, in its order: {listed}"
        )
