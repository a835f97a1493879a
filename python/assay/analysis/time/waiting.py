"""Splits an operation's time by cause, on a CPU and off it.

The whole is the time that the threads at work existed within the operation. What accounts for it
comes from sources that do not know each other: CPU time and time in the run queue from the kernel's
counters, stolen time from the hypervisor's, sleep from the states that threads were seen in, and
its cause from the kernel or the engine. None is what is left of the others; what is left of all is
`uncovered`.

Of serial passes CPU and run queue are read just outside of each timed interval. Under a load they
are read at the edges of the measured part, and operations have them in proportion to how often
their threads were seen running or ready to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.causes import PARTS, SLEEPS, UNCOVERED
from assay.analysis.host.task_counters import readings
from assay.analysis.operations import NS
from assay.analysis.profile.placing import ALL_TOGETHER, measured_passes
from assay.analysis.time.split import user_share
from assay.analysis.waits import threads
from assay.analysis.waits.naming import (
    DISK_STATE,
    addresses_at_rest,
    causes_by_kernel,
    causes_by_word,
    slept,
)
from assay.analysis.waits.rules import MACHINE, all_waits
from assay.analysis.waits.spans import (
    RUNNING,
    began_and_ended,
    existed,
    growth,
    lives_of,
    looked,
    spans_of,
)
from assay.analysis.waits.totals import COUNTED, grown_within, ticks_share, whole_pass, with_machine

if TYPE_CHECKING:
    from assay.record.reader import Run

# A thread of an embedded engine is at work of all operations together when it ran for as much.
AT_WORK_SHARE = 0.01
# Threads of sessions are at work however little they ran, where operations fill so much of the
# sessions' time: in the rest of it they wait for nothing but their next operation.
FILLED_SHARE = 0.9


@dataclass(frozen=True)
class Terms:
    """The terms from which each operation's time is computed.

    Attributes:
        counted: operation, and those of `COUNTED`; null if not measured.
        user_share: operation, user_share: of its CPU time.
        existence: operation, kind, existed_ns: of threads that count as long as they exist.
        placed: Spans of all kinds in passes: operation, kind, state, causes, looked_ns.
    """

    counted: pl.DataFrame
    user_share: pl.DataFrame
    existence: pl.DataFrame
    placed: pl.DataFrame


def wall_split(run: Run) -> pl.DataFrame | None:
    """One row per operation, in thread-seconds of all its passes.

    Columns: operation; one of each cause (null if its source is absent); threads_s; coverage
    (accounted / threads_s, before any scaling; above 1 where more was accounted for than there
    was). Of several sessions on an engine of one process there is one row, `all operations`, unless
    they play one operation only.

    Returns:
        None of a run whose threads were not looked at, or where nothing says whom the processes of
        a server with several served.

    Raises:
        UsageError: If the record's rules of waits are refused.
    """
    if not _has_rows(run, "waits"):
        return None
    passes = measured_passes(run.table("events"))
    if passes.is_empty():
        return None
    spans = spans_of(run.table("waits"))
    serial = passes["session"].n_unique() <= 1 and _has_rows(run, "tasks")
    if run.facts["engine"].get("kind") == "server":
        if _has_rows(run, "backends") or threads.serves_by_thread(run, passes):
            return split_of(_of_server(run, spans) if serial else _of_sessions(run, spans, passes))
        if not threads.is_one_process(lives_of(spans)):
            return None
    return split_of(_of_passes(run, spans) if serial else _of_process(run, spans, passes))


def _has_rows(run: Run, stream: str) -> bool:
    return run.has(stream) and not run.table(stream).is_empty()


def split_of(terms: Terms) -> pl.DataFrame:
    """Return the split of time that `wall_split` gives, from its terms."""
    kinds = ["operation", "kind"]
    active = pl.col("state").is_in([RUNNING, DISK_STATE])
    existence = (
        terms.placed.group_by(kinds, maintain_order=True)
        .agg(pl.col("looked_ns").filter(active).sum().alias("active_ns"))
        .join(terms.existence, on=kinds, how="full", coalesce=True)
        .with_columns(
            # Of a helper only the time that it ran or waited for a disk is the operation's.
            pl.coalesce("existed_ns", "active_ns").alias("threads_ns")
        )
    )
    is_helper = pl.col("kind") == threads.HELPER
    asleep = (
        slept(terms.placed.filter(~is_helper | active))
        .group_by("operation", "cause", maintain_order=True)
        .agg(pl.col("looked_ns").sum().alias("slept_ns"))
    )
    whole = existence.group_by("operation", maintain_order=True).agg(pl.col("threads_ns").sum())
    # Less what other clients used, which is known between looks only, may be less than nothing.
    counted = terms.counted.with_columns(pl.col(COUNTED).clip(lower_bound=0.0))
    table = counted.join(whole, on="operation").join(terms.user_share, on="operation")
    for cause in SLEEPS:
        of_cause = asleep.filter(pl.col("cause") == cause)
        named = of_cause.select("operation", pl.col("slept_ns").alias(cause))
        table = table.join(named, on="operation", how="left").with_columns(
            pl.col(cause).fill_null(0.0)
        )
    return _in_seconds(table)


def _in_seconds(table: pl.DataFrame) -> pl.DataFrame:
    """The terms of each operation as causes, with what they leave uncovered."""
    throttled = pl.min_horizontal("throttled_ns", "run_delay_ns")
    parts = table.with_columns(
        (pl.col("on_cpu_ns") * pl.col("user_share")).alias("cpu_user"),
        (pl.col("on_cpu_ns") * (1 - pl.col("user_share"))).alias("cpu_system"),
        # A thread that a limit keeps from running is in the run queue meanwhile.
        (pl.col("run_delay_ns") - throttled.fill_null(0.0)).alias("run_queue"),
        throttled.alias("throttled"),
        pl.col("stolen_ns").alias("stolen"),
    )
    accounted = pl.sum_horizontal(name for name in PARTS if name != UNCOVERED)
    left = (pl.col("threads_ns") - accounted).clip(lower_bound=0.0)
    # Of an operation that nobody was at work for, as where the server is gone, nothing is known.
    at_work = pl.when(pl.col("threads_ns") > 0).then("threads_ns")
    return parts.with_columns(
        left.alias(UNCOVERED), (accounted / at_work).alias("coverage")
    ).select(
        "operation",
        *[(pl.col(name) * NS).alias(name) for name in PARTS],
        (pl.col("threads_ns") * NS).alias("threads_s"),
        "coverage",
    )


def named_spans(run: Run, spans: pl.DataFrame, placed: pl.DataFrame | None = None) -> pl.DataFrame:
    """Spans with causes of those asleep: by_kernel, by_word.

    Args:
        run: Where they are from.
        spans: All of them; they tell at which addresses threads are at rest.
        placed: Those that are wanted, with with_workers; None means all of them, which have it.
    """
    placed = spans if placed is None else placed
    rules = all_waits(run.facts["engine"].get("waits"))
    under_way = run.table("events").drop_nulls(["started_ns", "finished_ns"])
    resting = addresses_at_rest(spans, under_way.select("started_ns", "finished_ns"))
    machine = run.environment.get("host", {}).get("machine") or MACHINE
    activity = run.table("activity") if run.has("activity") else None
    return causes_by_word(causes_by_kernel(placed, resting, rules, machine), activity, rules)


def _of_server(run: Run, spans: pl.DataFrame) -> Terms:
    """Serial passes on a server.

    Readings around each, less what other clients used; and what ended workers spent in the run
    queue, which goes with them.
    """
    read = readings(run.table("events"), run.table("tasks"))
    passes = _passes(run, read)
    lives = threads.of_server(run, lives_of(spans), passes)
    strangers = lives.filter(pl.col("kind") == threads.STRANGER)
    workers = lives.filter(pl.col("kind") == threads.WORKER).drop("session")
    ended = (
        began_and_ended(workers, passes)
        .group_by("sequence", maintain_order=True)
        .agg((pl.col("run_delay_ns") + pl.col("queued_ns")).sum().alias("ended_ns"))
    )
    counted = (
        read.select("sequence", "operation", "on_cpu_ns", "run_delay_ns")
        .join(grown_within(spans, strangers, passes), on="sequence", how="left")
        .join(ended, on="sequence", how="left")
        .with_columns(
            pl.col("on_cpu_ns") - pl.col("on_cpu_grown_ns").fill_null(0.0),
            pl.col("run_delay_ns")
            - pl.col("run_delay_grown_ns").fill_null(0.0)
            + pl.col("ended_ns").fill_null(0.0),
        )
    )
    kinds = lives.filter(pl.col("kind") != threads.STRANGER).select("life", "kind")
    named = named_spans(run, spans, threads.with_workers(spans, lives))
    placed = looked(named, passes).join(kinds, on="life")
    there = _existence(lives.filter(pl.col("kind").is_in(threads.AT_WORK)), placed, passes)
    existence = there.group_by("operation", "kind", maintain_order=True).agg(
        pl.col("existed_ns").sum()
    )
    return Terms(with_machine(run, counted, passes), user_share(read), existence, placed)


def _existence(lives: pl.DataFrame, placed: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Lives within serial passes, as `existed` tells them.

    Between which looks a worker began and ended may be less sure than a pass is long: it counts in
    passes in which it was seen, and in shorter ones for as long as its looks stand for.
    """
    seen = placed.group_by("life", "sequence", maintain_order=True).agg(pl.col("looked_ns").sum())
    there = existed(lives, passes).join(seen, on=["life", "sequence"], how="left")
    is_worker = pl.col("kind") == threads.WORKER
    born, over = (pl.col(name) for name in ("born_ns", "over_ns"))
    unsure_ns = pl.col("first_look_ns") - born + over - pl.col("last_look_ns")
    is_short = pl.col("finished_ns") - pl.col("started_ns") < unsure_ns
    length = pl.when(is_worker & is_short).then("looked_ns").otherwise("existed_ns")
    return there.filter(~is_worker | pl.col("looked_ns").is_not_null()).with_columns(
        length.alias("existed_ns")
    )


