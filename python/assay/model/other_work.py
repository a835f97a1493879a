"""Work of a server beside the load: upkeep such as a vacuum, and old snapshots."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# `work` of a transaction whose snapshot keeps old versions of rows from being removed.
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class OtherWork:
    """A sample of a session or worker of the server that works beside the load.

    Absent is None.

    Attributes:
        session: The engine's number of it: its process, or its connection.
        work: `snapshot`, or the sort of upkeep in the engine's words, such as `autovacuum`.
        application: What its client calls itself, or its user; of a worker its kind.
        state: Its state in the engine's words, such as `idle in transaction`.
        transaction_s: Age of its transaction.
        behind: Transactions that began since its snapshot.
        object: The table that it works on.
        statement: Its current or last statement.
    """

    session: int
    work: str
    application: str | None = None
    state: str | None = None
    transaction_s: float | None = None
    behind: float | None = None
    object: str | None = None
    statement: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the other work as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Worker:
    """A session or worker with such work in the measured part, from all its samples.

    Attributes:
        session, work: As `OtherWork` has them.
        own: Whether it is a session of the run itself.
        looks: How many samples saw it.
        share: Of all looks, those that saw it.
        application, state, statement: Those that were seen most.
        objects: Tables that it worked on, those seen most first.
        transaction_s, behind: The greatest that were seen.
        cpu_s: CPU time of its process; None where it has none of its own, as those that follow.
        moved_bytes: What its process read from storage and wrote to it.
        moved_share: Of what all the server's processes read and wrote.
    """

    session: int
    work: str
    own: bool
    looks: int
    share: float
    application: str | None = None
    state: str | None = None
    statement: str | None = None
    objects: tuple[str, ...] = ()
    transaction_s: float | None = None
    behind: float | None = None
    cpu_s: float | None = None
    moved_bytes: float | None = None
    moved_share: float | None = None
