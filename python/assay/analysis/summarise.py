"""Summarises one run as plain values, which reports render without computations."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.causes import PARTS
from assay.analysis.cluster.fleet import measured_share
from assay.analysis.cluster.told import Cluster, cluster_of
from assay.analysis.counters.activity import activity_document
from assay.analysis.counters.engine_counters import engine_counters
from assay.analysis.counters.index_work import index_documents
from assay.analysis.findings.discovery import judged_findings
from assay.analysis.findings.reading import read_case
from assay.analysis.host.accounts import Accounts, accounts
from assay.analysis.host.memory import Peak, memory_peaks
from assay.analysis.load.metrics import load_metrics, no_load_metrics
from assay.analysis.load.mixes import mixes_of
from assay.analysis.load.parts import tables_apart
from assay.analysis.load.sequences import sequence_of
from assay.analysis.load.stalls import stalls
from assay.analysis.load.summary import summarise_load
from assay.analysis.load.transactions import transactions
from assay.analysis.load.wasted_work import work_of
from assay.analysis.observed.summarise import summarise_observed
from assay.analysis.operations import operation_table, total_and_mean, window_ns, window_of
from assay.analysis.server.sessions import sessions
from assay.analysis.summary import OperationSummary, Summary
from assay.analysis.time.statement_times import statement_times
from assay.analysis.time.where import where_time_went
from assay.record.layout import KIND_OBSERVED

if TYPE_CHECKING:
    import polars as pl

    from assay.analysis.load.summary import LoadSummary, OperationLoad
    from assay.record.reader import Run

log = logging.getLogger(__name__)


def summarise(run: Run) -> Summary:
    """Return the summary of a run; results of missing streams are None or empty."""
    if run.kind == KIND_OBSERVED:
        used = window_accounts(run)
        counted = _engine_counters(run)
        return summarise_observed(run, used, counted, _cores(run, used), probe_core_share(run))
    events = run.table("events")
    load = summarise_load(run)
    splits, where = where_time_went(run)
    peaks, peak = memory_peaks(run, under_load=load is not None)
    operations = tuple(
        _with_memory(operation, peaks.get(operation.name, Peak()))
        for operation in _operations(run, events, load, splits)
    )
    work = None if load is None else work_of(run)
    sequence = None if load is None else sequence_of(run)
    used = window_accounts(run)
    counted = _engine_counters(run)
    metrics = _metrics(operations, window_ns(events)) | {
        "memory_peak_bytes": peak.rss_bytes,
        "memory_peak_pss_bytes": peak.pss_bytes,
        "engine_memory_bytes": peak.engine_bytes,
    }
    if load is not None:
        metrics |= {"total_seconds": None, "geometric_mean_seconds": None, "passes": None}
    statements, stalled = statement_times(run), stalls(run, counted)
    case = read_case(
        run,
        operations,
        load=load,
        used=used,
        counted=counted,
        cores=_cores(run, used),
        pinned=pinned_cpus(run),
    )
    mixes = mixes_of(run, counted, sequence)
    cluster = _cluster(run)
    case = replace(case, statement_times=statements, stalls=stalled, mixes=mixes, cluster=cluster)
    case = replace(case, fleet_share=measured_share(run))
    if where is not None:
        case = replace(case, where=where.shares)
    judged = judged_findings(case)
    return Summary(
        operations=operations,
        metrics=metrics
        | (
            no_load_metrics()
            if work is None or load is None
            else load_metrics(load, used, work, sequence)
        ),
        findings=judged.findings,
        silenced=judged.silenced,
        time=case.time,
        trees=case.trees,
        unsplit=case.unsplit,
        accounts=used,
        probe_core_share=probe_core_share(run),
        load=load,
        engine_counters=counted,
        sessions=sessions(run),
        where=where,
        statements=statements,
        stalls=stalled,
        transactions=transactions(run, load),
        work=work,
        sequence=sequence,
        mixes=mixes,
        cluster=cluster,
    )


def _cluster(run: Run) -> Cluster | None:
    try:
        return cluster_of(run)
    except ValueError as error:
        log.warning("the nodes of run %s are not known: %s", run.id, error)
        return None


def _engine_counters(run: Run) -> dict[str, Any] | None:
    try:
        counted = engine_counters(run)
        if counted is None:
            return None
        tables = [*counted["tables"], *tables_apart(run)]
        work = index_documents(run)
        return counted | {"tables": tables, "activity": activity_document(run), "index_work": work}
    except ValueError as error:
        log.warning("the engine counters of run %s cannot be read: %s", run.id, error)
        return None


# Several checks of the same run ask for them.
@lru_cache(maxsize=4)
def window_accounts(run: Run) -> Accounts | None:
    """Return the CPU seconds by account in the measured part; None without samples around it."""
    window = window_of(run)
    if window is None or not run.has("cpus") or not run.has("processes"):
        return None
    return accounts(run.table("cpus"), run.table("processes"), *window)


def _operations(
    run: Run,
    events: pl.DataFrame,
    load: LoadSummary | None,
    splits: dict[str, dict[str, Any]],
) -> tuple[OperationSummary, ...]:
    table = operation_table(events)
    total = sum(seconds for seconds in table["seconds"] if seconds is not None)
    titles = run.facts["workload"]["operation_titles"]
    made = [
        _operation(row, splits.get(row["operation"], {}), titles, total)
        for row in table.iter_rows(named=True)
    ]
    if load is None:
        return tuple(made)
    return tuple(_loaded(operation, load.by_name[operation.name]) for operation in made)


def _with_memory(operation: OperationSummary, peak: Peak) -> OperationSummary:
    return replace(
        operation,
        memory_peak_bytes=peak.rss_bytes,
        memory_peak_pss_bytes=peak.pss_bytes,
        engine_memory_bytes=peak.engine_bytes,
    )


def _loaded(operation: OperationSummary, load: OperationLoad) -> OperationSummary:
    """Return an operation's summary with the rates and latencies of a load."""
    return replace(
        operation,
        share=load.service_share,
        retries_by_class=load.retries_by_class,
        throughput_per_s=load.throughput_per_s,
        latency=load.latency,
        service=load.service,
    )


