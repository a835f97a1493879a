"""Summarises an observed server like a run, with its statements as operations.

Sections that need single executions are empty, because the server counts only sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.causes import PARTS, UNCOVERED
from assay.analysis.findings.discovery import judged_findings
from assay.analysis.findings.reading import read_case
from assay.analysis.load.metrics import no_load_metrics
from assay.analysis.observed.causes import METHOD, CpuUse, Split, cpu_use, split_by_cause
from assay.analysis.observed.estimated import with_estimates
from assay.analysis.observed.scanned import scanned_rows
from assay.analysis.observed.statements import (
    Watched,
    look_interval_s,
    looks_taken,
    watched_statements,
    weighted_looks,
)
from assay.analysis.operations import NS, window_of
from assay.analysis.server.blockers import blockers
from assay.analysis.server.sessions import split_by_session
from assay.analysis.summary import OperationSummary, Summary
from assay.analysis.time.where import Where
from assay.analysis.waits.rules import all_waits
from assay.model.errors import RecordUnreadableError
from assay.model.observed import Observed, ObservedStatement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.host.accounts import Accounts
    from assay.model.blocker import Blocker
    from assay.model.finding import Finding
    from assay.record.reader import Run

# A session with at least this many samples at work belongs to the observed ones.
OWN_LOOKS_MIN = 3
NO_PERCENTILES = "percentiles, fastest and slowest executions: "
SUMS = "the server counts sums, not single executions"
ONLY_LOOKS = "samples show how much of the time a statement took, not how long an execution took"
TITLE_LENGTH = 80
TRIAL = "`assay try"


def summarise_observed(
    run: Run,
    used: Accounts | None,
    counted: dict[str, Any] | None,
    cores: int | None,
    probe_share: float | None,
) -> Summary:
    """Return the summary of an observed server.

    Args:
        run: The observation.
        used: CPU accounts during the observation.
        counted: The engine's counters.
        cores: Number of CPUs that the server may use.
        probe_share: CPU time of all probes, as a share of a core.

    Raises:
        RecordUnreadableError: If the observation ended before any sample.
    """
    window = window_of(run)
    if window is None or "observed" not in run.facts:
        raise RecordUnreadableError(
            f"the observation {run.id} ended before its first sample of the server"
        )
    looks = run.table("looks")
    aliases = run.facts["observed"]["aliases"]
    seen = weighted_looks(looks, window, aliases)
    watched = watched_statements(looks, run.table("statement-counts"), window, aliases)
    names = run.facts["observed"]["names"]
    if not names and not run.complete:
        # An observation that was killed has no names of statements, so the keys are used.
        names = {statement.statement: statement.statement for statement in watched}
    statements = [statement for statement in watched if statement.statement in names]
    use = _cpu_use(run, seen, window)
    splits = split_by_cause(seen, all_waits(run.facts["engine"].get("waits")), use)
    operations = _operations(run, names, statements, splits, window)
    case = _case(run, operations, used, counted, cores, seen)
    case = _with_plans(case, [(names[statement.statement], statement) for statement in statements])
    where = _whole(statements, splits)
    if where is not None:
        case = replace(case, where=where.shares)
    judged = judged_findings(case)
    sessions = _sessions(run, seen, window)
    return Summary(
        operations=operations,
        metrics=_metrics(statements, window),
        findings=tuple(_without_trial(finding) for finding in judged.findings),
        silenced=judged.silenced,
        time=case.time,
        trees=case.trees,
        accounts=used,
        probe_core_share=probe_share,
        engine_counters=counted,
        sessions=sessions,
        where=where,
        observed=_observed(run, names, looks, seen, statements, sessions),
    )


def _cpu_use(run: Run, seen: pl.DataFrame, window: tuple[int, int]) -> CpuUse | None:
    if not run.has("processes"):
        return None
    sessions = set() if seen["tid"].drop_nulls().len() else set(seen["session"].to_list())
    return cpu_use(run.table("processes"), sessions, window)


def _operations(
    run: Run,
    names: Mapping[str, str],
    statements: Sequence[Watched],
    splits: Mapping[str, Split],
    window: tuple[int, int],
) -> tuple[OperationSummary, ...]:
    whole = sum(statement.seconds for statement in statements)
    window_s = (window[1] - window[0]) * NS
    texts = run.facts.get("statements", {})
    return tuple(
        _operation(
            names[statement.statement],
            texts.get(names[statement.statement], {}).get("text", ""),
            statement,
            splits.get(statement.statement),
            statement.seconds / whole if whole else None,
            window_s,
        )
        for statement in statements
    )


def _operation(
    name: str,
    text: str,
    statement: Watched,
    split: Split | None,
    share: float | None,
    window_s: float,
) -> OperationSummary:
    calls, rows = statement.calls, statement.counts.get("rows")
    return OperationSummary(
        name=name,
        title=" ".join(text.split())[:TITLE_LENGTH],
        seconds=statement.mean_s,
        seconds_min=None,
        seconds_max=None,
        share=share,
        outcome="ok",
        error=None,
        passes=round(calls or 0),
        rows=None if rows is None or not calls else round(rows / calls),
        where=dict.fromkeys(PARTS) if split is None else split.where,
        coverage=None if split is None else 1.0 - (split.where[UNCOVERED] or 0.0),
        parallelism=None if split is None else split.cpu_share,
        threads_at_work=None if split is None else split.threads,
        memory_peak_bytes=None,
        memory_growth_bytes=None,
        read_bytes=None,
        write_bytes=None,
        minor_faults=None,
        disk_method=METHOD,
        throughput_per_s=None if calls is None else calls / window_s,
    )


def _case(
    run: Run,
    operations: tuple[OperationSummary, ...],
    used: Accounts | None,
    counted: dict[str, Any] | None,
    cores: int | None,
    seen: pl.DataFrame,
) -> Case:
    case = read_case(run, operations, load=None, used=used, counted=counted, cores=cores, pinned={})
    return replace(
        case,
        blockers=_blockers(run, seen),
        # All clients of an observed server belong to the observation.
        other_clients={},
        client_queue_share=None,
        is_observed=True,
    )


def _with_plans(case: Case, statements: Sequence[tuple[str, Watched]]) -> Case:
    """Return the input of findings, with plans completed by row counts or estimates."""
    scanned = scanned_rows(statements, case.plans, case.tables)
    return replace(
        case,
        plans=with_estimates(case.plans, case.tables, case.seconds, scanned),
        counted_scans={name: rows.says for name, rows in scanned.items()},
    )


def _blockers(run: Run, seen: pl.DataFrame) -> tuple[Blocker, ...] | None:
    """Return the sessions that others waited for, marked as observed if often at work."""
    window = window_of(run)
    if window is None or not run.has("blockers"):
        return None
    counts = seen.group_by("session").len()
    own = set(counts.filter(pl.col("len") >= OWN_LOOKS_MIN)["session"].to_list())
    within = run.table("blockers").filter(pl.col("time_ns").is_between(*window))
    return blockers(within.with_columns(pl.col(pl.Categorical).cast(pl.String)).to_dicts(), own)


def _whole(statements: Sequence[Watched], splits: Mapping[str, Split]) -> Where | None:
    """Return the time by cause of all observed statements together, weighted by their time."""
    rows = [
        (statement, splits[statement.statement])
        for statement in statements
        if statement.statement in splits
    ]
    whole = sum(statement.seconds for statement, _ in rows)
    if not whole:
        return None
    shares: dict[str, float | None] = {
        part: sum((split.where[part] or 0.0) * statement.seconds for statement, split in rows)
        / whole
        for part in PARTS
    }
    return Where(shares, 1.0 - (shares[UNCOVERED] or 0.0), (), ())


def _sessions(run: Run, seen: pl.DataFrame, window: tuple[int, int]) -> dict[str, Any] | None:
    """Return the server's CPU time by session; None unless each session is a process."""
    if not run.has("processes") or seen["tid"].drop_nulls().len():
        return None
    leaders = seen.filter(pl.col("leader").is_null()).select(
        "time_ns", "session", pl.col("session").alias("backend_pid")
    )
    activity = run.table("activity") if run.has("activity") else None
    return split_by_session(run.table("processes"), leaders, activity, window)


