"""The engine `mariadb` with a real server, as Debian's archive has it."""

from __future__ import annotations

import datetime
import json
import shutil
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from assay import _core
from assay.engines.contract import (
    ChecksSettings,
    EngineError,
    HasCounters,
    HasSessionSettings,
    Instance,
    Server,
    tell_nobody,
)
from assay.engines.discovery import find_engine
from assay.engines.loading import HasKeys, LoadSettings, LoadsTablesTogether, Prepares
from assay.engines.mariadb.engine import MariaEngine
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.connecting import opened
from assay.engines.plan_reading import HasPlans
from assay.model.other_work import SNAPSHOT
from assay.running.processes.process_table import all_processes, read_process
from assay.running.server.serving import unprivileged_user
from assay.workloads.discovery import find_workload
from tests.contract.playing import assert_played_and_undone
from tests.family import Started, assert_schema_is_read
from tests.products import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = """
    create table parent (id integer not null, name varchar(20));
    create table child (id integer not null, parent integer not null);
"""
# Columns and keys, of which some do not hold for whole values.
# In an order that cannot be run as it stands.
KEYS = """
    alter table child add constraint child_parent foreign key (parent) references parent (id);
    create index child_parent_index on child (parent);  -- needs parent's key
    alter table child add primary key (id);
    alter table parent add primary key (id);
"""
ENDLESS = "select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0"
# What text in a file may break, and what may be taken for NULL.
HARD_TEXTS = ["", "NULL", "\\N", "a\\", "say \"x\", 'y'", "two\nlines\r\n", "Grüße ⛄", None]


def engine() -> MariaEngine:
    return MariaEngine(find_engine("mariadb").facts)


