"""The sections that only the document of an observation has."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class ObservedStatementRow(TypedDict):
    """One statement that others executed."""

    operation: str
    """Its name among `operations`."""
    key: str
    """The server's number of it, or one made of its text."""
    basis: Literal["counters", "looks"]
    """What its time is by: the server's counters, or looks at sessions where these differ from the
    counters by more than chance, as of a commit, which is not counted."""
    seconds: float
    """Time that sessions spent on it while the server was observed."""
    counted_s: MeasuredValue
    """Execution and planning by the server's counters; null: not counted."""
    looked_s: float
    """Time that looks at sessions stand for."""
    looks: int
    """How often a session was seen to execute it."""
    counts: dict[str, float]
    """Growth of what the server counts of it, such as calls, rows and cache_read_bytes."""


class ObservedSection(TypedDict):
    """The way in which a server was observed while other clients drove it."""

    window_s: float
    looks: int
    look_interval_s: MeasuredValue
    """Median time between two looks."""
    sessions_at_work: float
    """Sessions that executed something, mean."""
    source: str | None
    """Where statements are counted; null: nowhere that could be read."""
    limits: list[str]
    """What was not seen or not measured, and why."""
    stopped: bool
    """Whether it was ended before its time."""
    engine_host: str | None
    """The agent on the engine's host that sampled it; null: it is the host of the observation."""
    own_cpu_share: MeasuredValue
    """CPU time of Assay's sessions on the server, as a share of a core; null: not seen."""
    statements: list[ObservedStatementRow]
    """Those that took most time first."""
