"""Splits the time of observed statements by cause, from samples of their sessions.

A waiting session reports the wait event. A session without a wait event is on a CPU or ready to
run. The CPU time and run queue time of all sessions' processes explain the time without wait
events. The remainder is reported as unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.causes import PARTS, UNCOVERED
from assay.analysis.operations import NS
from assay.analysis.server.sessions import account_s, edges_around, process_growth
from assay.record.layout import ACCOUNT_ENGINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.waits.rules import WaitRules

# Fewer samples are not enough to split a statement's time.
LOOKS_MIN = 5
METHOD = "samples of sessions"


@dataclass(frozen=True)
class CpuUse:
    """The CPU use of the server's sessions during the observation.

    Attributes:
        on_cpu_s: Seconds on a CPU.
        queue_s: Seconds ready to run and waiting for a CPU; None if the kernel does not report
            it.
        user_share: Share of the CPU time in the server's own code, not in the kernel.
    """

    on_cpu_s: float
    queue_s: float | None
    user_share: float


@dataclass(frozen=True)
class Split:
    """The time of one observed statement, split by cause.

    Attributes:
        where: Shares of the time by `PARTS`.
        threads: Mean number of processes (session and workers) that execute the statement for
            one session.
        cpu_share: CPU time of all threads together, as a share of one session's time.
    """

    where: dict[str, float | None]
    threads: float
    cpu_share: float


def cpu_use(processes: pl.DataFrame, sessions: set[int], window: tuple[int, int]) -> CpuUse | None:
    """Return the CPU use of the server's sessions; None if its processes were not sampled.

    Args:
        processes: Rows of the stream `processes`.
        sessions: Pids of the sessions and their workers; empty if sessions have no processes of
            their own.
        window: Begin and end of the observation.
    """
    of_engine = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
    own = of_engine.filter(pl.col("pid").is_in(sorted(sessions)))
    chosen = of_engine if own.is_empty() else own
    edges = edges_around(of_engine["time_ns"], *window)
    if edges is None or chosen.is_empty():
        return None
    grown = process_growth(chosen, *edges)
    on_cpu_s = float(grown["cpu_ns"].sum()) * NS
    queue = grown["run_delay_ns"]
    queue_s = None if queue.null_count() else float(queue.sum()) * NS
    unseen_s = 0.0 if own.is_empty() else _unseen_s(of_engine, edges)
    if queue_s is not None and on_cpu_s:
        # Processes that ended before a sample are assumed to have waited for a CPU like the
        # others.
        queue_s *= 1 + unseen_s / on_cpu_s
    return CpuUse(on_cpu_s + unseen_s, queue_s, _user_share(chosen, edges))


def _unseen_s(of_engine: pl.DataFrame, edges: tuple[int, int]) -> float:
    """Return the CPU seconds of processes too short to be sampled, which are mostly workers."""
    seen_s = float(process_growth(of_engine, *edges)["cpu_ns"].sum()) * NS
    return max(0.0, account_s(of_engine, edges) - seen_s)


def _user_share(processes: pl.DataFrame, edges: tuple[int, int]) -> float:
    """Return the share of CPU time that the server spent in its own code."""
    ticks = pl.col("user_ns", "system_ns").cast(pl.Int64)
    within = processes.filter(pl.col("time_ns").is_between(*edges)).sort("time_ns")
    grown = within.group_by("pid", "started_ns", maintain_order=True).agg(
        ticks.last() - ticks.first()
    )
    user, system = grown.select(pl.col("user_ns").sum(), pl.col("system_ns").sum()).row(0)
    return float(user / (user + system)) if user + system else 1.0


def split_by_cause(seen: pl.DataFrame, rules: WaitRules, used: CpuUse | None) -> dict[str, Split]:
    """Return the time by cause of each observed statement that has enough samples.

    Args:
        seen: Rows of `weighted_looks`.
        rules: Rules that classify the engine's wait events.
        used: CPU use of the sessions; None if the server's processes were not sampled.
    """
    named = seen.with_columns(_causes(seen, rules)).drop_nulls("statement")
    summed = named.group_by("statement", "cause", maintain_order=True).agg(pl.col("weight_s").sum())
    by_statement: dict[str, dict[str | None, float]] = {}
    for statement, cause, seconds in summed.iter_rows():
        by_statement.setdefault(statement, {})[cause] = seconds
    parts = _executing(sum(causes.get(None, 0.0) for causes in by_statement.values()), used)
    led = named.filter(pl.col("leader").is_null()).group_by("statement", maintain_order=True)
    leaders = {
        name: (s, n) for name, s, n in led.agg(pl.col("weight_s").sum(), pl.len()).iter_rows()
    }
    return {
        statement: _split(causes, parts, leaders[statement][0])
        for statement, causes in by_statement.items()
        if leaders.get(statement, (0.0, 0))[1] >= LOOKS_MIN
    }


def _causes(seen: pl.DataFrame, rules: WaitRules) -> pl.Series:
    """Return the cause of each session sample; null if the session did not wait."""
    events = seen.select("wait_kind", "wait_event").unique()
    causes = {
        (kind, event): _cause(kind, event, rules)
        for kind, event in events.iter_rows()
        if kind is not None and event is not None
    }
    rows = seen.select("wait_kind", "wait_event").iter_rows()
    return pl.Series("cause", [causes.get(row) for row in rows], dtype=pl.String)


def _cause(kind: str, event: str, rules: WaitRules) -> str | None:
    """Return the cause of a wait event; None if the event only describes executing."""
    cause = rules.cause_of_event(kind, event)
    if cause is None and kind != EXECUTING_STATE:
        return UNCOVERED
    return cause


# Engines whose sessions have states use a state for executing, too.
EXECUTING_STATE = "State"


def _executing(executing_s: float, used: CpuUse | None) -> dict[str, float]:
    """Return the shares of CPU use in the time in which sessions did not wait."""
    if used is None or not executing_s:
        return {"cpu_user": 1.0}
    on_cpu = min(1.0, used.on_cpu_s / executing_s)
    queue = min(1.0 - on_cpu, (used.queue_s or 0.0) / executing_s)
    return {
        "cpu_user": on_cpu * used.user_share,
        "cpu_system": on_cpu * (1.0 - used.user_share),
        "run_queue": queue,
        UNCOVERED: 1.0 - on_cpu - queue,
    }


def _split(
    causes: Mapping[str | None, float], executing: Mapping[str, float], leader_s: float
) -> Split:
    whole = sum(causes.values())
    where: dict[str, float | None] = dict.fromkeys(PARTS, 0.0)
    for cause, seconds in causes.items():
        parts = executing if cause is None else {cause: 1.0}
        for part, share in parts.items():
            where[part] = (where[part] or 0.0) + share * seconds / whole
    threads = whole / leader_s if leader_s else 1.0
    on_cpu = (where["cpu_user"] or 0.0) + (where["cpu_system"] or 0.0)
    return Split(where, threads, on_cpu * threads)