def _operation(
    row: dict[str, Any], split: dict[str, Any], titles: dict[str, str], total: float
) -> OperationSummary:
    outcome = "failed" if row["failed"] else "skipped" if row["skipped"] else "ok"
    seconds = row["seconds"]
    return OperationSummary(
        name=row["operation"],
        title=titles.get(row["operation"], ""),
        seconds=seconds,
        seconds_min=row["seconds_min"],
        seconds_max=row["seconds_max"],
        share=seconds / total if seconds is not None and total > 0 else None,
        outcome=outcome,
        error=row["error"],
        passes=row["scheduled"],
        rows=row["rows"],
        where=split.get("where") or dict.fromkeys(PARTS),
        coverage=split.get("coverage"),
        parallelism=split.get("parallelism"),
        threads_at_work=split.get("threads_at_work"),
        memory_peak_bytes=None,
        memory_growth_bytes=split.get("memory_growth_bytes"),
        read_bytes=split.get("read_bytes"),
        write_bytes=split.get("write_bytes"),
        minor_faults=split.get("minor_faults"),
        disk_method=split.get("disk_method", "not measured"),
        failed=row["failed"],
        skipped=row["skipped"],
        retries=row["retries"],
    )


def _metrics(
    operations: tuple[OperationSummary, ...], window: tuple[int, int] | None
) -> dict[str, float | None]:
    total_seconds, mean_seconds = total_and_mean([op.seconds for op in operations])
    return {
        "total_seconds": total_seconds,
        "geometric_mean_seconds": mean_seconds,
        "passes": min((op.passes for op in operations), default=0),
        "measured_seconds": (window[1] - window[0]) * 1e-9 if window else None,
    }


def _cores(run: Run, used: Accounts | None) -> int | None:
    return cpus_allowed(run) or (used.cpus if used else None)


def pinned_cpus(run: Run) -> dict[str, int]:
    """Return the number of CPUs that `engine` and `client` were each pinned to."""
    pin = run.environment.get("pin") or {}
    return {side: len(cpus) for side, cpus in pin.items() if cpus}


def cpus_allowed(run: Run) -> int | None:
    """Return the number of CPUs that the run could use; None if not recorded."""
    return len(run.environment.get("host", {}).get("cpu", {}).get("allowed") or []) or None


def probe_core_share(run: Run) -> float | None:
    """Return the CPU time of all probes as a share of one core; None without probes."""
    shares = probe_core_shares(run)
    return sum(shares.values()) if shares else None


def probe_core_shares(run: Run) -> dict[str, float]:
    """Return the share of a core that each probe used, if its cost is recorded."""
    shares = {}
    for name in run.facts.get("probes", {}):
        if not run.has(f"probe-{name}"):
            continue
        cost = run.table(f"probe-{name}")
        ran_ns = int(cost["time_ns"][-1]) - int(cost["time_ns"][0]) if cost.height > 1 else 0
        cpu_ns = int(cost["cpu_ns"][-1]) - int(cost["cpu_ns"][0]) if ran_ns else 0
        shares[name] = cpu_ns / ran_ns if ran_ns else 0.0
    return shares
