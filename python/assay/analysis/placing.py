"""Which operation each CPU sample fell into.

Where one session plays, everything that the engine does within an operation's time is done for it,
in whatever process. Where several do, a process tells which session it works for; threads of an
embedded engine do not.
"""

from __future__ import annotations

import polars as pl

from assay.analysis.operations import plain
from assay.record.layout import PHASE_MEASURED

KEYS = ("session", "sequence", "operation")


def measured_passes(events: pl.DataFrame) -> pl.DataFrame:
    """The operations of the measured phase that were started and ended, however they ended.

    Columns: sequence, session, operation, started_ns, finished_ns; by start.
    """
    return (
        plain(events.filter(pl.col("phase") == PHASE_MEASURED))
        .drop_nulls(["started_ns", "finished_ns"])
        .select(
            pl.col("sequence").cast(pl.UInt64),
            pl.col("session").cast(pl.UInt32),
            "operation",
            "started_ns",
            "finished_ns",
        )
        .sort("started_ns")
    )


def place(
    samples: pl.DataFrame, passes: pl.DataFrame, owners: pl.DataFrame | None
) -> tuple[pl.DataFrame, int]:
    """Samples with session, sequence and operation, and how many cannot be placed at all.

    Args:
        samples: With time_ns and pid, by time.
        passes: As `measured_passes` gives them.
        owners: Of processes, pid and session; None where no process tells.
    """
    if passes["session"].n_unique() <= 1:
        return _by_time(samples, passes, None), 0
    if owners is None:
        columns = [pl.lit(None, dtype=passes.schema[key]).alias(key) for key in KEYS]
        return samples.with_columns(columns), samples.height
    of_process = owners.select("pid", "session").unique("pid", keep="last")
    owned = samples.join(of_process, on="pid", how="left", maintain_order="left")
    return _by_time(owned, passes, "session"), 0


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
