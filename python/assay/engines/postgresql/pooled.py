"""Detects a pooler such as PgBouncer between a connection and the server.

In transaction mode a pooler gives each transaction any of its server connections. State of one
connection is then missing or another client's: prepared statements, settings, locks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engines.postgresql.statements import file_text

if TYPE_CHECKING:
    import psycopg

POOLED = "a pooler stands between the client and the server"


def is_pooled(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Return True if a pooler stands between the connection and the server.

    The process id that a pooler reports at connection is not one of the server.
    """
    return backend_of(connection)[0] != connection.info.backend_pid


def backend_of(connection: psycopg.Connection[tuple[object, ...]]) -> tuple[int, int | None]:
    """Return the pid that serves a statement, and its client's port; None means no port.

    Behind a pooler the next statement may be served by another process.
    """
    row = connection.execute(file_text("backend.sql")).fetchone()
    return cast("tuple[int, int | None]", row)
