"""Endpoints by their URL: what a DSN says, what answers, and what to do about what does not."""

from __future__ import annotations

import base64
import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from assay.engines.contract import EngineError, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.network.listening import listener
from assay.engines.sparql_family.addresses import read_dsn, session_config, with_graph
from assay.engines.sparql_family.client import Client

ENDPOINT = "http://127.0.0.1:3030/ds/query"
TRUE = json.dumps({"head": {}, "boolean": True})
JSON = "application/sparql-results+json"
SECRET = "s3cr:t/@%41?"  # noqa: S105 - made up


class TestAddress:
    def test_a_url_is_enough(self) -> None:
        address = read_dsn(ENDPOINT)
        assert (address["host"], address["port"], address["query"]) == (
            "127.0.0.1",
            3030,
            "/ds/query",
        )
        assert (address["update"], address["store"], address["tls"]) == (None, None, None)
        assert json.loads(session_config(address))["results"] == "json"

    def test_parameters_are_ours_or_the_endpoints(self) -> None:
        address = read_dsn(
            f"{ENDPOINT}?a=b%20c&update=update&store=/ds/data%3Fx&default-graph=urn:g%2F1"
            "&method=get&results=tsv"
        )
        assert address["query"] == "/ds/query?a=b+c"
        assert address["update"] == "/ds/update?a=b+c"
        config = json.loads(session_config(address))
        assert config["query"] == "/ds/query?a=b+c&default-graph-uri=urn%3Ag%2F1"
        assert config["update"] == "/ds/update?a=b+c&using-graph-uri=urn%3Ag%2F1"
        assert (config["method"], config["results"]) == ("get", "tsv")
        assert with_graph("/s", "graph", None) == "/s"

    def test_who_asks_stands_in_the_url_or_in_the_environment(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        header = read_dsn("http://me:a%40b@127.0.0.1/")["authorization"]
        assert header == f"Basic {base64.b64encode(b'me:a@b').decode()}"
        monkeypatch.setenv("SPARQL_TOKEN", "abc")
        assert read_dsn(ENDPOINT)["authorization"] == "Bearer abc"
        monkeypatch.setenv("SPARQL_USER", "you")
        monkeypatch.setenv("SPARQL_PASSWORD", SECRET)
        header = read_dsn(ENDPOINT)["authorization"]
        assert base64.b64decode(header.removeprefix("Basic ")).decode() == f"you:{SECRET}"

    def test_https_says_how_far_the_server_is_looked_at(self) -> None:
        assert read_dsn("https://127.0.0.1/q")["tls"] == {"mode": "verify-full", "ca": None}
        address = read_dsn("https://127.0.0.1/q?sslmode=require&sslrootcert=/c")
        assert (address["tls"], address["port"]) == ({"mode": "require", "ca": "/c"}, 443)

    @pytest.mark.parametrize(
        ("dsn", "message"),
        [
            ("http:///sparql", "cannot be read"),
            ("http://127.0.0.1:x/sparql", "cannot be read"),
            ("ftp://127.0.0.1/sparql", "cannot be read"),
            (f"{ENDPOINT}?method=put", "method is 'put' and must be one of post, get"),
            (f"{ENDPOINT}?results=xml", "results is 'xml' and must be one of json, tsv"),
            ("https://127.0.0.1/?sslmode=maybe", "sslmode is 'maybe' and must be one of require,"),
            (f"{ENDPOINT}?update=http://127.0.0.1:3031/u", "on another server"),
            ("http://192.0.2.1/sparql", "forward a port"),
            (
                "http://no-such-host.invalid/sparql",
                "the host name no-such-host.invalid cannot be resolved",
            ),
        ],
    )
    def test_what_cannot_be_read_says_why(self, dsn: str, message: str) -> None:
        with pytest.raises(EngineError, match=message):
            read_dsn(dsn)

    def test_a_dsn_that_cannot_be_read_is_not_quoted(self) -> None:
        with pytest.raises(EngineError) as raised:
            read_dsn(f"http://me:{SECRET}@127.0.0.1:x/")
        assert SECRET not in str(raised.value)


def test_a_line_that_the_server_ended_while_it_was_idle_is_opened_anew() -> None:
    said = f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nContent-Length: {len(TRUE)}\r\n\r\n{TRUE}"
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for _ in range(2):
            line, _ = listening.accept()
            with line:
                line.recv(65536)
                line.sendall(said.encode())

    server = threading.Thread(target=serve)
    server.start()
    client = Client({"host": "127.0.0.1", "port": listening.getsockname()[1], "query": "/q"})
    with listening:
        for _ in range(2):
            assert client.rows("ASK {}") == [{"boolean": "true"}]
        server.join()
    client.release()


@pytest.fixture
def answers() -> Iterator[dict[str, tuple[int, dict[str, str], str]]]:
    """What a server answers, by path; `port` is put in by itself."""
    answers_by_path: dict[str, tuple[int, dict[str, str], str]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, fields, body = answers_by_path[self.path.partition("?")[0]]
            self.send_response_only(status)
            for name, value in {**fields, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Nothing is written anywhere."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    answers_by_path["port"] = (server.server_port, {}, "")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield answers_by_path
    server.shutdown()
    server.server_close()
    thread.join()


class TestAttaching:
    def attach(self, answers: dict[str, tuple[int, dict[str, str], str]]) -> str:
        """What the engine says of the server that answers so."""
        engine = find_engine("sparql").engine()
        instance = engine.attach(engine.address(f"http://127.0.0.1:{answers['port'][0]}/q"))
        try:
            return engine.version(instance)
        finally:
            engine.detach(instance)

    def test_an_endpoint_tells_its_name(self, answers) -> None:
        answers["/q"] = (200, {"Content-Type": JSON, "Server": "Mine/1"}, TRUE)
        assert self.attach(answers) == "Mine/1"

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (
                (200, {"Content-Type": "text/html"}, "<html>"),
                "/q returned a web page, so the URL is not a SPARQL endpoint",
            ),
            ((200, {"Content-Type": "text/plain"}, "hello"), "is not a SPARQL result"),
            ((200, {"Content-Type": JSON}, "[]"), "is not a SPARQL result"),
            ((303, {"Location": "/elsewhere"}, ""), "sends us on to /elsewhere"),
            ((401, {"WWW-Authenticate": "Basic realm=x"}, ""), "SPARQL_PASSWORD"),
            ((401, {"WWW-Authenticate": "Digest realm=x"}, ""), "Digest, which is not spoken"),
            ((404, {}, "no such dataset"), r"no such dataset \(HTTP 404\)\. Is the path"),
            ((500, {}, "out of\n memory"), r"out of memory \(HTTP 500\)"),
        ],
    )
    def test_what_is_none_says_why_and_the_mend(self, answers, answer, message: str) -> None:
        answers["/q"] = answer
        with pytest.raises(EngineError, match=message):
            self.attach(answers)

    def test_nobody_there_says_so(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = read_dsn(f"http://127.0.0.1:{taken.getsockname()[1]}/q")
        with pytest.raises(EngineError, match="is it running"):
            Client(address).rows("")

    def test_what_speaks_no_http_says_so(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = read_dsn(f"http://127.0.0.1:{server.getsockname()[1]}/q")

            def speak() -> None:
                line, _ = server.accept()
                with line:
                    line.recv(4096)
                    line.sendall(b"220 mail\r\n")

            speaking = threading.Thread(target=speak)
            speaking.start()
            with pytest.raises(EngineError, match="its answer is not HTTP: '220 mail"):
                Client(address).rows("")
            speaking.join()

    def test_nothing_is_obtained_or_started(self) -> None:
        engine = find_engine("sparql").engine()
        with pytest.raises(EngineError, match="name it with --dsn"):
            engine.obtain(Wanted(Path("cache")), tell_nobody)


class TestListener:
    def test_the_process_that_listens_is_found(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            assert listener(port) == os.getpid()
        assert listener(port) is None

    def test_a_proxy_is_no_server(self, tmp_path: Path) -> None:
        line = "  0: 0100007F:0BD6 00000000:0000 0A 00:00 00:00 00 0 0 77 1"
        for pid, name in ((5, "docker-proxy"), (6, "other")):
            descriptors = tmp_path / str(pid) / "fd"
            descriptors.mkdir(parents=True)
            (tmp_path / str(pid) / "comm").write_text(f"{name}\n")
            (descriptors / "3").symlink_to(f"socket:[{72 + pid}]")
        (tmp_path / "net").mkdir()
        (tmp_path / "net" / "tcp").write_text(f"head\n{line}\n")
        assert listener(3030, tmp_path) is None
        (tmp_path / "5" / "comm").write_text("server\n")
        assert listener(3030, tmp_path) == 5
        assert listener(3031, tmp_path) is None
