"""Corrects the split between lock waits and latch waits by the engine's own count of lock time.

The kernel shows a lock wait and a latch wait as the same sleep. Samples of the engine's sessions
divide such sleep, but a wait of some milliseconds is over before the engine answers the sample. An
engine that counts the time of its row locks gives their total without sampling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from assay.analysis.counters.engine_counters import declared, figures
from assay.analysis.operations import window_of
from assay.analysis.waits.rules import LOCK, all_waits

if TYPE_CHECKING:
    from assay.record.reader import Run

COUNTER = "row_lock_seconds"
LATCH = "latch"
# Type of the wait events of row locks, whose time is counted; locks of tables have another type.
ROW_LOCKS = "Lock"


def with_counted_locks(run: Run, split: pl.DataFrame) -> pl.DataFrame:
    """Return thread-seconds by cause with the time of row locks that the engine counted.

    The sum of lock and latch of each operation stays. Waits for locks of tables are not counted,
    so they keep their sampled share. If no sample met a lock, the counted time is a part of the
    latches. On a server that other clients use, the count only limits the lock time, because it
    includes their waits.

    Args:
        run: The run.
        split: Thread-seconds of each operation by cause, from `wall_split`.
    """
    counted_s = counted_lock_seconds(run)
    sampled_s = float(split[LOCK].sum())
    on_server = run.facts.get("request", {}).get("dsn") is not None
    part, part_s = (LOCK, sampled_s) if sampled_s > 0 else (LATCH, float(split[LATCH].sum()))
    if counted_s is None or part_s <= 0 or (on_server and part == LATCH):
        return split
    counted_s += sampled_s * (1 - _row_lock_share(run))
    factor = counted_s / part_s
    if on_server:
        factor = min(1.0, factor)
    both = pl.col(LOCK) + pl.col(LATCH)
    lock = pl.min_horizontal(pl.col(part) * factor, both)
    return split.with_columns(lock.alias(LOCK), (both - lock).alias(LATCH))


def counted_lock_seconds(run: Run) -> float | None:
    """Return the seconds of row lock waits that the engine counted in the measured part.

    The count is interpolated at both ends of the measured part. None if the engine does not count
    it, if the count was reset, or if it was not read before and after the measured part.
    """
    facts = run.facts["engine"].get("counters")
    if not facts or not run.has("engine"):
        return None
    shown = [figure for figure in declared(facts)[0] if figure.name == COUNTER]
    window = window_of(run)
    if not shown or window is None:
        return None
    readings = figures(run.table("engine"), shown).drop_nulls("value").sort("time_ns")
    begun_ns, ended_ns = window
    times, values = readings["time_ns"].to_numpy(), readings["value"].to_numpy()
    if not len(times) or times[0] > begun_ns or times[-1] < ended_ns or (np.diff(values) < 0).any():
        return None
    at_begin, at_end = np.interp([begun_ns, ended_ns], times, values)
    return float(at_end - at_begin)


def _row_lock_share(run: Run) -> float:
    """Return the share of row locks in the samples of sessions that waited for a lock."""
    if not run.has("activity"):
        return 1.0
    rules = all_waits(run.facts["engine"].get("waits"))
    window = window_of(run)
    if window is None:
        return 1.0
    events = (
        run.table("activity")
        .filter(pl.col("time_ns").is_between(*window))
        .select(pl.col("wait_event_type", "wait_event").cast(pl.String))
        .drop_nulls()
    )
    kinds = [kind for kind, name in events.iter_rows() if rules.cause_of_event(kind, name) == LOCK]
    return kinds.count(ROW_LOCKS) / len(kinds) if kinds else 1.0
