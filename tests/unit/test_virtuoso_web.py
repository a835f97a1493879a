"""A web server of Virtuoso that answers requests without a password is not used."""

from __future__ import annotations

import socket

import pytest

from assay.engines.contract import EngineError
from assay.engines.resources import free_port
from assay.engines.virtuoso.web import STRANGERS, check_closed
from tests.hostile import serving

PATIENCE_S = 10.0


def answering(status: str, *, only: str = "") -> object:
    """A server that answers requests with a status; others than those for `only` with 403."""

    def serve(line: socket.socket) -> None:
        target = line.recv(65536).decode().split(" ")[1]
        said = status if not only or target == only else "403 Forbidden"
        line.sendall(f"HTTP/1.1 {said}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())

    return serve


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_refusals_are_what_is_expected(status: str) -> None:
    with serving(answering(status), PATIENCE_S) as port:
        check_closed(port)


@pytest.mark.parametrize("target", STRANGERS)
@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_any_other_answer_ends_the_start(target: str, status: str) -> None:
    page = target.partition("?")[0]
    with (
        serving(answering(status, only=target), PATIENCE_S) as port,
        pytest.raises(EngineError, match=rf"answers {page} without a password \(HTTP {status[:3]}"),
    ):
        check_closed(port)


def test_no_answer_says_so() -> None:
    with pytest.raises(EngineError, match="does not answer on port"):
        check_closed(free_port("127.0.0.1"))
