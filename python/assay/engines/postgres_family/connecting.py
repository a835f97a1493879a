"""Connections to servers with PostgreSQL's protocol, and error messages for refused ones."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.network import keepalive
from assay.engines.postgres_family.choosing import Place, open_first, unknown_name
from assay.engines.typed_password import ASK_PASSWORD
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg
    from psycopg.sql import Composed

    Connection = psycopg.Connection[tuple[object, ...]]

CONNECT_PATIENCE_S = 10
# libpq's names of the limits after which a server whose host is gone is given up.
PROBES = {
    "keepalives_idle": keepalive.IDLE_S,
    "keepalives_interval": keepalive.INTERVAL_S,
    "keepalives_count": keepalive.COUNT,
    "tcp_user_timeout": keepalive.ACKNOWLEDGED_MS,
}
GIVEN_IN = (
    "PGPASSWORD, in a password file (PGPASSFILE, ~/.pgpass), in the DSN, or at the terminal with"
    f" {ASK_PASSWORD}"
)
# Authentication method that an unverified server must not request, unless the DSN allows it.
REQUIRED_PROOF = "!password"
CLEARTEXT = (
    "the password goes in the clear only to a server that has proved who it is"
    " (sslmode=verify-full with sslrootcert), or with require_auth=password"
)
# A value that libpq refuses after it has read all parameters and before it connects.
UNCONNECTED = "nowhere"
# Parts of error messages of libpq or the server, each with a remedy. The first match is used.
MENDS = (
    (
        r"too many clients|remaining connection slots|too many connections",
        "the server has no connection left: raise its max_connections, or end other clients",
    ),
    (
        r"no password supplied|fe_sendauth",
        f"the server wants a password: give it in {GIVEN_IN}",
    ),
    (
        r"authentication method requirement|channel binding",
        (
            f"the server does not ask for a proof as it should: {CLEARTEXT}, or mend require_auth"
            " or channel_binding"
        ),
    ),
    (
        r"authentication failed|role .* does not exist|not permitted to log in",
        f"the server does not accept this user with this password: mend it in {GIVEN_IN}",
    ),
    (
        r"no pg_hba\.conf entry",
        "the server does not let this host, user and database in: add a line to its pg_hba.conf",
    ),
    (
        r"database .* does not exist",
        "the server has no such database: mend the name, or make it with createdb",
    ),
    (
        r"Connection refused|No such file or directory",
        "nothing listens there: start the server, or mend host and port",
    ),
    (
        r"could not translate host name|failed to resolve host|Name or service not known",
        "that host's name is not known: mend it, or see the network",
    ),
    (
        r"timeout expired|Connection timed out|No route to host|Network is unreachable",
        "that host does not answer: see the network and its firewall, or mend host and port",
    ),
    (
        r"certificate|SSL|TLS",
        "the connection is not secured as asked: mend sslmode, sslrootcert or the certificate",
    ),
    (
        r"cannot be changed (?:now|without restarting)|permission denied to set parameter",
        "this is no setting of a session: give it in the server's own configuration",
    ),
    (
        r"unsupported startup parameter",
        (
            "a pooler between refuses settings of the session: leave --set and the options of the"
            " DSN out, or name the server itself in --dsn"
        ),
    ),
    (
        r"unrecognized configuration parameter|invalid value for parameter",
        "mend the setting in --set, or in the options of the DSN",
    ),
    (
        r"starting up|shutting down|recovery mode",
        "the server is not ready: try again in a moment",
    ),
)


def connect(dsn: str, purpose: str, title: str) -> Connection:
    """Return a PostgreSQL connection in which each statement commits.

    The `EngineError` says how to fix a failure.

    Args:
        dsn: Connection string of keywords and values.
        purpose: Application name, which replaces that of the DSN to identify the connection.
        title: Name of the product, for readers.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    given, said = conninfo_to_dict(dsn), resolved(dsn)
    patience_s = _patience_s(said.get("connect_timeout", str(CONNECT_PATIENCE_S)))
    probes = {name: value for name, value in PROBES.items() if name not in said}
    whole = make_conninfo(
        guarded(dsn), application_name=purpose, connect_timeout=patience_s, **probes
    )
    if given.get("load_balance_hosts", os.environ.get("PGLOADBALANCEHOSTS")) == "random":
        whole = make_conninfo(whole, load_balance_hosts="disable")
    try:
        if has_choice(whole):
            return _opened(whole, patience_s)
        _check_name(resolved(whole))
        return psycopg.connect(whole, autocommit=True)
    except psycopg.Error as error:
        password = str(given.get("password") or "")
        raise EngineError(_explained(title, str(error), given, password)) from None


