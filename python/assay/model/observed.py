"""Types for the observation of a server: its sampling and its statements."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class ObservedStatement:
    """One statement of the observed server.

    Attributes:
        operation: Name of the statement as an operation.
        key: The server's id of the statement, or a hash of its text.
        basis: Source of its time: `counters` or `looks` (samples of sessions).
        seconds: Time that sessions spent on it.
        counted_s: Execution and planning time by the server's counters; None if not counted.
        looked_s: Time by samples of sessions.
        looks: Number of samples in which a session executed it.
        counts: Growth of the server's counters for the statement, by name.
    """

    operation: str
    key: str
    basis: str
    seconds: float
    counted_s: float | None
    looked_s: float
    looks: int
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Observed:
    """Facts about the observation of a server.

    Attributes:
        window_s: Length of the observation.
        looks: Number of samples.
        look_interval_s: Median time between two samples.
        sessions_at_work: Mean number of sessions that executed a statement.
        source: Source of the statement counters; None if none could be read.
        limits: Sentences on what could not be observed or measured, with the reason.
        stopped: Whether the observation was stopped early.
        engine_host: The agent on the engine's host that took samples; None if the engine is on this
            host.
        own_cpu_share: CPU time of Assay's sessions on the server, as a share of a core; None if not
            measured.
        statements: The statements, largest time first.
    """

    window_s: float
    looks: int
    look_interval_s: float | None
    sessions_at_work: float
    source: str | None
    limits: tuple[str, ...]
    stopped: bool
    engine_host: str | None
    own_cpu_share: float | None
    statements: tuple[ObservedStatement, ...]

    def facts(self) -> dict[str, Any]:
        """Return the facts about the observation as JSON values."""
        return asdict(self) | {
            "limits": list(self.limits),
            "statements": [asdict(statement) for statement in self.statements],
        }
