"""The engine `virtuoso` with a real server, as Debian's archive has it."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from assay.engines.bridge.link import Link
from assay.engines.bridge.process import JAR
from assay.engines.contract import (
    Address,
    ChecksSettings,
    EngineError,
    HasCounters,
    Instance,
    Place,
    Product,
    Restarts,
    Server,
    TellsCached,
    Wanted,
    tell_nobody,
)
from assay.engines.discovery import find_engine
from assay.engines.loading import HasKeys, LoadSettings, Prepares
from assay.engines.plan_reading import HasPlans
from assay.engines.virtuoso.engine import VirtuosoEngine
from assay.running.host.places import cache_dir
from assay.running.processes.launcher import Guardian
from assay.running.processes.process_table import all_processes, read_process
from assay.running.server.serving import ServerLauncher, unprivileged_user
from tests.strangers import ports_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = """
    create table things (
      id bigint not null, text varchar(400), day date, money double precision,
      primary key (id) column
    );
"""
SMALL = {"NumberOfBuffers": "20000"}
PATIENCE_S = 30.0
HARD_TEXTS = ["", "  blanks", "NULL", "a\\|b", "say \"x\", 'y'", "two\nlines", "x" * 300, None]


def engine() -> VirtuosoEngine:
    return VirtuosoEngine(find_engine("virtuoso").facts)


class Started:
    """One server, its launcher and its guardian."""

    def __init__(self, root: Path) -> None:
        if not JAR.is_file():
            pytest.skip("the bridge is not built: `make setup` does it")
        self.engine, self.settings = engine(), dict(SMALL)
        self.product = self._obtained()
        self.guardian = Guardian("virtuoso", root / "instances")
        self.log = root / "server.log"
        self.launcher = ServerLauncher(self.guardian, self.log)
        self.place = Place(self.guardian.directory / "data", self.launcher.scratch)
        self.place.data.mkdir()
        self.launcher.own(self.place.data)
        self.address: Address = {}

    def _obtained(self) -> Product:
        try:
            return self.engine.obtain(Wanted(cache_dir() / "engines"), tell_nobody)
        except EngineError as error:
            pytest.skip(f"this host cannot obtain Virtuoso: {error}")

    def start(self, **more: str) -> Instance:
        self.settings = SMALL | more
        self.address = self.engine.start(self.product, self.place, self.settings, self.launcher)
        return self.attach()

    def attach(self) -> Instance:
        return self.engine.attach(dict(self.address))


@pytest.fixture(scope="module")
def started() -> Iterator[Started]:
    root = Path(tempfile.mkdtemp(prefix="assay-"))
    root.chmod(0o755)
    made = Started(root)
    with made.guardian:
        instance = made.start()
        made.engine.run_script(instance, TABLE)
        made.engine.load(instance, "things", things(), 2)
        made.engine.finish_load(instance)
        made.engine.detach(instance)
        yield made
    shutil.rmtree(root)


@pytest.fixture
def instance(started: Started) -> Iterator[Instance]:
    attached = started.attach()
    yield attached
    started.engine.detach(attached)


def things() -> pa.RecordBatchReader:
    rows = len(HARD_TEXTS)
    first = datetime.date(1992, 2, 28)
    table = pa.table(
        {
            "id": pa.array([n * 10**12 for n in range(rows)], pa.int64()),
            "text": pa.array(HARD_TEXTS, pa.string()),
            "day": pa.array([first + datetime.timedelta(n) for n in range(rows)], pa.date32()),
            "money": pa.array([Decimal(n) / 100 for n in range(rows)], pa.decimal128(15, 2)),
        }
    )
    # Several batches, one of them without a row.
    batches = [*table.to_batches(max_chunksize=3), table.slice(0, 0).to_batches()[:1]]
    made = [batch for batch in batches if isinstance(batch, pa.RecordBatch)]
    return pa.RecordBatchReader.from_batches(table.schema, made)


def assert_is_closed_to_sql(address: Address) -> None:
    """Check that the default password is refused, and that of an account for web requests."""
    for user in ("dba", "dav", "SPARQL"):
        with pytest.raises(EngineError, match="Bad login"):
            Link.connect({**address, "properties": {"user": user, "password": user}})


def asked(instance: Instance, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in instance.handle.ask(sql).to_pylist()]


def test_it_can_what_it_says() -> None:
    abilities = (
        Server,
        HasKeys,
        HasPlans,
        HasCounters,
        ChecksSettings,
        LoadSettings,
        Prepares,
        Restarts,
        TellsCached,
    )
    assert [ability for ability in abilities if not isinstance(engine(), ability)] == []


class TestRows:
    def test_they_are_those_that_were_loaded(self, started: Started, instance: Instance) -> None:
        expected = [tuple(row.values()) for row in things().read_all().to_pylist()]
        request_facts = asked(instance, "select id, text, day, money from things order by id")
        assert request_facts == [(*row[:3], float(row[3])) for row in expected]
        assert started.engine.count(instance, "things") == len(HARD_TEXTS)

    def test_what_the_buffer_pool_holds_is_told_of_our_tables(
        self, started: Started, instance: Instance
    ) -> None:
        assert isinstance(started.engine, TellsCached)
        cached_bytes = {
            cached_plan.name: cached_plan.cached_bytes
            for cached_plan in started.engine.cached(instance)
        }
        assert list(cached_bytes) == ["things"]
        assert cached_bytes["things"] % 8192 == 0

    def test_a_key_that_is_there_twice_is_refused(
        self, started: Started, instance: Instance
    ) -> None:
        with pytest.raises(EngineError, match="table things cannot be loaded"):
            started.engine.load(instance, "things", things(), 1)

    def test_nothing_of_a_load_is_left_beside_the_data(self, started: Started) -> None:
        assert list((started.launcher.scratch / "load").glob("assay_load_*")) == []


class TestServer:
    def test_it_is_of_the_version_that_its_program_tells(self, started: Started) -> None:
        assert started.product.version.startswith("7.2.")

    def test_it_is_not_root(self, started: Started) -> None:
        user = unprivileged_user()
        if user is not None:
            status = Path(f"/proc/{started.address['pid']}/status").read_text()
            assert f"Uid:\t{user.uid}\t{user.uid}" in status

    def test_its_password_is_told_to_nobody(self, started: Started, instance: Instance) -> None:
        password = started.address["properties"]["password"]
        assert password != "dba"  # noqa: S105 - that of every new database
        commands = [Path(f"/proc/{p.pid}/cmdline") for p in all_processes()]
        text = b"".join(file.read_bytes() for file in commands if file.exists()).decode("latin-1")
        text += started.log.read_text() + json.dumps(started.engine.effective_settings(instance))
        assert password not in text

    def test_a_stranger_is_refused_by_its_only_port(
        self, started: Started, instance: Instance
    ) -> None:
        assert_is_closed_to_sql(started.address)
        assert set(ports_of([started.address["pid"]])) == {started.address["port"]}
        # The server counts wrong passwords until the next right one.
        started.engine.detach(started.attach())

    def test_settings_are_those_in_effect(self, started: Started, instance: Instance) -> None:
        started.engine.prepare(instance, "__dbf_set ('dc_batch_sz', 777); checkpoint;")
        settings = started.engine.effective_settings(instance)
        assert settings["Parameters.NumberOfBuffers"] == SMALL["NumberOfBuffers"]
        assert settings["dc_batch_sz"] == "777"
        assert settings["statistics"] == "none"

    def test_a_statement_at_fault_is_told(self, started: Started, instance: Instance) -> None:
        with pytest.raises(
            EngineError, match=r"Virtuoso reports an error: .*\n?.*select nothing from"
        ):
            started.engine.run_script(instance, "select nothing from nowhere")


# Last, for they end the server that the others ask.
class TestLife:
    def test_a_server_that_was_killed_is_started_again_where_it_was(self, started: Started) -> None:
        os.kill(started.address["pid"], signal.SIGKILL)
        deadline_s = time.monotonic() + PATIENCE_S
        while (message := started.launcher.last_words()) is None:
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        assert "it was ended by signal 9" in message
        launch = started.product, started.place, started.settings, started.launcher
        started.engine.restart(*launch, started.address)
        again = started.attach()
        assert started.engine.count(again, "things") == len(HARD_TEXTS)
        started.engine.detach(again)

    def test_data_and_password_survive_an_orderly_stop(self, started: Started) -> None:
        before = started.address["properties"]["password"]
        ended = started.launcher.stop()
        assert ended is not None
        assert ended.status == 0
        again = started.start(statistics="analyze", VectorSize="5000")
        assert started.address["properties"]["password"] == before
        assert started.engine.count(again, "things") == len(HARD_TEXTS)
        settings = started.engine.effective_settings(again)
        assert (settings["statistics"], settings["dc_batch_sz"]) == ("analyze", "5000")
        started.engine.detach(again)

    def test_nothing_is_left(self, started: Started) -> None:
        started.launcher.stop()
        process = read_process(started.address["pid"])
        assert process is None or not process.alive
