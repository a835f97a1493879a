"""Reads what each thread of a MySQL server does, and which sessions wait for locks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import own_connections
from assay.engines.mysql_family.counters import FamilyCounters
from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.statements import file_text
from assay.model.blocker import Blocked
from assay.model.other_work import OtherWork
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import Address

log = logging.getLogger(__name__)

ACTIVITY, BLOCKED, OTHER_WORK = "activity.sql", "blocked.sql", "other_work.sql"
LOCK = "Lock"
# Program name of Assay's own connections, whatever their user.
OWN = "assay"
# Prefix of the server's states for waits for a table lock.
WAITING_STATE = "Waiting for "


@dataclass(frozen=True)
class ThreadActivity:
    """The current activity of one connection's thread on a MySQL server."""

    pid: int
    tid: int
    connection: int
    application: str | None
    state: str | None
    wait_event_type: str | None
    wait_event: str | None
    backend_type: str = "connection"
    leader_pid: int | None = None

    @property
    def waits_for_lock(self) -> bool:
        """Return True if the session waits for a lock of another session."""
        in_state = (self.wait_event or "").startswith(WAITING_STATE)
        return self.wait_event_type is not None and (self.wait_event_type == LOCK or in_state)


class ThreadCounters(FamilyCounters):
    """Reads counters and session activity of a MySQL server.

    `pid` is the server's process; if it is None, the server is on another host and no threads are
    reported.
    """

    def __init__(
        self, address: Address, statements: Mapping[str, str], conf: Path, pid: int | None
    ) -> None:
        super().__init__(address, statements)
        self._pid = pid
        self._activity = file_text(ACTIVITY, conf)
        self._blocked = file_text(BLOCKED, conf)
        self._may_look = pid is not None and self.may(self._activity)
        self._may_name = self.may(self._blocked)
        self._other_work = file_text(OTHER_WORK, conf)
        self._may_see_work = self.may(self._other_work)
        self._waits = False

    def activity(self) -> list[ThreadActivity]:
        """Return the current activity of each connection's thread.

        Raises `OSError`.
        """
        if self._pid is None or not self._may_look:
            return []
        own = own_connections()
        threads = [_thread(self._pid, row, own) for row in self._rows(self._activity)]
        self._waits = any(thread.waits_for_lock for thread in threads)
        return threads

    def blocked(self) -> list[Blocked]:
        """Return the sessions that wait for a lock.

        Raises `OSError`.
        """
        if not self._may_name or not (self._waits or not self._may_look):
            return []
        return [_blocked(row) for row in self._rows(self._blocked)]

    def other_work(self) -> list[OtherWork]:
        """Return maintenance in progress, and the oldest transactions.

        Raises `OSError`.
        """
        if not self._may_see_work:
            return []
        return [_other_work(row) for row in self._rows(self._other_work)]

    def _rows(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        try:
            return execute(self.connection, statement)
        except EngineError as error:
            raise OSError(f"the server's activity cannot be read: {error}") from error


def _thread(pid: int, row: tuple[Any, ...], own: set[int]) -> ThreadActivity:
    """Return the activity in a row of `activity.sql`.

    Clients are identified only by user, which may also be Assay's.
    """
    connection, tid, user, command, kind, event = row
    waits = kind if event else None
    return ThreadActivity(
        pid=pid,
        tid=int(tid),
        connection=int(connection),
        application=OWN if int(connection) in own else user,
        state=command,
        wait_event_type=waits,
        wait_event=event if waits else None,
    )


def _blocked(row: tuple[Any, ...]) -> Blocked:
    waiting, blocker, user, state, age_s, statement, thing, mode, waiting_statement = row
    return Blocked(
        waiting=int(waiting),
        blocker=int(blocker),
        application=user,
        state=state,
        transaction_s=None if age_s is None else max(0.0, float(age_s)),
        statement=_in_one_line(statement),
        object=None if thing is None else str(thing).rpartition(".")[2],
        mode=mode,
        waiting_statement=_in_one_line(waiting_statement),
    )


def _other_work(row: tuple[Any, ...]) -> OtherWork:
    session, work, user, state, age_s, behind, thing, statement = row
    return OtherWork(
        session=int(session),
        work=work,
        application=user,
        state=state,
        transaction_s=None if age_s is None else max(0.0, float(age_s)),
        behind=None if behind is None else float(behind),
        object=thing,
        statement=_in_one_line(statement),
    )


def _in_one_line(text: str | None) -> str | None:
    return None if text is None else without_secrets(" ".join(text.split()))
