"""Facts about sessions that hold a lock for which other sessions wait."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Blocked:
    """A sample of a waiting session and the session that blocks it.

    Attributes that are not known are None.

    Attributes:
        waiting: Engine's id of the waiting session: of its process, or of its connection.
        blocker: Engine's id of the session that holds the lock.
        application: Application name of the blocker's client, or its user.
        state: The blocker's state in the engine's words, such as `idle in transaction`.
        transaction_s: Age of the blocker's transaction in seconds.
        statement: The blocker's current or last statement.
        object: Locked object: a table, or an index.
        mode: Mode of the requested lock; `row` for a row lock.
        waiting_statement: The waiting statement.
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
        """Return the facts about a blocked session as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Blocker:
    """A session that blocked others in the measured part.

    Attributes:
        session: The engine's id of the session.
        own: Whether it is a session of the run itself.
        looks: Number of samples in which a session waited for it.
        share: Share of all samples of waiting sessions that waited for it.
        application, state, statement, object, mode, waiting_statement: Most frequent values of
            these attributes of `Blocked`.
        transaction_s: Highest age of its transaction in all samples.
        deadlocked: Share of all samples of waiting sessions that waited for it in a deadlock or
            behind one, so that no session could go on. It is part of `share`.
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
    deadlocked: float = 0.0
