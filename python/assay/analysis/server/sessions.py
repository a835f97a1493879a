"""Splits a server's CPU time by user: client sessions, the server itself, other clients.

A server engine has processes for sessions, for parallel workers of a session, and for itself.
The server's total CPU time is that of its account, which header and chart show, too. The part
beyond the growth of sampled processes belongs to processes that were too short to be sampled,
and to the last moments of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.host.accounts import cpu_used, growth_s, used_at
from assay.analysis.operations import NS, window_of
from assay.analysis.server.ended import Ended, ended_by_owner
from assay.record.layout import ACCOUNT_ENGINE

if TYPE_CHECKING:
    from assay.record.reader import Run

SESSIONS, BACKGROUND, UNSEEN = "sessions", "background", "unseen"
OURS, OTHER_CLIENTS = "ours", "other_clients"
# Owners of processes whose client is not one of the load's sessions.
BESIDE = (OURS, OTHER_CLIENTS)
# Application name of Assay's connections besides the load's sessions, alone or before a space.
OWN_APPLICATION = "assay"

NO_TITLE = "without a title"
ENDED_TITLE = "ended between two samples"
# Without these columns, which older records lack, unsampled time is not known.
NEEDED = {"children_user_ns", "children_system_ns", "title"}
# A worker's title may contain the pid of its leader; `owners` accepts it within the server.
LEADER_IN_TITLE = r"\bPID (\d+)\b"
COUNTERS = ("cpu_ns", "run_delay_ns", "read_bytes", "write_bytes")
PROCESS = ["pid", "started_ns"]
OWNERS_SCHEMA = {
    "pid": pl.UInt32,
    "owner": pl.String,
    "session": pl.UInt32,
    "is_worker": pl.Boolean,
}
LOOKS_SCHEMA = {
    "pid": pl.UInt32,
    "leader_pid": pl.UInt32,
    "has_client": pl.Boolean,
    "is_ours": pl.Boolean,
}


def sessions(run: Run) -> dict[str, Any] | None:
    """Return a server's CPU seconds, run delay and storage bytes, by client session.

    Keys: window_s; cpu_s; `sessions` (session, cpu_s, run_delay_s, read_bytes, write_bytes,
    workers, workers_cpu_s; workers are processes that worked for the session, and are included);
    `background`, `ours` (Assay's own probes and set-up) and `other_clients` (title, processes,
    and the same figures), most CPU first; ended_cpu_s and ended_seen (time of unsampled
    processes that was assigned to owners, and the number of known processes that determine the
    owners); unseen_cpu_s (the rest of the unsampled time); `shares` of cpu_s. A missing value is
    None. The run delay of an ended process is that of its last sample, and bytes of unsampled
    processes count for their parents.

    Returns:
        None if the record does not contain the process of each session, or is older.
    """
    window = window_of(run)
    if window is None or not (run.has("backends") and run.has("processes")):
        return None
    processes = run.table("processes")
    if NEEDED - set(processes.columns):
        return None
    activity = run.table("activity") if run.has("activity") else None
    return split_by_session(processes, run.table("backends"), activity, window)


def split_by_session(
    processes: pl.DataFrame,
    backends: pl.DataFrame,
    activity: pl.DataFrame | None,
    window: tuple[int, int],
) -> dict[str, Any] | None:
    """Return a window's CPU time by client session; None with fewer than two samples."""
    of_engine = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
    edges = edges_around(of_engine["time_ns"], *window)
    if edges is None:
        return None
    grown = process_growth(of_engine, *edges)
    whose = owners(backends, activity, of_engine)
    owned = grown.join(whose, on="pid", how="left").with_columns(
        pl.col("owner").fill_null(BACKGROUND), pl.col("is_worker").fill_null(value=False)
    )
    cpu_s = max(account_s(of_engine, edges), float(grown["cpu_ns"].sum()) * NS)
    unseen_s = max(0.0, cpu_s - float(grown["cpu_ns"].sum()) * NS)
    lasting = of_engine.filter(pl.col("time_ns").is_in(edges))["pid"].unique()
    ended = ended_by_owner(whose, owned, lasting, unseen_s)
    by_owner = {
        owner: float(owned.filter(pl.col("owner") == owner)["cpu_ns"].sum()) * NS + ended.of(owner)
        for owner in (SESSIONS, BACKGROUND, OURS, OTHER_CLIENTS)
    } | {UNSEEN: unseen_s - ended.cpu_s}
    return {
        "window_s": (edges[1] - edges[0]) * NS,
        "cpu_s": cpu_s,
        SESSIONS: _by_session(owned, ended),
        **{owner: _by_title(owned, owner, ended) for owner in (BACKGROUND, OURS, OTHER_CLIENTS)},
        "ended_cpu_s": ended.cpu_s,
        "ended_seen": ended.processes,
        "unseen_cpu_s": by_owner[UNSEEN],
        "shares": {owner: used / cpu_s if cpu_s else None for owner, used in by_owner.items()},
    }


