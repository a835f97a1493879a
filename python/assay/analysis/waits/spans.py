"""Turns samples of threads into time spans of one state, and assigns them to operations.

A thread keeps its last sampled state until the sample before the one with a change. The exact
time of the change between both samples is unknown, so the midpoint is used. The time of the next
sample does not depend on the threads, so each sample represents the time around it, however rare
samples are. In a gap without samples that is longer than usual in the run, the time further from
a sample than the usual gap belongs to no span.

Samples outside of an operation do not describe it: the session's thread slept before and after
it. A span counts in an operation if a sample within the span was taken during the operation. The
span then counts for the time that its samples represent, even beyond the operation's edge. So
sums over an operation's passes are right on average, however short the passes are. The sum of
`looked_ns` over all states is about the time that the threads existed. `looked_ns` is not
scaled, so that lost samples are visible.
"""

from __future__ import annotations

from typing import cast

import polars as pl

THREAD = ["pid", "tid"]
RUNNING = "R"
# States of threads that have ended, which have no time of their own.
ENDED = ("X", "Z")
# Samples during sleep are up to 100 ms apart, unless the probe's budget makes them rarer.
STANDS_FOR_NS = 50_000_000
CLOCKS = ("on_cpu_ns", "run_delay_ns")


def spans_of(waits: pl.DataFrame) -> pl.DataFrame:
    """Return one row per time span of a thread without a change of state.

    Columns: life (the thread; a reused tid is another thread), pid, tid, comm, state, channel,
    call, address, on_cpu_ns, run_delay_ns (at its first sample); first_look_ns, last_look_ns
    (first and last sample of the span); begin_ns, end_ns (midpoints between samples); is_first
    (first span of its thread), was_there (existed at the first sample), has_ended (the thread
    ended after it).

    Args:
        waits: Recorded samples of threads, with at least one row.
    """
    looks = waits["time_ns"].unique().sort()
    gaps = pl.DataFrame({"time_ns": looks, "gap_ns": looks.diff()})
    # A round of samples without any change has no row.
    gaps = gaps.with_columns(
        pl.col("gap_ns").clip(upper_bound=pl.col("gap_ns").median()).cast(pl.Int64)
    )
    rows = waits.join(gaps, on="time_ns", how="left", maintain_order="left").with_columns(
        pl.col("gap_ns").is_null().alias("is_opening"), pl.col("gap_ns").fill_null(0)
    )
    usual_gap_ns = looks.diff().cast(pl.Float64).median()
    stands_for_ns = max(STANDS_FOR_NS, int(cast("float | None", usual_gap_ns) or 0))
    return _spans(rows, int(looks[-1]), stands_for_ns)


