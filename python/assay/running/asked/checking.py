"""Refuses requests that could only fail later, after data was loaded."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from assay import _core
from assay.engines.checking import OpensFiles
from assay.engines.contract import (
    Bridged,
    Engine,
    HasSessionSettings,
    LimitsConnections,
    Server,
)
from assay.engines.discovery import EngineFolder, find_engine, find_engines
from assay.engines.loading import Prepares
from assay.model.errors import UsageError, suggestion
from assay.model.units import whole_number
from assay.probes.contract import Refusing
from assay.probes.discovery import find_probes
from assay.running.asked.asked_run import language_asked
from assay.running.asked.driver_plan import plan_sessions
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
    from assay.running.asked.asked_run import Asked
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

# Connections beside the sessions of clients: for administration, counters and lock waits.
OWN_CONNECTIONS = 3
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


def check_connections(asked: Asked) -> None:
    """Refuse more clients than a server that Assay starts accepts connections.

    Raises:
        UsageError: If there are too many. The error message has the setting with the limit.
    """
    if asked.request.dsn is not None or not isinstance(asked.behaviour, LimitsConnections):
        return
    name, value = asked.behaviour.connections_limit(asked.request.engine_settings)
    # The server's own program refuses a value that is not a number.
    limit, sessions = whole_number(value), plan_sessions(asked.plan)
    needed = sessions + OWN_CONNECTIONS
    if limit is not None and needed > limit:
        raise UsageError(
            f"the run has {sessions:,} client{'s' * (sessions > 1)}, and Assay needs "
            f"{OWN_CONNECTIONS} connections more, but {asked.engine.facts.title} accepts only "
            f"{limit:,} ({name}): add --set {name}={needed}, or use fewer clients"
        )


def _check_dsn_and_pin(
    request: RunRequest, workload: Workload, behaviour: Engine, language: Language
) -> None:
    """Refuse combinations of `--dsn` and `--pin` that would fail only after loading."""
    _check_tables(workload, workload.tables(language), request.scale, 0)
    server = isinstance(behaviour, Server)
    opens_files = isinstance(behaviour, OpensFiles)
    if request.dsn is not None and not (server or opens_files):
        raise UsageError(f"--dsn: the engine {request.engine} is not a server: remove --engine")
    if request.dsn is not None and opens_files:
        _check_file(request.dsn, workload, request.engine)
    if (
        request.dsn is not None
        and request.settings
        and not isinstance(behaviour, HasSessionSettings | OpensFiles)
    ):
        raise UsageError(
            f"--set needs a server that Assay starts: {request.engine} has no session settings,"
            " and Assay "
            "does not change the settings of a running server"
        )
    if "engine" in request.pin and (request.dsn is not None or not server):
        why = "Assay does not pin running servers" if server else "it runs in the client's process"
        raise UsageError(f"--pin engine: {why}; pin the client only")
    allowed = os.sched_getaffinity(0)
    if strange := sorted({cpu for cpus in request.pin.values() for cpu in cpus} - allowed):
        raise UsageError(
            f"--pin: CPU {', '.join(map(str, strange))} does not exist or is not available to "
            f"Assay; available CPUs: {', '.join(map(str, sorted(allowed)))}"
        )


def _check_file(dsn: str, workload: Workload, engine: str) -> None:
    """Refuse a DSN that is not a database file of the engine, and loading into a user's file."""
    schemes = find_engine(engine).facts.schemes
    if not any(dsn.startswith(f"{scheme}:") for scheme in schemes):
        raise UsageError(
            f"--dsn: the engine {engine} is not a server: write {schemes[0]}:FILE, or remove "
            "--engine"
        )
    if workload.makes_data:
        raise UsageError(
            f"--dsn {dsn}: the workload {workload.facts.name} creates tables, and Assay creates "
            "no tables in your database file: remove --dsn, or name a folder of .sql files "
            "that query the file's own tables"
        )


def _check_drivers(request: RunRequest, behaviour: Engine) -> None:
    if request.drivers and not isinstance(behaviour, Bridged):
        raise UsageError(
            f"--driver: Assay does not connect to {request.engine} by JDBC: remove --driver, or "
            "use --engine jdbc"
        )