def _of_passes(run: Run, spans: pl.DataFrame) -> Terms:
    """Serial passes on an engine of one process: embedded, or a server of threads."""
    read = readings(run.table("events"), run.table("tasks"))
    passes = _passes(run, read)
    at_work, count = _at_work(run, spans, passes, read.select("sequence", "threads_at_work"))
    together = (pl.col("threads_at_work") > 1).fill_null(value=False).alias("with_workers")
    in_passes = looked(spans, passes).join(count.select("sequence", together), on="sequence")
    # What the counters tell is of all threads, so those that ran little are in the whole, too.
    placed = (
        named_spans(run, spans, in_passes)
        .join(at_work, on=["life", "sequence"], how="left")
        .with_columns(pl.col("kind").fill_null(threads.HELPER))
    )
    whole_ns = (pl.col("threads_at_work") * pl.col("wall_ns")).sum().alias("existed_ns")
    walls = read.select("sequence", "operation", "wall_ns").join(count, on="sequence")
    existence = walls.group_by("operation", maintain_order=True).agg(
        pl.lit(threads.LEADER).alias("kind"), whole_ns
    )
    counted = read.select("sequence", "operation", "on_cpu_ns", "run_delay_ns")
    return Terms(with_machine(run, counted, passes), user_share(read), existence, placed)


