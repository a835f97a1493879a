"""The engine `dolt` with a real server where one was built (`make dolt`), which takes minutes."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pymysql
import pytest

from assay.engines.contract import (
    ChecksSettings,
    EngineError,
    HasCounters,
    HasSessionSettings,
    Instance,
    Server,
)
from assay.engines.discovery import find_engine
from assay.engines.dolt.engine import DoltEngine
from assay.engines.loading import BulkLoads, HasKeys, LoadsTablesTogether, Prepares
from assay.engines.mysql_family import loading
from assay.engines.plan_reading import HasPlans
from assay.running.processes.process_table import all_processes, read_process
from assay.running.server.serving import unprivileged_user
from tests.contract.playing import assert_played_and_undone
from tests.family import Started
from tests.products import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = """
    create table things (
      id bigint not null, text varchar(400), day date, money decimal(15, 2), primary key (id)
    );
"""
HARD_TEXTS = ["", "\\N", "a\\", "say \"x\", 'y'", "two\nlines\r\n", "a\tb", "Grüße ⛄", None]
# Takes the orphans of its children, so those that a program leaves behind are its own to count.
ORPHANS = """
import ctypes, os, sys
from pathlib import Path
from assay.engines.dolt.programs import find_program
PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
program = find_program(Path(sys.argv[1]))
program.version()
program.check({"dolt_stats_enabled": "0"})
left = 0
try:
    while os.wait():
        left += 1
except ChildProcessError:
    print(left)
"""
CHILD = """
    create table parent (id integer not null primary key, note varchar(20));
    create table child (id integer not null primary key, parent integer not null);
"""
ROW = "insert into parent values (1, 'x');"
CHANGE = "update parent set note = '{}' where id = 1"
KEYS = """
    alter table child add constraint child_parent foreign key (parent) references parent (id);
    create index child_parent_index on child (parent);
"""


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    obtained("dolt")


@pytest.fixture(scope="module")
def reachable() -> Iterator[Path]:
    """A directory that a server's user reaches, which pytest's are not where we are root."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def shared(reachable: Path) -> Iterator[Started]:
    started = Started(reachable, "dolt", "shared")
    with started.guardian:
        started.start({"local_infile": "1", "listener.max_connections": "50"})
        yield started


@pytest.fixture
def instance(shared: Started) -> Iterator[Instance]:
    attached = shared.attach()
    shared.engine.make_schema(attached, "test", "made by a test")
    shared.engine.use_schema(attached, "test")
    yield attached
    shared.engine.drop_schema(attached, "test")
    shared.engine.detach(attached)


def engine() -> DoltEngine:
    return DoltEngine(find_engine("dolt").facts)


def rows(instance: Instance, sql: str) -> list[tuple[Any, ...]]:
    return list(loading.execute(instance.handle, sql))


def things(texts: list[str | None]) -> pa.RecordBatchReader:
    first = datetime.date(1992, 2, 28)
    table = pa.table(
        {
            "id": pa.array([n * 10**12 for n in range(len(texts))], pa.int64()),
            "text": pa.array(texts, pa.string()),
            "day": pa.array([first + datetime.timedelta(n) for n in range(len(texts))]),
            "money": pa.array([Decimal(n) / 100 for n in range(len(texts))], pa.decimal128(15, 2)),
        }
    )
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))


def test_it_can_what_it_says() -> None:
    abilities = (
        Server,
        BulkLoads,
        LoadsTablesTogether,
        HasKeys,
        HasPlans,
        HasCounters,
        HasSessionSettings,
        ChecksSettings,
        Prepares,
    )
    assert [ability for ability in abilities if not isinstance(engine(), ability)] == []


