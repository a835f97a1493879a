"""The engine `fuseki` with a real server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from assay.engines.contract import Address, EngineError, tell_nobody
from assay.engines.fuseki.server import address_of
from tests.family import Started
from tests.strangers import ports_of, shown_by_processes, statuses

SUBJECT = "<http://example.org/thing{}>"
HARD_TEXTS = ['""', '"say \\"x\\""', '"two\\nlines"', '"⛄"@de', '"1"^^<http://example.org/kind>']
LINES = [f"{SUBJECT.format(n)} <http://example.org/says> {t} .\n" for n, t in enumerate(HARD_TEXTS)]


@pytest.fixture(scope="module")
def reachable() -> Iterator[Path]:
    """A directory that a server's user reaches, which pytest's are not where we are root."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def stream(lines: list[str]) -> pa.RecordBatchReader:
    table = pa.table({"triple": pa.array(lines, pa.string())})
    # Slices of one buffer, and an empty batch, as any stream may have them.
    batches = [table.slice(0, 0).combine_chunks(), table.slice(0, 2), table.slice(2)]
    return pa.RecordBatchReader.from_batches(
        table.schema, [part for batch in batches for part in batch.to_batches()]
    )


def test_what_was_loaded_is_there_after_a_stop_in_good_order(reachable: Path) -> None:
    started = Started(reachable, "fuseki", "kept")
    with started.guardian:
        started.start({"heap": "512m"})
        instance = started.attach()
        started.engine.load_triples(instance, stream(LINES), 4, tell_nobody)
        started.engine.finish_triples(instance)
        assert started.engine.effective_settings(instance)["heap"] == "512m"
        with pytest.raises(EngineError, match=r"cannot load the data.*400"):
            started.engine.load_triples(instance, stream(["no triple\n"]), 1, tell_nobody)
        started.engine.detach(instance)
        started.launcher.stop()
        address = started.start()
        instance = started.attach()
        assert started.engine.version(instance) == started.product.version
        assert started.engine.processes(instance) == (address["pid"],)
        assert started.engine.count_triples(instance) == len(LINES)
        started.launcher.stop()
        with pytest.raises(EngineError, match="no server at"):
            started.engine.count_triples(instance)
    assert "INFO" not in started.log.read_text()


INSERT = "insert data { <urn:stranger> <urn:was> 1 }"
REQUESTS = [
    ("GET", "/ds/query?query=ask%7B%7D", None),
    ("GET", "/ds?query=ask%7B%7D", None),
    ("POST", "/ds/update", INSERT),
    ("POST", "/ds", INSERT),
    ("GET", "/ds/data?default", None),
    ("DELETE", "/ds/data?default", None),
    ("GET", "/ds/get?default", None),
    ("OPTIONS", "/ds/update", None),
    ("GET", "/", None),
    ("GET", "/$/ping", None),
    ("GET", "/$/metrics", None),
    ("GET", "/$/stats/ds", None),
    ("POST", "/$/compact/ds", ""),
    ("DELETE", "/$/datasets/ds", None),
]


def test_a_stranger_is_refused_by_every_part_of_the_server(reachable: Path) -> None:
    started = Started(reachable, "fuseki", "closed")
    with started.guardian:
        started.start({"heap": "512m"})
        address = started.address
        instance = started.attach()
        started.engine.load_triples(instance, stream(LINES), 1, tell_nobody)
        assert set(ports_of([address["pid"]])) == {address["port"]}
        answers = {request: statuses(address["port"], *request) for request in REQUESTS}
        assert answers == {request: {401} for request in REQUESTS}
        assert started.engine.count_triples(instance) == len(LINES)
        file = started.launcher.scratch / "passwords"
        assert file.stat().st_mode & 0o777 == 0o600
        assert address["password"] in file.read_text()
        assert list(shown_by_processes([address["password"]])) == []
        assert address["password"] not in started.log.read_text()
        started.engine.detach(instance)
        started.engine.restart(started.product, started.place, {}, started.launcher, ended(started))
        instance = started.attach()
        assert started.engine.count_triples(instance) == len(LINES)
        started.engine.detach(instance)


def ended(started: Started) -> Address:
    """The address of the server, which is stopped."""
    started.launcher.stop()
    return started.address


def test_each_server_has_its_own_password(tmp_path: Path) -> None:
    first, second = (address_of(1, tmp_path, tmp_path, {})["password"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hepa": "4g"}, "no setting 'hepa'"),
        ({"heap": "much"}, "--set heap=much: write a size like 4g or 512m"),
    ],
)
def test_a_setting_that_is_none_is_refused(settings: dict[str, str], message: str) -> None:
    from assay.engines.contract import Product
    from assay.engines.discovery import find_engine

    with pytest.raises(EngineError, match=message):
        find_engine("fuseki").engine().check_settings(Product("5.2.0"), settings)


def test_one_that_runs_already_is_asked_as_any_endpoint() -> None:
    from assay.engines.discovery import find_engine

    with pytest.raises(EngineError, match="--engine sparql"):
        find_engine("fuseki").engine().address("fuseki://127.0.0.1/ds")
