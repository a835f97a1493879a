"""The engine `postgresql` with real servers of each product that can be obtained.

The tests of one version share a server; those that end one start their own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from assay import _core
from assay.engines.contract import (
    Address,
    EngineError,
    Instance,
    Place,
    Product,
    Wanted,
    tell_nobody,
)
from assay.engines.discovery import find_engine
from assay.engines.postgresql.engine import PostgresEngine
from assay.engines.postgresql.explaining import PostgresPlans
from assay.engines.postgresql.server import HOST
from assay.model.catalogue import Notifier, Statistics
from assay.model.other_work import SNAPSHOT, OtherWork
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.model.sql import column_statement
from assay.running.host.places import cache_dir
from assay.running.processes.launcher import Guardian
from assay.running.processes.process_table import all_processes, read_process
from assay.running.server.instances import sweep
from assay.running.server.serving import ServerLauncher, unprivileged_user
from assay.workloads.discovery import find_workload
from tests.contract.playing import assert_played_and_undone
from tests.forwarding import Forwarder
from tests.views import assert_is_written_out

PATIENCE_S = 30.0
VERSIONS = ("18", "16", "15")
COUNTERS = {
    "18": {"buffers", "checkpointer", "database", "io", "reading", "statements", "tables", "wal"}
    | {"writer", "functions", "large_values"},
    "16": {"database", "io", "reading", "tables", "wal", "writer", "functions", "large_values"},
    "15": {"database", "statements", "tables", "wal", "writer", "functions", "large_values"},
}
# Columns and keys, of which some do not hold for all rows at any time.
DECLARED = """
    create table notes (
        id integer primary key, code varchar(20) not null, price numeric(10, 2) unique, title text,
        later integer not null unique deferrable
    );
    create unique index on notes (later) where later > 0;
    create unique index on notes ((later + 1));
    create unique index on notes (code collate "C");
    create table pairs (a integer not null, b integer not null, c text, unique (b, a) include (c));
    create table "Same" (id integer primary key);
    create table same (id integer primary key);
    create table twice ("N" integer primary key, n integer);
    create table above (id integer primary key);
    create table below (primary key (id)) inherits (above);
    create table parted (id integer, day date, primary key (id, day)) partition by range (day);
    create view seen as select id, code from notes;
    create schema elsewhere;
    create table elsewhere.hidden (id integer primary key);
"""
# One value is most of the table, so that a plan for all values is not one for each.
TABLE_WITH_TRIGGER = """
create table "a table" (n integer, "a column" integer);
create function noted() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger "a trigger" before insert on "a table" for each row execute function noted();
"""
SKEWED = """
    create table skewed as
        select n as id, case when n <= 5000 then n else 0 end as kind, repeat('a', 100) as filler
        from generate_series(1, 50000) as n;
    create unique index on skewed (id);
    create index on skewed (kind);
    analyze skewed;
"""
TABLES = """
    create table parent (id integer, name text);
    create table child (id integer, parent integer);
    insert into parent select n, 'name ' || n from generate_series(1, 1000) as n;
    insert into child select n, n % 1000 + 1 from generate_series(1, 5000) as n;
"""
# In an order that cannot be run as it stands.
KEYS = """
    alter table child add foreign key (parent) references parent (id);  -- needs parent's key
    create index on child (parent);
    alter table child add primary key (id);
    alter table parent add primary key (id);
"""


def eventually(what: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


def seen_at(reader: Any, is_sought: Callable[[OtherWork], bool]) -> OtherWork:
    """Work beside the load, as soon as the server tells it."""
    seen: list[OtherWork] = []
    assert eventually(lambda: seen.extend(filter(is_sought, reader.other_work())) or seen)
    return seen[0]


def gone(pid: int) -> bool:
    process = read_process(pid)
    return process is None or not process.alive


def user_of(pid: int) -> int | None:
    """None for a process that has ended: autovacuum's come and go."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Uid:"))


def make_tpch(started: Started, schema: Instance) -> None:
    for sql in find_workload("tpch").setup(("postgresql",), 0.01).values():
        started.engine.run_script(schema, sql)


def is_visible_to_all(instance: Instance, table: str) -> bool:
    """Whether a table that was not vacuumed has pages that are known to be seen by everybody."""
    instance.handle.execute(f"analyze {table}")
    text = "select relallvisible > 0 from pg_class where oid = %s::regclass"
    return bool(instance.handle.execute(text, [table]).fetchone()[0])


def engine() -> PostgresEngine:
    return PostgresEngine(find_engine("postgresql").facts)


def obtained(version: str) -> Product:
    try:
        return engine().obtain(Wanted(cache_dir() / "engines", version), tell_nobody)
    except EngineError as error:
        pytest.skip(f"this host cannot obtain PostgreSQL {version}: {error}")


