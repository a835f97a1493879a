"""Finds the threads that worked for an operation, with their roles.

In a server, the process of the session and its workers count as long as they live. The server's
own processes (postmaster, I/O workers, log writer) work for all sessions, and their idle time is
no wait of an operation. So the server's own processes count only while they run or wait for a
disk. Processes of other clients, including Assay's probe, are left out.

In an engine of one process, embedded or threaded, the threads that ran most count: as many as
were counted at the operation's edges. A threaded server has other threads, which manage
connections or serve other clients. Such management threads do not count, however long they ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.server.sessions import SESSIONS, background, owners
from assay.analysis.waits.spans import RUNNING, THREAD, began_and_ended, existed, growth, within

if TYPE_CHECKING:
    from assay.record.reader import Run

LEADER, WORKER, HELPER, STRANGER = "leader", "worker", "helper", "stranger"
# Name that the driver gives to the threads of blocking sessions.
SESSION_THREAD = "session"
# A server thread that ran for a smaller share of an operation, and slept where it sleeps between
# operations, manages the server. Pool threads that serve an operation run more.
UPKEEP_SHARE_MAX = 0.05
# Number of the thread of a connection that has none at the moment.
NO_THREAD = 0
# Threads of these roles count as long as they exist, asleep or not.
AT_WORK = (LEADER, WORKER)


def sessions_of(spans: pl.DataFrame) -> pl.Series:
    """Return the driver's session threads, in which an embedded engine executes."""
    return spans.filter(pl.col("comm") == SESSION_THREAD)["life"].unique()


def serving(run: Run) -> pl.DataFrame | None:
    """Return the thread that served each connection: pid, tid, connection, session.

    Connections of other clients have no session; None if the engine does not report threads.
    """
    if not (run.has("connections") and run.has("activity")):
        return None
    activity = run.table("activity")
    if "connection" not in activity.columns:
        return None
    threads = activity.drop_nulls(["tid", "connection"]).group_by(
        "pid", "tid", "connection", maintain_order=True
    )
    of_session = (
        run.table("connections").sort("time_ns").unique("connection", keep="last")
    ).select("connection", "session")
    return (
        threads.agg(pl.col("time_ns").max())
        .join(of_session, on="connection", how="left", maintain_order="left")
        .with_columns(pl.col("pid", "tid", "session").cast(pl.UInt32))
        .sort("time_ns")
    )


def are_pooled(run: Run) -> bool:
    """Return True if the load's connections share the threads of a pool.

    Such a connection has no thread (number 0) while none of its statements is executed, and
    another thread for each statement. So the time of a thread belongs to no session.
    """
    if not (run.has("connections") and run.has("activity")):
        return False
    activity = run.table("activity")
    if "connection" not in activity.columns:
        return False
    own = run.table("connections")["connection"].cast(pl.UInt32).unique()
    reported = activity.filter(pl.col("connection").is_in(own.implode())).drop_nulls("tid")
    return bool((reported["tid"] == NO_THREAD).any())


def serves_by_thread(run: Run, passes: pl.DataFrame) -> bool:
    """Return True if the thread that serves each session is known."""
    threads = serving(run)
    if threads is None:
        return False
    return set(passes["session"]) <= set(threads["session"].drop_nulls())


