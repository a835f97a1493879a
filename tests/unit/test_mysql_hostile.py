"""Servers that are none, or mean harm: administration ends in time with one message."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.engines.mysql_family.connecting import connect, read_dsn, session_config
from tests.hostile import Serve, serving
from tests.mysql_peer import CAPABILITIES, MYSQL_OK, NONCE, mysql_greeting, mysql_packet

PASSWORD = "learnt-by-whoever-asks"  # noqa: S105 - made up
TIMEOUT_S = 1
# An endless greeting would take hours, and a host that is busy takes some seconds.
PATIENCE_S = 8.0


def silent(line: socket.socket) -> None:
    line.recv(1)


def silent_in_tls(line: socket.socket) -> None:
    line.sendall(mysql_greeting(capabilities=CAPABILITIES | 1 << 11))
    while line.recv(4096):
        pass


def dripping(line: socket.socket) -> None:
    line.sendall((1 << 19).to_bytes(3, "little") + b"\0")
    while True:
        line.sendall(b"\x0a")
        time.sleep(TIMEOUT_S / 10)


def endless(line: socket.socket) -> None:
    number = 0
    while True:
        line.sendall(b"\xff\xff\xff" + bytes([number % 256]) + bytes((1 << 24) - 1))
        number += 1


def closing(line: socket.socket) -> None:
    line.sendall(mysql_greeting()[:20])


def http(line: socket.socket) -> None:
    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def truncated(line: socket.socket) -> None:
    line.sendall(mysql_packet(0, b"\x0a9.7.0\0abc"))


def unended(line: socket.socket) -> None:
    line.sendall(mysql_packet(0, b"\x0a9.7"))


def no_text(line: socket.socket) -> None:
    line.sendall(mysql_packet(0, b"\x0a\xff\xfe\0" + bytes(60)))


@contextmanager
def served(serve: Serve) -> Iterator[str]:
    """The address of a server that does one thing to whoever connects."""
    with serving(serve, PATIENCE_S) as port:
        yield f"127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (silent, "the login did not end within 1 s"),
        (silent_in_tls, "timed out"),
        (dripping, "the login did not end within 1 s"),
        (endless, "a packet of 16777215 bytes"),
        (closing, "closed the connection during the login"),
        (http, "Packet sequence number wrong"),
        (truncated, "does not speak MySQL's protocol"),
        (unended, "does not speak MySQL's protocol"),
        (no_text, "does not speak MySQL's protocol"),
    ],
)
def test_administration_ends_in_time_with_one_message(serve: Serve, words: str) -> None:
    with served(serve) as place:
        begun_s = time.monotonic()
        with pytest.raises(EngineError, match=words) as refused:
            connect(read_dsn(f"mysql://me:{PASSWORD}@{place}/shop?connect_timeout={TIMEOUT_S}"))
        assert time.monotonic() - begun_s < PATIENCE_S
    assert PASSWORD not in str(refused.value)


def test_a_proof_from_which_a_password_can_be_computed_is_not_given() -> None:
    answers = []

    def serve(line: socket.socket) -> None:
        line.sendall(mysql_greeting())
        line.recv(4096)
        line.sendall(mysql_packet(2, b"\xfemysql_old_password\0" + NONCE[:8] + b"\0"))
        answers.append(line.recv(4096))

    with served(serve) as place, pytest.raises(EngineError, match="mysql_old_password"):
        connect(read_dsn(f"mysql://me:{PASSWORD}@{place}/shop"))
    assert answers == [b""]


@pytest.mark.parametrize("text", ["0", "-1", "²", "1.5", "9999999999", "31536001", ""])
def test_a_timeout_that_no_client_takes_is_one_clear_error(text: str) -> None:
    with pytest.raises(EngineError, match="whole number of seconds from 1 to 31536000"):
        read_dsn(f"mysql://me@h/d?connect_timeout={text}")


def test_a_name_that_no_host_can_have_is_one_clear_error() -> None:
    with pytest.raises(EngineError, match=r"name is not known.*idna"):
        connect(read_dsn(f"mysql://me:{PASSWORD}@{'a' * 64}.example/shop"))


def test_a_server_that_answers_no_query_is_one_clear_error() -> None:
    def serve(line: socket.socket) -> None:
        line.sendall(mysql_greeting())
        for number in (2, 1, 1):
            line.recv(4096)
            line.sendall(mysql_packet(number, MYSQL_OK))
        line.recv(4096)

    engine = find_engine("mariadb").engine()
    with served(serve) as place, pytest.raises(EngineError, match="query for its version"):
        engine.attach(engine.address(f"mariadb://me:{PASSWORD}@{place}/shop"))


def switching(line: socket.socket) -> None:
    line.sendall(mysql_greeting())
    number = 2
    while True:
        line.recv(4096)
        body = b"\xfemysql_native_password\0" + NONCE + b"\0"
        line.sendall(mysql_packet(number % 256, body))
        number += 2
        time.sleep(TIMEOUT_S / 10)


@pytest.mark.parametrize("serve", [silent, dripping, switching])
def test_a_session_ends_its_login_in_time(serve: Serve) -> None:
    with served(serve) as place:
        address = read_dsn(f"mysql://me:{PASSWORD}@{place}/shop?connect_timeout={TIMEOUT_S}")
        begun_s = time.monotonic()
        with pytest.raises(_core.SessionOpenError, match="did not answer within 1 s") as refused:
            _core.MysqlSession(session_config(address), '{"operations": []}', 1, 0)
        assert time.monotonic() - begun_s < PATIENCE_S
    assert PASSWORD not in str(refused.value)


def take_login(line: socket.socket, *, commits_by_itself: bool) -> None:
    """Accept a login, and receive the first statement of the session."""
    line.sendall(mysql_greeting())
    line.recv(4096)
    body = bytearray(MYSQL_OK)
    body[3] = 2 * commits_by_itself
    line.sendall(mysql_packet(2, bytes(body)))
    line.recv(4096)


def drip(line: socket.socket) -> None:
    for byte in mysql_packet(1, bytes(200)):
        line.sendall(bytes([byte]))
        time.sleep(TIMEOUT_S / 10)


def silent_after_login(line: socket.socket) -> None:
    take_login(line, commits_by_itself=False)
    line.recv(4096)


def dripping_after_login(line: socket.socket) -> None:
    take_login(line, commits_by_itself=False)
    drip(line)


def dripping_at_a_setting(line: socket.socket) -> None:
    take_login(line, commits_by_itself=True)
    drip(line)


@pytest.mark.parametrize("serve", [silent_after_login, dripping_after_login, dripping_at_a_setting])
def test_a_session_ends_its_first_statements_in_time(serve: Serve) -> None:
    with served(serve) as place:
        options = f"connect_timeout={TIMEOUT_S}&set.wait_timeout=5"
        config = session_config(read_dsn(f"mysql://me@{place}/shop?{options}"))
        begun_s = time.monotonic()
        with pytest.raises(_core.SessionOpenError, match="did not answer within 1 s"):
            _core.MysqlSession(config, '{"operations": []}', 1, 0)
        assert time.monotonic() - begun_s < PATIENCE_S
