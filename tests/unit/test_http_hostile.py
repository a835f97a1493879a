"""Servers at an HTTP address that are none, or mean harm: administration ends with one message."""

from __future__ import annotations

import gc
import socket
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.engines.network.http_line import ANSWER_BYTES_MAX, HttpLine
from assay.engines.spark import rest as spark_rest
from assay.engines.sparql_family import engine as sparql_engine
from assay.engines.trino import connecting as trino_connecting
from tests.hostile import Serve, serving

PASSWORD = "learnt-by-whoever-asks"  # noqa: S105 - made up
TIMEOUT_S = 1.0
# An endless answer would take hours, and a host that is busy takes some seconds.
PATIENCE_S = 12.0
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
MIB = 1 << 20


def answering(answer: bytes) -> Serve:
    """A server that gives one answer, and then says nothing."""

    def serve(line: socket.socket) -> None:
        line.recv(4096)
        line.sendall(answer)
        while line.recv(4096):
            pass

    return serve


def closing(answer: bytes) -> Serve:
    """A server that gives one answer, and then closes the line."""

    def serve(line: socket.socket) -> None:
        line.recv(4096)
        line.sendall(answer)
        line.shutdown(socket.SHUT_WR)
        # Closing a line with unread bytes would throw the answer away.
        while line.recv(4096):
            pass

    return serve


def whole(body: bytes, head: bytes = OK + JSON) -> Serve:
    """A server that gives one answer that is whole."""
    return closing(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def without_end(begin: bytes, piece: bytes, pause_s: float = 0.0) -> Serve:
    """A server that sends pieces for ever."""

    def serve(line: socket.socket) -> None:
        line.recv(4096)
        line.sendall(begin)
        while True:
            line.sendall(piece)
            time.sleep(pause_s)

    return serve


DRIP_S = TIMEOUT_S / 10
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SERVERS = {
    "silent": (answering(b""), "no complete answer came within 1 s"),
    "dripping head": (without_end(b"", b"H", DRIP_S), "no complete answer came within 1 s"),
    "dripping fields": (without_end(OK, b"a: b\r\n", DRIP_S), "no complete answer came"),
    "dripping body": (
        without_end(OK + b"Content-Length: 100000\r\n\r\n", b" ", DRIP_S),
        "no complete answer came within 1 s",
    ),
    "dripping parts": (without_end(CHUNKED, b"1\r\n \r\n", DRIP_S), "no complete answer came"),
    "dripping promises": (
        without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n", DRIP_S),
        "no complete answer came within 1 s",
    ),
    "promises without end": (
        without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 999),
        "64 MiB|1 s",
    ),
    "a line without end": (without_end(OK, bytes(MIB).replace(b"\0", b"a")), "more than 65536"),
    "fields without end": (without_end(OK, b"a: b\r\n" * 99), "more than 100 headers"),
    "a body without end": (without_end(OK + b"\r\n", bytes(MIB)), "larger than 64 MiB"),
    "parts without end": (
        without_end(CHUNKED, b"100000\r\n" + bytes(MIB) + b"\r\n"),
        "larger than 64 MiB",
    ),
    "a body of 10^18 bytes": (
        answering(OK + b"Content-Length: 1000000000000000000\r\n\r\n{"),
        "no complete answer came within 1 s",
    ),
    "a part of 10^18 bytes": (
        answering(CHUNKED + b"DE0B6B3A7640000\r\n{"),
        "no complete answer came within 1 s",
    ),
    "half a body": (
        closing(OK + b"Content-Length: 100\r\n\r\n{"),
        "ended 99 bytes before the end of its answer",
    ),
    "half a part": (closing(CHUNKED + b"9\r\n{"), "IncompleteRead"),
    "closed at once": (closing(b""), "closed connection without response"),
    "postgresql": (closing(b"E\0\0\0\x0aFATAL\0\0"), "its answer is not HTTP"),
    "ssh": (closing(b"SSH-2.0-OpenSSH_9.2\r\n"), "its answer is not HTTP: .*SSH-2"),
    "no JSON": (whole(b"<html>"), "JSON"),
    "no text": (whole(b"\xff\xfe\xfd"), "JSON"),
    "JSON nested too deep": (whole(b"[" * 200_000), "JSON"),
    "another JSON": (whole(b"[1, 2]"), "Trino|SPARQL"),
    "a number": (whole(b"7"), "Trino|SPARQL"),
    "nothing": (whole(b""), "Trino|SPARQL"),
    "an endless reason": (
        closing(b"HTTP/1.1 500 " + b"x" * 60_000 + b"\r\nContent-Length: 0\r\n\r\n"),
        "500",
    ),
    "a far place": (
        closing(b"HTTP/1.1 302 Found\r\nLocation: " + b"x" * 60_000 + b"\r\n\r\n"),
        "Trino|sends us on",
    ),
}