def account_s(of_engine: pl.DataFrame, edges: tuple[int, int]) -> float:
    """Return the CPU seconds of all engine processes between two samples."""
    both = pl.Series("time_ns", edges, dtype=pl.Int64)
    return sum(growth_s(used_at(cpu_used(of_engine), both)).values())


def process_growth(samples: pl.DataFrame, first_ns: int, last_ns: int) -> pl.DataFrame:
    """Return the resource use of each process between two samples.

    A process that is not in the first sample started later, so all of its use counts.

    Columns: pid, started_ns, ppid, title, is_live (in the last sample); cpu_ns, run_delay_ns,
    read_bytes, write_bytes (growth; bytes of ended children only if the child was not sampled).
    """
    ticks = pl.col("user_ns") + pl.col("system_ns")
    in_first = pl.col("time_ns") == first_ns
    counted = (
        samples.filter(pl.col("time_ns").is_between(first_ns, last_ns))
        .with_columns(
            pl.coalesce("on_cpu_ns", ticks).alias("cpu_ns"),
        )
        .with_columns(pl.col(COUNTERS).cast(pl.Int64))
        .sort("time_ns")
    )

    def growth(name: str) -> pl.Expr:
        before = pl.col(name).filter(in_first).sum()
        return (pl.col(name).last() - before).alias(name)

    grown = counted.group_by(PROCESS, maintain_order=True).agg(
        pl.col("ppid").last(),
        pl.col("title").drop_nulls().last(),
        (pl.col("time_ns").last() == last_ns).alias("is_live"),
        *[growth(name) for name in COUNTERS],
        pl.col("read_bytes").last().alias("read_seen_bytes"),
        pl.col("write_bytes").last().alias("write_seen_bytes"),
    )
    return _without_bytes_of_children(grown)


