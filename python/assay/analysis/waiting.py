"""Where an operation's time went, on a CPU and off it, by cause.

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
from assay.analysis.operations import NS
from assay.analysis.placing import as_one, measured_passes
from assay.analysis.split import readings, user_share
from assay.analysis.waits import threads
from assay.analysis.waits.machine import stolen_ns, throttled_ns
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
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.record.reader import Run

COUNTED = ("on_cpu_ns", "run_delay_ns", "stolen_ns", "throttled_ns")
# A thread of an embedded engine is at work of all operations together when it ran for as much.
AT_WORK_SHARE = 0.01


@dataclass(frozen=True)
class Terms:
    """What the time of each operation's threads is made of.

    Attributes:
        counted: operation, and those of `COUNTED`; null: not measured.
        user_share: operation, user_share: of its CPU time.
        existence: operation, kind, existed_ns: of threads that count as long as they exist.
        placed: Spans of all kinds in passes: operation, kind, state, causes, looked_ns.
    """

    counted: pl.DataFrame
    user_share: pl.DataFrame
    existence: pl.DataFrame
    placed: pl.DataFrame


def wall_split(run: Run) -> pl.DataFrame | None:
    """One row an operation, in thread-seconds of all its passes.

    Columns: operation; one of each cause (null where its source is absent); threads_s; coverage
    (accounted / threads_s, before any scaling; above 1 where more was accounted for than there
    was). Of several sessions on an engine of one process there is one row, `all operations`.

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
    """As `wall_split`, of its terms."""
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
        placed: Those that are wanted, with with_workers; None: all of them, which have it.
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
        .join(_grown(spans, strangers, passes), on="sequence", how="left")
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
    return Terms(_with_machine(run, counted, passes), user_share(read), existence, placed)


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
    return Terms(_with_machine(run, counted, passes), user_share(read), existence, placed)


