"""Detects a pooler such as PgBouncer between a connection and the server.

In transaction mode a pooler gives each transaction any of its server connections. What belongs to
one connection is then not there, or is another client's: prepared statements, settings, locks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engines.postgresql.statements import file_text

if TYPE_CHECKING:
    import psycopg

POOLED = "a pooler stands between the client and the server"


def is_pooled(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Return whether statements go to another process than the one that took the connection.

    The process that a pooler names at the beginning is not a process of the server.
    """
    return backend_of(connection)[0] != connection.info.backend_pid


def backend_of(connection: psycopg.Connection[tuple[object, ...]]) -> tuple[int, int | None]:
    """Return the process that serves a statement, and the port of its client; None means no port.

    Behind a pooler the next statement may be served by another process.
    """
    row = connection.execute(file_text("backend.sql")).fetchone()
    return cast("tuple[int, int | None]", row)
