"""Splits an operation's time by cause, from samples of its threads on a CPU and waiting.

The whole is the time that the threads at work existed within the operation. The whole is
compared with independent sources: CPU time and run queue time from the kernel's counters, stolen
time from the hypervisor, sleep from sampled thread states, and its cause from the kernel or the
engine. No source is computed as the remainder of the others. The time that no source accounts
for is `uncovered`.

For serial passes CPU and run queue time are read just outside of each timed interval. Under a
load they are read at the edges of the measured part. These counters are then divided among
operations by the number of samples in which their threads ran or were ready to run.
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

# A thread of an embedded engine counts as at work if it ran for at least this share of the time.
AT_WORK_SHARE = 0.01
# If operations fill this share of the sessions' time, the sessions' threads count as at work
# however little they ran. Otherwise they may just wait for their next operation.
FILLED_SHARE = 0.9


@dataclass(frozen=True)
class Terms:
    """The measured inputs of a split of operations' time by cause.

    Attributes:
        counted: operation, and the columns of `COUNTED`; null if not measured.
        user_share: operation, and user_share of its CPU time.
        existence: operation, kind, existed_ns: for threads that count as long as they exist.
        placed: Spans of all kinds within passes: operation, kind, state, causes, looked_ns.
    """

    counted: pl.DataFrame
    user_share: pl.DataFrame
    existence: pl.DataFrame
    placed: pl.DataFrame


def wall_split(run: Run) -> pl.DataFrame | None:
    """Return thread-seconds by cause for each operation; None without samples of threads.

    Columns: operation; one column per cause (null if its source is missing); threads_s; coverage
    (accounted time / threads_s, before any scaling; above 1 if more was accounted for than
    elapsed). With several sessions on an engine of one process there is one row, `all
    operations`, unless they execute a single operation.

    Returns:
        The split; None for a run without samples of threads, or if a server's processes cannot
        be assigned to its several sessions.

    Raises:
        UsageError: If the record's wait rules are invalid.
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
    """Return thread-seconds by cause for each operation, from the measured inputs."""
    kinds = ["operation", "kind"]
    active = pl.col("state").is_in([RUNNING, DISK_STATE])
    existence = (
        terms.placed.group_by(kinds, maintain_order=True)
        .agg(pl.col("looked_ns").filter(active).sum().alias("active_ns"))
        .join(terms.existence, on=kinds, how="full", coalesce=True)
        .with_columns(
            # A helper thread counts only while it runs or waits for a disk.
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
    # Other clients' use is known only between samples, so the difference may be negative.
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
    """Return each operation's causes in seconds, with the remaining uncovered time."""
    throttled = pl.min_horizontal("throttled_ns", "run_delay_ns")
    parts = table.with_columns(
        (pl.col("on_cpu_ns") * pl.col("user_share")).alias("cpu_user"),
        (pl.col("on_cpu_ns") * (1 - pl.col("user_share"))).alias("cpu_system"),
        # A thread that a CPU limit stops is counted in the run queue meanwhile.
        (pl.col("run_delay_ns") - throttled.fill_null(0.0)).alias("run_queue"),
        throttled.alias("throttled"),
        pl.col("stolen_ns").alias("stolen"),
    )
    accounted = pl.sum_horizontal(name for name in PARTS if name != UNCOVERED)
    left = (pl.col("threads_ns") - accounted).clip(lower_bound=0.0)
    # If no thread was at work for an operation, as after a server's exit, nothing is known.
    at_work = pl.when(pl.col("threads_ns") > 0).then("threads_ns")
    return (
        parts.with_columns(left.alias(UNCOVERED), (accounted / at_work).alias("coverage"))
        .with_columns(pl.col("coverage").fill_nan(None))
        .select(
            "operation",
            *[(pl.col(name) * NS).alias(name) for name in PARTS],
            (pl.col("threads_ns") * NS).alias("threads_s"),
            "coverage",
        )
    )


def named_spans(run: Run, spans: pl.DataFrame, placed: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return thread states over time, with the causes of sleeping threads.

    Args:
        run: The run of the spans.
        spans: All spans; they show the addresses at which threads rest.
        placed: The spans to return, with the column with_workers; None means all spans, which
            then have this column.
    """
    placed = spans if placed is None else placed
    rules = all_waits(run.facts["engine"].get("waits"))
    under_way = run.table("events").select("started_ns", "finished_ns").drop_nulls()
    resting = addresses_at_rest(spans, under_way)
    machine = run.environment.get("host", {}).get("machine") or MACHINE
    activity = run.table("activity") if run.has("activity") else None
    return causes_by_word(causes_by_kernel(placed, resting, rules, machine), activity, rules)


def _of_server(run: Run, spans: pl.DataFrame) -> Terms:
    """Return the inputs of a time split for operations one after another on a server.

    The terms are readings around each pass, minus the use of other clients. The run queue time of
    ended workers is added, because it disappears from these readings with the workers.
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
    """Return the lifetimes of threads within operations one after another.

    The start and end of a worker may be known less exactly than a pass is long. So a worker
    counts only in passes in which it was sampled, and in short passes for the time that its
    samples represent.
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
    """Return the inputs of a time split for an engine of one process."""
    read = readings(run.table("events"), run.table("tasks"))
    passes = _passes(run, read)
    at_work, count = _at_work(run, spans, passes, read.select("sequence", "threads_at_work"))
    together = (pl.col("threads_at_work") > 1).fill_null(value=False).alias("with_workers")
    in_passes = looked(spans, passes).join(count.select("sequence", together), on="sequence")
    # The counters cover all threads, so threads that ran little are part of the whole, too.
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
    """Return the threads that worked in each execution, and their mean number.

    Threads of a server that work for other clients or for the server itself are in neither.
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
    """Return the inputs of a time split for a concurrent load on an engine of one process.

    The session of each thread is not known, so the terms cover all operations together, unless
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
    """Return the load's counters, divided by how often each operation's threads were running."""
    running = pl.col("looked_ns").filter(pl.col("state") == RUNNING).sum()
    shares = placed.group_by("operation", maintain_order=True).agg(running.alias("share"))
    return (
        shares.with_columns(pl.col("share") / pl.col("share").sum())
        .join(totals.drop("operation"), how="cross")
        .select("operation", *[pl.col(name) * pl.col("share").fill_nan(0.0) for name in COUNTED])
    )


def _filled_share(passes: pl.DataFrame) -> float:
    """Return the share of the sessions' time in which an operation was in progress."""
    began, ended = pl.col("started_ns"), pl.col("finished_ns")
    whole_ns = (ended.max() - began.min()) * pl.col("session").n_unique()
    return float(passes.select((ended - began).sum() / whole_ns).item())


def _of_sessions(run: Run, spans: pl.DataFrame, passes: pl.DataFrame) -> Terms:
    """Return the inputs of a time split for a load on a server with a process per session.

    Counters of the sessions' processes are divided by the samples of each operation in which
    they ran or were ready to run.
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
    there = _existence_of_sessions(serving, passes)
    return Terms(counted, ticks_share(run, counted, serving["pid"]), there, placed)


def _existence_of_sessions(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the time in which sessions' threads existed within executions.

    Columns: operation, kind, existed_ns. One session after another is counted, because there is a
    row for each thread in each execution.
    """
    needed = lives.select("session", "kind", "born_ns", "over_ns")
    sums = [
        existed(own, passes)
        .group_by("operation", "kind", maintain_order=True)
        .agg(pl.col("existed_ns").sum())
        for own in needed.partition_by("session")
    ]
    whole = pl.concat(sums) if sums else existed(needed, passes)
    return whole.group_by("operation", "kind", maintain_order=True).agg(pl.col("existed_ns").sum())


def _passes(run: Run, read: pl.DataFrame) -> pl.DataFrame:
    """Return the executions with counter readings around them."""
    passes = measured_passes(run.table("events"))
    return passes.join(read.select("sequence"), on="sequence", how="semi")