@pytest.fixture(scope="module")
def reachable() -> Iterator[Path]:
    """A directory that a server's user reaches, which pytest's are not where we are root."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def shared(reachable: Path) -> Iterator[Started]:
    started = Started(reachable, "mariadb", "shared")
    with started.guardian:
        started.start({"innodb-buffer-pool-size": "64M", "local_infile": "ON"})
        yield started


@pytest.fixture
def instance(shared: Started) -> Iterator[Instance]:
    attached = shared.attach()
    shared.engine.make_schema(attached, "test", "made by a test")
    shared.engine.use_schema(attached, "test")
    yield attached
    shared.engine.drop_schema(attached, "test")
    shared.engine.detach(attached)


def rows(instance: Instance, sql: str) -> list[tuple[Any, ...]]:
    return list(loading.execute(instance.handle, sql))


def make(instance: Instance, more: str = "") -> None:
    """The two tables, and what else is asked for."""
    engine().run_script(instance, TABLES)
    engine().prepare(instance, more)


def test_it_can_what_it_says() -> None:
    abilities = (
        Server,
        HasKeys,
        HasPlans,
        HasCounters,
        HasSessionSettings,
        ChecksSettings,
        LoadSettings,
        LoadsTablesTogether,
        Prepares,
    )
    assert [ability for ability in abilities if not isinstance(engine(), ability)] == []


def test_tables_of_our_own_looks_are_counted_apart(instance: Instance) -> None:
    """Each look at sessions makes a temporary table on disk, and each at other work two."""
    reader: Any = engine().counters(instance)
    try:
        before = {(row[0], row[2]): row[3] for row in reader.read()}
        for _ in range(5):
            reader.activity()
            reader.other_work()
        after = {(row[0], row[2]): row[3] for row in reader.read()}
    finally:
        reader.close()
    # `show status` itself is counted by the server, and not by the session.
    for name, uncounted in (("created_tmp_disk_tables", 0), ("created_tmp_tables", 2)):
        own = after["own", name] - before["own", name]
        assert own >= 10
        assert after["status", name] - before["status", name] == own + uncounted


class TestLife:
    def test_what_it_holds_survives_a_restart_and_nothing_is_left(self, reachable: Path) -> None:
        started = Started(reachable, "mariadb")
        with started.guardian:
            first = started.start({**started.engine.load_settings(), "innodb_log_file_size": "8M"})
            attached = started.attach()
            make(attached, "insert into parent values (1, 'x');")
            started.engine.finish_load(attached)
            started.engine.detach(attached)
            ended = started.launcher.stop()
            assert ended is not None
            assert ended.status == 0
            second = started.start({"innodb_log_file_size": "16M"})
            assert second["password"] != first["password"]
            again = started.attach()
            assert started.engine.count(again, "parent") == 1
            started.engine.detach(again)
        process = read_process(second["pid"])
        assert process is None or not process.alive
        assert not started.guardian.directory.exists()

    def test_it_is_of_the_version_that_its_program_tells(
        self, shared: Started, instance: Instance
    ) -> None:
        assert shared.engine.version(instance) == shared.product.version

    def test_it_is_not_root(self, shared: Started) -> None:
        user = unprivileged_user()
        if user is not None:
            status = Path(f"/proc/{shared.address['pid']}/status").read_text()
            assert f"Uid:\t{user.uid}\t{user.uid}" in status

    def test_it_listens_on_loopback_alone(self, instance: Instance) -> None:
        assert rows(instance, "select @@bind_address") == [("127.0.0.1",)]

    def test_its_password_is_told_to_nobody(self, shared: Started, instance: Instance) -> None:
        password = shared.address["password"]
        commands = [Path(f"/proc/{p.pid}/cmdline") for p in all_processes()]
        text = b"".join(file.read_bytes() for file in commands if file.exists()).decode("latin-1")
        text += shared.log.read_text() + json.dumps(shared.engine.effective_settings(instance))
        text += "".join(p.read_text() for p in shared.launcher.scratch.rglob("*.cnf"))
        assert password not in text
        assert not (shared.launcher.scratch / "users.sql").exists()

    def test_only_our_account_is_there(self, instance: Instance) -> None:
        users = {row[0] for row in rows(instance, "select user from mysql.user")}
        assert users == {"assay", "mariadb.sys"}

    def test_a_path_that_is_too_long_for_a_socket_leaves_tcp(self, reachable: Path) -> None:
        root = reachable / ("long" * 20)
        root.mkdir()
        started = Started(root, "mariadb")
        with started.guardian:
            assert started.start()["unix_socket"] is None
            attached = started.attach()
            assert rows(attached, "select 1") == [(1,)]
            started.engine.detach(attached)

    def test_a_server_that_does_not_start_is_quoted(self, reachable: Path) -> None:
        started = Started(reachable, "mariadb", "refused")
        with started.guardian, pytest.raises(EngineError, match=r"did not start: .*ERROR"):
            started.start({"innodb_data_file_path": "nonsense"})


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"innodb_bufer_pool_size": "1G"}, "innodb_buffer_pool_size"),
            (
                {"innodb_buffer_pool_size": "much"},
                "rejects its settings: .*innodb-buffer-pool-size",
            ),
            ({"max_connections": "99999999"}, "rejects its settings: .*adjusted to 100000"),
            ({"port": "3306"}, "Assay itself sets port"),
        ],
    )
    def test_what_is_wrong_is_told_before_anything_is_loaded(
        self, settings: dict[str, str], said: str
    ) -> None:
        with pytest.raises(EngineError, match=said):
            engine().check_settings(obtained("mariadb"), settings)

    def test_what_is_right_is_taken(self) -> None:
        settings = {"Sort-Buffer-Size": "4M", "innodb_purge_threads": "2"}
        engine().check_settings(obtained("mariadb"), settings)

    def test_every_setting_of_ours_is_one_that_it_knows(self) -> None:
        from assay.engines.mysql_family.configured import default_settings

        settings = {**default_settings(engine().conf), **engine().load_settings()}
        engine().check_settings(obtained("mariadb"), settings)

    def test_those_that_are_given_are_in_effect(self, shared: Started, instance: Instance) -> None:
        settings = shared.engine.effective_settings(instance)
        assert settings["innodb_buffer_pool_size"] == str(64 << 20)
        assert settings["collation_server"] == "utf8mb4_bin"
        assert settings["innodb_flush_log_at_trx_commit"] == "1"

    def test_sessions_have_those_of_their_dsn(self, shared: Started) -> None:
        dsn = shared.engine.with_settings(shared.dsn, {"sort_buffer_size": "65536"})
        attached = shared.engine.attach(shared.engine.address(dsn))
        assert rows(attached, "select @@session.sort_buffer_size") == [(65536,)]
        shared.engine.detach(attached)

    def test_one_that_a_session_cannot_have_is_refused(self, shared: Started) -> None:
        dsn = shared.engine.with_settings(shared.dsn, {"innodb_buffer_pool_size": "1"})
        with pytest.raises(EngineError, match="no setting of a session"):
            shared.engine.attach(shared.engine.address(dsn))


class TestAddresses:
    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"password": "wrong"}, "does not accept this user with this password"),
            ({"database": "nowhere"}, "no such database"),
            ({"port": 1}, "nothing listens there"),
        ],
    )
    def test_what_is_wrong_is_told_apart(
        self, shared: Started, wrong: dict[str, Any], said: str
    ) -> None:
        address = {**shared.address, "unix_socket": None, **wrong}
        with pytest.raises(EngineError, match=said) as caught:
            shared.engine.attach(address)
        assert shared.address["password"] not in str(caught.value)

    @pytest.mark.parametrize("by_socket", [True, False])
    def test_its_process_is_found(self, shared: Started, by_socket: bool) -> None:
        read = shared.engine.address(shared.dsn)
        read["unix_socket"] = shared.address["unix_socket"] if by_socket else None
        attached = shared.engine.attach(read)
        assert shared.engine.processes(attached) == (shared.address["pid"],)
        shared.engine.detach(attached)


class TestSchemas:
    def test_marks_are_kept_and_told(self, shared: Started, instance: Instance) -> None:
        ours = shared.engine
        assert ours.schema_mark(instance, "nowhere") is None
        assert ours.schema_mark(instance, "test") == "made by a test"
        ours.mark_schema(instance, "test", "it's \\whole")
        assert ours.schema_mark(instance, "test") == "it's \\whole"

    def test_one_has_a_name_to_itself(self, shared: Started, instance: Instance) -> None:
        other = shared.attach()
        assert shared.engine.lock_schema(instance, "test")
        assert not shared.engine.lock_schema(other, "test")
        assert shared.engine.lock_schema(other, "test2")
        shared.engine.detach(other)

    def test_tables_and_sessions_are_in_it(self, shared: Started, instance: Instance) -> None:
        shared.engine.run_script(instance, TABLES)
        assert rows(instance, "select count(*) from test.parent") == [(0,)]
        assert rows(instance, "select database()") == [("test",)]


class TestLoading:
    def test_the_schema_of_visible_tables_is_read(
        self, shared: Started, instance: Instance
    ) -> None:
        assert_schema_is_read(shared, instance)

    @pytest.mark.parametrize("is_ours", [True, False])
    def test_texts_dates_and_numbers_come_in_as_they_are(
        self, shared: Started, instance: Instance, is_ours: bool
    ) -> None:
        shared.engine.run_script(
            instance, "create table t (n bigint, s varchar(40), d date, m decimal(15, 2))"
        )
        count = len(HARD_TEXTS)
        columns = {
            "n": pa.array([-(2**63), *range(1, count)], pa.int64()),
            "s": HARD_TEXTS,
            "d": [datetime.date(1992, 1, 2)] * (count - 1) + [None],
            "m": pa.array([Decimal("-0.01")] * (count - 1) + [None], pa.decimal128(15, 2)),
        }
        if not is_ours:
            del instance.address["scratch"]
        shared.engine.load(instance, "t", pa.table(columns), 1)
        wanted = list(zip(*(pa.array(c).to_pylist() for c in columns.values()), strict=True))
        assert rows(instance, "select * from t order by n") == wanted

    @pytest.mark.parametrize("is_ours", [True, False])
    def test_a_value_that_does_not_fit_is_refused(
        self, shared: Started, instance: Instance, is_ours: bool
    ) -> None:
        shared.engine.run_script(instance, "create table t (s varchar(2))")
        if not is_ours:
            del instance.address["scratch"]
        with pytest.raises(
            EngineError, match=r"table t cannot be loaded: .*(Data too long|truncated)"
        ):
            shared.engine.load(instance, "t", pa.table({"s": ["abc"] * 100_000}), 1)

    def test_a_table_that_is_not_there_is_refused(
        self, shared: Started, instance: Instance
    ) -> None:
        with pytest.raises(EngineError, match=r"table t cannot be loaded: .*doesn't exist"):
            shared.engine.load(instance, "t", pa.table({"s": ["abc"]}), 1)

    def test_a_generated_table_is_whole(self, shared: Started, instance: Instance) -> None:
        shared.engine.run_script(
            instance, "create table region (r_regionkey bigint, r_name char(25), r_comment text)"
        )
        shared.engine.load(instance, "region", _core.TableStream("tpch", "region", 0.01, 1), 1)
        assert shared.engine.count(instance, "region") == 5

    def test_what_the_buffer_pool_holds_is_told_by_index(
        self, shared: Started, instance: Instance
    ) -> None:
        shared.engine.run_script(instance, TABLES)
        shared.engine.make_keys(instance, KEYS, 1, tell_nobody)
        cached = {plan.name: plan.cached_bytes for plan in shared.engine.cached(instance)}
        assert {"child", "parent"} <= {name.split()[0] for name in cached}
        assert all(size % 16384 == 0 and size > 0 for size in cached.values())
        assert list(cached.values()) == sorted(cached.values(), reverse=True)

    def test_keys_are_made_in_the_order_that_they_need(
        self, shared: Started, instance: Instance
    ) -> None:
        shared.engine.run_script(instance, TABLES)
        shared.engine.make_keys(instance, KEYS, 2, tell_nobody)
        shared.engine.finish_load(instance)
        made = {
            row[2]
            for table in ("parent", "child")
            for row in rows(instance, f"show index from {table}")
        }
        assert made == {"PRIMARY", "child_parent_index"}
        with pytest.raises(EngineError, match="foreign key constraint fails"):
            shared.engine.prepare(instance, "insert into child values (1, 1)")

    def test_a_key_that_is_refused_is_named(self, shared: Started, instance: Instance) -> None:
        make(instance, "insert into parent values (1, ''), (1, '')")
        with pytest.raises(EngineError, match=r"Duplicate entry(?s:.*)The statement: alter table"):
            shared.engine.make_keys(instance, KEYS, 2, tell_nobody)

    def test_what_is_under_way_is_ended_when_another_is_refused(
        self, shared: Started, instance: Instance
    ) -> None:
        make(instance, "insert into parent select seq, '' from seq_1_to_10")
        held = opened(instance.address, autocommit=False)
        held.cursor().execute("select * from parent")
        # The one waits for a lock that is not given back, the other is refused.
        keys = "create index held on parent (name); create index wrong on child (nothing)"
        with pytest.raises(EngineError, match="nothing"):
            shared.engine.make_keys(instance, keys, 2, tell_nobody)
        held.rollback()
        held.close()
        assert rows(instance, "show index from parent where key_name = 'held'") == []

    def test_an_open_transaction_is_refused(self, shared: Started, instance: Instance) -> None:
        make(instance, "begin; insert into parent values (1, '')")
        with pytest.raises(EngineError, match="the file ends within an open transaction"):
            shared.engine.settle(instance)
        instance.handle.rollback()
        shared.engine.settle(instance)


class TestWorkloads:
    @pytest.mark.parametrize(
        ("name", "query"),
        [
            ("point-select", "select id, k, c, pad from entries order by id"),
            ("tpcb", "select account, branch, balance, filler from accounts order by account"),
        ],
    )
    def test_our_dialect_makes_the_same_rows(
        self, instance: Instance, name: str, query: str
    ) -> None:
        workload, scale = find_workload(name), 0.01
        for text in workload.setup(engine_dialects("mariadb"), scale).values():
            engine().run_script(instance, text)
        with duckdb.connect() as other:
            for text in workload.setup(engine_dialects("duckdb"), scale).values():
                other.execute(text)
            wanted = [padded(row) for row in other.execute(query).fetchall()]
        assert len(wanted) > 100
        assert [padded(row) for row in rows(instance, query)] == wanted


def engine_dialects(name: str) -> tuple[str, ...]:
    return find_engine(name).facts.dialects


def padded(row: tuple[Any, ...]) -> list[str]:
    """Without the blanks that pad a char(n)."""
    return [str(value).rstrip() for value in row]


class TestObserving:
    def test_counters_grow(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)
        before = {name: value for _, _, name, value in reader.read()}
        rows(instance, "select count(*) from seq_1_to_1000")
        after = {name: value for _, _, name, value in reader.read()}
        reader.close()
        assert after["questions"] > before["questions"]

    def test_every_counter_that_is_shown_is_read(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)
        read = {(source, name) for source, _, name, _ in reader.read()}
        reader.close()
        declared = find_engine("mariadb").counters()
        assert declared is not None
        shown = {(counter["source"], counter["counter"]) for counter in declared["counters"]}
        assert shown <= read

    def test_an_open_transaction_is_told_with_its_age(
        self, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.counters(instance)
        assert reader.other_work() == []
        rows(instance, "start transaction with consistent snapshot")
        ((own,),) = rows(instance, "select connection_id()")
        time.sleep(2.1)
        (seen,) = reader.other_work()
        rows(instance, "rollback")
        reader.close()
        assert (seen.session, seen.work, seen.state) == (own, SNAPSHOT, "idle in transaction")
        assert (seen.transaction_s or 0.0) > 1.0

    def test_a_gone_server_is_an_os_error(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)
        reader.close()
        with pytest.raises(OSError, match="cannot be read"):
            reader.read()

    def test_plans_are_told_and_nothing_is_changed(
        self, shared: Started, instance: Instance
    ) -> None:
        make(instance, "insert into parent values (1, 'x')")
        reader = shared.engine.plan_reader(instance)
        asked: list[tuple[str, list[object]]] = [
            ("begin", []),
            ("update parent set name = 'y' where id = $1", [1]),
            ("select * from parent where name = $1", ["y"]),
            ("select nonsense", []),
            ("truncate parent", []),
            ("do 1", []),
        ]
        begin, update, select, wrong, truncate, do = list(reader.explain(asked, 5.0))
        reader.close()
        assert update.native is not None
        assert select.native is not None
        made = shared.engine.plan(select.native, "one", 2, "one-2.json")
        assert made.timed
        assert next(n for n in made.root.walk() if n.object == "parent").rows == 1
        assert begin.native is truncate.native is wrong.native is None
        assert "transaction" in str(truncate.reason)
        assert "nonsense" in str(wrong.reason)
        assert "makes no plan for this kind of statement" in str(do.reason)
        assert rows(instance, "select name from parent") == [("x",)]

    def test_what_a_program_asks_is_answered_and_undone(
        self, shared: Started, instance: Instance
    ) -> None:
        make(instance, "alter table parent add primary key (id)")
        answers = assert_played_and_undone(shared.engine.plan_reader(instance))
        explanation = answers[4].explained
        assert explanation is not None
        assert explanation.reads is not None
        assert (explanation.reads.index_lookups, explanation.reads.scan_rows) == (1, 0)

    def test_a_plan_that_takes_too_long_has_estimates(
        self, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.plan_reader(instance)
        (plan,) = reader.explain([(ENDLESS, [])], 0.1)
        reader.close()
        assert plan.native is not None
        assert "cancelled after 0.1 s" in str(plan.reason)
        assert not shared.engine.plan(plan.native, "one", 0, "one-0.json").timed