@pytest.fixture(scope="module")
def reachable() -> Iterator[Path]:
    """A directory that a server's user reaches, which pytest's are not where we are root."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


class Started:
    """One server, its launcher and its guardian."""

    def __init__(self, root: Path, product: Product, run_id: str = "run") -> None:
        self.engine, self.product = engine(), product
        self.guardian = Guardian(run_id, root / "instances")
        self.log = root / f"{run_id}.log"
        self.launcher = ServerLauncher(self.guardian, self.log)
        self.place = Place(self.guardian.directory / "data", self.guardian.directory / "scratch")
        self.place.data.mkdir()
        self.address: Address = {}

    def start(self, settings: dict[str, str] | None = None) -> Address:
        self.address = self.engine.start(self.product, self.place, settings or {}, self.launcher)
        return self.address

    def attach(self) -> Instance:
        return self.engine.attach(dict(self.address))


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def shared(version: str, reachable: Path) -> Iterator[Started]:
    started = Started(reachable, obtained(version), f"shared-{version}")
    with started.guardian:
        started.start({"work_mem": "5MB", "wal_keep_size": "16MB"})
        yield started


@pytest.fixture
def instance(shared: Started) -> Iterator[Instance]:
    attached = shared.attach()
    yield attached
    shared.engine.detach(attached)


@pytest.fixture
def fresh(reachable: Path) -> Iterator[Started]:
    """A server that is not started yet, of the default version."""
    started = Started(reachable, obtained("18"))
    with started.guardian:
        yield started


def query_value(instance: Instance, sql: str) -> Any:
    return instance.handle.execute(sql).fetchone()[0]


class TestLife:
    def test_it_starts_stops_and_leaves_nothing(self, version: str, reachable: Path) -> None:
        started = Started(reachable, obtained(version))
        with started.guardian:
            pid = started.start()["pid"]
            instance = started.attach()
            started.engine.run_script(instance, TABLES)
            started.engine.detach(instance)
            ended = started.launcher.stop()
            assert ended is not None
            assert ended.status == 0
            started.start()
            again = started.attach()
            assert started.engine.count(again, "child") == 5000
            started.engine.detach(again)
        assert gone(pid)
        assert gone(started.address["pid"])
        assert not started.guardian.directory.exists()

    def test_it_is_of_the_version_that_was_asked_for(
        self, version: str, shared: Started, instance: Instance
    ) -> None:
        text = shared.engine.version(instance)
        assert text == shared.product.version
        assert text.split(".")[0] == version

    def test_nobody_of_it_is_root(self, shared: Started) -> None:
        pid = shared.address["pid"]
        family = [p.pid for p in all_processes() if pid in {p.pid, p.ppid}]
        users = [uid for member in family if (uid := user_of(member)) is not None]
        user = unprivileged_user()
        assert len(users) > 3
        assert set(users) == {os.geteuid() if user is None else user.uid}

    def test_both_addresses_lead_to_it(self, shared: Started) -> None:
        for key in ("dsn", "dsn_tcp"):
            with psycopg.connect(shared.address[key]) as connection:
                row = connection.execute("show cluster_name").fetchone()
                assert row == ("assay",)

    def test_it_listens_on_loopback_alone(self, instance: Instance) -> None:
        assert query_value(instance, "show listen_addresses") == "127.0.0.1"

    def test_tcp_wants_the_password(self, shared: Started) -> None:
        right = str(conninfo_to_dict(shared.address["dsn_tcp"])["password"])
        dsn = make_conninfo(shared.address["dsn_tcp"], password=right[::-1])
        with pytest.raises(EngineError, match="does not accept this user with this password"):
            shared.engine.attach({"dsn": dsn})

    def test_its_password_is_told_to_nobody(self, shared: Started, instance: Instance) -> None:
        password = conninfo_to_dict(shared.address["dsn_tcp"])["password"]
        assert isinstance(password, str)
        commands = [Path(f"/proc/{p.pid}/cmdline") for p in all_processes()]
        text = b"".join(file.read_bytes() for file in commands if file.exists()).decode("latin-1")
        text += shared.log.read_text() + json.dumps(shared.engine.effective_settings(instance))
        assert password not in text

    def test_a_path_that_is_too_long_for_a_socket_leaves_tcp(self, reachable: Path) -> None:
        root = reachable / ("long" * 20)
        root.mkdir()
        started = Started(root, obtained("18"))
        with started.guardian:
            address = started.start()
            assert address["dsn"] == address["dsn_tcp"]
            instance = started.attach()
            assert query_value(instance, "show unix_socket_directories") == ""
            assert started.engine.processes(instance) == (address["pid"],)
            started.engine.detach(instance)

    def test_a_server_that_does_not_start_is_quoted(self, fresh: Started) -> None:
        with pytest.raises(EngineError, match=r"did not start: .*FATAL"):
            fresh.start({"shared_buffers": "16TB"})

    def test_a_taken_port_is_given_up(
        self, fresh: Started, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from assay.engines.postgresql import server

        free = server.free_port
        with socket.socket() as taken:
            taken.bind((server.HOST, 0))
            taken.listen()
            ports = [taken.getsockname()[1], free(server.HOST)]
            monkeypatch.setattr(server, "free_port", lambda _: ports.pop(0))
            address = fresh.start()
        assert ports == []
        with psycopg.connect(address["dsn_tcp"]) as connection:
            assert connection.execute("select 1").fetchone() == (1,)


# Owns a guardian with a server that is busy, tells its pids, and waits for its end.
OWNER = """
import json, sys, threading, time
from pathlib import Path
from tests.contract.test_postgresql import Started, obtained

started = Started(Path(sys.argv[1]), obtained("18"))
address = started.start()
instance = started.attach()
busy = started.attach()
facts = {"guardian": started.guardian.pid, "server": address["pid"],
         "backend": busy.handle.info.backend_pid}
sql = "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b"
threading.Thread(target=lambda: busy.handle.execute(sql), daemon=True).start()
state = "select state from pg_stat_activity where pid = %s"
while instance.handle.execute(state, [facts["backend"]]).fetchone() != ("active",):
    time.sleep(0.01)
