"""Facts of an observation that other runs do not have: how it sampled, and each statement."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class ObservedStatement:
    """One statement of the observed server.

    Attributes:
        operation: Its name.
        key: The server's number of it, or one that was made of its text.
        basis: What its time is by: `counters` or `looks`.
        seconds: Time that sessions spent on it.
        counted_s: Execution and planning by the server's counters; None: not counted.
        looked_s: Time that looks at sessions stand for.
        looks: How often a session was seen to execute it.
        counts: Growth of what the server counts of it, by name.
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
    """The way in which a server was observed.

    Attributes:
        window_s: How long.
        looks: How often.
        look_interval_s: Median time between two looks.
        sessions_at_work: Sessions that executed something, mean.
        source: Where statements are counted; None: nowhere that could be read.
        limits: What was not seen or not measured, and why: a sentence each.
        stopped: Whether it was ended before its time.
        engine_host: The agent on the engine's host that sampled it; None: it is this host.
        own_cpu_share: CPU time of our sessions on the server, as a share of a core; None: not seen.
        statements: Those that took most time first.
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
        """Return it as JSON values."""
        return asdict(self) | {
            "limits": list(self.limits),
            "statements": [asdict(one) for one in self.statements],
        }