def _metrics(statements: Sequence[Watched], window: tuple[int, int]) -> dict[str, float | None]:
    window_s = (window[1] - window[0]) * NS
    calls = [statement.calls for statement in statements if statement.calls is not None]
    rate = sum(calls) / window_s if calls else None
    return {
        "total_seconds": None,
        "geometric_mean_seconds": None,
        "passes": None,
        "measured_seconds": window_s,
        "memory_peak_bytes": None,
        "memory_peak_pss_bytes": None,
        "engine_memory_bytes": None,
        **no_load_metrics(),
        "statements_per_s": rate,
    }


def _without_trial(finding: Finding) -> Finding:
    """Return a finding with its change as plain advice, since an observation cannot be repeated."""
    advice, to_try = finding.advice, finding.to_try
    if to_try is not None and to_try.startswith(TRIAL):
        to_try = f"what {to_try.rpartition('` ')[2]}"
        if advice is not None and advice.kind == "index":
            columns = advice.values["columns"].replace(",", ", ")
            to_try = f"an index on {advice.subject} ({columns})"
        # The finding's statements already describe the change.
        to_try = None if finding.change is not None else to_try
    return replace(finding, advice=None, to_try=to_try)


def _observed(
    run: Run,
    names: Mapping[str, str],
    looks: pl.DataFrame,
    seen: pl.DataFrame,
    statements: Sequence[Watched],
    sessions: dict[str, Any] | None,
) -> Observed:
    begun_ns, ended_ns = window_of(run) or (0, 0)
    window_s = (ended_ns - begun_ns) * NS
    facts = run.facts["observed"]
    elsewhere = seen.filter(pl.col("statement").is_null() & pl.col("leader").is_null())
    limits = [*facts["limits"], NO_PERCENTILES + (SUMS if facts["source"] else ONLY_LOOKS)]
    if elsewhere.height:
        databases = ", ".join(sorted(set(elsewhere["database"].drop_nulls().to_list())))
        limits.append(
            f"statements of other databases ({databases}), where sessions spent"
            f" {elsewhere['weight_s'].sum():.1f} s: observe each by a --dsn of its own"
        )
    led = seen.filter(pl.col("leader").is_null())
    ours_s = None if sessions is None else sum(entry["cpu_s"] for entry in sessions["ours"])
    return Observed(
        window_s=window_s,
        looks=looks_taken(looks, (begun_ns, ended_ns)),
        look_interval_s=look_interval_s(looks),
        sessions_at_work=float(led["weight_s"].sum()) / window_s,
        source=facts["source"],
        limits=tuple(limits),
        stopped=facts["stopped"],
        engine_host=(run.facts.get("engine_host") or {}).get("name"),
        own_cpu_share=None if ours_s is None else ours_s / window_s,
        statements=tuple(
            ObservedStatement(
                operation=names[statement.statement],
                key=statement.statement,
                basis=statement.basis,
                seconds=statement.seconds,
                counted_s=statement.counted_s,
                looked_s=statement.looked_s,
                looks=statement.looks,
                counts=dict(statement.counts),
            )
            for statement in statements
        ),
    )
