"""Determines how much data was in memory at a run's start: the page cache and first reads.

The evidence of the state is the part of the data files in the page cache, and the first query's
reads from devices. Earlier reads of processes are no evidence, because they include program
files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.host.task_counters import executions
from assay.analysis.operations import is_measured, window_ns
from assay.analysis.plans.recorded import read_plans
from assay.model.units import NS_PER_S
from assay.record.layout import ENGINE_ACCOUNTS, LOADED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.plan import Plan
    from assay.record.reader import Run

SCANS = frozenset({"scan", "index scan", "bitmap scan"})


@dataclass(frozen=True)
class StartingState:
    """The state in which a run started: the requested state, and the data in memory.

    Attributes:
        asked: Requested state: `hot`, `cold`, `os-warm` or `loaded`.
        passes: Number of untimed passes before the timed ones; None means a mix.
        how: Steps that were taken to reach the state.
        left: Steps that were not taken or had no effect.
        host_changes: Changes that affect other users of the host.
        data_bytes: Size of the data files, or of the user's file; None means a running server.
        resident_bytes_before_start: Bytes of these files in memory before the engine's start; None
            if it was not restarted after loading.
        resident_bytes_after_start: Bytes of these files in memory after the start, before the first
            query; None if not measured.
        engine_cache: Content of the engine's own cache before the first query: `name` (empty:
            all together), `cached_bytes`, `bytes` (None: not reported) of each table and index;
            None if not known.
        loaded_by_measured: Whether the measured process had loaded the data itself; None if not
            requested.
        since_load_s: Seconds from the end of loading to the first timed query; None if not
            requested.
        page_cache: Whether the engine reads its files through the page cache, by its own
            declaration.
        first_operation: The first timed query whose plan reads tables, or else the first timed
            query; None if no query succeeded. Refresh functions do not count.
        first_read_bytes: Bytes that the first query read from devices; None if not measured.
        first_scans: Whether the first query reads tables, by its plan; None if not known.
        earlier_read_bytes: Bytes that earlier timed operations read from devices.
    """

    asked: str
    passes: int | None
    how: tuple[str, ...]
    left: tuple[str, ...]
    host_changes: tuple[str, ...]
    data_bytes: int | None
    resident_bytes_before_start: int | None
    resident_bytes_after_start: int | None = None
    engine_cache: tuple[Mapping[str, Any], ...] | None = None
    loaded_by_measured: bool | None = None
    since_load_s: float | None = None
    page_cache: bool = True
    first_operation: str | None = None
    first_read_bytes: int | None = None
    first_scans: bool | None = None
    earlier_read_bytes: int = 0

    @property
    def resident_share(self) -> float | None:
        """The share of the data in the page cache, 0 to 1; None if not known.

        The share is measured before the engine's start or, if the engine continued after
        loading, before the first query.
        """
        before = self.resident_bytes_before_start
        resident = self.resident_bytes_after_start if self.asked == LOADED else before
        return None if resident is None or not self.data_bytes else resident / self.data_bytes

    @property
    def engine_cached_bytes(self) -> int | None:
        """The bytes of data in the engine's own cache; None if not known."""
        if self.engine_cache is None:
            return None
        return sum(int(table["cached_bytes"]) for table in self.engine_cache)

    @property
    def start_brought_bytes(self) -> int | None:
        """The bytes of data that the engine's start read into memory; None if not known."""
        before, after = self.resident_bytes_before_start, self.resident_bytes_after_start
        return None if before is None or after is None else max(0, after - before)

    @property
    def text(self) -> str:
        """The starting state as text for a heading, such as `hot after 3 passes`."""
        several = self.asked == "hot" and self.passes is not None and self.passes > 1
        return f"{self.asked} after {self.passes} passes" if several else self.asked


def starting_state(run: Run) -> StartingState | None:
    """Return the starting state of a run; None if it was not recorded."""
    facts = run.facts.get("state")
    if facts is None:
        return None
    state = StartingState(
        asked=facts["asked"],
        passes=facts["passes"],
        how=tuple(facts["how"]),
        left=tuple(facts.get("left", ())),
        host_changes=tuple(facts["host_changes"]),
        data_bytes=facts["data_bytes"],
        resident_bytes_before_start=facts["resident_bytes_before_start"],
        resident_bytes_after_start=facts.get("resident_bytes_after_start"),
        page_cache=facts.get("page_cache", True),
    )
    if state.asked == LOADED:
        state = _with_load(run, state, facts)
    return _with_first(run, state)


def _with_load(run: Run, state: StartingState, facts: Mapping[str, Any]) -> StartingState:
    """Return the starting state with the loading process and the cached data added."""
    loaded, accounts = run.environment.get("data") or {}, run.environment.get("accounts") or {}
    loaders = [str(pid) for pid in loaded.get("loaded_by_pids", ())]
    cached = facts.get("engine_cache")
    window = window_ns(run.table("events")) if run.has("events") else None
    ended_ns = loaded.get("loaded_ns")
    return replace(
        state,
        engine_cache=None if cached is None else tuple(cached),
        loaded_by_measured=bool(loaders)
        and all(accounts.get(pid) in ENGINE_ACCOUNTS for pid in loaders),
        since_load_s=(
            (window[0] - ended_ns) / NS_PER_S if window and ended_ns is not None else None
        ),
    )


def _with_first(run: Run, state: StartingState) -> StartingState:
    queries = _timed(run)
    if queries.is_empty():
        return state
    scans = {name: any(map(_scans, plans)) for name, plans in read_plans(run).items() if plans}
    scanning = [name for name, does in scans.items() if does]
    reading = queries.filter(pl.col("operation").is_in(scanning))
    first = (queries if reading.is_empty() else reading).row(0, named=True)
    return replace(
        state,
        first_operation=first["operation"],
        first_read_bytes=first["read_bytes"],
        first_scans=scans.get(first["operation"]),
        earlier_read_bytes=first["earlier_read_bytes"],
    )


def _timed(run: Run) -> pl.DataFrame:
    """Return successful timed queries with the bytes read by them and by all earlier ones.

    `earlier_read_bytes` is the sum over all earlier timed operations, including refresh
    functions.
    """
    if not run.has("events"):
        return pl.DataFrame()
    tasks = run.table("tasks") if run.has("tasks") else None
    refresh = (run.facts.get("test") or {}).get("refresh") or {}
    functions = [refresh[kind] for kind in ("insert", "delete") if kind in refresh]
    read = pl.col("read_bytes").cast(pl.Int64)
    executed = executions(run.table("events"), tasks)
    return (
        executed.filter(is_measured(executed))
        .select(
            "operation",
            read,
            read.fill_null(0).cum_sum().shift(1, fill_value=0).alias("earlier_read_bytes"),
        )
        .filter(~pl.col("operation").is_in(functions))
    )


def _scans(plan: Plan) -> bool:
    return any(node.operator in SCANS and node.object is not None for node in plan.root.walk())