def _of_threads(threads: pl.DataFrame, lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return threads with role and session, for servers with one thread per connection.

    A thread that served several connections belongs to the last measured one. Threads without a
    connection are helpers.
    """
    takes_part = pl.col("session").is_in(passes["session"].unique().implode())
    of_thread = threads.group_by(*THREAD, maintain_order=True).agg(
        pl.col("session").filter(takes_part).last()
    )
    kind = pl.when(pl.col("session").is_null()).then(pl.lit(STRANGER)).otherwise(pl.lit(LEADER))
    owned = of_thread.select(*THREAD, "session", kind.alias("kind"))
    return lives.join(owned, on=THREAD, how="left", maintain_order="left").with_columns(
        pl.col("kind").fill_null(HELPER)
    )


def of_server(run: Run, lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return threads with their role (leader, worker, helper) and session."""
    if not run.has("backends") or run.table("backends").is_empty():
        threads = serving(run)
        if threads is not None:
            return _of_threads(threads, lives, passes)
    activity = run.table("activity") if run.has("activity") else None
    processes = run.table("processes") if run.has("processes") else None
    whose = owners(run.table("backends"), activity, processes).with_columns(
        pl.col("pid").cast(pl.UInt32)
    )
    own = background(activity, processes).cast(pl.UInt32)
    # Sessions of other phases are idle during the measured one.
    takes_part = pl.col("session").is_in(passes["session"].unique().implode())
    is_session = (pl.col("owner") == SESSIONS) & takes_part
    role = pl.when("is_worker").then(pl.lit(WORKER)).otherwise(pl.lit(LEADER))
    owned = whose.select(
        "pid", "session", pl.when(is_session).then(role).otherwise(pl.lit(STRANGER)).alias("kind")
    )
    named = lives.join(owned, on="pid", how="left", maintain_order="left").with_columns(
        pl.when(pl.col("pid").is_in(own.implode()) & pl.col("kind").is_null())
        .then(pl.lit(HELPER))
        .otherwise("kind")
        .alias("kind")
    )
    if passes["session"].n_unique() > 1:
        return named.with_columns(pl.col("kind").fill_null(HELPER))
    return _with_short_workers(named, passes)


def _with_short_workers(lives: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return threads, with unknown ones assigned to the session whose execution they lived in."""
    unknown = lives.filter(pl.col("kind").is_null()).drop("session")
    born_in_pass = began_and_ended(unknown, passes)["life"].implode()
    short = pl.col("kind").is_null() & pl.col("life").is_in(born_in_pass)
    kind = pl.when(short).then(pl.lit(WORKER)).otherwise(pl.col("kind").fill_null(HELPER))
    session = pl.lit(passes["session"].first(), dtype=pl.UInt32)
    return lives.with_columns(
        kind.alias("kind"), pl.when(short).then(session).otherwise("session").alias("session")
    )


def with_workers(spans: pl.DataFrame, lives: pl.DataFrame) -> pl.DataFrame:
    """Return thread states, marked True for workers and for sessions with workers.

    Args:
        spans: Spans with the column life.
        lives: Lives with the columns kind and session.
    """
    workers = lives.filter(pl.col("kind") == WORKER)
    leaders = lives.filter(pl.col("kind") == LEADER).select("life", "session")
    beside = within(
        spans.join(leaders, on="life").select("life", "session", "begin_ns", "end_ns"),
        "begin_ns",
        "end_ns",
        _together(workers),
    )
    marked = (
        beside.select("life", "begin_ns")
        .unique()
        .with_columns(pl.lit(value=True).alias("with_workers"))
    )
    is_worker = pl.col("life").is_in(workers["life"].implode())
    together = is_worker | pl.col("with_workers").fill_null(value=False)
    return spans.join(
        marked, on=["life", "begin_ns"], how="left", maintain_order="left"
    ).with_columns(together.alias("with_workers"))


def _together(workers: pl.DataFrame) -> pl.DataFrame:
    """Return the periods in which each session had parallel workers."""
    before = pl.col("over_ns").cum_max().shift(1).over("session")
    apart = (pl.col("born_ns") > before).fill_null(value=True).cum_sum()
    return (
        workers.sort("session", "born_ns")
        .with_columns(apart.alias("sequence"))
        .group_by("session", "sequence", maintain_order=True)
        .agg(
            pl.col("born_ns").min().alias("started_ns"),
            pl.col("over_ns").max().alias("finished_ns"),
        )
        .with_columns(pl.lit("").alias("operation"))
    )


def is_one_process(lives: pl.DataFrame) -> bool:
    """Return True if no two processes existed at the same time, as after a restart."""
    lived = lives.group_by("pid").agg(pl.col("first_look_ns").min(), pl.col("last_look_ns").max())
    before = pl.col("last_look_ns").shift(1)
    follows = (pl.col("first_look_ns") >= before).fill_null(value=True).all()
    return bool(lived.sort("first_look_ns").select(follows).item())


def of_process(
    spans: pl.DataFrame, lives: pl.DataFrame, passes: pl.DataFrame, counted: pl.DataFrame
) -> pl.DataFrame:
    """Return the threads that worked in each execution, ranked by CPU time.

    In a pass shorter than the sampling interval, no thread was sampled while it ran. In such a
    pass, the session's thread of an embedded engine counts.

    Args:
        spans: Spans of one process's threads.
        lives: Lives of the threads.
        passes: Passes of the operations.
        counted: sequence, threads_at_work.
    """
    grown = growth(spans, existed(lives, passes)).join(counted, on="sequence")
    serves = pl.col("life").is_in(sessions_of(spans).implode())
    ran_ns = pl.col("on_cpu_grown_ns") + serves.cast(pl.Int64)
    rank = ran_ns.rank("ordinal", descending=True).over("sequence")
    ran_share = pl.col("on_cpu_grown_ns") / (pl.col("finished_ns") - pl.col("started_ns"))
    return (
        grown.with_columns(rank.alias("rank"), ran_share.alias("ran_share"))
        .filter(pl.col("rank") <= pl.col("threads_at_work"))
        .select("life", "sequence", pl.lit(LEADER).alias("kind"), "rank", "ran_share")
    )


def for_others(at_work: pl.DataFrame, named: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the threads that worked in each execution for other clients.

    Some threads that serve others ran less than another thread and slept mostly for a client.
    Other threads hardly ran and slept as they do between operations: these manage the server.

    Args:
        at_work: Threads from `of_process`.
        named: Spans with the column by_kernel.
        passes: Passes of the operations.
    """
    asleep = within(named.filter(pl.col("state") != RUNNING), "begin_ns", "end_ns", passes)
    slept_ns = pl.min_horizontal("end_ns", "finished_ns") - pl.max_horizontal(
        "begin_ns", "started_ns"
    )
    waiting = asleep.group_by("life", "sequence", maintain_order=True).agg(
        (slept_ns.filter(pl.col("by_kernel") == cause).sum() > 0.5 * slept_ns.sum()).alias(cause)
        for cause in ("client", "idle")
    )
    looks_after = pl.col("idle") & (pl.col("ran_share") < UPKEEP_SHARE_MAX)
    return (
        at_work.filter(pl.col("rank") > 1)
        .join(waiting, on=["life", "sequence"])
        .filter(pl.col("client") | looks_after)
        .select("life", "sequence")
    )
