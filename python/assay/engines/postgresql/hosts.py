"""Checks the list of servers in a DSN, and makes the DSNs of administration and sessions.

Sessions get the whole list, so that each connection chooses a server by libpq's rules.
Administration stays on the server that it reached first, because counters, plans and settings must
come from one server.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgres_family.connecting import PROBES, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from assay.engines.contract import Address

# Key of an address: the DSN with all servers that sessions choose from.
SESSIONS = "dsn_sessions"
TARGETS = ("any", "read-write", "read-only", "primary", "standby", "prefer-standby")
BALANCES = ("disable", "random")
# Parameters that choose among servers, and their values on a connection that must not choose.
CHOOSING = {"load_balance_hosts": "disable", "target_session_attrs": "any"}
SERVICE = ("service", "servicefile")
# Parameters of which the connection itself has the values in use, and those of administration.
REACHED = ("host", "hostaddr", "port", "dbname", "user", "password")
OWN = ("application_name", "connect_timeout", "client_encoding", *PROBES)
LISTS = ("host", "hostaddr", "port")


def check_hosts(keywords: Mapping[str, object]) -> None:
    """Raise `EngineError` for a list of servers that no client could use.

    Args:
        keywords: Parameters of the DSN. libpq's environment variables are used for missing ones.
    """
    hosts = _list(keywords, "host", "PGHOST")
    addresses = _list(keywords, "hostaddr", "PGHOSTADDR")
    ports = _list(keywords, "port", "PGPORT")
    if hosts and addresses and len(hosts) != len(addresses):
        raise EngineError(
            f"the DSN names {len(hosts)} hosts and {len(addresses)} addresses (hostaddr): write one"
            " address for each host, or an empty one to look the host's name up."
        )
    for address in addresses:
        if address and not _is_address(address):
            raise EngineError(f"hostaddr={address}: this is no IP address. Write a name into host.")
    count = len(addresses or hosts) or 1
    if len(ports) > 1 and len(ports) != count:
        raise EngineError(
            f"the DSN names {len(ports)} ports for {count} host{'s' if count > 1 else ''}: write"
            " one port for all hosts, or one for each."
        )
    _check_choice(keywords, "target_session_attrs", "PGTARGETSESSIONATTRS", TARGETS)
    _check_choice(keywords, "load_balance_hosts", "PGLOADBALANCEHOSTS", BALANCES)


def dsn_of_sessions(address: Address) -> str:
    """Return the DSN to which sessions connect; its list may have several servers."""
    dsn: str = address[SESSIONS] if SESSIONS in address else address["dsn"]
    return dsn


def names_several(dsn: str) -> bool:
    """Return True if a DSN names several servers."""
    from psycopg.conninfo import conninfo_to_dict

    keywords = conninfo_to_dict(dsn)
    return any("," in str(keywords.get(name) or "") for name in LISTS)


def administration_dsn(dsn: str, connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """Return the DSN of the one server that a connection reached.

    Lists of hosts, states of servers and service files are resolved, so that every client with the
    result connects to the same server.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    info = connection.info
    keywords = conninfo_to_dict(dsn)
    used = info.get_parameters()
    reached = {"host": info.host, "port": str(info.port), "dbname": info.dbname, "user": info.user}
    # libpq also stores the address here that it resolved from a given host name.
    is_named = "host" in keywords or "PGHOST" in os.environ
    has_address = "hostaddr" in keywords or "PGHOSTADDR" in os.environ
    if has_address or ("hostaddr" in used and not is_named):
        reached["hostaddr"] = info.hostaddr
        # A numeric address alone is not a host name that a certificate must match.
        reached["host"] = "" if info.host == info.hostaddr else info.host
    if info.password:
        reached["password"] = info.password
    return make_conninfo("", **(_said(keywords, used) | reached | CHOOSING))


def session_dsn(dsn: str, connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """Return the DSN of sessions: all servers, with the service and the environment resolved.

    With several servers, each session reads the password file itself, because each server has its
    own line in it.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    keywords = conninfo_to_dict(dsn)
    used = connection.info.get_parameters()
    # Without a server that did not answer, the connection's own list may be shorter.
    whole = resolved(dsn)
    used |= {name: whole.get(name, "") for name in LISTS if name in used}
    lists = {name: value for name in LISTS if (value := _used(name, keywords, used))}
    choice = {name: used[name] for name in CHOOSING if name in used}
    # Administration has a fixed order; sessions have that of the DSN.
    if balance := keywords.get("load_balance_hosts") or os.environ.get("PGLOADBALANCEHOSTS"):
        choice["load_balance_hosts"] = str(balance)
    who = {"dbname": connection.info.dbname, "user": connection.info.user}
    if password := _given_password(connection):
        who["password"] = password
    return make_conninfo("", **(_said(keywords, used) | lists | choice | who))


def _given_password(connection: psycopg.Connection[tuple[object, ...]]) -> str | None:
    """Return the password of the DSN, the service or the environment, but not of a password file.

    `info.get_parameters` leaves passwords out, and `info.password` has that of a password file too.
    """
    options = {option.keyword: option.val for option in connection.pgconn.info}
    password = options.get(b"password")
    return None if password is None else password.decode()


def _said(keywords: Mapping[str, object], used: Mapping[str, str]) -> dict[str, str]:
    """Return a connection's parameters except those that name a server, a user or a password."""
    # The service and the environment are read once here, for all sessions.
    read = {key: used[key] for key in used if key not in (*SERVICE, *REACHED, *OWN, *CHOOSING)}
    given = {key: str(value) for key, value in keywords.items() if key not in SERVICE}
    return read | given


def _used(name: str, keywords: Mapping[str, object], used: Mapping[str, str]) -> str | None:
    """Return a list of hosts, addresses or ports: that of the DSN, or that of the connection."""
    if name in keywords:
        return str(keywords[name])
    is_resolved = name == "hostaddr" and ("host" in keywords or "PGHOST" in os.environ)
    return os.environ.get("PGHOSTADDR") if is_resolved else used.get(name)


def _list(keywords: Mapping[str, object], name: str, variable: str) -> list[str]:
    text = str(keywords.get(name) or os.environ.get(variable) or "")
    return text.split(",") if text else []


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _check_choice(
    keywords: Mapping[str, object], name: str, variable: str, values: tuple[str, ...]
) -> None:
    value = str(keywords.get(name) or os.environ.get(variable) or values[0])
    if value not in values:
        raise EngineError(f"{name}={value}: write one of {', '.join(values)}.")
