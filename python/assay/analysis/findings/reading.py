"""Reads all facts that findings need from a record, and combines them into a `Case`."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.composite.played import played
from assay.analysis.counters.engine_counters import around, declared
from assay.analysis.counters.program_counts import program_counts
from assay.analysis.data_size import data_bytes
from assay.analysis.findings.case import Case
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.host.disk_use import disk_use_of
from assay.analysis.host.limits import limits_used
from assay.analysis.host.neighbours import neighbours_of
from assay.analysis.host.task_counters import executions
from assay.analysis.load.attempts import failed_attempts
from assay.analysis.operations import NS, window_of
from assay.analysis.plans.aliases import by_table
from assay.analysis.plans.recorded import captured
from assay.analysis.profile.samples import read_profile
from assay.analysis.server.beside import (
    client_queue_share,
    other_clients_cpu,
    runnable_threads,
)
from assay.analysis.server.blockers import blockers_of
from assay.analysis.server.other_work import other_work_of
from assay.analysis.server.session_states import session_states
from assay.analysis.time.where import why_unknown
from assay.model.errors import RecordUnreadableError, UsageError
from assay.model.limit import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.analysis.host.accounts import Accounts
    from assay.analysis.host.limits import LimitUse
    from assay.analysis.load.summary import LoadSummary
    from assay.analysis.plans.recorded import Captured
    from assay.analysis.profile.profile import Profile
    from assay.analysis.summary import OperationSummary
    from assay.model.catalogue import Alternative
    from assay.record.reader import Run

log = logging.getLogger(__name__)

# Source of engine counters whose objects are tables, with the counters of `TableFacts`.
TABLES = "tables"
YES_OR_NO = ("analyzed", "alterable")
# Sources of engine counters whose objects are functions and triggers, with `calls` and `seconds`.
FUNCTIONS, TRIGGERS = "functions", "triggers"


def read_case(
    run: Run,
    operations: tuple[OperationSummary, ...],
    *,
    load: LoadSummary | None,
    used: Accounts | None,
    counted: dict[str, Any] | None,
    cores: int | None,
    pinned: Mapping[str, int],
) -> Case:
    """Return the input of a run's findings, from its record and its summary of operations."""
    engine = run.facts.get("engine", {})
    plans, profile, prepared = captured(run), _profile(run), is_prepared(run)
    tables, ran = _tables(run), _executions(run)
    return Case(
        run_id=run.id,
        operations=operations,
        cores=cores,
        accounts=used,
        load=load,
        pinned=pinned,
        counters=counted,
        settings=run.environment.get("engine", {}).get("settings") or {},
        advice=engine.get("advice") or {},
        plans=by_table(plans.expanded, {*map(_bare, tables), *plans.table_names}),
        profile=profile,
        statements=_statements(run),
        results={op.name: columns for op in operations if (columns := _columns(run, op.name))},
        tables=tables,
        executions=ran,
        throttled_share=_throttled_share(run),
        memory_limit=_memory_limit(run),
        environment=run.environment,
        state=(run.facts.get("state") or {}).get("asked"),
        test=played(run),
        knobs=(engine.get("knobs") or {}).get("knobs") or {},
        request=run.facts.get("request", {}),
        prepared=prepared and not replans(run),
        can_prepare=not prepared and can_prepare(run),
        can_pipeline=can_pipeline(run),
        replans=replans(run),
        look_interval_s=_look_interval_s(run),
        functions=program_counts(run, FUNCTIONS, ran),
        triggers=program_counts(run, TRIGGERS, ran),
        other_clients=other_clients_cpu(run),
        session_states=session_states(run),
        unsplit=why_unknown(run),
        runnable_threads=runnable_threads(run),
        client_queue_share=client_queue_share(run),
        **_catalogue(plans),
        counted_apart=_counted_apart(run),
        attempts=failed_attempts(run),
        blockers=blockers_of(run),
        workers=other_work_of(run),
        neighbours=neighbours_of(run),
        disk=disk_use_of(run),
        data_bytes=data_bytes(run),
        own_tables=bool((run.facts.get("workload") or {}).get("own_tables")),
        is_pooled=bool(run.facts.get("pooled")),
    )


def _catalogue(plans: Captured) -> dict[str, Any]:
    """Return what was captured beside the plans, as arguments of `Case`."""
    return {
        "indexes": plans.indexes,
        "foreign_keys": plans.foreign_keys or (),
        "trigger_texts": plans.trigger_texts,
        "partition_keys": plans.partition_keys,
        "notifiers": plans.notifiers,
        "statistics": plans.statistics or (),
        "column_types": _in_lower_case(plans.tables),
        "collations": plans.collations,
        "grammar": plans.grammar,
        "changed_settings": plans.changed_settings,
        "extensions": plans.extensions,
        "alternatives": _by_operation(plans.alternatives),
        "kept_rows": plans.kept_rows,
        "written_rows": plans.written_rows,
    }


def _bare(table: str) -> str:
    """Return a table's name without its schema, since statements use aliases for it."""
    return table.rpartition(".")[2]