def _at_work(
    run: Run, spans: pl.DataFrame, passes: pl.DataFrame, counted: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Threads at work in each pass (life, sequence, kind), and sequence, threads_at_work.

    A server's threads that work for other clients are in neither.
    """
    at_work = threads.of_process(spans, lives_of(spans), passes, counted)
    if run.facts["engine"].get("kind") != "server":
        return at_work.drop("rank"), counted
    named = named_spans(run, spans, spans.with_columns(pl.lit(value=True).alias("with_workers")))
    others = threads.for_others(at_work, named, passes)
    fewer = others.group_by("sequence", maintain_order=True).agg(pl.len().alias("others"))
    left = pl.col("threads_at_work").cast(pl.Int64) - pl.col("others").fill_null(0)
    count = counted.join(fewer, on="sequence", how="left").select(
        "sequence", left.alias("threads_at_work")
    )
    return at_work.join(others, on=["life", "sequence"], how="anti").drop("rank"), count


def _of_process(run: Run, spans: pl.DataFrame, passes: pl.DataFrame) -> Terms:
    """Several sessions on an engine of one process: what its threads did, of no operation alone."""
    whole = _whole(passes)
    wall_ns = whole.select(pl.col("finished_ns") - pl.col("started_ns")).item()
    grown = growth(spans, existed(lives_of(spans), whole))
    kind = pl.lit(threads.LEADER).alias("kind")
    at_work = grown.filter(pl.col("on_cpu_grown_ns") >= AT_WORK_SHARE * wall_ns)
    together = spans.with_columns(pl.lit(value=at_work.height > 1).alias("with_workers"))
    placed = looked(named_spans(run, spans, together), whole).join(
        at_work.select("life", kind), on="life"
    )
    existence = at_work.group_by("operation", maintain_order=True).agg(
        kind, pl.col("existed_ns").sum()
    )
    counted = _with_machine(
        run,
        grown.group_by("sequence", "operation", maintain_order=True).agg(
            pl.col("on_cpu_grown_ns").sum().alias("on_cpu_ns"),
            pl.col("run_delay_grown_ns").sum().alias("run_delay_ns"),
        ),
        whole,
    )
    return Terms(counted, _ticks_share(run, counted), existence, placed)


def _of_sessions(run: Run, spans: pl.DataFrame, passes: pl.DataFrame) -> Terms:
    """A load on a server.

    What the sessions' processes used, by how often each operation's were seen running or ready to.
    """
    whole = _whole(passes)
    lives = threads.of_server(run, lives_of(spans), passes)
    serving = lives.filter(pl.col("kind").is_in(threads.AT_WORK))
    kinds = serving.select("life", "kind", "session")
    named = named_spans(run, spans, threads.with_workers(spans, lives)).join(kinds, on="life")
    placed = looked(named, passes)
    running = pl.col("looked_ns").filter(pl.col("state") == RUNNING).sum()
    all_ns = looked(named.drop("session"), whole).select(running).item()
    used = _grown(spans, serving, whole).rename(
        {"on_cpu_grown_ns": "on_cpu_ns", "run_delay_grown_ns": "run_delay_ns"}
    )
    totals = _with_machine(run, used.join(whole.select("sequence", "operation"), "sequence"), whole)
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
    return Terms(counted, _ticks_share(run, counted, serving["pid"]), existence, placed)


def _passes(run: Run, read: pl.DataFrame) -> pl.DataFrame:
    """The passes around which counters were read."""
    passes = measured_passes(run.table("events"))
    return passes.join(read.select("sequence"), on="sequence", how="semi")


def _whole(passes: pl.DataFrame) -> pl.DataFrame:
    """The measured part as one pass."""
    return as_one(passes).with_columns(pl.lit(0, dtype=pl.UInt64).alias("sequence"))


def _grown(spans: pl.DataFrame, lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """What these threads' clocks grew by within each pass."""
    names = ("on_cpu_grown_ns", "run_delay_grown_ns")
    alive = existed(lives.drop("session"), passes)
    return growth(spans, alive).group_by("sequence", maintain_order=True).agg(pl.col(names).sum())


def _with_machine(run: Run, counted: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Sums of passes by operation, with what a hypervisor and a limit of CPU time took of them."""
    stolen, held = pl.lit(None, dtype=pl.Float64), pl.lit(0.0)
    if run.has("cpus"):
        counted = counted.join(stolen_ns(run.table("cpus"), passes), on="sequence", how="left")
        share = (pl.col("on_cpu_ns") / pl.col("busy_ns")).clip(0.0, 1.0).fill_nan(0.0)
        stolen = pl.col("steal_ns") * share
    if run.has("cgroup"):
        counted = counted.join(throttled_ns(run.table("cgroup"), passes), on="sequence", how="left")
        held = pl.col("throttled_ns")
    # The sum of a column that is null somewhere would count absence as zero.
    sums = [
        pl.when(pl.col(name).null_count() == 0)
        .then(pl.col(name).cast(pl.Float64).sum())
        .alias(name)
        for name in COUNTED
    ]
    terms = counted.with_columns(stolen.alias("stolen_ns"), held.alias("throttled_ns"))
    return terms.group_by("operation", maintain_order=True).agg(sums)


def _ticks_share(run: Run, operations: pl.DataFrame, pids: pl.Series | None = None) -> pl.DataFrame:
    """Of all operations the same user_share: that of what the engine's processes used in ticks."""
    share = None
    if run.has("processes"):
        seen = run.table("processes").with_columns(pl.col("account").cast(pl.String))
        seen = seen.filter(pl.col("account").is_in(ENGINE_ACCOUNTS))
        if pids is not None:
            seen = seen.filter(pl.col("pid").is_in(pids.implode()))
        ticks = pl.col("user_ns", "system_ns")
        grown = seen.group_by("pid", "started_ns", maintain_order=True).agg(
            ticks.max() - ticks.min()
        )
        user, both = pl.col("user_ns").sum(), pl.sum_horizontal(ticks.sum())
        share = grown.select((user / both).fill_nan(None)).item()
    told = pl.lit(share, dtype=pl.Float64).alias("user_share")
    return operations.select("operation", told)
