"""Turns samples of threads into spans of time, and assigns them to operations.

A thread is as it was last seen to be until the look before the one that found a change; when in
between it changed is not known, and the middle is taken. When the next look comes has nothing to do
with what threads do, so a look stands for the time around it however rare looks are. Of a time
without looks that is longer than usual in the run, what is further from a look than the usual gap
is of no span: nothing is known of it.

Looks outside of an operation say nothing of it: its session's thread slept before and after it.
A span counts in an operation if a look within it was taken while the operation was under way, and
then as long as the looks stand for, even if that reaches over the operation's edge. So what is
summed over an operation's passes is right on average however short they are; `looked_ns` of all
states together is about the time that the threads existed, and it is used unscaled, so that lost
looks show.
"""

from __future__ import annotations

from typing import cast

import polars as pl

THREAD = ["pid", "tid"]
RUNNING = "R"
# What is left of a thread that ended has no time of its own.
ENDED = ("X", "Z")
# Looks at what sleeps are up to 100 ms apart, where the probe's budget does not make them rarer.
STANDS_FOR_NS = 50_000_000
CLOCKS = ("on_cpu_ns", "run_delay_ns")


def spans_of(waits: pl.DataFrame) -> pl.DataFrame:
    """One row per span in which nothing was seen to change, by thread and time.

    Columns: life (the thread; a tid that was given out again is another one), pid, tid, comm,
    state, channel, call, address, on_cpu_ns, run_delay_ns (at its first look); first_look_ns,
    last_look_ns (looks between which it was so); begin_ns, end_ns (middles between looks); is_first
    (of its thread), was_there (when looking began), has_ended (its thread, after it).

    Args:
        waits: As recorded, with a row at least.
    """
    looks = waits["time_ns"].unique().sort()
    gaps = pl.DataFrame({"time_ns": looks, "gap_ns": looks.diff()})
    # Where nothing changed in a round there is no row of it.
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
    """One row per thread.

    Columns: life, pid, tid, first_look_ns, last_look_ns, born_ns, over_ns, was_there, has_ended,
    on_cpu_ns, run_delay_ns (at its last look), queued_ns (in the run queue by all signs, and not in
    run_delay_ns, because that is counted when a CPU is given: since its clocks stood still while it
    was runnable, and of the time to its end as much as of its life before).
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
    """Return each interval beside each of the passes that it overlaps.

    Args:
        intervals: With two columns of times; where both tables have `session`, of one session only.
        begin: The name of the one.
        end: The name of the other.
        passes: sequence, operation, started_ns, finished_ns; of a session one after another.
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
    """Return spans with a sample in a pass: their columns, those of the pass, looked_ns."""
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
    """Return the time that samples at a distance stand for within a length.

    The first is at its one end. What reaches over its other end makes up for where no look fell.
    """
    gap = 2 * half_gap
    return pl.when(gap > 0).then((length // gap + 1) * gap).otherwise(length)


def existed(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Lives within passes: their columns, those of the pass, and existed_ns."""
    placed = within(lives, "born_ns", "over_ns", passes)
    length = pl.min_horizontal("over_ns", "finished_ns") - pl.max_horizontal(
        "born_ns", "started_ns"
    )
    return placed.with_columns(length.clip(lower_bound=0).alias("existed_ns"))


def began_and_ended(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Lives that were seen within one pass only, and their end: their columns and those of it."""
    seen = within(lives.filter("has_ended"), "first_look_ns", "last_look_ns", passes)
    return seen.filter(
        pl.col("first_look_ns") >= pl.col("started_ns"),
        pl.col("last_look_ns") <= pl.col("finished_ns"),
    )


def clocks_at(spans: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """Return threads' clocks between samples: `moments` with on_cpu_ns and run_delay_ns.

    They are taken to have grown evenly between the two looks that saw a difference. Before its
    first look a thread that was there when looking began had what it had then, and another one
    nothing.
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
    """Return `pairs` with the growth of their clocks from started_ns to finished_ns."""
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
