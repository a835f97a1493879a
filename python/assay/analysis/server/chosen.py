"""Counts the connections of sessions to each server, for DSNs that name several servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

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
    """

    server: str
    sessions: int
    connections: int


def chosen_servers(run: Run) -> tuple[ChosenServer, ...] | None:
    """Return the servers to which sessions were connected, in the order of their first use.

    Returns:
        None if the engine's sessions cannot choose among servers, or the record is older.
    """
    if not run.has(STREAM) or run.table(STREAM).is_empty():
        return None
    counts = (
        run.table(STREAM)
        .sort("time_ns", "session")
        .group_by(pl.col("server").cast(pl.String), maintain_order=True)
        .agg(pl.col("session").n_unique().alias("sessions"), pl.len().alias("connections"))
    )
    return tuple(ChosenServer(**row) for row in counts.to_dicts())
