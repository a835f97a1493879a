"""Finds other programs on the host, with their use of resources in the measured part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, window_of
from assay.model.neighbour import Neighbour
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "neighbours"
PROCESS = ["pid", "started_ns"]
COUNTERS = ("cpu_ns", "read_bytes", "write_bytes")


def neighbours_of(run: Run) -> tuple[Neighbour, ...] | None:
    """Return other programs on the host that used a CPU, the most CPU time first."""
    window = window_of(run)
    if window is None or not (run.has(STREAM) and run.has("processes")):
        return None
    return neighbours(run.table(STREAM), run.table("processes"), window, _followed_besides(run))


def _followed_besides(run: Run) -> pl.Series:
    """Return the ids of the run's processes that only streams besides `processes` contain.

    The stream `processes` has fewer samples than these streams.
    """
    engine_is_here = pl.col("account").cast(pl.String).is_in(ENGINE_ACCOUNTS)
    if not run.table("processes").select(engine_is_here.any()).item():
        return pl.Series(dtype=pl.UInt32)
    streams = [run.table(name)["pid"] for name in ("waits", "activity") if run.has(name)]
    seen = [pids.drop_nulls().cast(pl.UInt32) for pids in streams]
    return pl.concat([pl.Series(dtype=pl.UInt32), *seen]).unique()


def neighbours(
    looks: pl.DataFrame,
    followed: pl.DataFrame,
    window: tuple[int, int],
    besides: pl.Series | None = None,
) -> tuple[Neighbour, ...]:
    """Return other programs of the host that used a CPU, from samples of all processes.

    Args:
        looks: Samples of all processes of the host.
        followed: Samples of the run's own processes.
        window: Beginning and end of the measured part.
        besides: Pids of further processes of the run, which were too short for `followed`.
    """
    grown = growth(looks, window).join(followed.select(PROCESS).unique(), on=PROCESS, how="anti")
    if besides is not None:
        grown = grown.filter(~pl.col("pid").is_in(besides.implode()))
    by_name = (
        grown.filter(pl.col("cpu_ns") > 0)
        .group_by("comm", maintain_order=True)
        .agg(
            pl.col("pid").sort(),
            pl.col("cpu_ns").sum() * NS,
            # Read permission applies to the counters of all processes alike.
            pl.when(pl.col("moved_bytes").is_not_null().any())
            .then(pl.col("moved_bytes").sum())
            .first()
            .alias("moved_bytes"),
        )
        .sort("cpu_ns", descending=True)
    )
    return tuple(
        Neighbour(name, tuple(pids), cpu_s, None if moved is None else float(moved))
        for name, pids, cpu_s, moved in by_name.iter_rows()
    )


def growth(looks: pl.DataFrame, window: tuple[int, int]) -> pl.DataFrame:
    """Return the CPU time and bytes moved of each process of the host in a time window.

    A process has a row only when its counters changed, so its last row before the window holds
    its counters at the beginning. A process without such a row started later, and all its use
    counts.
    """
    begin, end = window
    until = looks.filter(pl.col("time_ns") <= end).sort("time_ns")
    is_before = pl.col("time_ns") <= begin
    grown = [
        (
            pl.col(name).last().cast(pl.Int64)
            - pl.col(name).filter(is_before).last().cast(pl.Int64).fill_null(0)
        ).alias(name)
        for name in COUNTERS
    ]
    return (
        until.group_by(PROCESS, maintain_order=True)
        .agg(pl.col("comm").last(), *grown)
        .with_columns((pl.col("read_bytes") + pl.col("write_bytes")).alias("moved_bytes"))
        .select(*PROCESS, "comm", "cpu_ns", "moved_bytes")
    )
