"""Connections for administration, and words for those that are refused."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from assay.engines.contract import Address

CONNECT_PATIENCE_S = 10
# What chooses among servers, and has no meaning any more when one is chosen.
CHOOSING = ("load_balance_hosts", "service", "servicefile", "target_session_attrs")
# What a service may say beside where the server is.
OF_A_SERVICE = ("options", "passfile", "sslmode", "sslrootcert")
GIVEN_IN = "PGPASSWORD, in a password file (PGPASSFILE, ~/.pgpass) or in the DSN"
# What the client's library or the server says, and what to do. The first that fits counts.
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
        r"unrecognized configuration parameter|invalid value for parameter",
        "mend the setting in --set, or in the options of the DSN",
    ),
    (
        r"starting up|shutting down|recovery mode",
        "the server is not ready: try again in a moment",
    ),
)


def read_dsn(dsn: str) -> Address:
    """The address that a URL or keywords name. Raises `EngineError`, without quoting it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    # The library's words quote what they could not read, which may be part of a password.
    unreadable = EngineError(
        "the DSN cannot be read: write postgresql://user@host:port/database or"
        " 'host=... dbname=...'; in a URL, %, @, / and : of a password are %25, %40, %2F, %3A."
    )
    try:
        told = conninfo_to_dict(dsn)
    except psycopg.Error:
        raise unreadable from None
    # A password that is not escaped ends up in one of these.
    if "@" in str(told.get("host", "")) or re.search(r"[^\d,]", str(told.get("port", ""))):
        raise unreadable
    _refuse_binding(told.get("channel_binding", os.environ.get("PGCHANNELBINDING")))
    return {"dsn": make_conninfo("", **told)}


def with_options(dsn: str, settings: Mapping[str, str]) -> str:
    """The DSN with settings of the session. Raises `EngineError` as `read_dsn` does."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    read = read_dsn(dsn)["dsn"]
    before = str(conninfo_to_dict(read).get("options") or "")
    said = [f"-c {name}={escaped_option(value)}" for name, value in settings.items()]
    return make_conninfo(read, options=" ".join([before, *said]).strip())


def escaped_option(value: str) -> str:
    """A value as `options` of a connection have it: blanks and backslashes escaped."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def where_it_led(dsn: str, connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """The DSN of the one server that a connection by `dsn` came to.

    Lists of hosts, roles of servers and service files are resolved: whoever connects by the result
    comes to the same server, whether or not it knows these. Raises `EngineError` for what sessions
    cannot keep.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    info = connection.info
    told = conninfo_to_dict(dsn)
    given = {key: str(value) for key, value in told.items() if key not in CHOOSING}
    used = info.get_parameters()
    _refuse_binding(used.get("channel_binding"))
    led = {"host": info.host, "port": str(info.port), "dbname": info.dbname, "user": info.user}
    # The client's library notes here, too, what it found for a host's name that it was told.
    is_found = "host" in told or "PGHOST" in os.environ
    is_said = "hostaddr" in told or "PGHOSTADDR" in os.environ
    if is_said or ("hostaddr" in used and not is_found):
        led["hostaddr"] = info.hostaddr
    from_service = {key: used[key] for key in OF_A_SERVICE if key in used}
    if info.password:
        from_service["password"] = info.password
    return make_conninfo("", **(from_service | given | led))


def _refuse_binding(told: object) -> None:
    if told == "require":
        raise EngineError(
            "channel_binding=require: sessions that are measured cannot bind to the channel. Leave"
            " it out, and let sslmode=verify-full prove who the server is."
        )


def connect(dsn: str, purpose: str) -> psycopg.Connection[tuple[object, ...]]:
    """A connection that commits each statement. Raises `EngineError` with the mend."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    given = conninfo_to_dict(dsn)
    patience_s = given.get("connect_timeout", CONNECT_PATIENCE_S)
    name = given.get("application_name", purpose)
    whole = make_conninfo(dsn, application_name=name, connect_timeout=patience_s)
    try:
        return psycopg.connect(whole, autocommit=True)
    except psycopg.Error as error:
        password = str(given.get("password") or "")
        raise EngineError(_explained(str(error), given, password)) from None


def _explained(words: str, given: Mapping[str, object], password: str) -> str:
    user = f"{given['user']}@" if "user" in given else ""
    port = f":{given['port']}" if "port" in given else ""
    name = f"/{given['dbname']}" if "dbname" in given else ""
    where = f"{user}{given.get('host', 'the default host')}{port}{name}"
    said = without_secrets(" ".join(words.split()))
    if password:
        said = said.replace(password, "***")
    for pattern, mend in MENDS:
        if re.search(pattern, words):
            return f"PostgreSQL at {where}: {mend}. It was said: {said}"
    return f"PostgreSQL at {where} cannot be reached. It was said: {said}"
