"""The engine `mysql` with a real server, as Debian's next release has it, run by its own loader."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.configured import default_settings
from assay.engines.mysql_family.connecting import connect, session_config
from assay.engines.plan_reading import HasPlans
from assay.model.other_work import SNAPSHOT
from assay.running.server.serving import unprivileged_user
from tests.contract.playing import assert_played_and_undone
from tests.family import Started, assert_schema_is_read
from tests.forwarding import AWAY, Forwarder, needs_address
from tests.products import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = """
    create table parent (id integer not null, name varchar(20));
    create table child (id integer not null, parent integer not null);
"""
# Columns and keys, of which some do not hold for whole values.
KEYS = """
    alter table child add constraint child_parent foreign key (parent) references parent (id);
    create index child_parent_index on child (parent);
    alter table child add primary key (id);
    alter table parent add primary key (id);
"""
SMALL = {"innodb_buffer_pool_size": "64M", "innodb_redo_log_capacity": "16M"}


@pytest.fixture(scope="module")
def shared() -> Iterator[Started]:
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    started = Started(directory, "mysql", "shared")
    with started.guardian:
        started.start({**started.engine.load_settings(), **SMALL})
        yield started
    shutil.rmtree(directory)


@pytest.fixture
def instance(shared: Started) -> Iterator[Instance]:
    attached = shared.attach()
    shared.engine.make_schema(attached, "test", "made by a test")
    shared.engine.use_schema(attached, "test")
    yield attached
    shared.engine.drop_schema(attached, "test")
    shared.engine.detach(attached)


def make(shared: Started, instance: Instance, more: str) -> None:
    shared.engine.run_script(instance, TABLES)
    shared.engine.prepare(instance, more)


def rows(instance: Instance, sql: str) -> list[tuple[Any, ...]]:
    return list(loading.execute(instance.handle, sql))


@pytest.fixture
def unknown(shared: Started, instance: Instance) -> Iterator[str]:
    """A new account's name and password: the server does not remember its hash."""
    shared.engine.run_script(instance, "create user guest@'%' identified by 'guests-secret'")
    yield "guest:guests-secret"
    shared.engine.run_script(instance, "drop user guest@'%'")


def logged_in(shared: Started, dsn: str, *, by_session: bool) -> None:
    address = shared.engine.address(dsn)
    if by_session:
        _core.MysqlSession(session_config(address), '{"operations": []}', 1, 0)
    else:
        connect(address).close()


@needs_address
@pytest.mark.parametrize("by_session", [False, True])
@pytest.mark.parametrize(
    ("said", "is_let_in"),
    [
        ("", False),
        ("ssl_mode=required", False),
        ("ssl_mode=disabled", False),
        ("ssl_mode=verify-ca&ssl_ca={data}/ca.pem", True),
        ("ssl_mode=disabled&server_public_key={data}/public_key.pem", True),
        ("ssl_mode=disabled&get_server_public_key=1", True),
        ("ssl_mode=required&get_server_public_key=1", True),
    ],
)
def test_a_password_that_is_not_remembered_goes_to_a_server_that_is_known(
    shared: Started, unknown: str, said: str, is_let_in: bool, by_session: bool
) -> None:
    query = said.format(data=shared.address["data"])
    with Forwarder(int(shared.address["port"]), AWAY or "") as port:
        dsn = f"mysql://{unknown}@{AWAY}:{port}/?{query}"
        if is_let_in:
            logged_in(shared, dsn, by_session=by_session)
            return
        with pytest.raises((EngineError, _core.SessionOpenError), match="ssl_mode=verify-ca"):
            logged_in(shared, dsn, by_session=by_session)


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
    engine = find_engine("mysql").engine()
    assert [ability for ability in abilities if not isinstance(engine, ability)] == []


class TestLife:
    def test_it_is_of_the_version_that_its_program_tells(
        self, shared: Started, instance: Instance
    ) -> None:
        assert shared.engine.version(instance) == shared.product.version

    def test_its_process_has_its_name_and_is_not_root(
        self, shared: Started, instance: Instance
    ) -> None:
        pid = shared.address["pid"]
        assert Path(f"/proc/{pid}/comm").read_text() == "mysqld\n"
        assert shared.engine.processes(instance) == (pid,)
        user = unprivileged_user()
        if user is not None:
            assert f"Uid:\t{user.uid}\t{user.uid}" in Path(f"/proc/{pid}/status").read_text()

    def test_its_files_are_those_that_were_obtained(self, shared: Started) -> None:
        maps = Path(f"/proc/{shared.address['pid']}/maps").read_text().splitlines()
        libraries = {line.split()[-1] for line in maps if ".so" in line}
        assert libraries
        assert all(name.startswith(str(shared.product.home)) for name in libraries)

    def test_only_our_account_can_log_in(self, shared: Started, instance: Instance) -> None:
        users = rows(instance, "select user from mysql.user where account_locked = 'N'")
        assert {user for (user,) in users} == {"assay"}
        assert not (shared.launcher.scratch / "users.sql").exists()
        text = json.dumps(shared.engine.effective_settings(instance)) + shared.log.read_text()
        assert shared.address["password"] not in text

    def test_it_has_room_for_a_hundred_terminals_and_listens_on_loopback(
        self, instance: Instance
    ) -> None:
        ((most, address),) = rows(instance, "select @@max_connections, @@bind_address")
        assert most > 100
        assert address == "127.0.0.1"


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"innodb_bufer_pool_size": "1G"}, "innodb_buffer_pool_size"),
            ({"innodb_doublewrite": "much"}, "rejects its settings: .*innodb-doublewrite"),
            ({"max_connections": "99999999"}, "rejects its settings: .*adjusted to 100000"),
            ({"port": "3306"}, "Assay itself sets port"),
        ],
    )
    def test_what_is_wrong_is_told_before_anything_is_loaded(
        self, settings: dict[str, str], said: str
    ) -> None:
        engine: Any = find_engine("mysql").engine()
        with pytest.raises(EngineError, match=said):
            engine.check_settings(obtained("mysql"), settings)

    def test_every_setting_of_ours_is_one_that_it_knows(self) -> None:
        engine: Any = find_engine("mysql").engine()
        settings = {**default_settings(engine.conf), **engine.load_settings()}
        engine.check_settings(obtained("mysql"), settings)

    def test_another_product_is_refused(self) -> None:
        engine: Any = find_engine("mysql").engine()
        for version in ("5.5.5-10.11.19-MariaDB", "8.0.31-Dolt", "8.0.12", "words"):
            with pytest.raises(EngineError, match="another --engine"):
                engine.read_version(version)
        assert engine.read_version("9.7.4-2") == "9.7.4"