def _spans(rows: pl.DataFrame, over_ns: int, stands_for_ns: int) -> pl.DataFrame:
    ended = pl.col("state").is_in(ENDED)
    born = pl.col("time_ns") - pl.max_horizontal(
        pl.col("gap_ns") // 2, (pl.col("on_cpu_ns") + pl.col("run_delay_ns")).cast(pl.Int64)
    )
    appeared = pl.when("is_opening").then(pl.col("time_ns")).otherwise(born)
    half_gap = ((pl.col("time_ns") - pl.col("seen_ns")) // 2).clip(upper_bound=stands_for_ns)
    life = pl.struct(*THREAD, pl.col("ended_before")).rank("dense").alias("life")
    following = {"last_look_ns": "seen_ns", "end_ns": "left_ns"}
    return (
        rows.with_columns(pl.col("state", "channel").cast(pl.String))
        .sort(*THREAD, "time_ns", maintain_order=True)
        .with_columns(
            pl.when(pl.col("seen_ns").is_null())
            .then(appeared)
            .otherwise(pl.col("time_ns") - half_gap)
            .alias("begin_ns"),
            (pl.col("seen_ns") + half_gap).alias("left_ns"),
            ended.cum_sum().shift(1, fill_value=0).over(THREAD).alias("ended_before"),
        )
        .with_columns(life)
        .with_columns(
            *[
                pl.col(source).shift(-1).over("life").alias(name)
                for name, source in following.items()
            ],
            ended.shift(-1).over("life").fill_null(value=False).alias("has_ended"),
            pl.col("is_opening").first().over("life").alias("was_there"),
        )
        .filter(~ended)
        .with_columns(
            (pl.int_range(pl.len()) == 0).over("life").alias("is_first"),
            pl.col("last_look_ns", "end_ns").fill_null(over_ns),
        )
        .rename({"time_ns": "first_look_ns"})
        .drop("seen_ns", "left_ns", "gap_ns", "is_opening", "ended_before")
    )


def lives_of(spans: pl.DataFrame) -> pl.DataFrame:
    """Return one row per thread with the start and end of its lifetime.

    Columns: life, pid, tid, first_look_ns, last_look_ns, born_ns, over_ns, was_there, has_ended,
    on_cpu_ns, run_delay_ns (at its last sample), queued_ns. queued_ns is the estimated run queue
    time that is not in run_delay_ns, which the kernel updates only when the thread gets a CPU.
    The estimate is the time since the clocks stopped while the thread was runnable, and the same
    share of its remaining time as of its life before.
    """
    running = pl.col("state").last() == RUNNING
    stood_ns = (pl.col("last_look_ns") - pl.col("first_look_ns")).last()
    rest_ns = (pl.col("end_ns") - pl.col("last_look_ns")).last()
    waited = pl.col("run_delay_ns").last()
    part = waited / (waited + pl.col("on_cpu_ns").last())
    queued = stood_ns + rest_ns * part.fill_nan(0.0).fill_null(0.0)
    return spans.group_by("life", maintain_order=True).agg(
        pl.col(*THREAD).first(),
        pl.col("first_look_ns").first(),
        pl.col("last_look_ns").last(),
        pl.col("begin_ns").first().alias("born_ns"),
        pl.col("end_ns").last().alias("over_ns"),
        pl.col("was_there").first(),
        pl.col("has_ended").last(),
        pl.col(*CLOCKS).last(),
        pl.when(running).then(queued).otherwise(0.0).alias("queued_ns"),
    )


def within(intervals: pl.DataFrame, begin: str, end: str, passes: pl.DataFrame) -> pl.DataFrame:
    """Return each time interval together with each execution that it overlaps.

    Args:
        intervals: Rows with two columns of times. If both tables have `session`, only passes of
            the same session count.
        begin: Name of the column with the begin.
        end: Name of the column with the end.
        passes: sequence, operation, started_ns, finished_ns; passes of a session do not overlap.
    """
    if "session" not in intervals.columns:
        return _within(intervals, begin, end, passes)
    by_session = intervals.partition_by("session", as_dict=True)
    parts = [
        _within(part, begin, end, passes.filter(pl.col("session") == session[0]))
        for session, part in by_session.items()
    ]
    return pl.concat(parts) if parts else _within(intervals, begin, end, passes)


def _within(intervals: pl.DataFrame, begin: str, end: str, passes: pl.DataFrame) -> pl.DataFrame:
    passes = passes.sort("started_ns").select("sequence", "operation", "started_ns", "finished_ns")
    first = passes["finished_ns"].search_sorted(intervals[begin], side="left")
    last = passes["started_ns"].search_sorted(intervals[end], side="right")
    touched = pl.int_ranges(pl.Series("first", first), pl.Series("last", last), dtype=pl.Int64)
    numbered = passes.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    return (
        intervals.with_columns(pl.select(touched.alias("place")).to_series())
        .explode("place")
        .drop_nulls("place")
        .join(numbered, on="place", how="left", maintain_order="left")
        .drop("place")
    )


def looked(spans: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return thread states sampled in an execution, with the sampled time."""
    placed = within(spans, "first_look_ns", "last_look_ns", passes)
    begun = pl.col("first_look_ns") >= pl.col("started_ns")
    ended = pl.col("last_look_ns") <= pl.col("finished_ns")
    from_begin = pl.col("first_look_ns") - pl.col("begin_ns")
    to_end = pl.col("end_ns") - pl.col("last_look_ns")
    length = (
        pl.when(begun & ended)
        .then(pl.col("end_ns") - pl.col("begin_ns"))
        .when(begun)
        .then(_looks_ns(pl.col("finished_ns") - pl.col("first_look_ns"), from_begin))
        .when(ended)
        .then(_looks_ns(pl.col("last_look_ns") - pl.col("started_ns"), to_end))
        .otherwise(pl.col("finished_ns") - pl.col("started_ns"))
    )
    return placed.with_columns(length.clip(lower_bound=0).alias("looked_ns"))


def _looks_ns(length: pl.Expr, half_gap: pl.Expr) -> pl.Expr:
    """Return the time that samples at a fixed distance represent within a length.

    The first sample is at one end. The time beyond the other end compensates for lengths without
    samples.
    """
    gap = 2 * half_gap
    return pl.when(gap > 0).then((length // gap + 1) * gap).otherwise(length)


def existed(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the lifetimes of threads within executions, in ns."""
    placed = within(lives, "born_ns", "over_ns", passes)
    length = pl.min_horizontal("over_ns", "finished_ns") - pl.max_horizontal(
        "born_ns", "started_ns"
    )
    return placed.with_columns(length.clip(lower_bound=0).alias("existed_ns"))


def began_and_ended(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return threads that were sampled within a single execution and ended in it."""
    seen = within(lives.filter("has_ended"), "first_look_ns", "last_look_ns", passes)
    return seen.filter(
        pl.col("first_look_ns") >= pl.col("started_ns"),
        pl.col("last_look_ns") <= pl.col("finished_ns"),
    )


def clocks_at(spans: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """Return threads' CPU clocks at given moments, interpolated.

    Clocks are assumed to grow evenly between two samples. Before its first sample, a thread that
    existed at the first round has its first values, and any other thread has zero.
    """
    following = [pl.col(name).shift(-1).over("life").alias(f"{name}_after") for name in CLOCKS]
    looks = spans.select(
        "life",
        pl.col("first_look_ns").alias("time_ns"),
        "last_look_ns",
        *[pl.col(name).cast(pl.Int64) for name in CLOCKS],
        pl.col("first_look_ns").shift(-1).over("life").alias("next_look_ns"),
        *following,
    )
    opening = spans.filter("is_first").select(
        "life", *[(pl.col(name) * pl.col("was_there")).alias(f"{name}_first") for name in CLOCKS]
    )
    passed = (pl.col("time_ns") - pl.col("last_look_ns")) / (
        pl.col("next_look_ns") - pl.col("last_look_ns")
    )
    part = passed.clip(0.0, 1.0).fill_nan(0.0).fill_null(0.0)

    def grown(name: str) -> pl.Expr:
        before, after = pl.col(name), pl.col(f"{name}_after").cast(pl.Int64)
        there = before + (after - before).fill_null(0) * part
        return pl.coalesce(there, pl.col(f"{name}_first").cast(pl.Float64)).alias(name)

    return (
        moments.sort("time_ns")
        .join_asof(
            looks.sort("time_ns"),
            on="time_ns",
            by="life",
            strategy="backward",
            check_sortedness=False,
        )
        .join(opening, on="life", how="left")
        .select("life", "time_ns", *[grown(name) for name in CLOCKS])
        .unique(["life", "time_ns"])
    )


def growth(spans: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the growth of threads' CPU clocks from started_ns to finished_ns."""
    edges = ("started_ns", "finished_ns")
    moments = pl.concat([pairs.select("life", pl.col(edge).alias("time_ns")) for edge in edges])
    at = clocks_at(spans, moments.unique())
    for edge in edges:
        there = at.rename({"time_ns": edge} | {name: f"{name}_{edge}" for name in CLOCKS})
        pairs = pairs.join(there, on=["life", edge], how="left")
    grown = [
        (pl.col(f"{name}_finished_ns") - pl.col(f"{name}_started_ns")).alias(
            f"{name[:-3]}_grown_ns"
        )
        for name in CLOCKS
    ]
    return pairs.with_columns(grown).drop(f"{name}_{edge}" for name in CLOCKS for edge in edges)
