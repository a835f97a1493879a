"""Addresses of an endpoint: the URL of `--dsn`, and the settings of the driver's sessions.

Keys of an address: `host`, `port`, `tls` (`mode` and `ca`, or None), `query`, `update` and `store`
(URL paths; the last two may be None), `method`, `results`, `authorization` (a header, which may
hold a password) and `graph` (the default graph, or None).
"""

from __future__ import annotations

import base64
import ipaddress
import json
import os
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urljoin, urlsplit

from assay.engines.contract import EngineError
from assay.engines.network.host_names import addresses_of
from assay.engines.typed_password import ASK_PASSWORD, password_for, typed_password

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address

USER_VARIABLE, PASSWORD_VARIABLE = "SPARQL_USER", "SPARQL_PASSWORD"
TOKEN_VARIABLE = "SPARQL_TOKEN"  # noqa: S105 - where it is, not what it is
PORTS = {"http": 80, "https": 443}
# Parameters of a DSN that Assay reads; all others are the endpoint's.
UPDATE, STORE, GRAPH, METHOD, RESULTS = "update", "store", "default-graph", "method", "results"
SSL_MODE, SSL_ROOT = "sslmode", "sslrootcert"
OURS = (UPDATE, STORE, GRAPH, METHOD, RESULTS, SSL_MODE, SSL_ROOT)
CHOICES = {
    METHOD: ("post", "get"),
    RESULTS: ("json", "tsv"),
    SSL_MODE: ("require", "verify-ca", "verify-full"),
}
UNREADABLE = (
    "the DSN cannot be read: write the endpoint's URL, such as"
    " http://127.0.0.1:3030/ds/query?update=/ds/update&default-graph=urn:x"
)


def read_dsn(dsn: str) -> Address:
    """Return the address in a URL; user and password may be in the environment.

    Raises:
        EngineError: If the URL is not valid, or its host is not the local host. The error message
            does not quote it.
    """
    try:
        url = urlsplit(dsn)
        port, pairs = url.port, parse_qsl(url.query, keep_blank_values=True)
    except ValueError:
        raise EngineError(UNREADABLE) from None
    if url.scheme not in PORTS or not url.hostname or "@" in url.hostname:
        raise EngineError(UNREADABLE)
    host = _here(url.hostname)
    ours, theirs = _parameters(pairs)
    return {
        "host": host,
        "port": port or PORTS[url.scheme],
        "tls": _tls(ours) if url.scheme == "https" else None,
        "query": _target(url.path or "/", theirs),
        "update": _other(url, ours.get(UPDATE), theirs),
        "store": _other(url, ours.get(STORE), theirs),
        "method": ours.get(METHOD, "post"),
        "results": ours.get(RESULTS, "json"),
        "authorization": _authorization(url),
        "graph": ours.get(GRAPH),
    }


def _here(host: str) -> str:
    """Return the host, which must be local."""
    try:
        addresses = addresses_of(host)
    except OSError as error:
        raise EngineError(
            f"--dsn: the host name {host} cannot be resolved ({error}); is the name right?"
        ) from error
    if not all(ipaddress.ip_address(address).is_loopback for address in addresses):
        raise EngineError(
            f"--dsn: {host} is another host, and Assay measures SPARQL endpoints on loopback "
            "only: run the endpoint here, or forward a port of 127.0.0.1 to it."
        )
    return host


def _parameters(pairs: list[tuple[str, str]]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return a DSN's parameters for Assay, and those for the endpoint.

    Raises `EngineError`.
    """
    ours = {name: value for name, value in pairs if name in OURS}
    for name, choices in CHOICES.items():
        if name in ours and ours[name] not in choices:
            raise EngineError(
                f"--dsn: {name} is {ours[name]!r} and must be one of {', '.join(choices)}."
            )
    return ours, [pair for pair in pairs if pair[0] not in OURS]


def _tls(ours: Mapping[str, str]) -> dict[str, str | None]:
    return {"mode": ours.get(SSL_MODE, "verify-full"), "ca": ours.get(SSL_ROOT)}


def _target(path: str, parameters: list[tuple[str, str]]) -> str:
    quoted = quote(path, safe="/%:@!$&'()*+,;=~")
    return f"{quoted}?{urlencode(parameters)}" if parameters else quoted


def _other(url: SplitResult, named: str | None, theirs: list[tuple[str, str]]) -> str | None:
    """Return another address of the endpoint's server, from a path or whole URL."""
    if named is None:
        return None
    base = f"{url.scheme}://{url.netloc}{url.path}"
    other = urlsplit(urljoin(base, named))
    if (other.scheme, other.hostname, other.port) != (url.scheme, url.hostname, url.port):
        raise EngineError(
            f"--dsn: {named} is on another server than the query endpoint, and both share one "
            "connection: name a path on the same server."
        )
    return _target(other.path or "/", [*theirs, *parse_qsl(other.query, keep_blank_values=True)])


def _authorization(url: SplitResult) -> str | None:
    """Return the authentication header; None without a user."""
    token = os.environ.get(TOKEN_VARIABLE)
    user = unquote(url.username or "") or os.environ.get(USER_VARIABLE, "")
    password = password_for(unquote(url.password or "") or None, PASSWORD_VARIABLE) or ""
    if typed_password() and not user:
        raise EngineError(
            f"{ASK_PASSWORD}: no user is named: write http://USER@{url.hostname}/..., or set"
            f" {USER_VARIABLE}"
        )
    if user:
        return basic_authorization(user, password)
    return f"Bearer {token}" if token else None


def basic_authorization(user: str, password: str) -> str:
    """Return the header field that authenticates a user by HTTP's scheme Basic."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode('ascii')}"


def with_graph(target: str, name: str, graph: str | None) -> str:
    """Return a URL with a graph as the parameter of this name."""
    if graph is None:
        return target
    return f"{target}{'&' if '?' in target else '?'}{urlencode({name: graph})}"


def session_config(address: Address) -> str:
    """Return the configuration of JDBC sessions as JSON, which may hold a password."""
    graph, update = address.get("graph"), address.get("update")
    return json.dumps(
        {
            "host": address["host"],
            "port": address["port"],
            "tls": address.get("tls"),
            "query": with_graph(address["query"], "default-graph-uri", graph),
            "update": None if update is None else with_graph(update, "using-graph-uri", graph),
            "method": address.get("method", "post"),
            "results": address.get("results", "json"),
            "authorization": address.get("authorization"),
        }
    )
