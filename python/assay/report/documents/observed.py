"""Types of the document sections that only an observed server has."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class ObservedStatementRow(TypedDict):
    """Time and counters of one statement that other clients executed."""

    operation: str
    """Name of the statement in `operations`."""
    key: str
    """The server's id of the statement, or a hash of its text."""
    basis: Literal["counters", "looks"]
    """Source of the statement's time: the server's counters, or samples of sessions. Samples are
    used if they differ from the counters by more than chance. For example, commits are not
    counted."""
    seconds: float
    """Seconds that sessions spent on the statement while the server was observed."""
    counted_s: MeasuredValue
    """Execution and planning seconds of the statement by the server's counters; null if not
    counted."""
    looked_s: float
    """Seconds of the statement by samples of sessions."""
    looks: int
    """Number of samples in which a session executed the statement."""
    counts: dict[str, float]
    """Growth of the server's counters for the statement, such as calls, rows and
    cache_read_bytes."""


class ObservedSection(TypedDict):
    """The method of observing a server that other clients used."""

    window_s: float
    looks: int
    look_interval_s: MeasuredValue
    """Median seconds between two samples."""
    sessions_at_work: float
    """Mean number of sessions that executed a statement."""
    source: str | None
    """Source of the statement counters; null if no counters could be read."""
    limits: list[str]
    """Sentences on what could not be observed or measured, with the reason."""
    stopped: bool
    """Whether the observation was stopped before its end."""
    engine_host: str | None
    """The agent on the engine's host that took samples; null if the engine runs on the observing
    host."""
    own_cpu_share: MeasuredValue
    """CPU time of Assay's sessions on the server, as a share of a core; null if not measured."""
    statements: list[ObservedStatementRow]
    """The observed statements, largest time first."""
