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
    """Ready, waiting for a CPU; of processes that ended as last seen."""
    read_bytes: MeasuredValue
    """From storage."""
    write_bytes: MeasuredValue
    """To storage, by the processes themselves."""
    workers: int
    """Processes that worked for it in parallel."""
    workers_cpu_s: float
    """Their part of cpu_s."""


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
    """From the last sample before the measured part to the first after it."""
    cpu_s: float
    """CPU time of all the server's processes."""
    sessions: list[SessionRow]
    """Each session of the load generator with the processes that worked for it."""
    background: list[ProcessesRow]
    """Processes that no client asked for."""
    ours: list[ProcessesRow]
    """Processes of connections of Assay that are none of the load: those that read counters,
    capture plans and set up."""
    other_clients: list[ProcessesRow]
    """Processes of clients that have nothing to do with the run."""
    ended_cpu_s: float
    """CPU time of processes that ended between two samples, which their parent alone was told of.
    It is in the figures of those whose processes were known to begin and end meanwhile, in
    proportion to their number."""
    ended_seen: int
    """How many such processes were known."""
    unseen_cpu_s: float
    """The same time where no such process was known."""
    shares: SessionShares
    """Of cpu_s."""


class ProcessesRow(TypedDict):
    """Processes of one title."""

    title: str
    """As the process calls itself."""
    processes: int
    cpu_s: MeasuredValue
    run_delay_s: MeasuredValue
    read_bytes: MeasuredValue
    write_bytes: MeasuredValue
