"""Assigns CPU samples to operations.

With one session, all CPU use of the engine during an operation belongs to the operation, in any
process. With several sessions, a server process belongs to the session that it serves. Threads
of an embedded engine cannot be assigned to sessions: their work belongs to all current
operations together.
"""

from __future__ import annotations

import polars as pl

from assay.analysis.operations import is_measured

# Name of the operation for samples that cannot be assigned to a single operation.
ALL_TOGETHER = "all operations"
KEYS = ("session", "sequence", "operation")


def measured_passes(events: pl.DataFrame) -> pl.DataFrame:
    """Return the operations of the measured phase that started and ended, with any outcome.

    Columns: sequence, session, operation, started_ns, finished_ns; ordered by start.
    """
    return (
        events.lazy()
        .filter(is_measured(events))
        .drop_nulls(["started_ns", "finished_ns"])
        .select(
            pl.col("sequence").cast(pl.UInt64),
            pl.col("session").cast(pl.UInt32),
            "operation",
            "started_ns",
            "finished_ns",
        )
        .sort("started_ns")
        .with_columns(pl.col("operation").cast(pl.String))
        .collect()
    )


def are_told_apart(passes: pl.DataFrame, owners: pl.DataFrame | None) -> bool:
    """Return True if CPU samples can be assigned to single operations."""
    return owners is not None or passes["session"].n_unique() <= 1


def as_one(passes: pl.DataFrame) -> pl.DataFrame:
    """Return the measured part as a single execution of `ALL_TOGETHER`."""
    return passes.select(
        pl.lit(None, dtype=passes.schema["sequence"]).alias("sequence"),
        pl.lit(None, dtype=passes.schema["session"]).alias("session"),
        pl.lit(ALL_TOGETHER).alias("operation"),
        pl.col("started_ns").min(),
        pl.col("finished_ns").max(),
    ).head(1)


def place(
    samples: pl.DataFrame,
    passes: pl.DataFrame,
    owners: pl.DataFrame | None,
    background: pl.Series | None = None,
) -> tuple[pl.DataFrame, int]:
    """Return CPU samples with their session and operation, and the number without any.

    If samples cannot be assigned to single operations, they have no sequence. Samples during any
    operation then belong to `ALL_TOGETHER`.

    Args:
        samples: Samples with time_ns and pid, ordered by time.
        passes: Rows of `measured_passes`.
        owners: Sessions of server processes, as pairs of pid and session; None if processes do not
            show their session.
        background: Processes that work for no session.
    """
    if passes["session"].n_unique() <= 1:
        return _by_time(samples, passes, None), 0
    if owners is None:
        inside = pl.when("is_under_way").then(pl.lit(ALL_TOGETHER))
        columns = [pl.lit(None, dtype=passes.schema[key]).alias(key) for key in KEYS[:2]]
        watched = _under_way(samples, passes)
        return watched.with_columns(*columns, inside.alias("operation")).drop("is_under_way"), 0
    of_process = owners.select("pid", "session").unique("pid", keep="last")
    owned = samples.join(of_process, on="pid", how="left", maintain_order="left")
    pids = owners["pid"].cast(pl.UInt32)
    pids = pids if background is None else pl.concat([pids, background.cast(pl.UInt32)])
    strangers = _under_way(owned.filter(~pl.col("pid").is_in(pids.implode())), passes)
    return _by_time(owned, passes, "session"), int(strangers["is_under_way"].sum())


def _under_way(samples: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return CPU samples with a column that is True while any operation was in progress."""
    busy = passes.select("started_ns", pl.col("finished_ns").cum_max().alias("busy_until_ns"))
    joined = samples.join_asof(
        busy,
        left_on="time_ns",
        right_on="started_ns",
        strategy="backward",
        check_sortedness=False,
    )
    within = (pl.col("time_ns") <= pl.col("busy_until_ns")).fill_null(value=False)
    return joined.with_columns(within.alias("is_under_way")).drop("started_ns", "busy_until_ns")


def _by_time(samples: pl.DataFrame, passes: pl.DataFrame, by: str | None) -> pl.DataFrame:
    joined = samples.join_asof(
        passes,
        left_on="time_ns",
        right_on="started_ns",
        by=by,
        strategy="backward",
        check_sortedness=False,
    )
    outside = pl.col("time_ns") > pl.col("finished_ns")
    keys = [key for key in KEYS if key != by]
    return joined.with_columns(pl.when(~outside).then(pl.col(key)).alias(key) for key in keys).drop(
        "started_ns", "finished_ns"
    )