def _at_work(
    run: Run, spans: pl.DataFrame, passes: pl.DataFrame, counted: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Threads at work in each pass (life, sequence, kind), and sequence, threads_at_work.

    A server's threads that work for other clients, or look after the server, are in neither.
    """
    at_work = threads.of_process(spans, lives_of(spans), passes, counted)
    if run.facts["engine"].get("kind") != "server":
        return at_work.drop("rank", "ran_share"), counted
    named = named_spans(run, spans, spans.with_columns(pl.lit(value=True).alias("with_workers")))
    others = threads.for_others(at_work, named, passes)
    fewer = others.group_by("sequence", maintain_order=True).agg(pl.len().alias("others"))
    left = pl.col("threads_at_work").cast(pl.Int64) - pl.col("others").fill_null(0)
    count = counted.join(fewer, on="sequence", how="left").select(
        "sequence", left.alias("threads_at_work")
    )
    return at_work.join(others, on=["life", "sequence"], how="anti").drop(
        "rank", "ran_share"
    ), count


def _of_process(run: Run, spans: pl.DataFrame, passes: pl.DataFrame) -> Terms:
    """A load on an engine of one process: what its threads did.

    Which thread serves which session is not known, so it is of all operations together, unless
    there is one session or one operation.
    """
    whole = whole_pass(passes)
    wall_ns = whole.select(pl.col("finished_ns") - pl.col("started_ns")).item()
    lives = lives_of(spans)
    grown = growth(spans, existed(lives, whole))
    ran = pl.col("on_cpu_grown_ns") >= AT_WORK_SHARE * wall_ns
    serves = pl.col("life").is_in(threads.sessions_of(spans).implode())
    is_filled = _filled_share(passes) >= FILLED_SHARE
    at_work = grown.filter(ran | serves if is_filled else ran)
    together = spans.with_columns(pl.lit(value=at_work.height > 1).alias("with_workers"))
    kinds = at_work.select("life", pl.lit(threads.LEADER).alias("kind"))
    named = named_spans(run, spans, together).join(kinds, on="life")
    grown_ns = grown.group_by("sequence", "operation", maintain_order=True).agg(
        pl.col("on_cpu_grown_ns").sum().alias("on_cpu_ns"),
        pl.col("run_delay_grown_ns").sum().alias("run_delay_ns"),
    )
    counted = with_machine(run, grown_ns, whole)
    if passes["session"].n_unique() == 1:
        within_passes, there = looked(named, passes), existed(lives, passes)
        counted = _divided(counted, within_passes)
    else:
        names = passes["operation"].unique()
        name = names.item() if is_filled and names.len() == 1 else ALL_TOGETHER
        renamed = pl.lit(name).alias("operation")
        within_passes, there = looked(named, whole).with_columns(renamed), existed(lives, whole)
        there, counted = there.with_columns(renamed), counted.with_columns(renamed)
    existence = (
        there.join(kinds, on="life")
        .group_by("operation", "kind", maintain_order=True)
        .agg(pl.col("existed_ns").sum())
    )
    return Terms(counted, ticks_share(run, counted), existence, within_passes)


def _divided(totals: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Return counters of the whole, shared by how often operations' threads were seen running."""
    running = pl.col("looked_ns").filter(pl.col("state") == RUNNING).sum()
    shares = placed.group_by("operation", maintain_order=True).agg(running.alias("share"))
    return (
        shares.with_columns(pl.col("share") / pl.col("share").sum())
        .join(totals.drop("operation"), how="cross")
        .select("operation", *[pl.col(name) * pl.col("share").fill_nan(0.0) for name in COUNTED])
    )


def _filled_share(passes: pl.DataFrame) -> float:
    """Return the part of the sessions' time in which operations were under way."""
    began, ended = pl.col("started_ns"), pl.col("finished_ns")
    whole_ns = (ended.max() - began.min()) * pl.col("session").n_unique()
    return float(passes.select((ended - began).sum() / whole_ns).item())


def _of_sessions(run: Run, spans: pl.DataFrame, passes: pl.DataFrame) -> Terms:
    """A load on a server.

    What the sessions' processes used, by how often each operation's were seen running or ready to.
    """
    whole = whole_pass(passes)
    lives = threads.of_server(run, lives_of(spans), passes)
    serving = lives.filter(pl.col("kind").is_in(threads.AT_WORK))
    kinds = serving.select("life", "kind", "session")
    named = named_spans(run, spans, threads.with_workers(spans, lives)).join(kinds, on="life")
    placed = looked(named, passes)
    running = pl.col("looked_ns").filter(pl.col("state") == RUNNING).sum()
    all_ns = looked(named.drop("session"), whole).select(running).item()
    used = grown_within(spans, serving, whole).rename(
        {"on_cpu_grown_ns": "on_cpu_ns", "run_delay_grown_ns": "run_delay_ns"}
    )
    totals = with_machine(run, used.join(whole.select("sequence", "operation"), "sequence"), whole)
    counted = (
        placed.group_by("operation", maintain_order=True)
        .agg((running / all_ns).alias("share"))
        .join(totals.drop("operation"), how="cross")
        .select("operation", *[pl.col(name) * pl.col("share") for name in COUNTED])
    )
    existence = (
        existed(serving, passes)
        .group_by("operation", "kind", maintain_order=True)
        .agg(pl.col("existed_ns").sum())
    )
    return Terms(counted, ticks_share(run, counted, serving["pid"]), existence, placed)


def _passes(run: Run, read: pl.DataFrame) -> pl.DataFrame:
    """The passes around which counters were read."""
    passes = measured_passes(run.table("events"))
    return passes.join(read.select("sequence"), on="sequence", how="semi")
