"""Names the cause of each sleep of a thread, by the engine's wait event or the kernel.

An engine is asked some times per second for the wait events of its processes. A wait event
counts for a sleep if the process slept at that moment. Wait events are as frequent in a kind of
sleep as the sleep is long. So they determine the shares of causes in an operation's sleep, by
kind of thread and cause by the kernel. If no wait event falls into an operation, those of the
whole run are used, then those near operations that are too short for any, and otherwise the
kernel's cause. The kernel takes a lock, a latch and a page that another thread reads for the same
sleep. So if an engine reports lock waits, a lock without any wait event is an unknown cause. Sleeps
with wait events of their own are not treated separately, because those are the long sleeps. If the
run has only a few wait events of a kind of sleep, its cause is unknown: a few samples may miss a
cause of half of the time. An uninterruptible sleep has the kernel's cause, except for writes, where
the engine's wait event shows what was written. With only a few wait events of writes, it stays open
what was written, but not that the thread waited for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.waits.rules import LOCK, Sleep, WaitRules
from assay.analysis.waits.spans import RUNNING, THREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

# State of sleeps that the engine's wait events can explain.
INTERRUPTIBLE = "S"
# State of an uninterruptible sleep.
DISK_STATE = "D"
TOLD_BY_KERNEL = ["state", "channel", "call", "comm", "at_rest", "with_workers"]
# A process that writes sleeps uninterruptibly, and only the engine knows whether it writes the
# log.
OPEN_TO_WORDS = (pl.col("state") == INTERRUPTIBLE) | (
    (pl.col("state") == DISK_STATE) & (pl.col("by_kernel") == "disk_write").fill_null(value=False)
)
# Causes that a wait event may name for a sleep in which the kernel writes.
WRITES = ("log", "disk_write", "disk")
WORDS = pl.List(pl.Struct({"cause": pl.String, "event_ns": pl.Int64}))
ALIKE = ["operation", "kind", "by_kernel"]
# With this many wait events, 3 % of runs miss a cause that takes half of the sleep.
WORDS_MIN = 5


def addresses_at_rest(spans: pl.DataFrame, under_way: pl.DataFrame) -> pl.DataFrame:
    """Return the addresses at which threads wait while no operation runs: pid, address.

    Args:
        spans: Spans from `spans_of`.
        under_way: started_ns and finished_ns of all operations in all phases.
    """
    # Nothing runs before the next start if as many operations have ended as have started.
    started, finished = (under_way[name].sort() for name in ("started_ns", "finished_ns"))
    ended, next_start = finished[:-1], started[1:]
    is_rest = ended < next_start
    rests = pl.DataFrame(
        {"rest_ns": ended.filter(is_rest), "rest_over_ns": next_start.filter(is_rest)}
    )
    waiting = spans.drop_nulls("address").sort("last_look_ns")
    last_rest = waiting.join_asof(
        rests, left_on="last_look_ns", right_on="rest_ns", strategy="backward"
    )
    begun, over = under_way["started_ns"].min(), under_way["finished_ns"].max()
    around = (pl.col("first_look_ns") < begun) | (pl.col("last_look_ns") > over)
    resting = around | (pl.col("first_look_ns") < pl.col("rest_over_ns"))
    return last_rest.filter(resting).select("pid", "address").unique()


def causes_by_kernel(
    spans: pl.DataFrame, at_rest: pl.DataFrame, rules: WaitRules, machine: str
) -> pl.DataFrame:
    """Return thread states with the cause of a sleep by kernel facts; null if none matches."""
    resting = at_rest.with_columns(pl.lit(value=True).alias("at_rest"))
    marked = spans.join(resting, on=["pid", "address"], how="left", maintain_order="left")
    is_at_rest = pl.when(pl.col("address").is_not_null()).then(
        pl.col("at_rest").fill_null(value=False)
    )
    marked = marked.with_columns(is_at_rest.alias("at_rest"))
    kinds = marked.filter(pl.col("state") != RUNNING).select(TOLD_BY_KERNEL).unique()
    causes = [rules.cause_of(Sleep(**row), machine) for row in kinds.iter_rows(named=True)]
    named = kinds.with_columns(pl.Series("by_kernel", causes, dtype=pl.String))
    return marked.join(
        named, on=TOLD_BY_KERNEL, how="left", nulls_equal=True, maintain_order="left"
    )


def causes_by_word(
    spans: pl.DataFrame, activity: pl.DataFrame | None, rules: WaitRules
) -> pl.DataFrame:
    """Return thread states with the causes that wait events give.

    Columns added: by_word (causes and times of the wait events in the sleep; null without an
    event); without_word (the cause if similar sleeps have no wait event: the kernel's, but null for
    a lock that the engine would have reported).

    Args:
        spans: Spans with the column by_kernel.
        activity: Recorded samples of sessions; None if the engine reports no wait events.
        rules: Wait rules, including those for wait events.
    """
    by_kernel = pl.col("by_kernel")
    confirmed = ~by_kernel.is_in([LOCK]) if rules.confirms_locks else pl.lit(value=True)
    spans = spans.with_columns(pl.when(confirmed).then(by_kernel).alias("without_word"))
    if activity is None or activity.is_empty() or not rules.events:
        return spans.with_columns(pl.lit(None, dtype=WORDS).alias("by_word"))
    events = activity.drop_nulls(["wait_event_type", "wait_event"])
    samples = events.select(
        "time_ns",
        pl.col("pid").cast(pl.UInt32),
        _thread(events).alias("tid"),
        pl.col("wait_event_type", "wait_event").cast(pl.String),
    ).sort("time_ns")
    asleep = spans.with_row_index("span").filter(OPEN_TO_WORDS)
    if rules.words_tell is not None:
        asleep = asleep.filter(pl.col("by_kernel").is_in(list(rules.words_tell)))
    placed = samples.join_asof(
        asleep.select("span", *THREAD, "begin_ns", "end_ns", "by_kernel").sort("begin_ns"),
        left_on="time_ns",
        right_on="begin_ns",
        by=THREAD,
        strategy="backward",
        check_sortedness=False,
    ).filter(pl.col("time_ns") < pl.col("end_ns"))
    within = (
        _with_causes(placed, rules)
        .group_by("span", maintain_order=True)
        .agg(pl.struct("cause", event_ns="time_ns").alias("by_word"))
    )
    return spans.with_row_index("span").join(within, on="span", how="left").drop("span")


def _with_causes(placed: pl.DataFrame, rules: WaitRules) -> pl.DataFrame:
    """Return wait events in sleeps with the causes that the rules name, without other events."""
    names = ["wait_event_type", "wait_event", "by_kernel"]
    kinds = placed.select(names).unique(maintain_order=True)
    causes = [rules.cause_of_event(*kind) for kind in kinds.iter_rows()]
    named = kinds.with_columns(pl.Series("cause", causes, dtype=pl.String)).drop_nulls("cause")
    return placed.join(named, on=names, nulls_equal=True, maintain_order="left")


def _thread(events: pl.DataFrame) -> pl.Expr:
    """Return an expression: the thread of a wait event; for a whole process its first thread."""
    pid = pl.col("pid").cast(pl.UInt32)
    return pl.coalesce(pl.col("tid").cast(pl.UInt32), pid) if "tid" in events.columns else pid


def slept(placed: pl.DataFrame) -> pl.DataFrame:
    """Return sampled sleep time by operation, thread kind and cause.

    Args:
        placed: Spans in passes from `looked`, with kind, by_kernel, without_word and by_word.
    """
    asleep = placed.filter(pl.col("state") != RUNNING)
    writes = OPEN_TO_WORDS & (pl.col("state") == DISK_STATE)
    sleeps = pl.concat(
        [
            _by_kernel(asleep.filter(~OPEN_TO_WORDS)),
            _in_proportion(asleep.filter(OPEN_TO_WORDS & ~writes)),
            _in_proportion(asleep.filter(writes), WRITES),
        ]
    )
    return sleeps.group_by("operation", "kind", "cause", maintain_order=True).agg(
        pl.col("looked_ns").sum()
    )


def _in_proportion(asleep: pl.DataFrame, causes: Sequence[str] | None = None) -> pl.DataFrame:
    """Return sleeps divided in proportion to the wait events of similar sleeps.

    Args:
        asleep: Spans in passes.
        causes: The only causes that wait events may name for these sleeps; None means all.
    """
    words_of_sleeps = (
        asleep.select(*ALIKE, "started_ns", "finished_ns", "by_word")
        .explode("by_word")
        .unnest("by_word")
        .drop_nulls("cause")
        .filter(pl.lit(value=True) if causes is None else pl.col("cause").is_in(list(causes)))
    )
    # The edges of a sleep are estimated; wait events before or after the operation do not count.
    within = words_of_sleeps.filter(pl.col("event_ns").is_between("started_ns", "finished_ns"))
    whole = asleep.group_by(ALIKE, maintain_order=True).agg(
        pl.col("looked_ns").sum(), pl.col("without_word").first()
    )
    few = _too_few(words_of_sleeps)
    left = whole.join(few, on=ALIKE[1:], how="anti", nulls_equal=True)
    # Of a write the kernel is sure, and only what is written stays open.
    otherwise = _unknown if causes is None else _by_kernel
    parts = [otherwise(whole.join(few, on=ALIKE[1:], how="semi", nulls_equal=True))]
    # Operations shorter than the sampling interval contain few wait events, so all of them
    # count.
    for samples, alike in ((within, ALIKE), (within, ALIKE[1:]), (words_of_sleeps, ALIKE[1:])):
        proportions = _proportions(samples, alike)
        shared = left.join(proportions, on=alike, how="inner", nulls_equal=True)
        looked_ns = pl.col("looked_ns") * pl.col("share")
        parts.append(shared.select("operation", "kind", "cause", looked_ns))
        left = left.join(proportions.select(alike).unique(), on=alike, how="anti", nulls_equal=True)
    return pl.concat([*parts, _by_kernel(left, "without_word")])


def _too_few(events: pl.DataFrame) -> pl.DataFrame:
    """Return the kinds of sleep with too few wait events in the run."""
    counted = events.group_by(ALIKE[1:], maintain_order=True).agg(pl.len().alias("words"))
    return counted.filter(pl.col("words") < WORDS_MIN).drop("words")


def _unknown(asleep: pl.DataFrame) -> pl.DataFrame:
    cause = pl.lit(None, dtype=pl.String).alias("cause")
    return asleep.select("operation", "kind", cause, pl.col("looked_ns").cast(pl.Float64))


def _by_kernel(asleep: pl.DataFrame, column: str = "by_kernel") -> pl.DataFrame:
    cause = pl.col(column).alias("cause")
    return asleep.select("operation", "kind", cause, pl.col("looked_ns").cast(pl.Float64))


def _proportions(samples: pl.DataFrame, alike: Sequence[str]) -> pl.DataFrame:
    counted = samples.group_by(*alike, "cause", maintain_order=True).agg(pl.len().alias("share"))
    return counted.with_columns(pl.col("share") / pl.col("share").sum().over(alike))
