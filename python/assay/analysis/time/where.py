"""Splits the time of operations and of the run into shares by cause that add up to 1.

Samples of threads are used if there are any; older records have only counters.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.causes import PARTS, UNCOVERED
from assay.analysis.cluster.nodes import shares_threads
from assay.analysis.host.slowing import is_stopped
from assay.analysis.host.task_counters import readings
from assay.analysis.operations import NS, is_counted
from assay.analysis.profile.placing import ALL_TOGETHER
from assay.analysis.time.lock_seconds import with_counted_locks
from assay.analysis.time.split import disk_states_ns, split_table
from assay.analysis.time.waiting import wall_split
from assay.analysis.waits.threads import are_pooled
from assay.model.errors import UsageError
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run

log = logging.getLogger(__name__)

BY_LOOKS = "states of threads, sampled many times a second"
# If more of an operation's time has no source, or several, its explanation is in doubt.
UNCOVERED_MAX = OVERCOUNTED_MAX = 0.05
# On a busy host samples are late, so the time between them is counted as sleep and as work.
# Parts are scaled to the elapsed time; above this coverage they are meaningless.
LOOKED_COVERAGE_MAX = 1.5
POOLED = "a pool of threads serves the connections, so the time of a thread belongs to no session"


@dataclass(frozen=True)
class Doubt:
    """An operation whose accounted time is less or more than its elapsed time.

    Attributes:
        operation: Name of the operation.
        share: Missing or excess time, as a share of the time of its threads at work.
        is_split: Whether its time is split into parts nevertheless.
    """

    operation: str
    share: float
    is_split: bool


@dataclass(frozen=True)
class Where:
    """The time of a whole run, split by cause.

    Attributes:
        shares: Shares by cause of the thread time at work, over operations that are split; None
            if not measured.
        coverage: Accounted share of thread time before scaling, including operations that are
            not split.
        uncovered: Operations with more than `UNCOVERED_MAX` of time without a source, most
            first.
        overcounted: Operations with more than `OVERCOUNTED_MAX` of time with several sources,
            most first.
        together_s: Thread-seconds of the shares if operations cannot be distinguished, else
            None.
    """

    shares: dict[str, float | None]
    coverage: float | None
    uncovered: tuple[Doubt, ...]
    overcounted: tuple[Doubt, ...]
    together_s: float | None = None

    def facts(self) -> dict[str, Any]:
        """Return the time split by cause as JSON values."""
        document = asdict(self)
        del document["together_s"]
        return document


def where_time_went(run: Run) -> tuple[dict[str, dict[str, Any]], Where | None]:
    """Return the time by cause of each operation and of the whole run.

    If sessions of an embedded engine cannot be distinguished, only the whole is known. An engine
    that was stopped to slow it (`--slow`) has no split; see `slowing`. A cluster whose threads
    rest in pools has none either; the counters of its nodes show the waits of tasks. The same holds
    for a server with a pool of threads; see `why_unknown`.
    """
    events = run.table("events")
    walls = _service_s(events)
    by_operation = _counted(run, events)
    if is_stopped(run):
        # Every stop wakes threads that otherwise rest, and pauses them like threads at work.
        unknown = {"where": dict.fromkeys(PARTS)}
        return {name: row | unknown for name, row in by_operation.items()}, None
    if shares_threads(run) or why_unknown(run) is not None:
        untold = {"where": dict.fromkeys(PARTS), "coverage": None, "threads_at_work": None}
        return {name: row | untold for name, row in by_operation.items()}, None
    looked = _looked(run)
    if looked is None:
        return by_operation, _whole(by_operation, walls)
    for row in looked.iter_rows(named=True):
        name = row["operation"]
        shares = _shares(row, walls.get(name))
        if name == ALL_TOGETHER:
            whole = _whole({name: shares}, {name: row["threads_s"]})
            return by_operation, whole and replace(whole, together_s=row["threads_s"])
        by_operation[name] = by_operation.get(name, {}) | shares
    return by_operation, _whole(by_operation, walls)


def why_unknown(run: Run) -> str | None:
    """Return why threads cannot be assigned to the sessions of a server; None if they can be."""
    return POOLED if are_pooled(run) else None


def _looked(run: Run) -> pl.DataFrame | None:
    try:
        split = wall_split(run)
        return None if split is None else with_counted_locks(run, split)
    except UsageError as error:
        log.warning("waits of run %s cannot be analysed: %s", run.id, error)
        return None


def _counted(run: Run, events: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return counters read around each operation; empty without counters."""
    if not run.has("tasks") or run.table("tasks").is_empty():
        return {}
    read = readings(events, run.table("tasks"))
    states = pl.DataFrame(schema={"sequence": pl.UInt64, "disk_state_ns": pl.Int64})
    if run.has("processes"):
        server = run.facts["engine"].get("kind") == "server"
        account = ACCOUNT_ENGINE if server else ACCOUNT_ENGINE_AND_DRIVER
        states = disk_states_ns(read, run.table("processes"), account)
    rows = split_table(read, states).iter_rows(named=True)
    return {
        row["operation"]: row | {"where": {part: row.get(part) for part in PARTS}} for row in rows
    }


