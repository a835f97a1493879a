"""Databases behind a JDBC driver that are none, or mean harm: connecting ends with one message."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from assay import _core
from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.link import Link
from tests.hostile import Serve, serving
from tests.jdbc import bridge, driver
from tests.unit.test_postgresql_hostile import TRUSTED, closing, http, long, message, silent

PASSWORD = "learnt-by-whoever-asks"  # noqa: S105 - made up
TIMEOUT_S = 2.0
# The limit of `crates/assay-drive/src/session/jdbc/link.rs`.
SESSION_TIMEOUT_S = 20.0
SPARE_S, DRIP_S = 10.0, 0.2


@pytest.fixture(scope="module")
def door() -> Iterator[Path]:
    """The socket of a bridge with PostgreSQL's driver."""
    with bridge([driver("postgresql")]) as (path, _):
        yield path


def address_of(door: Path, port: int, **parameters: str) -> dict[str, object]:
    asked = urlencode({"sslmode": "disable", "gssEncMode": "disable", **parameters})
    return {
        "socket": str(door),
        "url": f"jdbc:postgresql://127.0.0.1:{port}/shop?{asked}",
        "properties": {"user": "me", "password": PASSWORD},
    }


def dripping(line: socket.socket) -> None:
    """Sends a list of ways to prove a password, a byte now and then."""
    line.recv(4096)
    line.sendall(message(b"R", struct.pack(">I", 10) + bytes(1 << 16))[:9])
    # The driver would listen for ever.
    for _ in range(round(SPARE_S / DRIP_S)):
        line.sendall(b"v")
        time.sleep(DRIP_S)


def accepting(line: socket.socket) -> None:
    """Accepts the login, and is never ready."""
    line.recv(4096)
    line.sendall(TRUSTED)
    while line.recv(4096):
        pass


@pytest.mark.parametrize("serve", [silent, dripping, accepting, http, closing, long])
def test_administration_ends_in_time_with_one_message(serve: Serve, door: Path) -> None:
    """Without a timeout of its own, the driver waits for ever."""
    with serving(serve, SPARE_S) as port:
        begun_s = time.monotonic()
        with pytest.raises(BridgeError) as refused:
            Link.connect(address_of(door, port, loginTimeout="0"), TIMEOUT_S)
        assert time.monotonic() - begun_s < TIMEOUT_S + SPARE_S / 2
    assert PASSWORD not in str(refused.value)
    assert "\n" not in str(refused.value)
    if serve in {silent, dripping, accepting}:
        assert "did not accept the connection within 2 s" in str(refused.value)
        assert refused.value.sqlstate == "08001"


def test_a_session_ends_its_start_in_time_with_one_message(door: Path) -> None:
    with serving(silent, SESSION_TIMEOUT_S + SPARE_S) as port:
        config = session_config(address_of(door, port, loginTimeout="0"))
        begun_s = time.monotonic()
        with pytest.raises(_core.SessionOpenError, match="within 20 s") as refused:
            _core.JdbcSession(config, json.dumps({"operations": []}), 1, 0)
        assert time.monotonic() - begun_s < SESSION_TIMEOUT_S + SPARE_S / 2
    assert PASSWORD not in str(refused.value)
