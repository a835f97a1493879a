"""A session that others waited for: who holds the lock, in which state, and for how long."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Blocked:
    """A sample of a waiting session and the session that blocks it; None where absent.

    Attributes:
        waiting: The engine's number of the session that waits: its process, or its connection.
        blocker: The engine's number of the session that holds the lock.
        application: What the blocker's client calls itself, or its user.
        state: The blocker's state in the engine's words, such as `idle in transaction`.
        transaction_s: Age of the blocker's transaction.
        statement: The blocker's current or last statement.
        object: What is locked: a table, or an index of it.
        mode: Mode of the lock that is waited for; `row` of the lock of one row.
        waiting_statement: The statement that waits.
    """

    waiting: int
    blocker: int
    application: str | None = None
    state: str | None = None
    transaction_s: float | None = None
    statement: str | None = None
    object: str | None = None
    mode: str | None = None
    waiting_statement: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the blocker as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Blocker:
    """A session that others waited for in the measured part.

    Attributes:
        session: The engine's number of it.
        own: Whether it is a session of the run itself.
        looks: How many samples saw somebody wait for it.
        share: Of all looks at waiting sessions, those that waited for it.
        application, state, statement, object, mode, waiting_statement: As `Blocked` has them,
            those that were seen most.
        transaction_s: The greatest age of its transaction that was seen.
    """

    session: int
    own: bool
    looks: int
    share: float
    application: str | None = None
    state: str | None = None
    statement: str | None = None
    object: str | None = None
    mode: str | None = None
    transaction_s: float | None = None
    waiting_statement: str | None = None
