"""A workload in SPARQL on Oxigraph, embedded and as a server, and on endpoints by their URL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pytest

from assay.engines.oxigraph_server.programs import find_program
from assay.engines.resources import free_port
from assay.running.host.places import engines_dir
from tests.e2e.conftest import Lab, reachable_directory, wait_for_phase
from tests.e2e.test_running_server import assert_is_nowhere_within
from tests.products import obtained

PEOPLE = str(Path(__file__).parent / "people")
PASSWORD = "s3cretEnD9x"  # noqa: S105 - made up, and nobody asks for it
PATIENCE_S = 30.0
TRUE = b'{"head": {}, "boolean": true}'


@pytest.fixture(scope="module")
def people(shared: Path) -> Iterator[Lab]:
    """A laboratory for all: its servers find what this host has obtained, its pages the charts."""
    with reachable_directory() as root, closing(Lab(root)) as lab:
        kept = root / "cache" / "assay"
        (kept / "engines").mkdir(parents=True)
        (kept / "engines" / "oxigraph-server").symlink_to(engines_dir() / "oxigraph-server")
        charts = shared / "cache" / "assay" / "report"
        charts.mkdir(parents=True, exist_ok=True)
        (kept / "report").symlink_to(charts)
        yield lab
        lab.assert_nothing_left()


@pytest.fixture(scope="module")
def embedded(people: Lab) -> dict:
    """A run of the engine that is in the process."""
    return people.document("run", PEOPLE, "--scale", "1", "--clients", "2")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """An empty server that runs already: its place, and its process."""
    program = find_program(obtained("oxigraph-server"))
    place = tmp_path_factory.mktemp("oxigraph")
    host = f"127.0.0.1:{free_port('127.0.0.1')}"
    command = [str(program), "serve", "--location", str(place), "--bind", host]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            try:
                urllib.request.urlopen(f"http://{host}/", timeout=1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield host, server.pid
        server.kill()


def results(document: dict) -> set[str]:
    """Distinct results of the run, by operation and digest."""
    folder = Path(document["path"]) / "raw" / "results"
    return {path.name for path in folder.iterdir() if "@check" in path.name}


def played(document: dict) -> dict[str, set[int]]:
    """How many rows each operation returned."""
    with pa.OSFile(str(Path(document["path"]) / "raw" / "events.arrows")) as file:
        events = pa.ipc.open_stream(file).read_all().to_pylist()
    assert {event["outcome"] for event in events} == {"ok"}
    parameters: dict[str, set[int]] = {}
    for event in events:
        parameters.setdefault(event["operation"], set()).add(event["rows"])
    return parameters


def answers(document: dict) -> str:
    (check,) = (candidate for candidate in document["checks"] if candidate["check"] == "answers")
    return f"{check['verdict']}: {check['reason']}"


def assert_right(document: dict) -> None:
    assert answers(document).startswith("valid: 1 of 1 answers")
    rows = {"knows@check": {3}, "knows": {3}, "describe": {5}, "there": {1}}
    assert played(document) == rows


def statements_at(host: str) -> int:
    """Lines of all that a server holds."""
    with urllib.request.urlopen(f"http://{host}/store", timeout=PATIENCE_S) as response:
        return len(response.read().splitlines())


def test_the_default_engine_answers_in_the_process(embedded: dict) -> None:
    assert (embedded["engine"], embedded["engine_version"]) == ("oxigraph", "0.5.13")
    assert_right(embedded)


def test_a_server_of_ours_answers_alike(people: Lab, embedded: dict) -> None:
    obtained("oxigraph-server")
    arguments = ("run", PEOPLE, "--scale", "1", "--clients", "2", "--engine", "oxigraph-server")
    document = people.document(*arguments)
    assert_right(document)
    accounts = json.loads((Path(document["path"]) / "environment.json").read_text())["accounts"]
    assert sorted(accounts.values()) == ["driver", "engine"]
    # However an answer came, it is the same one.
    assert results(embedded) == results(document)
    people.assert_nothing_left()


def test_an_endpoint_is_filled_asked_and_left_as_it_was(people: Lab, endpoint) -> None:
    host, pid = endpoint
    dsn = f"http://me:{PASSWORD}@{host}/query?store=/store&update=/update"
    document = people.document("run", PEOPLE, "--scale", "1", "--clients", "2", "--dsn", dsn)
    assert document["engine"] == "sparql"
    assert document["engine_version"] == "Oxigraph/0.5.13"
    assert_right(document)
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    assert environment["accounts"][str(pid)] == "engine"
    assert statements_at(host) == 0
    assert_is_nowhere_within(PASSWORD, Path(document["path"]))


def test_what_was_kept_is_asked_as_it_is(people: Lab, endpoint) -> None:
    host, _ = endpoint
    arguments = ("run", PEOPLE, "--scale", "1", "--clients", "1", "--mixes", "2", "--dsn")
    document = people.document(*arguments, f"oxigraph://{host}", "--keep-data")
    assert document["engine"] == "oxigraph-server"
    there = statements_at(host)
    assert there == 5001
    kept = f"http://{host}/query?default-graph=urn:assay:graph:assay_people_1&results=tsv"
    document = people.document(*arguments, kept)
    assert document["engine"] == "sparql"
    assert answers(document).startswith("valid: 1 of 1 answers")
    assert statements_at(host) == there


def test_an_answer_that_was_cut_fails_the_operation(people: Lab) -> None:
    class Cutting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/sparql-results+json")
            if body.startswith(b"PREFIX"):
                self.send_header("X-SPARQL-MaxRows", "2")
            self.send_header("Content-Length", str(len(TRUE)))
            self.end_headers()
            self.wfile.write(TRUE)

        def log_message(self, *_: object) -> None:
            """Nothing is written anywhere."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Cutting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    dsn = f"http://127.0.0.1:{server.server_port}/sparql"
    arguments = ("run", PEOPLE, "--scale", "1", "--clients", "1", "--mixes", "1", "--dsn", dsn)
    result = people.assay(*arguments, "--operation", "knows")
    server.shutdown()
    server.server_close()
    assert result.returncode != 0
    assert "cuts answers after 2 rows" in result.stdout + result.stderr


def test_a_server_that_dies_ends_the_run_by_name(people: Lab, endpoint, tmp_path: Path) -> None:
    # Of its own, so that the latest run is the one that was begun here.
    lab = Lab(tmp_path)
    (tmp_path / "cache").symlink_to(people.root / "cache")
    host, pid = endpoint
    arguments = ("run", PEOPLE, "--scale", "1", "--clients", "2", "--mixes", "9999999")
    started = lab.begin(*arguments, "--dsn", f"http://{host}/query?store=/store")
    wait_for_phase(lab, started, "measured")
    os.kill(pid, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 2, errors
    assert "ended" in errors
    assert lab.status() == "failed"
    lab.close()
    assert lab.strays() == []
