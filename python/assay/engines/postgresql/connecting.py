"""Opens PostgreSQL connections for administration, and explains refusals."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgres_family import connecting
from assay.engines.postgresql.hosts import check_hosts
from assay.engines.postgresql.pooled import is_pooled
from assay.engines.typed_password import password_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from assay.engines.contract import Address

TITLE = "PostgreSQL"


def read_dsn(dsn: str) -> Address:
    """Return the server address in a PostgreSQL DSN.

    Raises `EngineError`, which does not quote the DSN.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    # The library's message quotes what it could not parse, which may be part of a password.
    unreadable = EngineError(
        "the DSN cannot be read: write postgresql://user@host:port/database or"
        " 'host=... dbname=...'; in a URL, write %, @, / and : of a password as %25, %40, %2F, %3A."
    )
    try:
        keywords = conninfo_to_dict(dsn)
    except psycopg.Error:
        raise unreadable from None
    # Part of a password that is not escaped ends up in the host or the port.
    if "@" in str(keywords.get("host", "")) or re.search(r"[^\d,]", str(keywords.get("port", ""))):
        raise unreadable
    if password := password_for(str(keywords.get("password") or "") or None):
        keywords["password"] = password
    check_hosts(keywords)
    _refuse_missing_list(str(keywords.get("sslcrl") or os.environ.get("PGSSLCRL") or ""))
    return {"dsn": make_conninfo("", **keywords)}


def with_options(dsn: str, settings: Mapping[str, str]) -> str:
    """Return the DSN with additional session settings.

    Raises the errors of `read_dsn`.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    read = read_dsn(dsn)["dsn"]
    before = str(conninfo_to_dict(read).get("options") or "")
    said = [f"-c {name}={escaped_option(value)}" for name, value in settings.items()]
    return make_conninfo(read, options=" ".join([before, *said]).strip())


def escaped_option(value: str) -> str:
    """Return a value for a connection's `options`, with spaces and backslashes escaped."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def _refuse_missing_list(revoked: str) -> None:
    """Raise an error for a missing certificate revocation list, which libpq would ignore."""
    if revoked and not Path(revoked).is_file():
        raise EngineError(
            f"sslcrl={revoked}: there is no such file, so revoked certificates cannot be "
            "recognised. Name the file, or remove sslcrl."
        )


def connect(dsn: str, purpose: str) -> psycopg.Connection[tuple[object, ...]]:
    """Return a PostgreSQL connection in which each statement commits.

    With several servers, it is the first suitable one in the order of the list. The `EngineError`
    says how to fix a failure.

    Behind a pooler it prepares no statement on its own, because another client's may have the same
    name.
    """
    connection = connecting.connect(dsn, purpose, TITLE)
    if is_pooled(connection):
        connection.prepare_threshold = None
    return connection


def prepares_at_once(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Make a connection prepare each statement at its first execution.

    Nothing is prepared behind a pooler.
    """
    if connection.prepare_threshold is not None:
        connection.prepare_threshold = 0
