"""CPU time of a server's sessions in the document of a run."""

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
    """Time ready and waiting for a CPU; for ended processes at the last sample."""
    read_bytes: MeasuredValue
    """Bytes read from storage."""
    write_bytes: MeasuredValue
    """Bytes written to storage by the processes themselves."""
    workers: int
    """Processes that worked for it in parallel."""
    workers_cpu_s: float
    """CPU time of these processes, which is part of cpu_s."""


class SessionShares(TypedDict):
    """Shares of the server's CPU time."""

    sessions: MeasuredValue
    background: MeasuredValue
    ours: MeasuredValue
    other_clients: MeasuredValue
    unseen: MeasuredValue


class SessionsSection(TypedDict):
    """CPU time of a server by who used it."""

    window_s: float
    """Seconds from the last sample before the measured part to the first after it."""
    cpu_s: float
    """CPU time of all the server's processes."""
    sessions: list[SessionRow]
    """Each session of the load generator with the processes that worked for it."""
    background: list[ProcessesRow]
    """Background processes of the server, which serve no client."""
    ours: list[ProcessesRow]
    """Processes of Assay's connections outside of the load, which read counters, capture plans and
    set up."""
    other_clients: list[ProcessesRow]
    """Processes of other clients."""
    ended_cpu_s: float
    """CPU time of processes that ended between two samples, known only from their parent. It is
    divided among the clients whose processes began and ended meanwhile, in proportion to their
    number."""
    ended_seen: int
    """Number of such processes that were observed."""
    unseen_cpu_s: float
    """CPU time of ended processes in intervals where no such process was observed."""
    shares: SessionShares
    """Shares of cpu_s."""


class ProcessesRow(TypedDict):
    """Processes of one title."""

    title: str
    """Title that the process has set."""
    processes: int
    cpu_s: MeasuredValue
    run_delay_s: MeasuredValue
    read_bytes: MeasuredValue
    write_bytes: MeasuredValue
