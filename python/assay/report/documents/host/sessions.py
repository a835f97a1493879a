"""Types of a run's document on a server's CPU time by session."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

UsageFigure = Literal["cpu_s", "run_delay_s", "read_bytes", "write_bytes"]


class ServerUsage(TypedDict):
    """The resources that some processes of a server used together."""

    cpu_s: MeasuredValue
    run_delay_s: MeasuredValue
    read_bytes: MeasuredValue
    write_bytes: MeasuredValue


class SessionRow(TypedDict):
    """One session of the load generator with its processes."""

    session: int
    cpu_s: MeasuredValue
    run_delay_s: MeasuredValue
    """Seconds in which processes were ready to run and waited for a CPU; for ended processes until
    the last sample."""
    read_bytes: MeasuredValue
    """Bytes that the session's processes read from storage."""
    write_bytes: MeasuredValue
    """Bytes that the session's processes wrote to storage themselves."""
    workers: int
    """Number of parallel worker processes of the session."""
    workers_cpu_s: float
    """CPU seconds of the session's parallel workers, which `cpu_s` includes."""


class SessionShares(TypedDict):
    """Shares of a server's CPU time by kind of user: sessions, itself, other clients."""

    sessions: MeasuredValue
    background: MeasuredValue
    ours: MeasuredValue
    other_clients: MeasuredValue
    unseen: MeasuredValue


class SessionsSection(TypedDict):
    """CPU time of a server, by session and other users."""

    window_s: float
    """Seconds from the last sample before the measured part to the first sample after it."""
    cpu_s: float
    """CPU seconds of all processes of the server."""
    sessions: list[SessionRow]
    """CPU use of each session of the load generator, including the processes that worked for it."""
    background: list[ProcessesRow]
    """Background processes of the server, which serve no client."""
    ours: list[ProcessesRow]
    """Processes of Assay's connections outside of the load, which read counters, capture plans and
    set up."""
    other_clients: list[ProcessesRow]
    """Processes of the server that worked for other clients."""
    ended_cpu_s: float
    """CPU seconds of processes that ended between two samples, known only from their parent
    process. These seconds are divided among the clients whose processes began and ended meanwhile,
    in proportion to the number of processes."""
    ended_seen: int
    """Number of observed processes that ended between two samples."""
    unseen_cpu_s: float
    """CPU seconds of ended processes in intervals in which no such process was observed."""
    shares: SessionShares
    """Shares of the server's CPU time (`cpu_s`)."""


class ProcessesRow(TypedDict):
    """Processes of a server with equal title, and their CPU time."""

    title: str
    """Title that the processes have set."""
    processes: int
    cpu_s: MeasuredValue
    run_delay_s: MeasuredValue
    read_bytes: MeasuredValue
    write_bytes: MeasuredValue