class TestData:
    def test_the_schema_of_visible_tables_is_read(
        self, shared: Started, instance: Instance
    ) -> None:
        assert_schema_is_read(shared, instance, ", unique ((id + 1))")

    def test_rows_keys_and_marks(self, shared: Started, instance: Instance) -> None:
        ours = shared.engine
        assert ours.schema_mark(instance, "nowhere") is None
        assert ours.schema_mark(instance, "test") == "made by a test"
        ours.mark_schema(instance, "test", "it's \\whole")
        assert ours.schema_mark(instance, "test") == "it's \\whole"
        ours.run_script(
            instance, "create table region (r_regionkey bigint, r_name char(25), r_comment text)"
        )
        ours.load(instance, "region", _core.TableStream("tpch", "region", 0.01, 1), 1)
        assert ours.count(instance, "region") == 5
        ours.run_script(instance, TABLES)
        ours.make_keys(instance, KEYS, 2, tell_nobody)
        ours.finish_load(instance)
        with pytest.raises(EngineError, match="foreign key constraint fails"):
            ours.prepare(instance, "insert into child values (1, 1)")
        cached = {plan.name: plan.cached_bytes for plan in ours.cached(instance)}
        assert {"child", "parent"} <= {name.split()[0] for name in cached}

    def test_an_open_transaction_is_refused(self, shared: Started, instance: Instance) -> None:
        make(shared, instance, "begin; insert into parent values (1, '')")
        with pytest.raises(EngineError, match="the file ends within an open transaction"):
            shared.engine.settle(instance)
        instance.handle.rollback()
        shared.engine.settle(instance)


class TestObserving:
    def test_every_counter_that_is_shown_is_read(self, shared: Started, instance: Instance) -> None:
        reader = shared.engine.counters(instance)
        read = {(source, name) for source, _, name, _ in reader.read()}
        reader.close()
        declared = find_engine("mysql").counters()
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

    def test_plans_are_told_and_nothing_is_changed(
        self, shared: Started, instance: Instance
    ) -> None:
        make(shared, instance, "insert into parent values (1, 'x')")
        reader = shared.engine.plan_reader(instance)
        asked: list[tuple[str, list[object]]] = [
            ("begin", []),
            ("update parent set name = 'y' where id = $1", [1]),
            ("select * from parent where name = $1", ["y"]),
            ("select nonsense", []),
        ]
        begin, update, select, wrong = list(reader.explain(asked, 5.0))
        reader.close()
        made = shared.engine.plan(update.native, "one", 1, "one-1.json")
        assert made.root.native == "update"
        assert "no rows and times" in str(update.reason)
        made = shared.engine.plan(select.native, "one", 2, "one-2.json")
        assert made.timed
        assert next(n for n in made.root.walk() if n.object == "parent").rows == 1
        assert begin.native is wrong.native is None
        assert "nonsense" in str(wrong.reason)
        assert rows(instance, "select name from parent") == [("x",)]

    def test_what_a_program_asks_is_answered_and_undone(
        self, shared: Started, instance: Instance
    ) -> None:
        make(shared, instance, "alter table parent add primary key (id)")
        answers = assert_played_and_undone(shared.engine.plan_reader(instance))
        explanation = answers[4].explained
        assert explanation is not None
        assert explanation.reads is not None
        assert (explanation.reads.index_lookups, explanation.reads.scan_rows) == (1, 0)

    def test_a_plan_that_takes_too_long_has_estimates(
        self, shared: Started, instance: Instance
    ) -> None:
        reader = shared.engine.plan_reader(instance)
        endless = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)"
        endless += " select count(*) from n a, n b, n c, n d where a.i + b.i + c.i + d.i < 0"
        (plan,) = reader.explain([(endless, [])], 0.1)
        reader.close()
        assert "cancelled after 0.1 s" in str(plan.reason)
        assert not shared.engine.plan(plan.native, "one", 0, "one-0.json").timed
