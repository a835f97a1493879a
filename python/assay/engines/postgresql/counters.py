"""Reads the counters of a PostgreSQL server on a separate connection, as totals.

Each file of `conf/counters/` is one source. Its first lines state its purpose, the range of major
versions, and the extension that it needs. A new file adds a source.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, prepares_at_once
from assay.engines.postgresql.loading import execute, failed_with
from assay.engines.postgresql.statements import CONF, file_text
from assay.model.blocker import Blocked
from assay.model.other_work import OtherWork
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

log = logging.getLogger(__name__)

READING = "assay counters"
COUNTERS, ACTIVITY, OTHER_WORK = "counters", "activity.sql", "other_work.sql"
# Factor of the major version in `server_version_num`: 180006 is 18.6.
VERSION_STEP = 10_000
# Column of the blocking session in a row of `activity.sql`. Rows of activity do not have this
# column.
BLOCKER_COLUMN = 7
_FACT = re.compile(r"^-- (from|until|extension): (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """One SQL file that reads a group of PostgreSQL's counters."""

    name: str
    sql: str
    since: int
    until: int | None
    extension: str | None

    def fits(self, major: int, extensions: set[str]) -> bool:
        """Return True if a server of this version with these extensions has the counters."""
        young = major >= self.since and (self.until is None or major <= self.until)
        return young and (self.extension is None or self.extension in extensions)


@dataclass(frozen=True)
class Activity:
    """The current activity of one PostgreSQL server process."""

    pid: int
    leader_pid: int | None
    backend_type: str
    application: str | None
    state: str | None
    wait_event_type: str | None
    wait_event: str | None
    tid: int | None = None
    connection: int | None = None


def _blocked(row: tuple[object, ...]) -> Blocked:
    waiting, application, state = cast("tuple[int, str | None, str | None]", (row[0], *row[3:5]))
    blocker, transaction_s, statement, thing, mode, waiting_statement = row[BLOCKER_COLUMN:]
    return Blocked(
        waiting=waiting,
        blocker=cast("int", blocker),
        application=application,
        state=state,
        transaction_s=cast("float | None", transaction_s),
        statement=_without_secrets(statement),
        object=cast("str | None", thing),
        mode=cast("str | None", mode),
        waiting_statement=_without_secrets(waiting_statement),
    )


def _other_work(row: tuple[object, ...]) -> OtherWork:
    facts = (*row[:-1], _without_secrets(row[-1]))
    return OtherWork(*facts)  # type: ignore[arg-type]


def _without_secrets(text: object) -> str | None:
    return None if text is None else without_secrets(" ".join(str(text).split()))


def read_source(file: Path) -> Source:
    """Return the counter source in a SQL file, with the facts of its first lines."""
    text = file.read_text(encoding="utf-8")
    facts = dict(_FACT.findall(text))
    until = int(facts["until"]) if "until" in facts else None
    return Source(file.stem, text, int(facts["from"]), until, facts.get("extension"))


class PostgresCounters:
    """Reads PostgreSQL's counters from one thread; implements `CounterReader`."""

    def __init__(self, dsn: str, without: Collection[str] = ()) -> None:
        """Connect to the PostgreSQL server whose counters are read.

        `without` names sources that another reader reads.
        """
        self._connection = connect(dsn, READING)
        if without:
            prepares_at_once(self._connection)
        major = self._connection.info.server_version // VERSION_STEP
        rows = execute(self._connection, file_text("installed.sql")).fetchall()
        extensions = {cast("str", name) for (name,) in rows}
        sources = [read_source(file) for file in sorted((CONF / COUNTERS).glob("*.sql"))]
        fitting = [
            source
            for source in sources
            if source.fits(major, extensions) and source.name not in without
        ]
        self._sources = [source for source in fitting if self._may_read(source)]
        self._blocked: list[Blocked] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the counter sources that this server has."""
        return tuple(source.name for source in self._sources)

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return PostgreSQL's current counters as rows of (source, object, counter, value).

        Raises:
            OSError: If the server does not answer.
        """
        rows: list[tuple[str, str, str, float]] = []
        for source in self._sources:
            for thing, counter, value in self._rows(source.sql):
                rows.append((source.name, str(thing), str(counter), float(cast("float", value))))
        return rows

    def activity(self) -> list[Activity]:
        """Return each server process's current activity, and record which blocks which.

        Raises `OSError`.
        """
        rows = self._rows(file_text(ACTIVITY))
        self._blocked = [_blocked(row) for row in rows if row[BLOCKER_COLUMN] is not None]
        doing = [row[:BLOCKER_COLUMN] for row in rows if row[BLOCKER_COLUMN] is None]
        return [Activity(*row) for row in doing]  # type: ignore[arg-type]

    def blocked(self) -> list[Blocked]:
        """Return the sessions that waited for a lock at the last reading of `activity`."""
        return self._blocked

    def other_work(self) -> list[OtherWork]:
        """Return maintenance in progress, and the oldest snapshots.

        Raises `OSError`.
        """
        return [_other_work(row) for row in self._rows(file_text(OTHER_WORK))]

    def close(self) -> None:
        """Close the connection to PostgreSQL."""
        self._connection.close()

    def _may_read(self, source: Source) -> bool:
        """Return True if this user may read a view of counters."""
        try:
            execute(self._connection, source.sql)
        except EngineError as error:
            if not failed_with(error, "InsufficientPrivilege"):
                raise
            log.warning("the counters of %s are not measured: %s", source.name, error)
            return False
        return True

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        import psycopg

        try:
            return self._connection.execute(sql).fetchall()
        except psycopg.Error as error:
            raise OSError(f"the server's counters cannot be read: {error}") from error
