"""Types for other work of a server: maintenance such as a vacuum, and old snapshots."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Value of `work` for a transaction whose snapshot keeps old row versions from being removed.
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class OtherWork:
    """A sample of a session or worker of the server that is not part of the load.

    Attributes that are not known are None.

    Attributes:
        session: The engine's id of the session: of its process, or of its connection.
        work: `snapshot`, or the engine's name of the maintenance, such as `autovacuum`.
        application: Application name of its client, or its user; for a worker its kind.
        state: Its state in the engine's words, such as `idle in transaction`.
        transaction_s: Age of its transaction.
        behind: Number of transactions that began since its snapshot was taken.
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
        """Return the sampled maintenance or old snapshot as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Worker:
    """A server session or worker that did maintenance or held an old snapshot during a run.

    Attributes:
        session, work: Attributes of `OtherWork`.
        own: Whether it is a session of the run itself.
        looks: Number of samples that include the session or worker.
        share: Share of all samples that include the session or worker.
        application, state, statement: Most frequent values in the samples.
        objects: Tables that it worked on, the most frequent first.
        transaction_s, behind: Highest values in the samples.
        cpu_s: CPU time of its process. `cpu_s` and the following attributes are None if it has no
            process of its own.
        moved_bytes: Bytes that its process read from storage and wrote to it.
        moved_share: The process's bytes as a share of all bytes that the server's processes moved.
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
