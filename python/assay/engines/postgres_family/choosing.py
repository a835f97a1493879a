"""Connects to the first suitable server of a list by libpq's rules, and stops at Ctrl-C.

libpq's own call to connect keeps Python's lock until it ends, also while a server does not answer.
During such a call no signal is handled and no other thread runs. libpq's asynchronous calls choose
among servers by the same rules, but without a time limit for each address, which is added here.
They still keep the lock while a host's name is looked up, so all names are looked up before.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, NamedTuple

from assay.engines.network.host_names import addresses_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.pq.abc import PGconn

LISTS = ("host", "hostaddr", "port")


class Place(NamedTuple):
    """A server of a list. Without an address, the host is a name, an address or a directory."""

    host: str
    hostaddr: str
    port: str


class UnansweredError(Exception):
    """Error: an address did not answer in time. `place` has the address that was tried."""

    def __init__(self, place: Place) -> None:
        address = f" ({place.hostaddr})" if place.hostaddr not in {"", place.host} else ""
        super().__init__(
            f'connection to server at "{place.host}"{address}, port {place.port} failed: timeout'
            " expired"
        )
        self.place = place


def open_first(dsn: str, resolved: Mapping[str, str], patience_s: float) -> PGconn:
    """Return a connection to the first suitable server of a DSN.

    Args:
        dsn: Connection string of keywords and values.
        resolved: All parameters of the DSN, including its service, the environment and defaults.
        patience_s: Seconds to wait for each address; 0 or less means without limit.

    Raises:
        psycopg.OperationalError: If no server can be used. The message names each server.
    """
    import psycopg

    reasons = [(place, unknown_name(place)) for place in places_of(resolved)]
    places = [place for place, reason in reasons if reason is None]
    unanswered = [reason for _, reason in reasons if reason is not None]
    while places:
        try:
            # Without need the DSN stays as it is: libpq reads addresses of names anew.
            return _opened(_with_places(dsn, places) if unanswered else dsn, patience_s)
        except UnansweredError as error:
            unanswered.append(str(error))
            places = without_address(places, error.place)
        except psycopg.OperationalError as error:
            raise psycopg.OperationalError("\n".join([*unanswered, str(error)])) from None
    raise psycopg.OperationalError("\n".join(unanswered))


def unknown_name(place: Place) -> str | None:
    """Return why the name of a server's host has no address; None if it has one, or needs none."""
    if place.hostaddr or place.host[:1] in {"", "/", "@"}:
        return None
    try:
        addresses_of(place.host)
    except OSError as error:
        return f'could not translate host name "{place.host}" to address: {error}'
    return None


def places_of(resolved: Mapping[str, str]) -> list[Place]:
    """Return the servers that the parameters of a DSN name, in their order."""
    hosts, addresses, ports = (resolved.get(name, "").split(",") for name in LISTS)
    count = max(len(hosts), len(addresses))
    hosts, addresses, ports = (
        entries * count if len(entries) == 1 else entries for entries in (hosts, addresses, ports)
    )
    return [Place(*entries) for entries in zip(hosts, addresses, ports, strict=True)]


def without_address(places: list[Place], unanswered: Place) -> list[Place]:
    """Return the servers without an address that did not answer; a name's other addresses stay."""
    for number, place in enumerate(places):
        is_named = (place.host or place.hostaddr) == unanswered.host
        is_other = place.hostaddr not in {"", unanswered.hostaddr}
        if is_named and not is_other and _port(place) == _port(unanswered):
            return [*places[:number], *_others(place, unanswered), *places[number + 1 :]]
    # Without progress, the same address would be tried again and again.
    return []


def _others(place: Place, unanswered: Place) -> list[Place]:
    """Return the other addresses of a host's name."""
    if place.hostaddr or place.host[:1] in {"", "/", "@"} or place.host == unanswered.hostaddr:
        return []
    try:
        addresses = addresses_of(place.host)
    except OSError:
        return []
    return [place._replace(hostaddr=it) for it in addresses if it != unanswered.hostaddr]


def _port(place: Place) -> str:
    from psycopg.pq import Conninfo

    defaults = (it.compiled for it in Conninfo.get_defaults() if it.keyword == b"port")
    return place.port or (next(defaults) or b"").decode()


def _with_places(dsn: str, places: list[Place]) -> str:
    from psycopg.conninfo import make_conninfo

    lists = zip(LISTS, map(",".join, zip(*places, strict=True)), strict=True)
    return make_conninfo(dsn, **dict(lists))


def _opened(dsn: str, patience_s: float) -> PGconn:
    """Return a connection that libpq opened.

    Raises:
        UnansweredError: If an address did not answer in time.
        psycopg.OperationalError: If libpq found no suitable server.
    """
    from psycopg.pq import PGconn

    opened = PGconn.connect_start(dsn.encode("utf-8"))
    try:
        _connect(opened, patience_s)
    except BaseException:
        opened.finish()
        raise
    return opened


def _connect(opened: PGconn, patience_s: float) -> None:
    """Continue a connection that was started until it is open.

    Raises the errors of `_opened`.
    """
    import psycopg
    from psycopg.pq import ConnStatus, PollingStatus

    place, deadline_s = None, 0.0
    while opened.status != ConnStatus.BAD:
        status = opened.connect_poll()
        if status == PollingStatus.OK:
            return
        if status == PollingStatus.FAILED:
            break
        if place != (place := _place(opened)):
            deadline_s = time.monotonic() + patience_s
        left_s = deadline_s - time.monotonic() if patience_s > 0 else None
        if not _is_ready(opened.socket, left_s, reading=status == PollingStatus.READING):
            raise UnansweredError(place)
    raise psycopg.OperationalError(opened.get_error_message())


def _place(opened: PGconn) -> Place:
    """Return the server that libpq tries to reach."""
    return Place(opened.host.decode(), opened.hostaddr.decode(), opened.port.decode())


def _is_ready(descriptor: int, patience_s: float | None, *, reading: bool) -> bool:
    """Wait until a socket can be read or written; return False if the time is over."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN if reading else select.POLLOUT)
    return bool(poller.poll(None if patience_s is None else max(patience_s, 0.0) * 1e3))