def owners(
    backends: pl.DataFrame, activity: pl.DataFrame | None, processes: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return the client session that each server process works for.

    A process belongs to the session that it serves, or else to that of its leader. The leader
    comes from any sample of sessions, or from the title, if `PID n` in it is the pid of a
    process that serves a session. Samples of sessions are rarer, so many short workers appear
    only by title. Other processes with a client (a state or an application name) belong to that
    client, which by its application is Assay or another client.
    """
    of_session = (
        backends.sort("time_ns")
        .group_by("backend_pid", maintain_order=True)
        .agg(pl.col("session").last())
    )
    direct = of_session.select(
        pl.col("backend_pid").alias("pid"), pl.lit(SESSIONS).alias("owner"), "session"
    ).with_columns(pl.lit(value=False).alias("is_worker"))
    seen = (
        _as_their_leaders(pl.concat([_looks_by_title(processes), _looks_by_activity(activity)]))
        .join(direct.select(pl.col("pid").cast(pl.UInt32)), on="pid", how="anti")
        .join(of_session, left_on="leader_pid", right_on="backend_pid", how="left")
        .filter(pl.col("session").is_not_null() | pl.col("has_client"))
    )
    is_session = pl.col("session").is_not_null()
    owner = pl.when(is_session).then(pl.lit(SESSIONS)).when("is_ours").then(pl.lit(OURS))
    indirect = seen.select(
        "pid",
        owner.otherwise(pl.lit(OTHER_CLIENTS)).alias("owner"),
        "session",
        pl.col("leader_pid").is_not_null().alias("is_worker"),
    )
    parts = [part.cast(OWNERS_SCHEMA) for part in (direct, indirect)]  # type: ignore[arg-type]
    return pl.concat(parts)


def _as_their_leaders(looks: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each sampled process; a parallel worker gets its leader's client."""
    clients = ["has_client", "is_ours"]
    merged = looks.group_by("pid", maintain_order=True).agg(
        pl.col("leader_pid").drop_nulls().last(), pl.col(clients).any()
    )
    leaders = merged.select(
        pl.col("pid").alias("leader_pid"), pl.col(clients).name.prefix("leader_")
    )
    return merged.join(leaders, on="leader_pid", how="left", maintain_order="left").select(
        "pid",
        "leader_pid",
        *[pl.col(name) | pl.col(f"leader_{name}").fill_null(value=False) for name in clients],
    )


def background(activity: pl.DataFrame | None, processes: pl.DataFrame | None) -> pl.Series:
    """Return the ids of server processes that work for the server itself.

    These are processes that were sampled with neither a client nor a leader, and processes that
    started others.
    """
    processes_seen = (
        _looks_by_activity(activity).group_by("pid", maintain_order=True).agg(pl.all().drop_nulls())
    )
    idle = processes_seen.filter(
        pl.col("leader_pid").list.len() == 0, ~pl.col("has_client").list.any()
    )
    pids = [idle["pid"]]
    if processes is not None and "ppid" in processes.columns:
        of_engine = pl.col("account").cast(pl.String) == ACCOUNT_ENGINE
        pids.append(processes.filter(of_engine)["ppid"].drop_nulls().cast(pl.UInt32))
    return pl.concat(pids).unique()


def is_ours() -> pl.Expr:
    """Return an expression that is True for connections of Assay itself."""
    name = pl.col("application").cast(pl.String)
    own = (name == OWN_APPLICATION) | name.str.starts_with(f"{OWN_APPLICATION} ")
    return own.fill_null(value=False)


def _looks_by_activity(activity: pl.DataFrame | None) -> pl.DataFrame:
    """Return all samples of server processes from the activity view, by time."""
    if activity is None:
        return pl.DataFrame(schema=LOOKS_SCHEMA)
    has_client = pl.any_horizontal(pl.col("application", "state").is_not_null())
    looks = activity.sort("time_ns").select(
        "pid", "leader_pid", has_client.alias("has_client"), is_ours().alias("is_ours")
    )
    return looks.cast(LOOKS_SCHEMA)  # type: ignore[arg-type]


def _looks_by_title(processes: pl.DataFrame | None) -> pl.DataFrame:
    """Return processes whose title names another process, such as a leader."""
    if processes is None or "title" not in processes.columns:
        return pl.DataFrame(schema=LOOKS_SCHEMA)
    leader = pl.col("title").str.extract(LEADER_IN_TITLE).cast(pl.UInt32, strict=False)
    return (
        processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
        .sort("time_ns")
        .select(pl.col("pid").cast(pl.UInt32), leader.alias("leader_pid"))
        .drop_nulls()
        .unique(maintain_order=True)
        .with_columns(pl.lit(value=False).alias("has_client"), pl.lit(value=False).alias("is_ours"))
    )


def edges_around(times: pl.Series, begun_ns: int, ended_ns: int) -> tuple[int, int] | None:
    """Return the nearest samples around a window, or else the outermost; None with only one."""
    first = times.filter(times <= begun_ns).max()
    last = times.filter(times >= ended_ns).min()
    first = times.min() if first is None else first
    last = times.max() if last is None else last
    if not isinstance(first, int) or not isinstance(last, int) or first >= last:
        return None
    return first, last


def _without_bytes_of_children(grown: pl.DataFrame) -> pl.DataFrame:
    """Return resource use without bytes that the kernel added to parents of ended children."""
    ended = (
        grown.filter(~pl.col("is_live"))
        .group_by("ppid", maintain_order=True)
        .agg(pl.col("read_seen_bytes", "write_seen_bytes").sum())
        .rename({"ppid": "pid", "read_seen_bytes": "read_ended", "write_seen_bytes": "write_ended"})
    )
    own = [
        (pl.col(f"{way}_bytes") - pl.col(f"{way}_ended").fill_null(0)).clip(lower_bound=0)
        for way in ("read", "write")
    ]
    return (
        grown.join(ended, on="pid", how="left", maintain_order="left")
        .with_columns(*own)
        .drop("read_ended", "write_ended", "read_seen_bytes", "write_seen_bytes")
    )


def _figures() -> list[pl.Expr]:
    """Return expressions for sums of seconds and bytes over processes; null if one is null."""
    whole = {
        name: pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()) for name in COUNTERS
    }
    return [
        (whole["cpu_ns"] * NS).alias("cpu_s"),
        (whole["run_delay_ns"] * NS).alias("run_delay_s"),
        whole["read_bytes"].alias("read_bytes"),
        whole["write_bytes"].alias("write_bytes"),
    ]


def _by_session(owned: pl.DataFrame, ended: Ended) -> list[dict[str, Any]]:
    workers = pl.col("cpu_ns").filter("is_worker")
    rows = (
        owned.filter(pl.col("owner") == SESSIONS)
        .group_by("session", maintain_order=True)
        .agg(
            *_figures(),
            pl.col("is_worker").sum().alias("workers"),
            (workers.sum() * NS).alias("workers_cpu_s"),
        )
        .sort("session")
        .to_dicts()
    )
    for row in rows:
        if row["cpu_s"] is not None:
            row["cpu_s"] += ended.of_session(row["session"])
        row["workers_cpu_s"] += ended.of_session(row["session"], workers=True)
    return rows


def _by_title(owned: pl.DataFrame, owner: str, ended: Ended) -> list[dict[str, Any]]:
    titles = (
        owned.filter(pl.col("owner") == owner)
        .with_columns(pl.col("title").fill_null(NO_TITLE))
        .group_by("title", maintain_order=True)
        .agg(pl.len().alias("processes"), *_figures())
        .sort("cpu_s", "title", descending=[True, False], nulls_last=True)
        .to_dicts()
    )
    if (ended_s := ended.of(owner)) > 0:
        absent = dict.fromkeys(("run_delay_s", "read_bytes", "write_bytes"))
        titles.append({"title": ENDED_TITLE, "processes": 0, "cpu_s": ended_s, **absent})
    return titles
