"""Watches the statements that other clients execute on a PostgreSQL server."""

from __future__ import annotations

import logging
import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, prepares_at_once, with_options
from assay.engines.postgresql.counters import VERSION_STEP, read_source
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.plan_asking import ESTIMATED, OF_ESTIMATES, PlanAsker, steers
from assay.engines.postgresql.plan_cache import PlanCache
from assay.engines.postgresql.plan_facts import PlanFacts
from assay.engines.postgresql.reading_only import REFUSED, SETTING, VALUE
from assay.engines.postgresql.statements import CONF, file_text
from assay.engines.watching import PlannedOnly, Sight
from assay.model.secrets import sql_without_secrets
from assay.model.watched import (
    SessionLook,
    StatementText,
    canonical,
    fingerprint,
    statement_key,
    without_constants,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from assay.model.catalogue import ChangedSetting, ForeignKey, Index, Notifier, Statistics

log = logging.getLogger(__name__)

WATCHING = "assay statements"
SOURCE = "pg_stat_statements"
LOOKS, EXAMPLES, SIGHT, TEXTS = (
    f"watching/{name}.sql" for name in ("looks", "examples", "sight", "texts")
)
# Settings of sessions on a server in use: they cannot write, and do not wait for locks.
GUEST = {
    SETTING: VALUE,
    "lock_timeout": "200ms",
    "statement_timeout": "5s",
}
# First major version in which a generic plan can be requested.
GENERIC_PLAN = 16
# Minimum seconds between reads of example texts, which new statements in a sample trigger.
EXAMPLES_INTERVAL_S = 0.5
ONLY_PLANNED = {"select", "insert", "update", "delete", "merge", "with", "values", "table"}
_PLACE = re.compile(r"\$(\d+)")
# Other clients may also send statements with fewer letters, such as `begin`.
LETTERS_MIN = 30
NO_PLAN = "PostgreSQL makes no plan for this kind of statement"


def guest_dsn(dsn: str) -> str:
    """Return the DSN of sessions that cannot write; unchanged if a pooler refuses options."""
    try:
        guest = with_options(dsn, GUEST)
        connect(guest, WATCHING).close()
    except EngineError as error:
        if REFUSED not in str(error):
            raise
        log.warning(
            "a connection pooler keeps no session settings, so Assay does not set its sessions "
            "to read only"
        )
        return dsn
    return guest


class PostgresWatcher:
    """Watches the statements that other clients execute on a PostgreSQL server."""

    def __init__(self, dsn: str) -> None:
        import psycopg

        self._connection = connect(dsn, WATCHING)
        prepares_at_once(self._connection)
        self._cursor = psycopg.RawCursor(self._connection)
        self._looks = file_text(LOOKS)
        self._texts: dict[str, str] = {}
        self._examples: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._numbered: dict[str, str] = {}
        self._examples_s = 0.0
        self._counts: str | None = None
        self.sight = self._seen()

    def looks(self) -> list[SessionLook]:
        """Return the sessions and workers that execute a statement now."""
        rows = self._rows(self._looks)
        looks = [self._look(row) for row in rows]
        examples = self._examples
        if any(row[2] and str(row[1]) not in examples for row in rows):
            self._read_examples()
        return looks

    def counts(self) -> list[tuple[str, Mapping[str, float]]]:
        """Return the number of executions and total time of each PostgreSQL statement so far."""
        if self._counts is None:
            return []
        rows = self._rows(self._counts)
        names = [column.name for column in self._cursor.description or ()][1:]
        return [(str(key), dict(zip(names, values, strict=True))) for key, *values in rows]

    def texts(self, keys: Collection[str]) -> dict[str, StatementText]:
        """Return texts by key, without Assay's own statements.

        Raises `OSError`.
        """
        numbers = [key for key in keys if key.lstrip("-").isdecimal()]
        texts = dict(self._texts)
        if self.sight.source is not None and numbers:
            texts |= {str(key): str(text) for key, text in self._rows(file_text(TEXTS), [numbers])}
        # The server keeps one text for equivalent statements, such as `commit` and `end`.
        sent = [*texts.items(), *self._examples.items()]
        self._numbered = {
            statement_key(canonical(text)): key for key, text in sent if key.lstrip("-").isdecimal()
        }
        return {
            key: StatementText(_plain(text), self._example(key))
            for key, text in texts.items()
            if key in keys and fingerprint(text) not in _ours()
        }

    def aliases(self) -> dict[str, str]:
        """Return other keys of statements in samples, with the key of their text.

        The result has only query ids whose texts were requested.
        """
        seen = set(self._keys.values())
        return {own: key for own, key in self._numbered.items() if own in seen}

    def close(self) -> None:
        """Close the connection to PostgreSQL."""
        self._connection.close()

    def _example(self, key: str) -> str | None:
        text = self._examples.get(key)
        return None if text is None else _plain(text)

    def _look(self, row: tuple[Any, ...]) -> SessionLook:
        pid, statement, is_numbered, leader, application, database, kind, event, seconds = row
        key = statement if statement is None or is_numbered else self._key_of(statement)
        return SessionLook(pid, key, leader, None, application, database, kind, event, seconds)

    def _key_of(self, text: str) -> str:
        """Return a key for a statement without a query id."""
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = statement_key(canonical(text))
            self._texts.setdefault(key, without_constants(text))
            self._examples.setdefault(key, text)
        return key

    def _read_examples(self) -> None:
        now_s = time.monotonic()
        if now_s - self._examples_s < EXAMPLES_INTERVAL_S:
            return
        self._examples_s = now_s
        for key, text in self._rows(file_text(EXAMPLES)):
            self._examples.setdefault(str(key), str(text))
            self._texts.setdefault(str(key), without_constants(str(text)))

    def _seen(self) -> Sight:
        """Return which statements of the server this role can see.

        Raises `EngineError`.
        """
        row = execute(self._connection, file_text(SIGHT)).fetchone()
        assert row is not None  # noqa: S101 - it always has one row
        is_made, is_loaded, sees_others, tracks, numbers, role, database = cast(
            "tuple[Any, ...]", row
        )
        limits = []
        if is_made and is_loaded:
            self._counts = self._counting()
        if self._counts is None:
            limits.append(_why_uncounted(is_made=is_made, is_loaded=is_loaded, database=database))
        if not sees_others:
            limits.append(
                f"statements of other roles: {role} does not see them (grant pg_monitor to {role})"
            )
        if not tracks:
            limits.append("what sessions execute: track_activities is off")
        del numbers
        return Sight(SOURCE if self._counts is not None else None, tuple(limits))

    def _counting(self) -> str | None:
        major = self._connection.info.server_version // VERSION_STEP
        sources = map(read_source, sorted((CONF / "watching").glob("counts-*.sql")))
        fitting = [source.sql for source in sources if source.fits(major, {SOURCE})]
        return fitting[0] if fitting else None

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            return self._cursor.execute(sql.encode(), values or None).fetchall()
        except psycopg.Error as error:
            raise OSError(f"the server's statements cannot be watched: {error}") from error


class WatchedPlans(PlannedOnly):
    """Reads plans of other clients' statements, in a transaction that is rolled back."""

    def __init__(self, dsn: str) -> None:
        self._asker = PlanAsker(dsn, reads_only=True)
        self._facts = PlanFacts(self._asker, PlanCache(self._asker))
        self._major = self._asker.connection.info.server_version // VERSION_STEP

    def indexes(self) -> list[Index]:
        """Return indexes of the PostgreSQL tables that sessions can access.

        Raises `EngineError`.
        """
        return self._facts.indexes()

    def extensions(self) -> dict[str, bool]:
        """Return the server's extensions, and whether the database has them.

        Raises `EngineError`.
        """
        return self._facts.extensions()

    def foreign_keys(self) -> list[ForeignKey]:
        """Return foreign keys of all tables except the server's own.

        Raises `EngineError`.
        """
        return self._facts.foreign_keys()

    def partition_keys(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the partition key of each partitioned table.

        Raises `EngineError`.
        """
        return self._facts.partition_keys()

    def notifiers(self) -> list[Notifier]:
        """Return the functions that send notifications, with the triggers that call them.

        Raises `EngineError`.
        """
        return self._facts.notifiers()

    def statistics(self) -> list[Statistics]:
        """Return statistics objects of all tables except the server's own.

        Raises `EngineError`.
        """
        return self._facts.statistics()

    def changed_settings(self) -> list[ChangedSetting]:
        """Return PostgreSQL optimiser settings that differ from their default.

        Raises `EngineError`.
        """
        return self._facts.changed_settings()

    def close(self) -> None:
        """Close the connection to PostgreSQL."""
        self._asker.connection.close()

    def planned(self, text: str) -> tuple[str | None, str]:
        """Return a statement's plan, generic if it has parameters, and the reason for any gap."""
        import psycopg

        if steers(text) or text.split(maxsplit=1)[0].lower().strip("(") not in ONLY_PLANNED:
            return None, NO_PLAN
        try:
            with self._asker.begun(1.0):
                return self._explained(text), OF_ESTIMATES
        except psycopg.Error as error:
            return None, self._asker.message_or_raise(error)

    def _explained(self, text: str) -> str:
        """Return the text of a statement's plan."""
        places = _places(text)
        if not places:
            return self._asker.explain_text(ESTIMATED, text)
        if self._major >= GENERIC_PLAN:
            return self._asker.explain_text("watching/generic_plan.sql", text)
        asker = self._asker
        asker.ask(file_text("watching/one_plan.sql"))
        asker.ask(f"{file_text('watching/prepare.sql')} {text}")
        try:
            return asker.explain_text(ESTIMATED, _execution(places))
        finally:
            asker.ask(file_text("watching/deallocate.sql"))


def _execution(places: int) -> str:
    """Return the SQL that executes a prepared statement with NULL values."""
    nulls = ", ".join(["null"] * places)
    return f"{file_text('watching/execute.sql')}({nulls})"


def _places(text: str) -> int:
    """Return the number of a statement's parameters: the highest `$` number in it."""
    return max(map(int, _PLACE.findall(text)), default=0)


def _why_uncounted(*, is_made: bool, is_loaded: bool, database: str) -> str:
    """Return why statements are not counted, and the remedy."""
    steps = []
    if not is_loaded:
        steps.append(f"shared_preload_libraries = '{SOURCE}' and a restart")
    if not is_made:
        steps.append(f"create extension {SOURCE} in database {database}")
    mend = ", then ".join(steps) or "a server of version 14 or later"
    return (
        f"calls and times of statements: {SOURCE} is not there; statements are told by looks at"
        f" sessions only (to count them: {mend})"
    )


def _plain(text: str) -> str:
    return sql_without_secrets(text.strip().rstrip(";"))


@cache
def _ours() -> frozenset[str]:
    """Return fingerprints of Assay's own statements, to leave them out."""
    texts = (file.read_text(encoding="utf-8") for file in CONF.rglob("*.sql"))
    prints = (fingerprint(text) for text in texts)
    return frozenset(print_ for print_ in prints if len(print_) >= LETTERS_MIN)
