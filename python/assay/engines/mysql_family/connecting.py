"""Opens connections to MySQL servers: parses DSNs, and explains refusals.

A DSN may list several servers. Sessions get the whole list, and each connection uses the first
server that takes it. Administration stays on the server that it reached first, because counters,
plans and settings must come from one server.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit
from weakref import WeakSet

from assay.engines.contract import EngineError
from assay.engines.mysql_family import securing
from assay.engines.mysql_family.statements import filled
from assay.engines.network.host_names import addresses_of
from assay.engines.typed_password import ASK_PASSWORD, password_for
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pymysql

    from assay.engines.contract import Address

# Connections of this process, to recognise them in the server's list of connections.
_own: WeakSet[pymysql.Connection[Any]] = WeakSet()
CONNECT_PATIENCE_S = 10
# A year, the longest time that the client library accepts.
CONNECT_PATIENCE_MAX_S = 31_536_000
HOST, PORT, SCHEME = "127.0.0.1", 3306, "mysql"
# Keys of an address: the servers that a connection for administration chooses from, and those that
# sessions choose from, as pairs of host and port in the order of the DSN.
SERVERS, SESSIONS = "servers", "servers_of_sessions"
# Options in a DSN after its question mark; a name with this prefix is a session setting.
OPTIONS = ("unix_socket", *securing.OPTIONS, "connect_timeout")
SETTING = "set."
# Assay's program name in the server's list of connections.
PROGRAM = "assay"
PASSWORD_VARIABLE = "MYSQL_PWD"  # noqa: S105 - where it is, not what it is
GIVEN_IN = f"{PASSWORD_VARIABLE}, in the DSN, or at the terminal with {ASK_PASSWORD}"
NOBODY_LISTENS, UNKNOWN_HOST, UNSECURED = 2002, 2005, 2026
# Errors of connections that no server took: another server of a list is tried.
UNREACHED = {(NOBODY_LISTENS,), (2003,), (UNKNOWN_HOST,), (2006,), (2013,)}
# Remedies by error number of the server and the client library.
MENDS = {
    1040: "the server has no connection left: raise its max_connections, or end other clients",
    1044: "this user may not use this database: grant it, or name another one",
    1045: f"the server does not accept this user with this password: mend it in {GIVEN_IN}",
    1049: "the server has no such database: mend the name, or make it",
    1130: "the server does not let this host in: make an account for it",
    1193: "mend the setting in --set, or in the DSN",
    1203: "this user has no connection left: raise max_user_connections",
    1229: "this is no setting of a session: give it in the server's own configuration",
    1231: "mend the setting's value in --set, or in the DSN",
    1232: "mend the setting's value in --set, or in the DSN",
    1238: "this is no setting of a session: give it in the server's own configuration",
    1698: f"the server does not accept this user so: give a password in {GIVEN_IN}",
    NOBODY_LISTENS: "nothing listens there: start the server, or mend host and port",
    2003: "nothing listens there: start the server, or mend host and port",
    UNKNOWN_HOST: "that host's name is not known: mend it, or see the network",
    UNSECURED: "the connection is not secured as asked: mend ssl_mode, ssl_ca or the certificate",
    2061: "the password was not handed over",
    3159: "the server wants TLS: write ssl_mode=required, or one that verifies",
}


def read_dsn(dsn: str, schemes: Sequence[str] = ()) -> Address:
    """Return the server address in a `mysql://` URL.

    Raises `EngineError`, which does not quote the URL.

    `schemes` are the engine's own; every engine also accepts `mysql`.
    """
    unreadable = EngineError(
        f"the DSN cannot be read: write {(*schemes, SCHEME)[0]}://user@host:port/database; in it,"
        " %, @, / and : in a password are written %25, %40, %2F, %3A. After a question mark it "
        "may have"
        f" {', '.join(f'{name}=...' for name in OPTIONS)} or {SETTING}NAME=..."
    )
    try:
        first, servers = split_servers(dsn)
        url = urlsplit(first)
        options = dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query)))
    except ValueError:
        raise unreadable from None
    said = {name: value for name, value in options.items() if not name.startswith(SETTING)}
    if url.scheme not in {*schemes, SCHEME} or url.fragment or set(said) - set(OPTIONS):
        raise unreadable
    if "/" in url.path.lstrip("/"):
        raise unreadable
    given = None if url.password is None else unquote(url.password)
    host, port = servers[0]
    address = {
        "host": host,
        "port": port,
        SERVERS: servers,
        "unix_socket": said.get("unix_socket"),
        "user": unquote(url.username or os.environ.get("USER", "")),
        "password": password_for(given, PASSWORD_VARIABLE) or "",
        "database": unquote(url.path.lstrip("/")) or None,
        **securing.read_security(said),
        "connect_timeout": _patience_s(said.get("connect_timeout", str(CONNECT_PATIENCE_S))),
        "settings": {
            name.removeprefix(SETTING): value
            for name, value in options.items()
            if name.startswith(SETTING)
        },
    }
    check_servers(address)
    return address


def _patience_s(text: str) -> int:
    """Return a DSN's `connect_timeout` in seconds.

    Raises `EngineError` for any other text, which is not quoted: it may be a misplaced password.
    """
    if re.fullmatch(r"[0-9]{1,8}", text) and 0 < int(text) <= CONNECT_PATIENCE_MAX_S:
        return int(text)
    raise EngineError(
        f"connect_timeout in the DSN is no whole number of seconds from 1 to "
        f"{CONNECT_PATIENCE_MAX_S}: write one, such as connect_timeout={CONNECT_PATIENCE_S}."
    )


def split_servers(dsn: str) -> tuple[str, list[tuple[str, int]]]:
    """Return the URL with its first server only, and all its servers as pairs of host and port.

    Raises `ValueError` for a list that cannot be read.
    """
    scheme, separator, rest = dsn.partition("://")
    end = min((place for mark in "/?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    account, at, servers = rest[:end].rpartition("@")
    texts = servers.split(",")
    if len(texts) > 1 and not all(texts):
        raise ValueError("a server of the list is empty")
    urls = [urlsplit(f"//{text}") for text in texts]
    if any(url.path or url.username is not None for url in urls):
        raise ValueError("a server of the list has more than host and port")
    places = [(unquote(url.hostname or HOST), url.port or PORT) for url in urls]
    return f"{scheme}{separator}{account}{at}{texts[0]}{rest[end:]}", places


def check_servers(address: Address) -> None:
    """Raise `EngineError` if an address has a Unix socket beside several servers."""
    if len(address[SERVERS]) > 1 and address["unix_socket"]:
        raise EngineError(
            "the DSN names several hosts and unix_socket, which is a file of one host: remove"
            " unix_socket, or name one host."
        )


def each_server(address: Address) -> Iterator[Address]:
    """Yield the address of each server of a list, in their order, on which administration stays."""
    sessions = servers_of_sessions(address)
    for host, port in address.get(SERVERS) or [(address["host"], address["port"])]:
        place = {"host": host, "port": port, SERVERS: [(host, port)]}
        yield {**address, **place, SESSIONS: sessions}


def on_one_server(address: Address) -> Address:
    """Return the address of sessions that use the server of administration only."""
    return {**address, SESSIONS: [(address["host"], address["port"])]}


def servers_of_sessions(address: Address) -> list[tuple[str, int]]:
    """Return the servers that sessions choose from, as pairs of host and port, in their order."""
    listed: list[tuple[str, int]] | None = address.get(SESSIONS) or address.get(SERVERS)
    return listed or [(address["host"], address["port"])]


def with_settings(dsn: str, settings: Mapping[str, str], schemes: Sequence[str] = ()) -> str:
    """Return the DSN with additional session settings.

    Raises the errors of `read_dsn`.
    """
    read_dsn(dsn, schemes)
    more = urlencode({SETTING + name: value for name, value in settings.items()}, quote_via=quote)
    return f"{dsn}{'&' if urlsplit(dsn).query else '?'}{more}" if more else dsn


def session_config(address: Address, init: Sequence[str] = ()) -> str:
    """Return the configuration of the driver's MySQL sessions as JSON.

    `init` has statements that each new connection executes after the address's settings.
    """
    settings = [set_session(name, value) for name, value in address.get("settings", {}).items()]
    (host, port), *others = servers_of_sessions(address)
    config = {
        "host": host,
        "port": port,
        "others": others,
        "socket": address["unix_socket"],
        "user": address["user"],
        "password": address["password"],
        "database": address["database"],
        **securing.session_security(address),
        "init": [*settings, *init],
        "timeout_s": address.get("connect_timeout", CONNECT_PATIENCE_S),
    }
    return json.dumps(config)


def connect(address: Address, **more: Any) -> pymysql.Connection[Any]:  # noqa: ANN401 - of pymysql
    """Return a connection in which each statement commits.

    The `EngineError` says how to fix a failure.
    """
    import pymysql

    try:
        return opened(address, **more)
    except pymysql.Error as error:
        raise EngineError(_explained(error, address)) from None


def connect_first(address: Address) -> tuple[pymysql.Connection[Any], Address]:
    """Return a connection to the first server that takes it, and that server's address.

    A refusal by a server, such as of a password, ends the attempt. The `EngineError` says how to
    fix a failure.
    """
    import pymysql

    reasons: list[str] = []
    for server in each_server(address):
        try:
            return opened(server), server
        except pymysql.Error as error:
            reason = _explained(error, server)
            if error.args[:1] not in UNREACHED:
                raise EngineError(reason) from None
            reasons.append(reason)
    if len(reasons) == 1:
        raise EngineError(reasons[0])
    raise EngineError(f"none of the {len(reasons)} servers can be used: {'; '.join(reasons)}")


def opened(address: Address, **more: Any) -> pymysql.Connection[Any]:  # noqa: ANN401 - of pymysql
    """Return a MySQL connection with the address's settings.

    Raises pymysql's errors.
    """
    import pymysql

    from assay.engines.mysql_family.proving import GuardedConnection

    given = {
        "user": address["user"],
        "password": address["password"],
        "database": address["database"],
        "charset": "utf8mb4",
        "autocommit": True,
        "program_name": PROGRAM,
        "connect_timeout": address.get("connect_timeout", CONNECT_PATIENCE_S),
        **securing.client_security(address),
    }
    path = address["unix_socket"]
    if path is None:
        where = {"host": address["host"], "port": address["port"]}
        _look_up(address["host"])
        connection = GuardedConnection(**(where | given | more))
    else:
        connection = GuardedConnection(defer_connect=True, **(given | more))
        connection.connect(_connected(path, given["connect_timeout"]))
    _own.add(connection)
    try:
        with connection.cursor() as cursor:
            for name, value in address.get("settings", {}).items():
                cursor.execute(set_session(name, value))
    except pymysql.Error:
        connection.close()
        raise
    return connection


def _look_up(host: str) -> None:
    """Raise pymysql's `OperationalError` if a host's name has no address; Ctrl-C ends the wait."""
    import pymysql

    try:
        addresses_of(host)
    except OSError as error:
        message = f"Can't connect to MySQL server on {host!r} ({error})"
        raise pymysql.err.OperationalError(UNKNOWN_HOST, message) from error


def own_connections() -> set[int]:
    """Return the server's ids of connections that this process opened besides the load."""
    return {int(connection.thread_id()) for connection in list(_own) if connection.open}