print(json.dumps(facts), flush=True)
time.sleep(1000)
"""


class TestWhoeverIsKilled:
    """Nothing that was started stays, a busy backend included."""

    @pytest.fixture
    def owner(self, reachable: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
        obtained("18")
        root = Path(__file__).parents[2]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER, reachable],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
        process.kill()
        process.communicate()

    @pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
    def test_the_owner(
        self, owner: tuple[subprocess.Popen[str], dict[str, int]], reachable: Path, signum: int
    ) -> None:
        process, pids = owner
        process.send_signal(signum)
        process.wait()
        assert eventually(lambda: all(gone(pid) for pid in pids.values()))
        assert eventually(lambda: not (reachable / "instances" / "run").exists())

    def test_owner_and_guardian(
        self, owner: tuple[subprocess.Popen[str], dict[str, int]], reachable: Path
    ) -> None:
        process, pids = owner
        os.kill(pids["guardian"], signal.SIGKILL)
        process.kill()
        process.wait()
        assert eventually(lambda: gone(pids["server"]))
        swept = [s for s in sweep(reachable / "instances") if s.directory.name == "run"]
        assert [s.outcome for s in swept] == ["removed"]
        assert gone(pids["backend"])

    def test_the_server(self, fresh: Started) -> None:
        os.kill(fresh.start()["pid"], signal.SIGKILL)
        assert eventually(fresh.launcher.last_words)
        assert "ended by signal 9" in (fresh.launcher.last_words() or "")


class TestSettings:
    def test_what_was_asked_for_is_in_effect(self, shared: Started, instance: Instance) -> None:
        effective = shared.engine.effective_settings(instance)
        assert (effective["work_mem"], effective["wal_keep_size"]) == ("5MB", "16MB")

    def test_none_that_may_hold_a_secret_is_told(self, shared: Started, instance: Instance) -> None:
        secret = {
            "primary_conninfo": "host=main user=copier password=hunter2",
            "restore_command": "fetch --key hunter2 %f %p",
        }
        for name, value in secret.items():
            shared.engine.run_script(instance, f"alter system set {name} = '{value}'")
        shared.engine.run_script(instance, "select pg_reload_conf()")
        assert eventually(lambda: "hunter2" in query_value(instance, "show primary_conninfo"))
        effective = shared.engine.effective_settings(instance)
        for name in secret:
            shared.engine.run_script(instance, f"alter system reset {name}")
        shared.engine.run_script(instance, "select pg_reload_conf()")
        assert "hunter2" not in json.dumps(effective)
        assert effective["primary_conninfo"] == "host=main user=copier password=***"
        assert "restore_command" not in effective

    def test_our_defaults_are_in_effect(self, shared: Started, instance: Instance) -> None:
        effective = shared.engine.effective_settings(instance)
        assert effective["track_io_timing"] == effective["track_wal_io_timing"] == "on"
        assert effective["max_connections"] == "300"

    def test_what_decides_performance_is_told_whatever_it_is(
        self, shared: Started, instance: Instance
    ) -> None:
        effective = shared.engine.effective_settings(instance)
        assert {"shared_buffers", "fsync", "jit", "jit_available", "random_page_cost"} <= set(
            effective
        )

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ({"work_memm": "1"}, r"has no setting 'work_memm'; did you mean 'work_mem'\?"),
            ({"work_mem": "abc"}, 'rejects its settings: invalid value for parameter "work_mem"'),
            ({"work_mem": "1 XB"}, "Valid units for this parameter"),
            ({"fsync": "maybe"}, 'parameter "fsync" requires a Boolean value'),
            ({"block_size": "1"}, 'parameter "block_size" cannot be changed'),
        ],
    )
    def test_a_wrong_one_is_refused_before_anything_starts(
        self, shared: Started, setting: dict[str, str], message: str
    ) -> None:
        with pytest.raises(EngineError, match=message):
            shared.engine.check_settings(shared.product, setting)

    @pytest.mark.parametrize(
        "setting",
        [
            {"work_mem": "64MB", "jit": "off"},
            {"Work_Mem": "64MB"},
            {"debug_print_plan": "on"},
            {"zero_damaged_pages": "off"},
            {"pg_stat_statements.max": "1000"},
        ],
    )
    def test_a_right_one_passes(self, shared: Started, setting: dict[str, str]) -> None:
        shared.engine.check_settings(shared.product, setting)

    def test_those_of_a_load_pass(self, shared: Started) -> None:
        shared.engine.check_settings(shared.product, shared.engine.load_settings())

    def test_a_load_leaves_no_log_behind(self, fresh: Started) -> None:
        fresh.start(dict(fresh.engine.load_settings()))
        instance = fresh.attach()
        fresh.engine.run_script(instance, "create table t (a integer, b text)")
        rows = "insert into t select n, repeat('x', 200) from generate_series(1, 400000) as n"
        fresh.engine.run_script(instance, rows)
        log = fresh.place.data / "cluster" / "pg_wal"

        def log_bytes() -> int:
            return sum(file.stat().st_size for file in log.iterdir() if file.is_file())

        before_bytes = log_bytes()
        fresh.engine.finish_load(instance)
        fresh.engine.detach(instance)
        segment_bytes = 16 << 20
        assert before_bytes >= 6 * segment_bytes
        assert log_bytes() <= 2 * segment_bytes


class TestTables:
    @pytest.fixture
    def schema(self, shared: Started, instance: Instance) -> Iterator[Instance]:
        shared.engine.make_schema(instance, "tables", "a mark")
        shared.engine.use_schema(instance, "tables")
        shared.engine.run_script(instance, TABLES)
        yield instance
        shared.engine.drop_schema(instance, "tables")

    def test_what_the_buffer_cache_holds_is_told_by_table_and_index(
        self, shared: Started, instance: Instance, version: str
    ) -> None:
        if version == "16":  # What comes from PyPI has no extensions.
            with pytest.raises(EngineError, match="pg_buffercache"):
                shared.engine.cached(instance)
            return
        # Where the tables of a run on a server of ours are, and the extension.
        shared.engine.run_script(instance, TABLES)
        shared.engine.make_keys(instance, KEYS, 1, tell_nobody)
        cached = {cached_plan.name: cached_plan for cached_plan in shared.engine.cached(instance)}
        shared.engine.run_script(instance, "drop table child, parent")
        assert {"parent", "child", "child_pkey"} <= set(cached)
        assert all(0 < plan.cached_bytes <= (plan.bytes or 0) for plan in cached.values())
        assert cached["child"].cached_bytes >= 5000 * 24

    def test_what_a_program_asks_is_answered_and_undone(
        self, shared: Started, schema: Instance
    ) -> None:
        answers = assert_played_and_undone(shared.engine.plan_reader(schema))
        explanation = answers[4].explained
        assert explanation is not None
        plan = shared.engine.plan(explanation.native or "", "one", 4, "one-4.json")
        assert plan.reads is not None
        assert plan.reads.scan_rows == 1001

    def test_the_plan_of_a_prepared_statement_is_the_one_that_sessions_come_to(
        self, shared: Started, schema: Instance
    ) -> None:
        shared.engine.run_script(schema, SKEWED)
        reader = shared.engine.plan_reader(schema)
        rows = [[1], [2], [3], [4], [5], [6], [7], [8]]
        point = ("select count(*) from skewed where id = $1", rows)
        some = ("select count(filler) from skewed where id < $1", [[10], [10], [10], [49000]])
        change = ("update skewed set filler = 'b' where id = $1", rows)
        explanations = list(reader.explain_prepared([point, some, change], 30.0))
        reader.close()
        cached = [explained.cached for explained in explanations]
        assert [explained.reason for explained in explanations] == [None] * 3
        assert [plan and plan.mode for plan in cached] == ["generic", "custom", "generic"]
        assert [plan and plan.planned_each_time for plan in cached] == [False, True, False]
        # What writes is captured once: its values are those of the statements before it.
        assert [plan and plan.captures for plan in cached] == [3, 2, 1]
        assert [plan and len(plan.others) for plan in cached] == [0, 1, 0]
        assert query_value(schema, "select count(*) from skewed where filler = 'b'") == 0

    def test_functions_that_notify_are_known_by_their_text(
        self, shared: Started, schema: Instance
    ) -> None:
        body = "returns trigger language plpgsql as $b$ begin {} return null; end $b$"
        made = {
            "told()": body.format("perform inner_told(new.n);"),
            "quiet()": body.format("/* notify rooms; */ -- pg_notify(1)\n"),
            "inner_told(n int)": "returns void language sql as $b$ notify rooms, 'open' $b$",
        }
        for name, rest in made.items():
            shared.engine.run_script(schema, f"create function {name} {rest}")
        table = "create table rooms (n int)"
        triggers = [
            f"create trigger {name} after insert on rooms for each row execute function {name}()"
            for name in ("told", "quiet")
        ]
        for statement in (table, *triggers):
            shared.engine.run_script(schema, statement)
        reader = PostgresPlans(schema.address["dsn"])
        notifiers = reader.notifiers()
        reader.close()
        ours = [notifier for notifier in notifiers if notifier.function in {"told", "inner_told"}]
        assert ours == [Notifier("inner_told"), Notifier("told", "rooms", "told")]
        assert "quiet" not in {notifier.function for notifier in notifiers}

    def test_facts_that_explain_a_plan_are_read(self, shared: Started, schema: Instance) -> None:
        shared.engine.run_script(schema, SKEWED)
        shared.engine.run_script(schema, "create index lower on parent (lower(name)) where id > 7")
        slow = dict(schema.address)
        slow["dsn"] = shared.engine.with_settings(slow["dsn"], {"enable_indexscan": "off"})
        made = "create statistics seldom (mcv) on id, filler from skewed"
        shared.engine.run_script(schema, made)
        reader = PostgresPlans(slow["dsn"])
        (statistics,) = [each for each in reader.statistics() if each.name == "seldom"]
        assert (statistics.table, statistics.columns) == ("skewed", ("id", "filler"))
        assert (statistics.kinds, statistics.gathered) == (("mcv",), False)
        shared.engine.run_script(schema, "analyze skewed")
        assert [each.gathered for each in reader.statistics() if each.name == "seldom"] == [True]
        assert Statistics.read(statistics.facts()) == statistics
        indexes = {index.name: index for index in reader.indexes()}
        assert indexes["skewed_id_idx"].columns == ("id",)
        assert indexes["skewed_id_idx"].unique
        assert indexes["lower"].columns == ("lower(name)",)
        assert (indexes["lower"].predicate, indexes["lower"].method) == ("(id > 7)", "btree")
        assert indexes["lower"].collation is None
        assert reader.extensions()["plpgsql"]
        changed = {setting.name: setting for setting in reader.changed_settings()}
        assert (changed["enable_indexscan"].value, changed["enable_indexscan"].default) == (
            "off",
            "on",
        )
        point = ("select filler from skewed where id = $1", [7])
        others = {
            alternative.change: alternative for alternative in reader.alternatives("q1", [point])
        }
        reader.close()
        assert others["enable_indexscan"].indexes == ()
        assert "Index Scan skewed skewed_id_idx" in (others["enable_indexscan"].summary or "")
        assert (others["enable_indexscan"].seconds_changed or 0.0) > 0

    def test_the_schema_of_visible_tables_is_read(
        self, shared: Started, schema: Instance, version: str
    ) -> None:
        shared.engine.run_script(schema, DECLARED)
        if version == "18":
            older = "alter table notes add constraint titled not null title not valid"
            shared.engine.run_script(schema, older)
        names = ("notes", "pairs", "same", "twice", "above", "below", "parted", "seen", "hidden")
        tables = shared.engine.declared_tables(schema, names)
        shared.engine.run_script(schema, "drop schema elsewhere cascade")
        assert set(tables) == {"notes", "pairs", "above", "below", "parted", "seen"}
        notes = tables["notes"]
        assert notes.types == {
            "id": "integer",
            "code": "character varying(20)",
            "price": "numeric(10,2)",
            "title": "text",
            "later": "integer",
        }
        assert notes.required == {"id", "code", "later"}
        # Neither some rows, nor an expression, nor another collation, nor only at the end of a
        # transaction.
        assert set(notes.keys) == {("id",), ("price",)}
        assert not notes.unique_in(["price"])
        assert tables["pairs"].keys == (("b", "a"),)
        # A table that inherits may have the same values once more.
        assert (tables["above"].required, tables["above"].keys) == (frozenset(), ())
        assert tables["below"].unique_in(["id"])
        assert tables["parted"].unique_in(["id", "day"])
        assert (set(tables["seen"]), tables["seen"].required) == ({"id", "code"}, frozenset())
        assert tables["seen"].keys == ()
        assert_is_written_out(tables, "postgresql")

    @pytest.mark.parametrize(
        ("mode", "rows"), [("auto", [[0], [1], [2]]), ("force_generic_plan", [[0]] * 8)]
    )
    def test_one_plan_for_all_values_is_compared_with_one_for_each(
        self, shared: Started, schema: Instance, mode: str, rows: list[list[object]]
    ) -> None:
        shared.engine.run_script(schema, SKEWED)
        dsn = shared.engine.with_settings(schema.address["dsn"], {"plan_cache_mode": mode})
        reader = PostgresPlans(dsn)
        text = "select count(filler) from skewed where kind = $1"
        list(reader.explain_prepared([(text, rows)], 30.0))
        others = reader.alternatives("q1", [(text, [1])])
        (custom,) = [other for other in others if other.kind == "custom"]
        reader.close()
        assert (custom.change, custom.value) == ("plan_cache_mode", "force_custom_plan")
        assert custom.differs
        assert (custom.seconds or 0.0) > 0
        assert (custom.seconds_changed or 0.0) > 0

    def test_a_join_for_too_many_rows_is_compared_with_one_row_by_row(
        self, shared: Started, schema: Instance
    ) -> None:
        tables = """
            create table seat as
                select n as id, repeat('s', 60) as name from generate_series(1, 100000) n;
            alter table seat add primary key (id);
            create table sold as select n as seat, n % 10 as hall,
                case when n % 10 = 7 or n = 3 then 'x' else 'y' end as state
                from generate_series(1, 40000) n;
            analyze seat; analyze sold;
        """
        shared.engine.run_script(schema, tables)
        reader = shared.engine.plan_reader(schema)
        text = "select max(name) from sold join seat on id = seat where state = 'x' and hall = $1"
        list(reader.explain_prepared([(text, [[3]])], 30.0))
        others = {
            alternative.change: alternative
            for alternative in reader.alternatives("q1", [(text, [3])])
        }
        reader.close()
        nested = others["enable_hashjoin, enable_mergejoin"]
        assert "Nested Loop" in (nested.summary or "")
        assert (nested.seconds or 0.0) > 0
        assert (nested.seconds_changed or 0.0) > 0

    def test_what_cannot_be_prepared_has_its_reason(
        self, shared: Started, schema: Instance
    ) -> None:
        reader = shared.engine.plan_reader(schema)
        asked = ("analyze parent", [[]]), ("select 1 from nowhere", [[]]), ("commit", [[]])
        explanations = list(reader.explain_prepared(asked, 30.0))
        reader.close()
        assert [explained.native for explained in explanations] == [None] * 3
        assert "no plan for this kind" in (explanations[0].reason or "")
        assert "nowhere" in (explanations[1].reason or "")
        assert "steers a transaction" in (explanations[2].reason or "")

    def test_keys_are_made_in_an_order_that_works(self, shared: Started, schema: Instance) -> None:
        progress: list[tuple[str, float]] = []
        shared.engine.make_keys(
            schema, KEYS, 2, lambda name, done, *_: progress.append((name, done))
        )
        kinds = query_value(
            schema,
            "select string_agg(contype::text, '' order by contype) from pg_constraint"
            " where connamespace = 'tables'::regnamespace and contype in ('p', 'f')",
        )
        assert kinds == "fpp"
        assert [step for step in progress if step[1]] == [
            ("primary keys", 1),
            ("primary keys", 2),
            ("indexes", 1),
            ("statistics", 1),
            ("statistics", 2),
            ("foreign keys", 1),
        ]

    def test_a_key_that_is_refused_names_its_statement(
        self, shared: Started, schema: Instance
    ) -> None:
        shared.engine.run_script(schema, "insert into parent values (1, 'twice')")
        with pytest.raises(
            EngineError, match=r"(?s)reports an error \(23505\).*(twice|duplicated)"
        ) as e:
            shared.engine.make_keys(schema, KEYS, 2, tell_nobody)
        assert "alter table parent add primary key (id)" in str(e.value)

    def test_keys_that_lock_each_other_are_made_in_the_end(
        self, shared: Started, schema: Instance
    ) -> None:
        shared.engine.make_keys(schema, KEYS, 2, tell_nobody)
        crossed = """
            alter table parent add foreign key (id) references child (id);
            alter table child add foreign key (id) references parent (id) not valid;
        """
        for _ in range(5):
            shared.engine.make_keys(schema, crossed, 2, tell_nobody)
        assert shared.engine.count(schema, "parent") == 1000

    def test_a_finished_load_is_frozen_and_analysed(
        self, shared: Started, schema: Instance
    ) -> None:
        shared.engine.finish_load(schema)
        rows = schema.handle.execute(
            "select relname, reltuples, relallvisible > 0 from pg_class"
            " where relnamespace = 'tables'::regnamespace and relkind = 'r' order by 1"
        ).fetchall()
        assert rows == [("child", 5000.0, True), ("parent", 1000.0, True)]

    @pytest.mark.parametrize(("streams", "frozen"), [(2, True), (8, False)])
    def test_generated_rows_are_loaded_once(
        self, shared: Started, schema: Instance, streams: int, frozen: bool
    ) -> None:
        make_tpch(shared, schema)
        rows = _core.TableStream("tpch", "orders", 0.01, 2)
        shared.engine.load(schema, "orders", rows, streams)
        assert shared.engine.count(schema, "orders") == 15_000
        assert query_value(schema, "select count(distinct o_orderkey) from orders") == 15_000
        assert is_visible_to_all(schema, "orders") == frozen

    def test_rows_are_added_to_those_of_a_table_that_has_some(
        self, shared: Started, schema: Instance
    ) -> None:
        make_tpch(shared, schema)
        for _ in range(2):
            shared.engine.load(schema, "nation", _core.TableStream("tpch", "nation", 0.01, 1), 1)
        assert shared.engine.count(schema, "nation") == 50

    def test_a_table_that_a_key_leads_to_is_loaded(self, shared: Started, schema: Instance) -> None:
        make_tpch(shared, schema)
        keys = "alter table region add primary key (r_regionkey);"
        leading = "alter table nation add foreign key (n_regionkey) references region;"
        shared.engine.run_script(schema, keys + leading)
        shared.engine.load(schema, "region", _core.TableStream("tpch", "region", 0.01, 1), 1)
        assert shared.engine.count(schema, "region") == 5

    def test_a_load_that_fails_leaves_no_rows(self, shared: Started, schema: Instance) -> None:
        make_tpch(shared, schema)
        shared.engine.run_script(schema, "alter table nation add check (n_nationkey < 20)")
        with pytest.raises(EngineError, match=r"table nation cannot be loaded: .*n_nationkey"):
            shared.engine.load(schema, "nation", _core.TableStream("tpch", "nation", 0.01, 1), 1)
        assert shared.engine.count(schema, "nation") == 0

    def test_what_was_vacuumed_is_not_vacuumed_again(
        self, shared: Started, schema: Instance
    ) -> None:
        text = "select vacuum_count from pg_stat_user_tables where relname = '{}'"
        schema.handle.execute("select pg_stat_force_next_flush()")
        shared.engine.make_keys(schema, KEYS, 2, tell_nobody)
        shared.engine.run_script(schema, "insert into parent values (1001, 'late')")
        schema.handle.execute("select pg_stat_force_next_flush()")
        shared.engine.finish_load(schema)
        assert query_value(schema, text.format("child")) == 1
        assert query_value(schema, text.format("parent")) == 2

    def test_a_table_that_is_not_there_cannot_be_loaded(
        self, shared: Started, schema: Instance
    ) -> None:
        rows = _core.TableStream("tpch", "region", 0.01, 1)
        with pytest.raises(EngineError, match=r"table nothing cannot be loaded: .*nothing"):
            shared.engine.load(schema, "nothing", rows, 1)

    def test_a_statement_that_is_refused_is_told(self, shared: Started, schema: Instance) -> None:
        with pytest.raises(EngineError, match=r"(?s)42601.*The statement: selekt 2"):
            shared.engine.run_script(schema, "select 1; selekt 2")

    def test_a_table_that_is_not_there_cannot_be_counted(
        self, shared: Started, instance: Instance
    ) -> None:
        with pytest.raises(EngineError, match="table nothing cannot be counted"):
            shared.engine.count(instance, "nothing")


class TestAdvice:
    def test_every_role_is_a_setting_that_the_server_has(self, instance: Instance) -> None:
        facts = find_engine("postgresql").advising()
        assert facts.settings
        setting_names = query_value(instance, "select array_agg(name::text) from pg_settings")
        assert {setting.name for setting in facts.settings.values()} <= set(setting_names)

    def test_every_statement_is_carried_out(self, shared: Started, instance: Instance) -> None:
        folder = find_engine("postgresql")
        facts = folder.advising()
        of_tables = {"index", "dropped-index", "statistics", "extended-statistics", "vacuum"}
        of_tables |= {"temporary-statistics"}
        assert set(facts.statements) == {*of_tables, "trigger", "stable-function", "stored-values"}
        shared.engine.prepare(instance, TABLE_WITH_TRIGGER)
        for doing, file in facts.statements.items():
            template = (folder.folder / file).read_text(encoding="utf-8")
            sql = facts.statement(template, "a table", ["n", "a column"], existing="a trigger")
            if doing == "dropped-index":
                shared.engine.prepare(instance, 'create index "an index" on "a table" (n);')
                sql = facts.statement(template, "a table", existing="an index")
            if doing == "stable-function":
                sql = facts.statement(template, "", existing="noted")
            if doing == "stored-values":
                sql = column_statement(template, "a table", "a sum", "bigint", "n + n")
            shared.engine.prepare(instance, sql)
        assert (
            query_value(instance, "select count(*) from pg_indexes where tablename = 'a table'")
            == 1
        )
        # The table is empty, so that nothing could be gathered yet.
        gathered = (
            """select count(*) from pg_statistic_ext where stxrelid = '"a table"'::regclass"""
        )
        assert query_value(instance, gathered) == 1
        off = "select tgenabled::text from pg_trigger where tgname = 'a trigger'"
        assert query_value(instance, off) == "D"
        shared.engine.prepare(instance, 'drop table "a table"; drop function noted;')


class TestPreparing:
    def test_dead_rows_and_statistics_stay_as_they_were_left(self, fresh: Started) -> None:
        fresh.start()
        instance = fresh.attach()
        fresh.engine.prepare(
            instance,
            "create table t with (autovacuum_enabled = off) as select generate_series(1, 9) as n;"
            "update t set n = n + 1;",
        )
        fresh.engine.settle(instance)
        assert query_value(instance, "select count(*) from pg_stats where tablename = 't'") == 0
        assert query_value(instance, "select pg_relation_size('t') > 0")
        fresh.engine.detach(instance)

    def test_a_transaction_that_is_left_open_is_refused(
        self, shared: Started, instance: Instance
    ) -> None:
        shared.engine.prepare(instance, "begin; create table t (n integer);")
        with pytest.raises(EngineError, match="whose changes would be lost: add 'commit;'"):
            shared.engine.settle(instance)

    def test_settings_of_sessions_are_added_to_those_of_the_address(self, shared: Started) -> None:
        dsn = shared.engine.with_settings(
            shared.address["dsn_tcp"], {"work_mem": "123kB", "application_name": "a b\\c'd"}
        )
        instance = shared.engine.attach({"dsn": dsn})
        assert query_value(instance, "select current_setting('work_mem')") == "123kB"
        shared.engine.detach(instance)


class TestRunningServers:
    """A private server stands for one that is not ours: its address has nothing but a DSN."""

    @pytest.fixture
    def foreign(self, shared: Started) -> Iterator[Instance]:
        attached = shared.engine.attach(shared.engine.address(shared.address["dsn_tcp"]))
        yield attached
        shared.engine.detach(attached)

    @pytest.mark.parametrize(
        ("part", "mend"),
        [
            ({"dbname": "nothing"}, "no such database: mend the name, or make it with createdb"),
            ({"port": "1"}, "nothing listens there: start the server"),
            ({"host": "no.such.host.invalid"}, "that host's name is not known"),
            ({"user": "nobody-here"}, "does not accept this user"),
            ({"sslmode": "require"}, "not secured as asked"),
        ],
    )
    def test_what_is_wrong_is_told_apart(
        self, shared: Started, part: dict[str, str], mend: str
    ) -> None:
        password = conninfo_to_dict(shared.address["dsn_tcp"])["password"]
        dsn = make_conninfo(shared.address["dsn_tcp"], **part)
        with pytest.raises(EngineError, match=mend) as e:
            shared.engine.attach(shared.engine.address(dsn))
        assert str(password) not in str(e.value)

    def test_too_many_connections_are_told(self, fresh: Started) -> None:
        fresh.start({"max_connections": "5", "superuser_reserved_connections": "3"})
        instance = fresh.attach()
        fresh.engine.run_script(instance, "create role guest login")
        dsn = make_conninfo(fresh.address["dsn"], user="guest")
        guest = fresh.engine.attach({"dsn": dsn})
        with pytest.raises(EngineError, match="no connection left: raise its max_connections"):
            fresh.engine.attach({"dsn": dsn})
        fresh.engine.detach(guest)
        fresh.engine.detach(instance)

    def test_its_processes_are_found_from_either_side(
        self, shared: Started, instance: Instance, foreign: Instance
    ) -> None:
        root = (shared.address["pid"],)
        assert shared.engine.processes(instance) == root
        assert shared.engine.processes(foreign) == root

    def test_those_behind_another_process_are_not_taken_for_its_own(self, shared: Started) -> None:
        with Forwarder(int(conninfo_to_dict(shared.address["dsn_tcp"])["port"])) as port:
            dsn = make_conninfo(shared.address["dsn_tcp"], port=port)
            attached = shared.engine.attach({"dsn": dsn})
            assert shared.engine.processes(attached) == ()
            shared.engine.detach(attached)

    def test_our_schema_is_made_once_and_addressed(
        self, shared: Started, foreign: Instance
    ) -> None:
        name = 'a "strange" name'
        assert shared.engine.schema_mark(foreign, name) is None
        shared.engine.make_schema(foreign, name, "a mark")
        assert shared.engine.schema_mark(foreign, name) == "a mark"
        shared.engine.mark_schema(foreign, name, "another 'mark'")
        assert shared.engine.schema_mark(foreign, name) == "another 'mark'"
        shared.engine.use_schema(foreign, name)
        shared.engine.run_script(foreign, "create table ours (a integer)")
        other = shared.engine.attach(foreign.address)
        assert query_value(other, "select current_schema()") == name
        assert shared.engine.count(other, "ours") == 0
        shared.engine.drop_schema(foreign, name)
        assert query_value(other, "select count(*) from pg_namespace where nspname like 'a %'") == 0
        shared.engine.detach(other)

    @pytest.mark.parametrize(
        "said",
        [
            {"host": "127.0.0.1,127.0.0.1", "port": "1,{port}"},
            {"host": "localhost,localhost", "port": "1,{port}"},
            {"host": "localhost,localhost", "hostaddr": "127.0.0.1,127.0.0.1", "port": "1,{port}"},
            {"target_session_attrs": "read-write", "load_balance_hosts": "disable"},
            {"service": "here", "host": None, "port": None, "password": None, "user": None},
        ],
    )
    def test_sessions_go_where_administration_went(
        self,
        shared: Started,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        said: dict[str, str | None],
    ) -> None:
        address = conninfo_to_dict(shared.address["dsn_tcp"])
        services = tmp_path / "services"
        service = {"host": address["host"], "port": f"1,{address['port']}", "user": address["user"]}
        service |= {"host": f"{HOST},{HOST}", "password": address["password"]}
        service |= {"target_session_attrs": "any", "options": "-c work_mem=7MB"}
        lines = [f"{key}={value}" for key, value in service.items()]
        services.write_text("\n".join(["[here]", *lines, ""]))
        monkeypatch.setenv("PGSERVICEFILE", str(services))
        given = {
            key: None if value is None else value.format(port=address["port"])
            for key, value in said.items()
        }
        whole = {key: value for key, value in (address | given).items() if value is not None}
        attached = shared.engine.attach(shared.engine.address(make_conninfo("", **whole)))
        led = conninfo_to_dict(attached.address["dsn"])
        assert str(led["port"]) == str(address["port"])
        assert led["host"] == str(said.get("host") or HOST).partition(",")[0]
        assert led.get("hostaddr") == (HOST if "hostaddr" in said else None)
        assert "service" not in led
        assert (led["target_session_attrs"], led["load_balance_hosts"]) == ("any", "disable")
        assert led.get("options") == ("-c work_mem=7MB" if "service" in said else None)
        statement = ScriptStatement("select 1")
        script = Script((ScriptOperation("one", (statement,)),))
        assert len(shared.engine.sessions(attached, script, 1, 2)) == 2
        shared.engine.run_script(attached, "create table copied (a integer)")
        rows = pa.table({"a": pa.array([1, 2], pa.int32())})
        shared.engine.load(attached, "copied", rows, 1)
        assert shared.engine.count(attached, "copied") == 2
        shared.engine.run_script(attached, "drop table copied")
        shared.engine.detach(attached)

    def test_a_socket_stays_a_socket(self, shared: Started) -> None:
        attached = shared.engine.attach({"dsn": shared.address["dsn"]})
        led = conninfo_to_dict(attached.address["dsn"])
        assert led["host"] == conninfo_to_dict(shared.address["dsn"])["host"]
        again = shared.engine.attach(attached.address)
        assert conninfo_to_dict(again.address["dsn"]) == led
        shared.engine.detach(attached)
        shared.engine.detach(again)

    def test_a_schema_is_taken_by_one_connection_at_a_time(
        self, shared: Started, foreign: Instance
    ) -> None:
        first = shared.engine.attach(dict(foreign.address))
        assert shared.engine.lock_schema(first, "ours")
        assert not shared.engine.lock_schema(foreign, "ours")
        assert shared.engine.lock_schema(foreign, "another")
        shared.engine.detach(first)
        assert eventually(lambda: shared.engine.lock_schema(foreign, "ours"))

    def test_a_connection_that_is_lost_is_told(self, shared: Started, instance: Instance) -> None:
        lost = shared.attach()
        pid = lost.handle.info.backend_pid
        assert query_value(instance, f"select pg_terminate_backend({pid})")
        asked: list[Callable[[], object]] = [
            lambda: shared.engine.effective_settings(lost),
            lambda: shared.engine.schema_mark(lost, "ours"),
            lambda: shared.engine.lock_schema(lost, "ours"),
            lambda: shared.engine.make_schema(lost, "ours", "a mark"),
            lambda: shared.engine.drop_schema(lost, "ours"),
            lambda: shared.engine.count(lost, "child"),
            lambda: shared.engine.finish_load(lost),
        ]
        for ask in asked:
            with pytest.raises(EngineError):
                ask()

    def test_a_schema_of_somebody_else_has_no_mark(
        self, shared: Started, foreign: Instance
    ) -> None:
        shared.engine.run_script(foreign, "create schema theirs")
        assert shared.engine.schema_mark(foreign, "theirs") == ""
        shared.engine.run_script(foreign, "drop schema theirs")

    def test_a_user_who_may_not_sees_less(self, shared: Started, instance: Instance) -> None:
        shared.engine.run_script(instance, "create role plain login")
        dsn = make_conninfo(shared.address["dsn"], user="plain")
        plain = shared.engine.attach({"dsn": dsn})
        reader = shared.engine.counters(plain)
        assert {"database", "wal"} <= set(reader.names)
        assert "buffers" not in reader.names
        assert reader.read()
        assert "work_mem" in shared.engine.effective_settings(plain)
        reader.close()
        shared.engine.detach(plain)


class TestCounters:
    def test_each_version_has_its_own(
        self, version: str, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.counters(instance)
        assert set(reader.names) == COUNTERS[version]
        sources = {source for source, *_ in reader.read()}
        # A database without tables and functions of ours has nothing to tell of them.
        assert sources | {"tables", "functions"} == COUNTERS[version]
        reader.close()

    def test_they_are_cumulative(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)

        def commits() -> float:
            rows = reader.read()
            return next(value for *_, name, value in rows if name == "xact_commit")

        before = commits()
        for _ in range(20):
            query_value(instance, "select 1")
        # A server tells its counts to others about once a second.
        assert eventually(lambda: commits() >= before + 20)
        reader.close()

    def test_statements_are_counted_by_their_name(
        self, version: str, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.counters(instance)
        if "statements" in COUNTERS[version]:
            # Only those that took longest are read, and other tests left many.
            query_value(instance, "select pg_stat_statements_reset()")
        for _ in range(7):
            query_value(instance, "select 41 + 1 as unheard_of")
        calls = {row[1]: row[3] for row in reader.read() if row[0] == "statements"}
        rows = {row[1:3]: row[3] for row in reader.read() if row[0] == "statements"}
        reader.close()
        if "statements" in COUNTERS[version]:
            query = "select queryid::text from pg_stat_statements where query like '%unheard_of'"
            assert rows[query_value(instance, query), "calls"] == 7
        else:
            assert calls == {}

    def test_tables_tell_what_is_live_dead_and_changed(
        self, shared: Started, instance: Instance
    ) -> None:
        make = """
            create table told (a int) with (autovacuum_enabled = off);
            insert into told select generate_series(1, 1000);
            select pg_stat_force_next_flush();
        """
        shared.engine.run_script(instance, make)
        reader = shared.engine.counters(instance)

        def table_counters() -> dict[str, float]:
            return {row[2]: row[3] for row in reader.read() if row[:2] == ("tables", "told")}

        # Unless it is told to hurry, a session at rest keeps its counts to itself for ten seconds.
        assert eventually(lambda: table_counters().get("rows") == 1000)
        assert "estimated_rows" not in table_counters(), "no statistics were gathered"
        change = "analyze told; delete from told where a <= 300; select pg_stat_force_next_flush()"
        shared.engine.run_script(instance, change)
        assert eventually(lambda: table_counters().get("dead_rows") == 300)
        assert table_counters() == {
            "rows": 700,
            "dead_rows": 300,
            "changed_rows": 300,
            "estimated_rows": 1000,
            "visible_share": 0,
            "bytes": 5 * 8192,
            "analyzed": 1,
            "alterable": 1,
        }
        shared.engine.run_script(instance, "vacuum told")
        assert eventually(lambda: table_counters().get("visible_share") == 1)
        reader.close()
        shared.engine.run_script(instance, "drop table told")

    def test_tables_of_other_schemas_are_told_with_their_schema(
        self, shared: Started, instance: Instance
    ) -> None:
        make = """
            create schema aside; create table aside.told (a int) with (autovacuum_enabled = off);
            insert into aside.told select generate_series(1, 1000);
            create table many (a int) partition by list (a);
            select pg_stat_force_next_flush();
        """
        shared.engine.run_script(instance, make)
        reader = shared.engine.counters(instance)

        def rows_of(table: str) -> dict[str, float]:
            return {row[2]: row[3] for row in reader.read() if row[:2] == ("tables", table)}

        assert eventually(lambda: rows_of("aside.told").get("rows") == 1000)
        assert rows_of("aside.told")["analyzed"] == 0
        assert not [row for row in reader.read() if row[0] == "tables" and "pg_" in row[1]]
        reader.close()
        shared.engine.run_script(instance, "drop schema aside cascade; drop table many")

    def test_a_database_of_thousands_of_tables_is_told_of_the_largest(
        self, shared: Started, instance: Instance
    ) -> None:
        make = """
            do $$ begin
                execute 'create schema many';
                for i in 1 .. 400 loop execute format('create table many.t%s (a int)', i); end loop;
            end $$;
            insert into many.t400 values (1);
            select pg_stat_force_next_flush();
        """
        shared.engine.run_script(instance, make)
        reader = shared.engine.counters(instance)

        def tables() -> set[str]:
            return {row[1] for row in reader.read() if row[0] == "tables"}

        assert eventually(lambda: "many.t400" in tables())
        assert len(tables()) == 300
        reader.close()
        shared.engine.run_script(instance, "drop schema many cascade")

    def test_activity_tells_who_does_what(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)
        by_pid = {activity.pid: activity for activity in reader.activity()}
        us = by_pid[instance.handle.info.backend_pid]
        assert (us.backend_type, us.state) == ("client backend", "idle")
        assert us.leader_pid is None
        assert us.application == "assay administration"
        assert "checkpointer" in {activity.backend_type for activity in by_pid.values()}
        workers = [
            activity for activity in by_pid.values() if activity.backend_type != "client backend"
        ]
        assert {activity.state for activity in workers} == {None}
        reader.close()

    @pytest.mark.parametrize(
        ("statement", "thing"),
        [
            ("select pg_advisory_xact_lock(7411)", None),
            ("lock table turns in exclusive mode", "turns"),
        ],
    )
    def test_a_lock_by_number_is_of_no_table_that_the_session_has_locked_besides(
        self, shared: Started, instance: Instance, statement: str, thing: str | None
    ) -> None:
        shared.engine.run_script(instance, "create table if not exists turns (id integer)")
        dsn, reader = instance.address["dsn"], shared.engine.counters(instance)
        with psycopg.connect(dsn) as holder, psycopg.connect(dsn) as waiting:
            holder.execute(statement)
            waiting.execute("lock table turns in access share mode")
            with ThreadPoolExecutor(1) as pool:
                pool.submit(waiting.execute, statement)
                assert eventually(lambda: reader.activity() and reader.blocked())
                (found,) = reader.blocked()
                holder.rollback()
        assert (found.object, found.waiting_statement) == (thing, statement)
        reader.close()

    def test_an_old_snapshot_is_told_with_who_holds_it(
        self, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.counters(instance)
        with psycopg.connect(instance.address["dsn"], application_name="analyst") as analyst:
            analyst.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            analyst.execute("select 'x' as password")
            for _ in range(110):
                instance.handle.execute("select txid_current()")
            holder = seen_at(reader, lambda work: work.work == SNAPSHOT)
            reader.close()
            assert holder.session == analyst.info.backend_pid
        assert (holder.application, holder.state) == ("analyst", "idle in transaction")
        assert (holder.behind or 0.0) >= 100
        assert (holder.transaction_s or 0.0) >= 1.0

    def test_a_vacuum_is_told_with_its_table(self, shared: Started, instance: Instance) -> None:
        shared.engine.run_script(
            instance, "create table swept as select n from generate_series(1, 500000) as n"
        )
        reader = shared.engine.counters(instance)
        slowly = {"application_name": "night", "options": "-c vacuum_cost_delay=20"}
        with (
            closing(psycopg.connect(instance.address["dsn"], autocommit=True, **slowly)) as night,
            ThreadPoolExecutor(1) as pool,
        ):
            vacuuming = pool.submit(night.execute, "vacuum swept")
            seen = seen_at(reader, lambda work: work.object == "swept")
            night.cancel()
            with suppress(psycopg.errors.QueryCanceled):
                vacuuming.result()
        reader.close()
        assert (seen.work, seen.application) == ("vacuum", "night")
        shared.engine.run_script(instance, "drop table swept")

    def test_a_server_that_is_gone_is_an_oserror(self, fresh: Started) -> None:
        fresh.start()
        instance = fresh.attach()
        reader = fresh.engine.counters(instance)
        fresh.launcher.stop()
        with pytest.raises(OSError, match="counters cannot be read"):
            reader.read()
        reader.close()
        fresh.engine.detach(instance)

    def test_a_library_that_is_not_loaded_is_not_read(self, fresh: Started) -> None:
        fresh.start()
        fresh.engine.detach(fresh.attach())
        fresh.launcher.stop()
        fresh.start({"shared_preload_libraries": ""})
        instance = fresh.attach()
        reader = fresh.engine.counters(instance)
        assert "statements" not in reader.names
        assert reader.read()
        reader.close()
        fresh.engine.detach(instance)
