"""Counts the connections of sessions to each server, for DSNs that name several servers.

After a failover, it also gives the time from which sessions used another server, and the outage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.operations import NS, is_counted, window_ns

if TYPE_CHECKING:
    from assay.record.reader import Run

STREAM = "servers"


@dataclass(frozen=True)
class ChosenServer:
    """One server, and the connections of sessions to it.

    Attributes:
        server: Address and port, or the file of a Unix socket.
        sessions: Number of sessions that were connected to it at some time.
        connections: Number of connections, including new ones after a loss.
        since_s: Seconds from the start of the measured part until the first session went on with
            this server instead of another one. None if sessions chose it at first, or nothing was
            measured.
        outage_s: Longest time in seconds without a successful operation of any session, before or
            during the first operation on this server. None without `since_s`, or if no operation
            succeeded before that one.
    """

    server: str
    sessions: int
    connections: int
    since_s: float | None = None
    outage_s: float | None = None


def chosen_servers(run: Run) -> tuple[ChosenServer, ...] | None:
    """Return the servers to which sessions were connected, in the order of their first use.

    Returns:
        None if the engine's sessions cannot choose among servers, or the record is older.
    """
    if not run.has(STREAM) or run.table(STREAM).is_empty():
        return None
    is_later = pl.int_range(pl.len()).over("session") > 0
    counts = (
        run.table(STREAM)
        .sort("time_ns", "session")
        .with_columns(pl.col("server").cast(pl.String), is_later.alias("is_later"))
        .group_by("server", maintain_order=True)
        .agg(
            pl.col("session").n_unique().alias("sessions"),
            pl.len().alias("connections"),
            pl.col("time_ns").first(),
            pl.col("session").first().alias("first_session"),
            pl.col("is_later").first(),
        )
    )
    return tuple(
        ChosenServer(
            row["server"],
            row["sessions"],
            row["connections"],
            *(_failover(run, row) if row["is_later"] else (None, None)),
        )
        for row in counts.to_dicts()
    )


def _failover(run: Run, row: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return when a server was first used in the measured part, and the outage, in seconds.

    The driver notes a connection after the first operation on it.
    """
    events, time_ns = run.table("events"), row["time_ns"]
    window = window_ns(events)
    if window is None or time_ns < window[0]:
        return None, None
    since_s = (time_ns - window[0]) * NS
    ok = is_counted(events) & (pl.col("outcome") == "ok")
    columns = ("session", "started_ns", "finished_ns")
    successes = events.lazy().filter(ok).select(columns).sort("finished_ns").collect()
    ends = successes["finished_ns"]
    first = successes.filter(
        (pl.col("session") == row["first_session"]) & (pl.col("finished_ns") <= time_ns)
    ).tail(1)
    if first.is_empty():
        return since_s, None
    begun_ns, ended_ns = first.select("started_ns", "finished_ns").row(0)
    before = ends.filter(ends < begun_ns).tail(1)
    if before.is_empty():
        return since_s, None
    gaps_ns = pl.concat([before, ends.filter(ends.is_between(begun_ns, ended_ns))]).diff()
    return since_s, float(gaps_ns.drop_nulls().to_numpy().max()) * NS