def _connected(path: str, timeout_s: float) -> socket.socket:
    """Return a connected Unix socket of a MySQL server.

    If the connection fails, pymysql would leave its own socket open.
    """
    import pymysql

    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.settimeout(timeout_s)
        peer.connect(path)
    except OSError as error:
        peer.close()
        raise pymysql.err.OperationalError(NOBODY_LISTENS, f"{path}: {error.strerror}") from error
    return peer


def answers(address: Address) -> bool:
    """Return True if a private server answers.

    Raises `EngineError` if the server refuses the connection.
    """
    import pymysql

    try:
        opened(address).close()
    except pymysql.err.OperationalError as error:
        # During startup no process listens, or an accepted connection may be closed again.
        if error.args[0] in {NOBODY_LISTENS, 2003, 2006, 2013}:
            return False
        raise EngineError(_explained(error, address)) from None
    return True


def interrupt(address: Address, connection: pymysql.Connection[Any], *, whole: bool) -> None:
    """Cancel the statement on a connection, or end the connection, from any thread."""
    import pymysql

    file = "kill_connection.sql" if whole else "kill_query.sql"
    text = filled(file, plain={"connection": str(connection.thread_id())})
    # The connection or the server may have ended already.
    with contextlib.suppress(pymysql.Error), opened(address) as other, other.cursor() as cursor:
        cursor.execute(text)


def error_text(error: Exception) -> str:
    """Return the message of a MySQL error with its number."""
    number, *said = error.args or ("",)
    text = " ".join(str(part) for part in said) or str(number)
    return without_secrets(" ".join(text.split())) + (f" ({number})" if said else "")


def set_session(name: str, value: str) -> str:
    """Return the SQL that changes a session setting."""
    if re.fullmatch(r"-?\d+(\.\d+)?|\w+", value):
        return filled("set_session.sql", plain={"value": value}, name=name)
    return filled("set_session.sql", texts={"value": value}, name=name)


def _explained(error: Exception, address: Address) -> str:
    name = f"/{address['database']}" if address["database"] else ""
    place = address["unix_socket"] or f"{address['host']}:{address['port']}"
    where = f"the server at {address['user']}@{place}{name}"
    said = error_text(error)
    if address["password"]:
        said = said.replace(address["password"], "***")
    number = error.args[0] if error.args else 0
    if isinstance(getattr(error, "original_exception", None), ssl.SSLError):
        number = UNSECURED
    mend = MENDS.get(number)
    if mend is None:
        return f"{where} cannot be reached. It was said: {said}"
    return f"{where}: {mend}. It was said: {said}"