def _service_s(events: pl.DataFrame) -> dict[str, float]:
    """Return the total seconds of all executions, by operation."""
    length = (pl.col("finished_ns") - pl.col("started_ns")).sum() * NS
    counted = events.lazy().filter(is_counted(events)).group_by("operation", maintain_order=True)
    return dict(counted.agg(length.alias("s")).collect().iter_rows())


def _shares(row: dict[str, Any], wall_s: float | None) -> dict[str, Any]:
    """Return an operation's causes as shares of its time; null if they sum to far over 100 %."""
    believable = row["coverage"] is not None and row["coverage"] <= LOOKED_COVERAGE_MAX
    return {
        "where": _scaled(row) if believable else dict.fromkeys(PARTS),
        "coverage": row["coverage"],
        "threads_at_work": row["threads_s"] / wall_s if wall_s else None,
        "disk_method": BY_LOOKS,
    }


def _scaled(seconds: dict[str, Any]) -> dict[str, float | None]:
    """Return thread-seconds by cause as shares of their sum."""
    whole = sum(seconds[part] or 0.0 for part in PARTS)
    return {
        part: None if seconds[part] is None or not whole else seconds[part] / whole
        for part in PARTS
    }


def _whole(split: dict[str, dict[str, Any]], walls: dict[str, float]) -> Where | None:
    """Return the causes of all operations together, weighted by time; None if none is known."""
    rows = {name: row for name, row in split.items() if row["coverage"] is not None}
    whole = sum(walls[name] for name in rows)
    if not whole:
        return None
    coverage = sum(row["coverage"] * walls[name] for name, row in rows.items()) / whole
    doubts = [
        Doubt(name, row["coverage"] - 1, row["where"][UNCOVERED] is not None)
        for name, row in rows.items()
    ]
    missing = [replace(doubt, share=-doubt.share) for doubt in doubts]
    return Where(
        {part: _share(rows, walls, part) for part in PARTS},
        coverage,
        _above(missing, UNCOVERED_MAX),
        _above(doubts, OVERCOUNTED_MAX),
    )


def _share(rows: dict[str, dict[str, Any]], walls: dict[str, float], part: str) -> float | None:
    """Return a cause's share of the time of operations where it was measured; None without any."""
    pairs = [(row["where"][part], walls[name]) for name, row in rows.items()]
    pairs = [(value, wall) for value, wall in pairs if value is not None]
    split = sum(walls[name] for name, row in rows.items() if row["where"][UNCOVERED] is not None)
    return sum(value * wall for value, wall in pairs) / split if pairs else None


def _above(doubts: Iterable[Doubt], most: float) -> tuple[Doubt, ...]:
    """Return operations whose accounted time is off by more than a limit, largest first."""
    above = [doubt for doubt in doubts if round(doubt.share, 3) > most]
    return tuple(sorted(above, key=lambda doubt: -doubt.share))
