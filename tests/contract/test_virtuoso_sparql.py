"""The engine `virtuoso` asked in SPARQL, with a real server: loading, asking, meters, plans."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from assay.analysis.counters.meters import activity_line, parse_activity
from assay.engines.bridge.link import Link
from assay.engines.contract import Address, EngineError, Instance, Speaks, tell_nobody
from assay.engines.loading import LoadsTriples
from assay.engines.plan_reading import PlanAsked, PlaysPrograms
from assay.engines.virtuoso import server
from assay.engines.virtuoso.connecting import GRAPH, file_text
from assay.model.language import SPARQL
from tests.contract.test_virtuoso import SMALL, Started, assert_is_closed_to_sql, engine
from tests.e2e.conftest import wait_until
from tests.strangers import ports_of, shown_by_processes, statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KNOWS = "http://example.org/knows"
PEOPLE, FRIENDS = 400, 5
TEXTS = ['"plain"', '"a \\"quote\\" and\\nlines"@en', '"\\u00e9t\\u00e9"@fr', '"7"']
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def person(number: int) -> str:
    return f"http://example.org/person/{number}"


def lines() -> list[str]:
    made = [
        f"<{person(number)}> <{KNOWS}> <{person((number + step) % PEOPLE)}> .\n"
        for number in range(PEOPLE)
        for step in range(1, FRIENDS + 1)
    ]
    made += [f"<{person(0)}> <http://example.org/says> {text} .\n" for text in TEXTS]
    return [*made, f'<{person(0)}> <http://example.org/age> "41"^^<{INTEGER}> .\n']


def stream(texts: list[str], at_once: int = 300) -> pa.RecordBatchReader:
    """Batches of lines, some of them parts of a longer one, one empty."""
    column = pa.array(texts, pa.string())
    pieces = [column.slice(begin, at_once) for begin in range(0, len(texts), at_once)]
    batches = [pa.record_batch([piece], ["line"]) for piece in (*pieces, column.slice(0, 0))]
    return pa.RecordBatchReader.from_batches(batches[0].schema, batches)


class Asked(Started):
    """A server that is asked in SPARQL."""

    def start(self, **more: str) -> Instance:
        assert isinstance(self.engine, Speaks)
        self.engine.speak(SPARQL)
        return super().start(**more)

    def over_http(self, text: str, form: str = "application/sparql-results+json") -> str:
        graph = urllib.parse.urlencode({"query": text, "default-graph-uri": GRAPH})
        url = f"http://127.0.0.1:{self.address['web_port']}/sparql?{graph}"
        fields = {"Accept": form, "Authorization": self.address["authorization"]}
        asked = urllib.request.Request(url, headers=fields)
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - the same
            return str(answer.read().decode())


@pytest.fixture(scope="module")
def started() -> Iterator[Asked]:
    root = Path(tempfile.mkdtemp(prefix="assay-"))
    root.chmod(0o755)
    made = Asked(root)
    with made.guardian:
        instance = made.start(**SMALL)
        made.engine.load_triples(instance, stream(lines()), 2, tell_nobody)
        made.engine.finish_triples(instance)
        made.engine.detach(instance)
        yield made
    shutil.rmtree(root)


@pytest.fixture
def instance(started: Asked) -> Iterator[Instance]:
    attached = started.attach()
    yield attached
    started.engine.detach(attached)


def test_it_loads_triples_and_is_told_its_language() -> None:
    assert isinstance(engine(), LoadsTriples)
    assert isinstance(engine(), Speaks)


def test_statistics_with_which_no_query_is_answered_are_refused(started: Asked) -> None:
    started.engine.check_settings(started.product, {"statistics": "none"})
    with pytest.raises(EngineError, match="statistics=analyze: Virtuoso cannot answer SPARQL"):
        started.engine.check_settings(started.product, {"statistics": "analyze"})


class TestTriples:
    def test_all_that_were_loaded_are_there_once(self, started: Asked, instance: Instance) -> None:
        assert started.engine.count_triples(instance) == len(lines())
        started.engine.load_triples(instance, stream(lines()[:50]), 1, tell_nobody)
        assert started.engine.count_triples(instance) == len(lines())

    def test_texts_come_back_as_they_were(self, started: Asked) -> None:
        text = started.over_http("select ?x { ?s <http://example.org/says> ?x }")
        texts = {binding["x"]["value"] for binding in json.loads(text)["results"]["bindings"]}
        assert texts == {"plain", 'a "quote" and\nlines', "été", "7"}

    def test_only_our_graph_is_asked(self, started: Asked) -> None:
        document = json.loads(started.over_http("select (count(*) as ?n) { ?s ?p ?o }"))
        assert document["results"]["bindings"][0]["n"]["value"] == str(len(lines()))

    @pytest.mark.parametrize("wrong", ["<http://a/b> <http://a/c> .\n", "no triple\n"])
    def test_a_line_that_is_none_is_told_as_the_server_says_it(
        self, started: Asked, instance: Instance, wrong: str
    ) -> None:
        with pytest.raises(EngineError, match=r"the triples cannot be loaded: .*RDF loader, line"):
            started.engine.load_triples(instance, stream([wrong]), 1, tell_nobody)

    def test_nothing_of_a_load_is_left_beside_the_data(
        self, started: Asked, instance: Instance
    ) -> None:
        assert list((started.launcher.scratch / "load").glob("*.nt")) == []
        noted = instance.handle.ask("select count(*) as n from DB.DBA.LOAD_LIST")
        assert noted.to_pylist() == [{"n": 0}]

    def test_other_columns_than_texts_are_refused(self, started: Asked, instance: Instance) -> None:
        batch = pa.record_batch([pa.array([1, 2])], ["line"])
        numbers = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        with pytest.raises(EngineError, match="a single text column was expected, not int64"):
            started.engine.load_triples(instance, numbers, 1, tell_nobody)


class TestMeters:
    def test_requests_are_counted_for_all_readers_together(
        self, started: Asked, instance: Instance
    ) -> None:
        readers = [started.engine.counters(instance) for _ in range(2)]
        try:
            before = [self.lookups(counter_reader) for counter_reader in readers][-1]
            started.over_http(f"select (count(*) as ?n) {{ ?a <{KNOWS}> ?b . ?b <{KNOWS}> ?c }}")
            after = [self.lookups(counter_reader) for counter_reader in readers]
        finally:
            for reader in readers:
                reader.close()
        assert after[0] == after[1]
        assert after[0] - before >= PEOPLE

    def lookups(self, reader: object) -> float:
        rows = reader.read()  # type: ignore[attr-defined]
        return float(next(value for *name, value in rows if name == ["http", "http", "rnd"]))

    def test_its_own_line_is_printed_to_the_blank(self, instance: Instance) -> None:
        ((line,),) = instance.handle.text(file_text("counters/http.sql"))
        assert activity_line(parse_activity(str(line))) == line

    def test_indexes_of_triples_are_counted(self, started: Asked, instance: Instance) -> None:
        reader = started.engine.counters(instance)
        started.over_http(f"select ?x {{ <{person(3)}> <{KNOWS}> ?x }}")
        rows = reader.read()
        reader.close()
        touched = {
            thing for source, thing, counter, value in rows if counter == "touches" and value
        }
        assert {"RDF_QUAD", "RDF_IRI.DB_DBA_RDF_IRI_UNQC_RI_ID"} & touched


class TestPlans:
    TEXT = f"select ?who {{ <http://example.org/person/${{1}}> <{KNOWS}> ?who }} order by ?who"

    def test_a_request_has_a_plan_with_its_times_and_what_it_counted(
        self, started: Asked, instance: Instance
    ) -> None:
        reader = started.engine.plan_reader(instance)
        (explanation,) = reader.explain([(self.TEXT, (3,))], 30.0)
        reader.close()
        assert (explanation.reason, explanation.native is not None) == (None, True)
        plan = started.engine.plan(str(explanation.native), "q", 0, "q-0.json")
        objects = {node.object for node in plan.root.walk()}
        assert "RDF_QUAD" in objects
        assert plan.planning_s is not None
        assert plan.planning_s > 0
        assert plan.execution_s is not None
        assert plan.details["activity"]["rnd"] > 0

    def test_a_program_s_requests_are_explained_once_each(
        self, started: Asked, instance: Instance
    ) -> None:
        reader = started.engine.plan_reader(instance)
        assert isinstance(reader, PlaysPrograms)
        asked = [PlanAsked(self.TEXT, (n,), explained=n == 1) for n in (1, 2)]
        first, second = reader.play(asked, 30.0)
        reader.close()
        assert first.explained is not None
        assert first.explained.native is not None
        assert second.explained is None

    def test_what_it_refuses_is_a_reason(self, started: Asked, instance: Instance) -> None:
        reader = started.engine.plan_reader(instance)
        (explanation,) = reader.explain([("select ?x { ?x nowhere:is ?y }", ())], 30.0)
        reader.close()
        assert explanation.native is None
        assert "nowhere" in str(explanation.reason)


def test_what_is_in_it_may_be_changed_over_http(started: Asked, instance: Instance) -> None:
    started.over_http(f"insert data {{ <{person(0)}> <{KNOWS}> <http://example.org/new> }}")
    assert started.engine.count_triples(instance) == len(lines()) + 1
    started.over_http(f"delete data {{ <{person(0)}> <{KNOWS}> <http://example.org/new> }}")
    assert started.engine.count_triples(instance) == len(lines())


INSERT = "insert data { <urn:stranger> <urn:was> 1 }"
GRAPH_FIELD = urllib.parse.urlencode({"default-graph-uri": GRAPH})
ASK = urllib.parse.urlencode({"query": "ask { ?s ?p ?o }"})
WRITE = urllib.parse.urlencode({"query": INSERT})
REQUESTS = [
    ("GET", f"/sparql?{GRAPH_FIELD}&{ASK}", None),
    ("GET", f"/sparql?{GRAPH_FIELD}&{WRITE}", None),
    ("POST", f"/sparql?{GRAPH_FIELD}", INSERT),
    ("OPTIONS", f"/sparql?{ASK}", None),
    *[
        ("GET", path, None)
        for path in (
            "/",
            "/sparql",
            f"/sparql/?{ASK}",
            f"//sparql?{ASK}",
            f"/%73parql?{ASK}",
            f"/sparql-auth?{ASK}",
            "/sparql-graph-crud?default",
            "/sparql-sd",
            "/DAV/",
            "/conductor",
            "/admin/",
            "/SOAP",
            "/.well-known",
            "/uriqa",
            "/proxy",
            "/XMLA",
            "/rdf_net",
            # A file in the directory that the web server serves.
            "/virtuoso.qrl",
        )
    ],
    ("PUT", "/DAV/home/file", "x"),
    ("PUT", "/sparql-graph-crud?graph=urn:stranger", ""),
]


def test_a_stranger_is_refused_by_every_part_of_the_server(
    started: Asked, instance: Instance
) -> None:
    address = started.address
    port = address["web_port"]
    assert set(ports_of([address["pid"]])) == {address["port"], port}
    answers = {request: statuses(port, *request) for request in REQUESTS}
    assert {request: seen for request, seen in answers.items() if not seen <= {401, 403}} == {}
    assert started.engine.count_triples(instance) == len(lines())
    assert_is_closed_to_sql(address)
    started.engine.detach(started.attach())


def test_its_passwords_are_told_to_nobody(started: Asked) -> None:
    data = Path(started.address["data"])
    files = [data / "password", data / "web-password"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    secrets = [file.read_text() for file in files]
    secrets.append(started.address["authorization"].removeprefix("Basic "))
    assert list(shown_by_processes(secrets)) == []
    logs = [started.log, *started.launcher.scratch.glob("*.log")]
    text = "".join(log.read_text(errors="replace") for log in logs)
    assert not any(secret in text for secret in secrets)


# The last ones start the server again.
def test_a_server_that_was_killed_is_as_closed_as_before(started: Asked) -> None:
    os.kill(started.address["pid"], signal.SIGKILL)
    wait_until(lambda: started.launcher.last_words() is not None, "the server lives")
    launch = started.product, started.place, started.settings, started.launcher
    started.engine.restart(*launch, started.address)
    answers = {request: statuses(started.address["web_port"], *request) for request in REQUESTS}
    assert {request: seen for request, seen in answers.items() if not seen <= {401, 403}} == {}
    text = started.over_http("select (count(*) as ?n) { ?s ?p ?o }")
    assert json.loads(text)["results"]["bindings"][0]["n"]["value"] == str(len(lines()))


def test_a_database_that_was_open_is_closed_at_its_next_start(started: Asked) -> None:
    started.launcher.stop()
    (Path(started.address["data"]) / "web-password").unlink()
    before = started.address["authorization"]
    instance = started.start()
    assert started.address["authorization"] != before
    assert started.engine.count_triples(instance) == len(lines())
    started.engine.detach(instance)
    assert statuses(started.address["web_port"], *REQUESTS[0]) == {401}
    text = started.over_http("select (count(*) as ?n) { ?s ?p ?o }")
    assert json.loads(text)["results"]["bindings"][0]["n"]["value"] == str(len(lines()))


def log_in(address: Address) -> None:
    """Logs in with the default password of a new database."""
    Link.connect({**address, "properties": {"user": "dba", "password": "dba"}}).close()


def look(address: Address) -> None:
    """Sends requests to the web server."""
    statuses(address["web_port"], "GET", "/")


@pytest.mark.parametrize(
    ("intrude", "message"),
    [
        (log_in, "another program logged in to the new Virtuoso server on port"),
        (look, r"another program used Virtuoso's new web server \(6 requests\)"),
    ],
)
def test_a_database_that_somebody_used_before_it_was_closed_is_given_up(
    intrude: Callable[[Address], None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_ours = server._make_ours

    def make_ours_late(address: Address, data: Path, *, is_web: bool) -> None:
        intrude(address)
        make_ours(address, data, is_web=is_web)

    monkeypatch.setattr(server, "_make_ours", make_ours_late)
    root = Path(tempfile.mkdtemp(prefix="assay-"))
    root.chmod(0o755)
    made = Asked(root)
    with made.guardian, pytest.raises(EngineError, match=message):
        made.start(**SMALL)
    shutil.rmtree(root)