def _check_state(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse requested cache states that cannot be produced."""
    if request.state == STATE_HOT:
        return
    if request.dsn is not None:
        why = (
            "what a running server has in memory beside our tables is its owner's, and not known"
            if request.state == STATE_LOADED
            else "a running server and its files are its owner's, who alone may restart it"
        )
        raise UsageError(f"--state {request.state}: {why}. Remove --state or --dsn")
    if engine.facts.kind == "none":
        raise UsageError(
            f"--state {request.state}: {request.engine} stores no data: remove --state"
        )
    if request.state == STATE_LOADED:
        _check_loaded(request, workload)


def _check_loaded(request: RunRequest, workload: Workload) -> None:
    if not workload.makes_data:
        raise UsageError(
            f"--state loaded: the workload {workload.facts.name} loads no data: remove --state"
        )
    if request.prepare:
        raise UsageError(
            "--state loaded needs the first query directly after loading, and --prepare "
            "changes the data between the two: remove one of the two options"
        )


def _check_probes(request: RunRequest) -> None:
    probes = find_probes()
    names = [probe.name for probe in probes if not isinstance(probe, Refusing)]
    for name in request.probes or ():
        if any(name == probe.name and isinstance(probe, Refusing) for probe in probes):
            raise UsageError(
                f"--probes {name}: the option --{name} starts this probe: use --{name} instead"
            )
        if name not in names:
            raise UsageError(f"--probes: unknown probe {name!r}; {suggestion(name, names)}")


def _check_programs(request: RunRequest, engine: EngineFolder) -> None:
    """Refuse options on a private server if the run has none."""
    if request.keep_data and request.dsn is None:
        raise UsageError(
            "--keep-data needs --dsn: Assay keeps the data of private engines anyway. Remove "
            "--keep-data"
        )
    if request.bin_dir is not None and request.dsn is not None:
        raise UsageError(
            "--bin-dir applies to servers that Assay starts, and --dsn names a running server: "
            "remove one of the two"
        )
    if request.bin_dir is not None and not engine.facts.products:
        raise UsageError(
            f"--bin-dir: {request.engine} has no server programs: remove --bin-dir, or name a "
            "server with --engine"
        )


def _check_prepare(request: RunRequest, workload: Workload, behaviour: Engine) -> None:
    if not request.prepare:
        return
    if not isinstance(behaviour, Prepares):
        raise UsageError(f"--prepare: {request.engine} does not execute SQL: remove --prepare")
    if request.keep_data:
        raise UsageError(
            "--prepare changes the tables, and --keep-data leaves them for later runs, which "
            "expect unchanged tables: remove one of the two"
        )
    if request.dsn is not None and not workload.makes_data:
        raise UsageError(
            f"--prepare changes tables that Assay created, and {workload.facts.name} reads "
            "existing tables of the running server: change these yourself, or remove --prepare"
        )


def _check_tables(workload: Workload, tables: Iterable[str], scale: float, sets: int) -> None:
    """Refuse tables whose rows cannot be generated."""
    facts = workload.row_facts(scale, sets)
    for table in tables:
        table_rows(facts, table, 1)


def _check_test(request: RunRequest, workload: Workload) -> None:
    """Refuse a TPC-H test that the workload does not support, or that would change kept data."""
    test = specified(request, workload)
    if test is None or test.refresh is None:
        return
    most = refresh_sets_max(request.scale)
    if test.refresh.sets > most:
        raise UsageError(
            f"--test {test.kind} uses {test.refresh.sets} refresh sets, and scale "
            f"{request.scale:g} has {most} at most: use --streams "
            f"{streams_max(test.kind, most)} at most, or --no-refresh"
        )
    facts = workload.facts
    tables = facts.refresh.tables if facts.refresh is not None else ()
    _check_tables(workload, tables, request.scale, test.refresh.sets)
    if request.keep_data:
        raise UsageError(
            "the refresh functions of --test change the tables, and --keep-data leaves them "
            "for later runs, which expect unchanged tables: remove --keep-data, or add "
            "--no-refresh"
        )


def _check_transactions(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse transactions on an engine that does not support them."""
    if engine.facts.transactions:
        return
    test = specified(request, workload)
    if test is not None and test.refresh is not None:
        raise UsageError(
            f"--test {test.kind}: refresh functions are transactions, and {engine.facts.title} "
            "has no transactions: add --no-refresh"
        )
    dialects = engine.facts.dialects_of(language_asked(request, workload, engine))
    script = workload.script(dialects, request.scale, request.seed)
    for operation in script.operations:
        if any(BEGINS.match(statement.text) for statement in operation.statements):
            raise UsageError(
                f"the operation {operation.name} of {workload.facts.title} is a transaction, "
                f"and {engine.facts.title} has no transactions: choose another engine"
            )


def _check_clients(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse a number of clients that the workload or the engine's sessions do not support."""
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
            f"operations of {name} are programs that read result rows, and Assay cannot run "
            f"such programs on {request.engine}: choose one of {able} with --engine"
        )
    _check_receipt(workload)
    if request.think_time and not workload.waits:
        raise UsageError(
            f"--think-time: the workload {name} declares no think times: remove --think-time"
        )
    if request.think_time and request.rate_per_s is not None:
        raise UsageError(
            "--think-time and --rate: think times determine the rate, so remove one of the two"
        )
    if request.statements is not None and not engine.facts.prepares:
        raise UsageError(
            f"--statements: Assay sends statements to {request.engine} in one way only: remove "
            "--statements"
        )
    if request.rate_per_s is not None and request.rate_per_s * request.time_s < 1:
        raise UsageError(
            f"--rate {request.rate_per_s:g}: no operation is due within {request.time_s:g} s: "
            "measure longer with --time, or raise the rate"
        )
    if request.pipeline and not engine.facts.pipelines:
        raise UsageError(
            f"--pipeline: a connection to {request.engine} waits for each answer: remove --pipeline"
        )


def _reads_rows(workload: str, program: str) -> bool:
    try:
        return _core.program_reads_rows(program)
    except ValueError as error:
        raise UsageError(f"{workload}: {error}") from None


def _check_receipt(workload: Workload) -> None:
    """Refuse names of receipts (acknowledged writes) that the operation's program lacks."""
    receipt = workload.facts.receipt
    if receipt is None:
        return
    program = workload.facts.operations[receipt.operation].program
    assert program is not None  # noqa: S101 - the manifest was refused without
    names = _core.program_receipt(program)
    if list(receipt.names) != names:
        listed = ", ".join(names) or "none"
        raise UsageError(
            f"{workload.facts.name}: receipt.names must list the names of the program {program} "
            f"in its order: {listed}"
        )
