"""The state that a run began in: what was asked, what was seen of the page cache, what was read.

What shows a state is how much of the data files the page cache held, and what the first query read
from devices. What processes had read before it tells nothing: their programs are in it, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.findings.reading import executions
from assay.analysis.operations import measured
from assay.analysis.plans import read_plans

if TYPE_CHECKING:
    from assay.model.plan import Plan
    from assay.record.reader import Run

SCANS = frozenset({"scan", "index scan", "bitmap scan"})


@dataclass(frozen=True)
class StartingState:
    """What the record tells of the state.

    Attributes:
        asked: `hot`, `cold` or `os-warm`.
        passes: Untimed passes before the timed ones; None of a mix.
        how: What was done, in words.
        left: What was not done, or was of no effect, in words.
        host_changes: What was changed that others on the host notice.
        data_bytes: Size of the data files; None where they are not ours.
        resident_bytes_before_start: How much of them was in memory before the engine started.
        resident_bytes_after_start: The same when it was up, nothing asked yet; None: not looked at.
        page_cache: Whether the engine reads them through the page cache, as it says itself.
        first_operation: The first timed query, of those that read tables by their plans if any
            does; None where none succeeded. Refresh functions are no queries.
        first_read_bytes: What it read from devices; None where that was not metered.
        first_scans: Whether it reads tables, by its plan; None where that is not known.
        earlier_read_bytes: What timed operations before it read from devices.
    """

    asked: str
    passes: int | None
    how: tuple[str, ...]
    left: tuple[str, ...]
    host_changes: tuple[str, ...]
    data_bytes: int | None
    resident_bytes_before_start: int | None
    resident_bytes_after_start: int | None = None
    page_cache: bool = True
    first_operation: str | None = None
    first_read_bytes: int | None = None
    first_scans: bool | None = None
    earlier_read_bytes: int = 0

    @property
    def resident_share(self) -> float | None:
        """How much of the data was in memory, 0 to 1; None where there are none."""
        if self.resident_bytes_before_start is None or not self.data_bytes:
            return None
        return self.resident_bytes_before_start / self.data_bytes

    @property
    def start_brought_bytes(self) -> int | None:
        """How much of the data the engine's start brought into memory; None: not known."""
        before, after = self.resident_bytes_before_start, self.resident_bytes_after_start
        return None if before is None or after is None else max(0, after - before)

    @property
    def words(self) -> str:
        """The state as a heading names it."""
        several = self.asked == "hot" and self.passes is not None and self.passes > 1
        return f"{self.asked} after {self.passes} passes" if several else self.asked


def starting_state(run: Run) -> StartingState | None:
    """The state of a run; None of a record that tells nothing of it."""
    told = run.facts.get("state")
    if told is None:
        return None
    known = StartingState(
        asked=told["asked"],
        passes=told["passes"],
        how=tuple(told["how"]),
        left=tuple(told.get("left", ())),
        host_changes=tuple(told["host_changes"]),
        data_bytes=told["data_bytes"],
        resident_bytes_before_start=told["resident_bytes_before_start"],
        resident_bytes_after_start=told.get("resident_bytes_after_start"),
        page_cache=told.get("page_cache", True),
    )
    return _with_first(run, known)


def _with_first(run: Run, known: StartingState) -> StartingState:
    queries = _timed(run)
    if queries.is_empty():
        return known
    scans = {name: any(map(_scans, of_it)) for name, of_it in read_plans(run).items() if of_it}
    scanning = [name for name, does in scans.items() if does]
    reading = queries.filter(pl.col("operation").is_in(scanning))
    first = (queries if reading.is_empty() else reading).row(0, named=True)
    return replace(
        known,
        first_operation=first["operation"],
        first_read_bytes=first["read_bytes"],
        first_scans=scans.get(first["operation"]),
        earlier_read_bytes=first["earlier_read_bytes"],
    )


def _timed(run: Run) -> pl.DataFrame:
    """Timed queries that succeeded, in their order: operation, read_bytes, earlier_read_bytes.

    The last one is what timed operations before it read, refresh functions included.
    """
    if not run.has("events"):
        return pl.DataFrame()
    tasks = run.table("tasks") if run.has("tasks") else None
    refresh = (run.facts.get("test") or {}).get("refresh") or {}
    functions = [refresh[kind] for kind in ("insert", "delete") if kind in refresh]
    read = pl.col("read_bytes").cast(pl.Int64)
    return (
        executions(measured(run.table("events")), tasks)
        .select(
            "operation",
            read,
            read.fill_null(0).cum_sum().shift(1, fill_value=0).alias("earlier_read_bytes"),
        )
        .filter(~pl.col("operation").is_in(functions))
    )


def _scans(plan: Plan) -> bool:
    return any(node.operator in SCANS and node.object is not None for node in plan.root.walk())