class TestLife:
    def test_what_it_holds_survives_a_restart_and_nothing_is_left(self, reachable: Path) -> None:
        started = Started(reachable, "dolt")
        with started.guardian:
            first = started.start()
            attached = started.attach()
            engine().run_script(attached, CHILD + ROW)
            engine().finish_load(attached)
            engine().detach(attached)
            ended = started.launcher.stop()
            assert ended is not None
            assert ended.status == 0
            second = started.start()
            assert second["password"] != first["password"]
            again = started.attach()
            assert engine().count(again, "parent") == 1
            assert rows(again, "select message from dolt_log limit 1") == [("loaded",)]
            engine().detach(again)
        process = read_process(second["pid"])
        assert process is None or not process.alive
        assert not started.guardian.directory.exists()

    def test_its_version_is_its_own(self, shared: Started, instance: Instance) -> None:
        assert shared.engine.version(instance) == shared.product.version
        assert shared.product.version == find_engine("dolt").facts.products[0].version

    def test_it_is_not_root(self, shared: Started) -> None:
        user = unprivileged_user()
        if user is not None:
            status = Path(f"/proc/{shared.address['pid']}/status").read_text()
            assert f"Uid:\t{user.uid}\t{user.uid}" in status

    def test_its_process_is_found(self, shared: Started, instance: Instance) -> None:
        assert shared.engine.processes(instance) == (shared.address["pid"],)

    def test_its_password_is_told_to_nobody(self, shared: Started, instance: Instance) -> None:
        password = shared.address["password"]
        commands = [Path(f"/proc/{p.pid}/cmdline") for p in all_processes()]
        text = b"".join(file.read_bytes() for file in commands if file.exists()).decode("latin-1")
        text += shared.log.read_text() + json.dumps(shared.engine.effective_settings(instance))
        text += "".join(p.read_text() for p in shared.launcher.scratch.rglob("*.yaml"))
        assert password not in text

    def test_nobody_enters_without_it(self, shared: Started) -> None:
        wrong = {**shared.address, "password": "wrong"}
        with pytest.raises(EngineError, match="does not accept this user with this password"):
            engine().attach(wrong)

    def test_another_server_is_refused(self, instance: Instance) -> None:
        class Other:
            def cursor(self) -> None:
                raise pymysql.OperationalError(1305, "FUNCTION dolt_version does not exist")

        with pytest.raises(EngineError, match="the server is not Dolt"):
            engine().version(Instance({}, Other()))

    def test_it_asks_and_tells_no_network(self, shared: Started) -> None:
        (file,) = shared.launcher.scratch.rglob("config_global.json")
        document = json.loads(file.read_text())
        assert document["metrics.disabled"] == document["versioncheck.disabled"] == "true"

    def test_a_path_that_is_too_long_for_a_socket_leaves_tcp(self, reachable: Path) -> None:
        root = reachable / ("long" * 20)
        root.mkdir()
        started = Started(root, "dolt")
        with started.guardian:
            assert started.start()["unix_socket"] is None
            attached = started.attach()
            assert rows(attached, "select 1") == [(1,)]
            engine().detach(attached)

    def test_a_server_that_does_not_start_is_quoted(self, reachable: Path) -> None:
        started = Started(reachable, "dolt", "refused")
        with started.guardian, pytest.raises(EngineError, match=r"did not start: .*nonsense"):
            started.start({"log_level": "nonsense"})


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"dolt_stats_enbled": "0"}, "did you mean 'dolt_stats_enabled'"),
            ({"dolt_stats_enabled": "much"}, "can't be set to the value of 'much'"),
            ({"behavior.auto_gc_behavior.enabl": "false"}, "field enabl not found"),
            ({"listener.max_connections": "many"}, "cannot unmarshal"),
            ({"listener.port": "3306"}, "Assay itself sets listener.port"),
        ],
    )
    def test_what_is_wrong_is_told_before_anything_is_loaded(
        self, shared: Started, settings: dict[str, str], said: str
    ) -> None:
        with pytest.raises(EngineError, match=said):
            engine().check_settings(shared.product, settings)

    def test_asking_the_program_leaves_no_process_behind(self, shared: Started) -> None:
        asked = [sys.executable, "-c", ORPHANS, str(shared.product.home)]
        result = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
        assert result.stdout.split() == ["0"]

    def test_what_is_right_is_taken(self, shared: Started) -> None:
        right = {"behavior.auto_gc_behavior.enable": "false", "dolt_stats_enabled": "0"}
        engine().check_settings(shared.product, right)

    def test_those_that_are_given_are_in_effect(self, shared: Started, instance: Instance) -> None:
        settings = shared.engine.effective_settings(instance)
        assert settings["collation_server"] == "utf8mb4_bin"
        assert settings["dolt_stats_enabled"] == "ON"
        assert settings["dolt_auto_gc_enabled"] == "ON"
        assert settings["max_connections"] == "50"


