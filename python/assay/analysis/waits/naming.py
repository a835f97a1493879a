"""Names the cause of each sleep: by the engine's word, else by the kernel's facts.

An engine is asked some times a second what its processes wait for. A word counts if its process
slept when it was told, and is of that sleep. Words come as often in a kind of sleep as it lasts, so
they divide the sleep of an operation and kind of thread, as far as it has the same cause by the
kernel; where no word fell into those of an operation, the words of the run do, then those that were
told near operations too short for any to fall into, and else it is the kernel's cause. What the
words were told of directly is not told apart: those are the long sleeps. Of a kind of sleep that
the run has only some words of, the cause is not known: a few looks may miss what was waited for
half of the time. A sleep that no signal ends is the kernel's alone, but for writes: there the
engine's word says what was written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.waits.rules import Sleep, WaitRules
from assay.analysis.waits.spans import RUNNING, THREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

# What processes wait for in the engine's own words is known of sleeps in this state.
INTERRUPTIBLE = "S"
# Asleep, and not to be woken by signals.
DISK_STATE = "D"
TOLD_BY_KERNEL = ["state", "channel", "call", "comm", "at_rest", "with_workers"]
# A process that writes cannot be woken, and only the engine knows whether it writes its log.
OPEN_TO_WORDS = (pl.col("state") == INTERRUPTIBLE) | (
    (pl.col("state") == DISK_STATE) & (pl.col("by_kernel") == "disk_write").fill_null(value=False)
)
# What the engine may say of a sleep in which the kernel writes.
WRITES = ("log", "disk_write", "disk")
WORDS = pl.List(pl.Struct({"cause": pl.String, "told_ns": pl.Int64}))
ALIKE = ["operation", "kind", "by_kernel"]
# With so many, what takes half of the sleep is missed by all of them in 3 % of runs.
WORDS_MIN = 5


def addresses_at_rest(spans: pl.DataFrame, under_way: pl.DataFrame) -> pl.DataFrame:
    """Addresses that threads wait at while no operation is under way: pid, address.

    Args:
        spans: As `spans_of` gives them.
        under_way: started_ns and finished_ns of all operations, of whatever phase.
    """
    busy = under_way.sort("started_ns").with_columns(
        pl.col("finished_ns").cum_max().shift(1).alias("over_ns")
    )
    rests = busy.filter(pl.col("over_ns") < pl.col("started_ns")).select(
        pl.col("over_ns").alias("rest_ns"), pl.col("started_ns").alias("rest_over_ns")
    )
    waiting = spans.drop_nulls("address").sort("last_look_ns")
    last_rest = waiting.join_asof(
        rests.sort("rest_ns"), left_on="last_look_ns", right_on="rest_ns", strategy="backward"
    )
    begun, over = busy["started_ns"].min(), busy["finished_ns"].max()
    around = (pl.col("first_look_ns") < begun) | (pl.col("last_look_ns") > over)
    resting = around | (pl.col("first_look_ns") < pl.col("rest_over_ns"))
    return last_rest.filter(resting).select("pid", "address").unique()


def causes_by_kernel(
    spans: pl.DataFrame, at_rest: pl.DataFrame, rules: WaitRules, machine: str
) -> pl.DataFrame:
    """Spans with `by_kernel`: the cause of the sleep by the rules, null if none knows it."""
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
    """Return spans with `by_word`: a list of cause and told_ns; null without a word.

    Args:
        spans: With by_kernel.
        activity: As recorded; None if the engine does not tell.
        rules: With those on its words.
    """
    if activity is None or activity.is_empty() or not rules.events:
        return spans.with_columns(pl.lit(None, dtype=WORDS).alias("by_word"))
    events = activity.drop_nulls(["wait_event_type", "wait_event"])
    kinds = events.select(pl.col("wait_event_type", "wait_event").cast(pl.String)).unique()
    causes = [rules.cause_of_event(kind, event) for kind, event in kinds.iter_rows()]
    named = kinds.with_columns(pl.Series("cause", causes, dtype=pl.String)).drop_nulls("cause")
    samples = (
        events.with_columns(pl.col("wait_event_type", "wait_event").cast(pl.String))
        .join(named, on=["wait_event_type", "wait_event"])
        .select("time_ns", pl.col("pid").cast(pl.UInt32), _thread(events).alias("tid"), "cause")
        .sort("time_ns")
    )
    asleep = spans.with_row_index("span").filter(OPEN_TO_WORDS)
    if rules.words_tell is not None:
        asleep = asleep.filter(pl.col("by_kernel").is_in(list(rules.words_tell)))
    within = (
        samples.join_asof(
            asleep.select("span", *THREAD, "begin_ns", "end_ns").sort("begin_ns"),
            left_on="time_ns",
            right_on="begin_ns",
            by=THREAD,
            strategy="backward",
            check_sortedness=False,
        )
        .filter(pl.col("time_ns") < pl.col("end_ns"))
        .group_by("span", maintain_order=True)
        .agg(pl.struct("cause", told_ns="time_ns").alias("by_word"))
    )
    return spans.with_row_index("span").join(within, on="span", how="left").drop("span")


def _thread(events: pl.DataFrame) -> pl.Expr:
    """The thread that each word is of: of a process as a whole it is its first one."""
    pid = pl.col("pid").cast(pl.UInt32)
    return pl.coalesce(pl.col("tid").cast(pl.UInt32), pid) if "tid" in events.columns else pid


def slept(placed: pl.DataFrame) -> pl.DataFrame:
    """Return sampled sleep by operation, kind and cause, which is null if unknown.

    Args:
        placed: Spans in passes, with kind, by_kernel and by_word, as `looked` gives them.
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
    """Sleeps by the words of those that are like them: of the operation, then of the run.

    Args:
        asleep: Spans in passes.
        causes: The only ones that words may tell of these sleeps; None means all.
    """
    words_of_sleeps = (
        asleep.select(*ALIKE, "started_ns", "finished_ns", "by_word")
        .explode("by_word")
        .unnest("by_word")
        .drop_nulls("cause")
        .filter(pl.lit(value=True) if causes is None else pl.col("cause").is_in(list(causes)))
    )
    # A sleep's edges are guessed; what was told before or after the operation is not of it.
    within = words_of_sleeps.filter(pl.col("told_ns").is_between("started_ns", "finished_ns"))
    whole = asleep.group_by(ALIKE, maintain_order=True).agg(pl.col("looked_ns").sum())
    few = _too_few(words_of_sleeps)
    left = whole.join(few, on=ALIKE[1:], how="anti", nulls_equal=True)
    parts = [_unknown(whole.join(few, on=ALIKE[1:], how="semi", nulls_equal=True))]
    # Of operations shorter than the time between two looks hardly a word is within: then all count.
    for samples, alike in ((within, ALIKE), (within, ALIKE[1:]), (words_of_sleeps, ALIKE[1:])):
        proportions = _proportions(samples, alike)
        shared = left.join(proportions, on=alike, how="inner", nulls_equal=True)
        looked_ns = pl.col("looked_ns") * pl.col("share")
        parts.append(shared.select("operation", "kind", "cause", looked_ns))
        left = left.join(proportions.select(alike).unique(), on=alike, how="anti", nulls_equal=True)
    return pl.concat([*parts, _by_kernel(left)])


def _too_few(words: pl.DataFrame) -> pl.DataFrame:
    """Return the sorts of sleep that the run has words of, but not enough: kind, by_kernel."""
    counted = words.group_by(ALIKE[1:], maintain_order=True).agg(pl.len().alias("words"))
    return counted.filter(pl.col("words") < WORDS_MIN).drop("words")


def _unknown(asleep: pl.DataFrame) -> pl.DataFrame:
    cause = pl.lit(None, dtype=pl.String).alias("cause")
    return asleep.select("operation", "kind", cause, pl.col("looked_ns").cast(pl.Float64))


def _by_kernel(asleep: pl.DataFrame) -> pl.DataFrame:
    cause = pl.col("by_kernel").alias("cause")
    return asleep.select("operation", "kind", cause, pl.col("looked_ns").cast(pl.Float64))


def _proportions(samples: pl.DataFrame, alike: Sequence[str]) -> pl.DataFrame:
    counted = samples.group_by(*alike, "cause", maintain_order=True).agg(pl.len().alias("share"))
    return counted.with_columns(pl.col("share") / pl.col("share").sum().over(alike))
