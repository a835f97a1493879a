"""Counts the statements of a running server, and takes samples of their values.

Performance Schema has the number of executions of each statement, without its constants, and the
last ten statements of each session as they were sent.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect_first
from assay.engines.mysql_family.statements import CONF
from assay.model.captured import Counted, CountedStatement

if TYPE_CHECKING:
    from collections.abc import Callable

    import pymysql

    from assay.engines.contract import Address

FORM = "Performance Schema"
LOOKS_APART_S = 0.1
NEEDED = {"statements_digest", "events_statements_history"}


def count_statements(address: Address, seconds: float, sleep: Callable[[float], None]) -> Counted:
    """Return the statements of the next seconds, from counters and samples of sessions.

    Raises:
        EngineError: If the server cannot be reached, or its counters cannot be read.
    """
    if address["database"] is None:
        raise EngineError("--dsn names no database: write mysql://user@host:port/database")
    connection, _ = connect_first(address)
    try:
        return _counted(connection, seconds, sleep)
    finally:
        connection.close()


def _counted(
    connection: pymysql.Connection[Any], seconds: float, sleep: Callable[[float], None]
) -> Counted:
    if missing := NEEDED - {name for (name,) in _rows(connection, "enabled")}:
        raise EngineError(
            f"Performance Schema does not record {min(missing)}: set performance_schema = ON, "
            "and enable the consumer in setup_consumers; or capture from a log with --log"
        )
    before = dict(_rows(connection, "counts"))
    samples: dict[tuple[int, int], tuple[str, str]] = {}
    begun_s = time.monotonic()
    while time.monotonic() - begun_s < seconds:
        for thread, event, digest, text in _rows(connection, "samples"):
            samples[thread, event] = digest, text
        sleep(LOOKS_APART_S)
    passed_s = time.monotonic() - begun_s
    calls = {
        digest: int(count - before.get(digest, 0)) for digest, count in _rows(connection, "counts")
    }
    seen: defaultdict[str, list[str]] = defaultdict(list)
    for digest, text in samples.values():
        seen[digest].append(text)
    statements = [
        CountedStatement("", count, tuple(seen[digest]))
        for digest, count in calls.items()
        if count > 0
    ]
    return Counted(FORM, statements, passed_s, len({thread for thread, _ in samples}))


def _rows(connection: pymysql.Connection[Any], name: str) -> list[tuple[Any, ...]]:
    import pymysql

    text = (CONF / "capture" / f"{name}.sql").read_text(encoding="utf-8").strip()
    try:
        with connection.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())
    except pymysql.Error as error:
        raise EngineError(
            f"Performance Schema cannot be read ({error.args[-1]}): grant this user access to "
            "performance_schema, or capture from a log with --log"
        ) from error