class TestRows:
    def test_they_are_those_that_were_loaded(self, instance: Instance) -> None:
        engine().run_script(instance, TABLE)
        engine().load(instance, "things", things(HARD_TEXTS), 1)
        table_rows = rows(instance, "select text, day, money from things order by id")
        assert [row[0] for row in table_rows] == HARD_TEXTS
        assert table_rows[2][1:] == (datetime.date(1992, 3, 1), Decimal("0.02"))
        assert engine().count(instance, "things") == len(HARD_TEXTS)

    def test_a_text_that_would_get_lost_is_refused(self, instance: Instance) -> None:
        engine().run_script(instance, TABLE)
        with pytest.raises(EngineError, match=r"things\.text contains the text NULL"):
            engine().load(instance, "things", things(["NULL"]), 1)

    def test_a_table_that_is_not_there_is_refused(self, instance: Instance) -> None:
        with pytest.raises(EngineError, match="table nothing cannot be loaded"):
            engine().load(instance, "nothing", things(["x"]), 1)

    def test_foreign_keys_are_kept(self, instance: Instance) -> None:
        engine().run_script(instance, CHILD)
        engine().make_keys(instance, KEYS, 2, lambda *_: None)
        with pytest.raises(EngineError, match="oreign key"):
            engine().run_script(instance, "insert into child values (1, 7);")

    def test_a_transaction_that_is_left_open_is_refused(self, instance: Instance) -> None:
        engine().prepare(instance, CHILD + "begin;" + ROW)
        with pytest.raises(EngineError, match="whose changes would be lost: add 'commit;'"):
            engine().settle(instance)
        engine().prepare(instance, "rollback;")


def test_two_that_change_the_same_cell_meet_at_the_commit(
    shared: Started, instance: Instance
) -> None:
    engine().run_script(instance, CHILD + ROW)
    other = engine().attach(dict(instance.address))
    for who, note in ((instance, "a"), (other, "b")):
        rows(who, "start transaction")
        rows(who, CHANGE.format(note))
    rows(instance, "commit")
    with pytest.raises(EngineError) as caught:
        rows(other, "commit")
    assert isinstance(caught.value.__cause__, pymysql.Error)
    assert caught.value.__cause__.args[0] == 1213
    engine().detach(other)


class TestCounters:
    def test_they_grow_with_what_is_done(self, instance: Instance) -> None:
        reader = engine().counters(instance)
        before = {row[:3]: row[3] for row in reader.read()}
        engine().run_script(instance, CHILD + ROW)
        after = {row[:3]: row[3] for row in reader.read()}
        assert after["status", "server", "com_insert"] > before["status", "server", "com_insert"]
        allocated = ("metrics", "server", "go_memstats_alloc_bytes_total")
        assert after[allocated] > before[allocated]
        journal = ("storage", "test", "journal_bytes")
        assert after[journal] > before[journal]
        reader.close()

    def test_a_collection_is_seen(self, reachable: Path) -> None:
        """On a server of its own: Dolt at times refuses it where other tests dropped databases."""
        started = Started(reachable, "dolt", "collected")
        with started.guardian:
            started.start()
            attached, collecting = started.attach(), started.attach()
            engine().run_script(attached, CHILD + ROW)
            reader = engine().counters(attached)
            collections = ("storage", "assay", "collections")
            assert {row[:3]: row[3] for row in reader.read()}[collections] == 0
            rows(collecting, "call dolt_gc()")
            assert {row[:3]: row[3] for row in reader.read()}[collections] == 1
            reader.close()
            engine().detach(collecting)
            engine().detach(attached)

    def test_every_declared_one_is_told(self, instance: Instance) -> None:
        facts = find_engine("dolt").counters() or {}
        reader = engine().counters(instance)
        counters = {(source, counter) for source, _, counter, _ in reader.read()}
        reader.close()
        declared = {(counter["source"], counter["counter"]) for counter in facts["counters"]}
        assert declared <= counters

    def test_metrics_are_told_on_loopback_alone(self, shared: Started) -> None:
        place = f"http://127.0.0.1:{shared.address['metrics_port']}/metrics"
        with urllib.request.urlopen(place, timeout=10) as answer:
            assert b"go_gc_duration_seconds_count" in answer.read()


class TestPlans:
    def test_what_a_program_asks_is_answered_and_undone(self, instance: Instance) -> None:
        engine().run_script(instance, CHILD)
        assert_played_and_undone(engine().plan_reader(instance))

    def test_they_have_a_shape_and_a_reason(self, instance: Instance) -> None:
        engine().run_script(instance, CHILD)
        reader = engine().plan_reader(instance)
        statements = [("begin", []), ("select * from parent where id = $1", [1]), ("nonsense", [])]
        explanations = list(reader.explain(statements, 1.0))
        reader.close()
        assert [explanation.native is None for explanation in explanations] == [True, False, True]
        assert explanations[1].native is not None
        plan = engine().plan(explanations[1].native, "one", 1, "one.txt")
        assert (plan.root.operator, plan.root.object) == ("index scan", "parent")
        assert (plan.timed, plan.reason) == (False, explanations[1].reason)
