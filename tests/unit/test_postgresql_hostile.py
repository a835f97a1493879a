"""Servers that are no PostgreSQL, or mean harm: each client ends in time with one message."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.postgres_family.connecting import connect
from tests.hostile import Serve, serving

PASSWORD = "learnt-by-whoever-asks"  # noqa: S105 - made up
# libpq takes no less.
TIMEOUT_S = 2
# An endless answer would take hours, and a host that is busy takes some seconds.
PATIENCE_S = 12.0
SCRIPT = '{"operations": []}'
TRUSTED = b"R" + struct.pack(">II", 8, 0)


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


def silent(line: socket.socket) -> None:
    line.recv(4096)
    line.recv(4096)


def dripping(line: socket.socket) -> None:
    line.recv(4096)
    line.sendall(message(b"N", bytes(1 << 16))[:5])
    while True:
        line.sendall(b"\0")
        time.sleep(TIMEOUT_S / 10)


def http(line: socket.socket) -> None:
    line.recv(4096)
    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def closing(line: socket.socket) -> None:
    line.recv(4096)


def long(line: socket.socket) -> None:
    line.recv(4096)
    line.sendall(b"S" + struct.pack(">I", (1 << 31) - 1) + b"name\0")
    line.recv(4096)


def talkative(line: socket.socket) -> None:
    """Reports parameters without end."""
    line.recv(4096)
    line.sendall(TRUSTED)
    number = 0
    while True:
        name = f"parameter_{number}".encode()
        line.sendall(message(b"S", name + b"\0" + bytes(1 << 16).replace(b"\0", b"v") + b"\0"))
        number += 1


def never_content(line: socket.socket) -> None:
    """Asks for the password again and again, and reads no answer."""
    line.recv(4096)
    while True:
        line.sendall(message(b"R", struct.pack(">I", 3)))


@contextmanager
def served(serve: Serve) -> Iterator[str]:
    """The DSN of a server that does one thing to whoever connects."""
    with serving(serve, PATIENCE_S) as port:
        yield (
            f"host=127.0.0.1 port={port} dbname=shop user=me password={PASSWORD}"
            f" connect_timeout={TIMEOUT_S} sslmode=disable"
        )


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (silent, "did not answer within 2 s"),
        (dripping, "did not answer within 2 s"),
        (http, "a message of 1414811695 bytes"),
        (closing, "it closed the line"),
        (long, "a message of 2147483647 bytes"),
        (talkative, "bytes before the first request"),
        (never_content, "another proof after the one that it asked for"),
    ],
)
def test_a_session_ends_its_start_in_time_with_one_message(serve: Serve, words: str) -> None:
    with served(serve) as dsn:
        begun_s = time.monotonic()
        with pytest.raises(_core.SessionOpenError, match=words) as refused:
            _core.PostgresSession(dsn, SCRIPT, 1, 0)
        assert time.monotonic() - begun_s < PATIENCE_S
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("serve", [silent, dripping, http, closing, long])
def test_administration_ends_in_time_with_one_message(serve: Serve) -> None:
    with served(serve) as dsn:
        begun_s = time.monotonic()
        with pytest.raises(EngineError) as refused:
            connect(dsn, "a test", "PostgreSQL")
        assert time.monotonic() - begun_s < PATIENCE_S
    assert PASSWORD not in str(refused.value)
