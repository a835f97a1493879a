"""Counts the statements of a running server, and takes samples of their values.

`pg_stat_statements` has the number of executions of each statement, without its constants. Sessions
show their last statement as sent. It includes constants written in the text, as `psql` and pgbench
do, but not bound values.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, read_dsn
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.statements import file_text
from assay.model.captured import Counted, CountedStatement

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[tuple[object, ...]]

PURPOSE = "assay capture"
FORM = "pg_stat_statements"
LOOKS_APART_S = 0.1
EXTENSION = "pg_stat_statements"
MENDS = (
    "make it readable: shared_preload_libraries = 'pg_stat_statements', a restart, create extension"
    " pg_stat_statements, and the role pg_monitor; or capture from a log with --log"
)


def count_statements(dsn: str, seconds: float, sleep: Callable[[float], None]) -> Counted:
    """Return the statements of the next seconds, from counters and samples of sessions.

    Raises:
        EngineError: If the server cannot be reached, or its counters cannot be read.
    """
    connection = connect(read_dsn(dsn)["dsn"], PURPOSE)
    try:
        return _counted(connection, seconds, sleep)
    finally:
        connection.close()


def _counted(connection: Connection, seconds: float, sleep: Callable[[float], None]) -> Counted:
    before = _counts(connection)
    ((size,),) = execute(connection, file_text("capture/size.sql")).fetchall()
    looking = file_text("capture/samples.sql")
    samples: dict[tuple[object, object], tuple[str, str]] = {}
    begun_s = time.monotonic()
    while time.monotonic() - begun_s < seconds:
        for pid, moment, queryid, text in execute(connection, looking, [size]).fetchall():
            samples[pid, moment] = cast("str", queryid), cast("str", text)
        sleep(LOOKS_APART_S)
    passed_s = time.monotonic() - begun_s
    calls = {
        queryid: count - before.get(queryid, 0) for queryid, count in _counts(connection).items()
    }
    calls = {queryid: count for queryid, count in calls.items() if count > 0}
    rows = execute(connection, file_text("capture/texts.sql"), [list(calls)]).fetchall()
    texts = dict(cast("list[tuple[str, str]]", rows))
    seen: defaultdict[str, list[str]] = defaultdict(list)
    for queryid, text in samples.values():
        seen[queryid].append(text)
    return Counted(
        FORM,
        [
            CountedStatement(texts.get(queryid, ""), count, tuple(seen[queryid]))
            for queryid, count in calls.items()
        ],
        passed_s,
        len({pid for pid, _ in samples}),
    )


def _counts(connection: Connection) -> dict[str, int]:
    try:
        rows = execute(connection, file_text("capture/counts.sql")).fetchall()
    except EngineError as error:
        reason = str(error).splitlines()[0]
        raise EngineError(f"{EXTENSION} cannot be read: {reason}; {MENDS}") from error
    return dict(cast("list[tuple[str, int]]", rows))
