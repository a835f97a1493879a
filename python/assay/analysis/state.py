"""The state that a run began in: what was asked, what was seen of the page cache, what was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.findings.reading import executions
from assay.analysis.operations import measured
from assay.analysis.plans import read_plans
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

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
        start_read_bytes: What the engine's processes had read from devices by the last sample
            before the first timed operation: a start reads files, too, and the system reads ahead.
        first_operation: The first one that was timed; None where none was.
        first_read_bytes: What it read from devices; None where that was not metered.
        first_scans: Whether it reads tables, by its plan; None where that is not known.
    """

    asked: str
    passes: int | None
    how: tuple[str, ...]
    left: tuple[str, ...]
    host_changes: tuple[str, ...]
    data_bytes: int | None
    resident_bytes_before_start: int | None
    start_read_bytes: int | None = None
    first_operation: str | None = None
    first_read_bytes: float | None = None
    first_scans: bool | None = None

    @property
    def resident_share(self) -> float | None:
        """How much of the data was in memory, 0 to 1; None where there are none."""
        if self.resident_bytes_before_start is None or not self.data_bytes:
            return None
        return self.resident_bytes_before_start / self.data_bytes

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
    )
    first = _first(run)
    return known if first is None else _with_first(run, known, first)


def _first(run: Run) -> dict[str, Any] | None:
    """The first timed execution that succeeded; None if there is none."""
    if not run.has("events"):
        return None
    tasks = run.table("tasks") if run.has("tasks") else None
    events = measured(run.table("events"))
    done = executions(events, tasks)
    if done.is_empty():
        return None
    begun_ns = events.filter(pl.col("outcome") == "ok")["started_ns"].min()
    return done.row(0, named=True) | {"started_ns": begun_ns}


def _start_read_bytes(run: Run, before_ns: int) -> int | None:
    if not run.has("processes"):
        return None
    account = pl.col("account").cast(pl.String)
    rows = run.table("processes").filter(
        account.is_in([ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER]) & (pl.col("time_ns") < before_ns)
    )
    last = rows.filter(pl.col("time_ns") == rows["time_ns"].max())["read_bytes"]
    return None if last.is_empty() or last.null_count() else int(last.sum())


def _with_first(run: Run, known: StartingState, first: dict[str, Any]) -> StartingState:
    name = first["operation"]
    plans = read_plans(run).get(name, ())
    return replace(
        known,
        start_read_bytes=_start_read_bytes(run, first["started_ns"]),
        first_operation=name,
        first_read_bytes=first["read_bytes"],
        first_scans=any(map(_scans, plans)) if plans else None,
    )


def _scans(plan: Plan) -> bool:
    return any(node.operator in SCANS and node.object is not None for node in plan.root.walk())