def _check_name(said: Mapping[str, str]) -> None:
    """Raise psycopg's `OperationalError` if the name of the only host has no address."""
    import psycopg

    reason = unknown_name(Place(said.get("host", ""), said.get("hostaddr", ""), ""))
    if reason is not None:
        raise psycopg.OperationalError(reason)


def _patience_s(text: str) -> int:
    """Return a DSN's `connect_timeout` in seconds; raise `EngineError` if it is not a number."""
    try:
        return int(text)
    except ValueError:
        raise EngineError(
            f"connect_timeout={text!r} is not a whole number of seconds: write one, such as "
            f"connect_timeout={CONNECT_PATIENCE_S}"
        ) from None


def has_choice(dsn: str) -> bool:
    """Return True if a DSN names several servers, or requires a state of the server."""
    said = resolved(dsn)
    lists = (said.get(name, "") for name in ("host", "hostaddr"))
    return said.get("target_session_attrs", "any") != "any" or any("," in text for text in lists)


def _opened(dsn: str, patience_s: float) -> Connection:
    """Return a connection to a server that libpq chose, with a time limit for each address.

    psycopg passes the servers of a list to libpq one by one. It would then also go on after a wrong
    password, and `prefer-standby` would take the first server.
    """
    import psycopg

    opened = open_first(dsn, resolved(dsn), patience_s)
    opened.nonblocking = 1
    connection = psycopg.Connection(opened)
    connection.autocommit = True
    return connection


def guarded(dsn: str) -> str:
    """Return the DSN, extended so that no password goes in clear text to an unverified server.

    A `require_auth` in the DSN, the service file or the environment is kept.
    """
    from psycopg.conninfo import make_conninfo

    said = resolved(dsn)
    if "require_auth" in said or _is_verified(said) or _is_here(said):
        return dsn
    return make_conninfo(dsn, require_auth=REQUIRED_PROOF)


def resolved(dsn: str) -> dict[str, str]:
    """Return all parameters of a DSN, including its service, the environment and defaults."""
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import PGconn

    connection = PGconn.connect_start(
        make_conninfo(dsn, load_balance_hosts=UNCONNECTED).encode("utf-8")
    )
    try:
        return {
            option.keyword.decode(): option.val.decode() for option in connection.info if option.val
        }
    finally:
        connection.finish()


def _is_verified(said: Mapping[str, str]) -> bool:
    """Return True if the connection verifies the server's identity."""
    mode = said.get("sslmode", "prefer")
    if mode != "require":
        return mode in {"verify-ca", "verify-full"}
    root = said.get("sslrootcert") or Path.home() / ".postgresql" / "root.crt"
    return Path(root).exists()


def _is_here(said: Mapping[str, str]) -> bool:
    """Return True if every server of the list is local. A server without an address has a name."""
    names, addresses = (said.get(key, "").split(",") for key in ("host", "hostaddr"))
    servers = [address or name for name, address in zip_longest(names, addresses, fillvalue="")]
    return all(
        server in {"", "localhost"} or server[0] in "/@" or _is_loopback(server)
        for server in servers
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _explained(title: str, message: str, given: Mapping[str, object], password: str) -> str:
    user = f"{given['user']}@" if "user" in given else ""
    port = f":{given['port']}" if "port" in given else ""
    name = f"/{given['dbname']}" if "dbname" in given else ""
    where = f"{user}{given.get('host', 'the default host')}{port}{name}"
    said = without_secrets(" ".join(message.split()))
    if password:
        said = said.replace(password, "***")
    for pattern, mend in MENDS:
        if re.search(pattern, message):
            return f"{title} at {where}: {mend}. It was said: {said}"
    return f"{title} at {where} cannot be reached. It was said: {said}"


def execute(
    connection: Connection,
    statement: str | Composed,
    values: Sequence[object] | None,
    title: str,
) -> psycopg.Cursor[tuple[object, ...]]:
    """Run one SQL statement on a connection.

    The `EngineError` has the statement and the server's message.
    """
    import psycopg

    try:
        return connection.execute(statement, values)
    except psycopg.Error as error:
        if connection.closed:
            raise EngineError(f"the connection to {title} was lost: {error}") from error
        text = statement if isinstance(statement, str) else statement.as_string(None)
        state = f" ({error.sqlstate})" if error.sqlstate else ""
        raise EngineError(
            f"{title} reports an error{state}: {error}\nThe statement: {text}"
        ) from error