def attach_trino(port: int) -> None:
    engine: Any = find_engine("trino").engine()
    engine.attach(engine.address(f"trino://me@127.0.0.1:{port}/lake/shop"))


def attach_sparql(port: int) -> None:
    engine: Any = find_engine("sparql").engine()
    engine.attach(engine.address(f"http://me:{PASSWORD}@127.0.0.1:{port}/query"))


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers get a second instead of 20 or 30."""
    monkeypatch.setattr(trino_connecting, "PATIENCE_S", TIMEOUT_S)
    monkeypatch.setattr(sparql_engine, "ALIVE_PATIENCE_S", TIMEOUT_S)
    monkeypatch.setattr(spark_rest, "PATIENCE_S", TIMEOUT_S)


@pytest.mark.parametrize("attach", [attach_trino, attach_sparql])
@pytest.mark.parametrize("name", SERVERS)
def test_administration_ends_in_time_with_one_message(
    name: str, attach: Callable[[int], None]
) -> None:
    serve, words = SERVERS[name]
    with serving(serve, PATIENCE_S) as port:
        begun_s = time.monotonic()
        with pytest.raises(EngineError, match=words) as refused:
            attach(port)
        assert time.monotonic() - begun_s < PATIENCE_S / 2
    message = str(refused.value)
    assert PASSWORD not in message
    assert len(message) < 1_000
    assert "\n" not in message


def test_an_endless_answer_takes_no_more_memory_than_its_limit() -> None:
    serve, _ = SERVERS["a body without end"]
    with serving(serve, PATIENCE_S) as port:
        tracemalloc.start()
        with pytest.raises(OSError, match="larger than 64 MiB"):
            HttpLine("127.0.0.1", port, PATIENCE_S).ask("GET", "/", None, {})
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak_bytes < 2 * ANSWER_BYTES_MAX


@pytest.mark.parametrize(
    "name", ["a body without end", "parts without end", "half a body", "a line without end", "ssh"]
)
def test_a_failed_answer_leaves_no_socket_open(name: str) -> None:
    def ask(port: int) -> None:
        # An error that refers to itself keeps its answer until the collector finds both.
        with pytest.raises(OSError, match=r"\w") as refused:
            HttpLine("127.0.0.1", port, TIMEOUT_S).ask("GET", "/", None, {})
        assert str(refused.value)

    serve, _ = SERVERS[name]
    # Sockets that other tests left to the collector are not this test's.
    gc.collect()
    with serving(serve, PATIENCE_S) as port, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        ask(port)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize(
    "name",
    ["silent", "dripping head", "a line without end", "a body without end", "half a body", "ssh"],
)
def test_several_answers_of_a_node_end_in_time(name: str) -> None:
    serve, _ = SERVERS[name]
    with serving(serve, PATIENCE_S) as port:
        node = trino_connecting.Rest(f"http://127.0.0.1:{port}", "me", None)
        begun_s = time.monotonic()
        with pytest.raises(OSError, match="does not tell its counters"):
            node.get_all(["/a", "/b"])
        assert time.monotonic() - begun_s < PATIENCE_S / 2


@pytest.mark.parametrize(
    "name", ["silent", "dripping body", "a body without end", "no JSON", "ssh"]
)
def test_sparks_pages_end_in_time(name: str) -> None:
    serve, _ = SERVERS[name]
    with serving(serve, PATIENCE_S) as port:
        begun_s = time.monotonic()
        with pytest.raises((OSError, ValueError)):
            spark_rest.fetch("127.0.0.1", port, "executors")
        assert time.monotonic() - begun_s < PATIENCE_S / 2


@pytest.mark.parametrize(
    "body",
    [
        b'{"results": {"bindings": []}}',
        b'{"results": {"bindings": [{"count": {"value": "many"}}]}}',
        b'{"results": {"bindings": [{"other": {"value": "1"}}]}}',
        b'{"results": {"bindings": [{"count": {"value": null}}]}}',
        b'{"boolean": true}',
    ],
)
def test_an_answer_without_the_number_of_triples_is_one_message(body: bytes) -> None:
    with serving(whole(body), PATIENCE_S) as port:
        engine: Any = find_engine("sparql").engine()
        instance = engine.attach(engine.address(f"http://127.0.0.1:{port}/query"))
        with pytest.raises(EngineError, match=r"not a SPARQL result in JSON .* no number count"):
            engine.count_triples(instance)
        engine.detach(instance)


def test_answers_of_one_line_each_have_the_whole_time() -> None:
    def serve(line: socket.socket) -> None:
        for _ in range(4):
            line.recv(4096)
            time.sleep(TIMEOUT_S / 2)
            line.sendall(OK + b"Content-Length: 2\r\n\r\n{}")

    with serving(serve, PATIENCE_S) as port:
        line = HttpLine("127.0.0.1", port, TIMEOUT_S)
        assert [line.ask("GET", "/", None, {}).body for _ in range(4)] == [b"{}"] * 4
        line.close()
