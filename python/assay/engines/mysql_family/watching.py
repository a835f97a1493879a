"""Watches the statements that other clients execute on a MySQL server.

The server's counters identify statements by digest, but samples of sessions have only their text.
Statements are therefore identified by their text, without constants and layout.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pymysql

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect, error_text
from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.statements import CONF, file_text, filled, text_of
from assay.engines.watching import PlannedOnly, Sight
from assay.model.secrets import sql_without_secrets
from assay.model.watched import (
    SessionLook,
    StatementText,
    canonical,
    says_something,
    statement_key,
    without_open_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from assay.engines.contract import Address
    from assay.engines.mysql_family.explaining import CataloguePlans
    from assay.model.catalogue import ChangedSetting, Index

SOURCE = "performance_schema"
LOOKS, COUNTS, TEXTS, SIGHT = (
    f"watching/{name}.sql" for name in ("looks", "counts", "texts", "sight")
)
# A truncated text is not a statement; the server marks the texts that it truncates itself.
EXAMPLE_LENGTH_MAX = 999
CUT_OFF = "..."
PLANNED = {"select", "insert", "update", "delete", "replace", "with", "table", "values"}
# Other clients may also send statements with fewer letters, such as `begin`.
LETTERS_MIN = 30
# Assay's statements are recognised by their first letters, because the server may truncate the
# rest.
OWN_LENGTH = 60
NO_PLAN = "the server makes no plan for this kind of statement"
NO_EXAMPLE = "no execution of it was seen with its constants, and without them it has no plan"
ESTIMATES = "estimates were asked for, and it was not executed"


class FamilyWatcher:
    """Watches the statements that other clients execute on a MySQL server."""

    def __init__(self, address: Address, conf: Path) -> None:
        self._connection = connect(address)
        self._conf = conf
        self._looks, self._counts = file_text(LOOKS, conf), file_text(COUNTS, conf)
        self._keys: dict[str, str] = {}
        # Keys of Assay's own statements.
        self._own: set[str] = set()
        self._of_digest: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._examples: dict[str, str] = {}
        self.sight = self._seen()

    def looks(self) -> list[SessionLook]:
        """Return the sessions that execute a statement now."""
        looks = [self._look(row) for row in self._rows(self._looks)]
        return [look for look in looks if look.statement not in self._own]

    def counts(self) -> list[tuple[str, Mapping[str, float]]]:
        """Return the number of executions and total time of each MySQL statement so far."""
        if self.sight.source is None:
            return []
        rows, names = self._rows_and_names(self._counts)
        self._learn(str(row[0]) for row in rows)
        summed: dict[str, dict[str, float]] = {}
        for digest, *values in rows:
            key = self._of_digest.get(digest)
            if key is not None and key not in self._own:
                sums = summed.setdefault(key, dict.fromkeys(names[1:], 0.0))
                for name, value in zip(names[1:], values, strict=True):
                    sums[name] += float(value)
        return list(summed.items())

    def texts(self, keys: Collection[str]) -> dict[str, StatementText]:
        """Return the SQL texts of MySQL statements by statement key.

        Raises `OSError`.
        """
        return {
            key: StatementText(_plain(text), self._example(key))
            for key, text in self._texts.items()
            if key in keys
        }

    def aliases(self) -> dict[str, str]:
        """Return no aliases, because samples and counters have the same statement keys."""
        return {}

    def close(self) -> None:
        """Close the connection to MySQL."""
        if self._connection.open:
            self._connection.close()

    def _look(self, row: tuple[Any, ...]) -> SessionLook:
        connection, text, tid, user, database, kind, event, seconds = row
        return SessionLook(
            session=int(connection),
            statement=self._key_of(text) if says_something(text) else None,
            tid=None if tid is None else int(tid),
            application=user,
            database=database,
            wait_kind=kind if event else None,
            wait_event=event or None,
            seconds=None if seconds is None else float(seconds),
        )

    def _key_of(self, text: str) -> str:
        key = self._keys.get(text)
        if key is None:
            is_whole = len(text) <= EXAMPLE_LENGTH_MAX
            key = self._keys[text] = self._made_key(text if is_whole else without_open_text(text))
            self._texts.setdefault(key, text)
            if is_whole:
                self._examples.setdefault(key, text)
        return key

    def _made_key(self, text: str) -> str:
        plain = canonical(text)
        key = statement_key(plain)
        if plain[:OWN_LENGTH] in _own_beginnings(self._conf):
            self._own.add(key)
        return key

    def _learn(self, digests: Iterable[str]) -> None:
        """Read the texts of statements that are counted for the first time."""
        new = [digest for digest in digests if digest not in self._of_digest]
        if not new:
            return
        plain = {"digests": ", ".join(map(text_of, new))}
        for digest, text, example in self._rows(filled(TEXTS, plain=plain, conf=self._conf)):
            if not says_something(text):
                continue
            key = self._of_digest[digest] = self._made_key(text)
            self._texts[key] = text
            if example and not example.endswith(CUT_OFF):
                self._examples.setdefault(key, example)

    def _example(self, key: str) -> str | None:
        text = self._examples.get(key)
        return None if text is None else _plain(text)

    def _seen(self) -> Sight:
        """Return which statements of the server this user can see.

        Raises `EngineError`.
        """
        try:
            ((counts, sees_others, user),) = execute(self._connection, file_text(SIGHT, self._conf))
        except EngineError as error:
            return Sight(None, (f"calls and times of statements: {error}",))
        limits = []
        if not counts:
            limits.append(
                "calls and times of statements: the server does not count them; they are told by"
                " looks at sessions only (to count them: performance_schema = ON and"
                " performance_schema_instrument = 'statement/%=ON', and a restart)"
            )
        if not sees_others:
            limits.append(
                f"statements of other users: {user} does not see them (grant process on *.* to it)"
            )
        return Sight(SOURCE if counts else None, tuple(limits))

    def _rows(self, sql: str) -> tuple[tuple[Any, ...], ...]:
        return self._rows_and_names(sql)[0]

    def _rows_and_names(self, sql: str) -> tuple[tuple[tuple[Any, ...], ...], list[str]]:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                return cursor.fetchall(), names
        except pymysql.Error as error:
            said = error_text(error)
            raise OSError(f"the server's statements cannot be watched: {said}") from error


class WatchedPlans(PlannedOnly):
    """Reads plans of other clients' statements without executing them."""

    def __init__(self, plans: CataloguePlans) -> None:
        self._plans = plans

    def indexes(self) -> list[Index]:
        """Return indexes of the MySQL tables that sessions can access.

        Raises `EngineError`.
        """
        return self._plans.indexes()

    def changed_settings(self) -> list[ChangedSetting]:
        """Return MySQL optimiser settings that differ from their default.

        Raises `EngineError`.
        """
        return self._plans.changed_settings()

    def close(self) -> None:
        """Close the connection to MySQL."""
        self._plans.close()

    def planned(self, text: str) -> tuple[str | None, str]:
        """Return a statement's plan, and the reason if it is incomplete or missing."""
        if text.split(maxsplit=1)[0].lower().strip("(") not in PLANNED:
            return None, NO_PLAN
        if "?" in text:
            return None, NO_EXAMPLE
        try:
            return self._plans.estimated(text), ESTIMATES
        except pymysql.Error as error:
            return None, f"the server said: {error_text(error)}"


def _plain(text: str) -> str:
    return sql_without_secrets(text.strip().rstrip(";").rstrip())


@cache
def _own_beginnings(conf: Path) -> frozenset[str]:
    """Return the first words of Assay's own statements, to leave them out."""
    files = [file for folder in (conf, CONF) for file in folder.rglob("*.sql")]
    texts = (canonical(file.read_text(encoding="utf-8")) for file in files)
    return frozenset(text[:OWN_LENGTH] for text in texts if len(text) >= LETTERS_MIN)