def _counted_apart(run: Run) -> frozenset[str]:
    """Return the counters from which the counts of Assay's own session were subtracted."""
    facts = run.facts.get("engine", {}).get("counters")
    try:
        shown = declared(facts)[0] if facts else []
    except ValueError:  # Told where the counters are read.
        return frozenset()
    own = {figure.name: figure.less for figure in shown if figure.less}
    if not own or not run.has("engine"):
        return frozenset()
    sources = set(run.table("engine")["source"].cast(pl.String).unique())
    return frozenset(name for name, source in own.items() if source in sources)


def _in_lower_case(tables: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {
        table.lower(): {column.lower(): declared for column, declared in columns.items()}
        for table, columns in tables.items()
    }


def is_prepared(run: Run) -> bool:
    """Return True if the record says that statements were prepared once per session."""
    return bool((run.facts.get("script") or {}).get("prepared"))


def can_prepare(run: Run) -> bool:
    """Return True if the run could have saved planning by preparing its statements."""
    prepares = run.facts["engine"].get("prepares", False) and not replans(run)
    return bool(prepares and not run.facts.get("pooled") and not run.facts.get("test"))


def can_pipeline(run: Run) -> bool:
    """Return True if clients waited for answers that they did not need to send statements."""
    request = run.facts.get("request", {})
    pipelines = run.facts["engine"].get("pipelines", False) and not run.facts.get("test")
    return bool(pipelines and request.get("clients") and not request.get("pipeline"))


def replans(run: Run) -> bool:
    """Return True if the engine plans a prepared statement again at each execution."""
    return bool(run.facts["engine"].get("replans"))


def _look_interval_s(run: Run) -> float | None:
    if not run.has("waits"):
        return None
    gap_ns = run.table("waits")["time_ns"].unique().sort().diff().median()
    return gap_ns * NS if isinstance(gap_ns, float) else None


def _by_operation(alternatives: Iterable[Alternative]) -> dict[str, tuple[Alternative, ...]]:
    by_operation: dict[str, tuple[Alternative, ...]] = {}
    for alternative in alternatives:
        name = alternative.operation
        by_operation[name] = (*by_operation.get(name, ()), alternative)
    return by_operation


def _profile(run: Run) -> Profile | None:
    try:
        return read_profile(run)
    except (UsageError, RecordUnreadableError) as error:
        log.warning("the kinds of work of run %s are not known: %s", run.id, error)
        return None


def _statements(run: Run) -> dict[str, str]:
    statements = run.facts.get("statements") or {}
    return {
        name: statement["text"] for name, statement in statements.items() if statement.get("text")
    }


def _columns(run: Run, operation: str) -> tuple[str, ...]:
    """Return the column names of a stored result; empty without one, or if it cannot be read."""
    import pyarrow as pa

    for _, path in run.results(operation):
        try:
            with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
                return tuple(reader.schema.names)
        except (pa.ArrowException, OSError) as error:
            log.warning("%s cannot be read: %s", path, error)
    return ()


def _executions(run: Run) -> pl.DataFrame:
    events = run.table("events")
    tasks = run.table("tasks") if run.has("tasks") else None
    return executions(events, tasks)


def _tables(run: Run) -> dict[str, TableFacts]:
    window = window_of(run)
    if window is None or not run.has("engine"):
        return {}
    return table_facts(run.table("engine"), window[1])


def table_facts(readings: pl.DataFrame, ended_ns: int) -> dict[str, TableFacts]:
    """Return the facts of each table at the last reading up to a time, else at the first one."""
    rows = readings.with_columns(pl.col("source", "object", "counter").cast(pl.String)).filter(
        pl.col("source") == TABLES
    )
    if rows.is_empty():
        return {}
    before = rows.filter(pl.col("time_ns") <= ended_ns)
    at = rows["time_ns"].min() if before.is_empty() else before["time_ns"].max()
    tables: dict[str, dict[str, Any]] = {}
    names = {field.name for field in fields(TableFacts)}
    last = rows.filter((pl.col("time_ns") == at) & pl.col("counter").is_in(sorted(names)))
    for table, counter, value in last.select("object", "counter", "value").iter_rows():
        tables.setdefault(table, {})[counter] = bool(value) if counter in YES_OR_NO else value
    return {table: TableFacts(**facts) for table, facts in tables.items()}


def _memory_limit(run: Run) -> LimitUse | None:
    """Return the run's limit of memory with its use; None without one."""
    limits = limits_used(run)
    uses = () if limits is None else limits.uses
    return next((use for use in uses if use.name == MEMORY), None)


def _throttled_share(run: Run) -> float | None:
    """Return the share of CPU limit periods in which the engine was throttled; None if unknown."""
    window = window_of(run)
    if window is None or not run.has("cgroup"):
        return None
    readings = around(run.table("cgroup"), *window)
    if readings.is_empty():
        return None
    counts = ("periods", "throttled_periods")
    grown = [pl.col(name).max() - pl.col(name).min() for name in counts]
    periods, throttled = (
        readings.group_by("pid", maintain_order=True).agg(grown).select(counts).sum().row(0)
    )
    return throttled / periods if periods else None
