"""SQLite's session: values and their types, transactions, errors, two connections at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pyarrow as pa
import pytest

from assay import _core
from assay.engines.contract import Instance
from tests import sqlite

ENDLESS = "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n"
# By now the long statement runs: it takes some three times as long.
READING_S = 0.3
# Another process, which never shares what SQLite keeps for all connections of one.
STRANGER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    connection.execute("begin immediate")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    with sqlite.started(tmp_path, busy_timeout="0") as (engine, made):
        engine.run_script(
            made,
            "create table t (id integer primary key, price decimal(15, 2), day date, word text);"
            "insert into t values (1, 17, '1995-01-31', 'a'), (2, 0.5, null, 'b');",
        )
        yield made


def table(instance: Instance, text: str) -> pa.Table:
    return sqlite.played(instance, [text]).table()


class TestValues:
    def test_columns_have_their_names_and_declared_types(self, instance: Instance) -> None:
        result_table = table(instance, "select id, price, day, word from t where id = 1")
        assert result_table.schema.names == ["id", "price", "day", "word"]
        whole = pa.decimal128(38, 0)
        assert result_table.schema.types == [whole, pa.float64(), pa.string(), pa.string()]
        assert result_table.to_pylist() == [
            {"id": 1, "price": 17.0, "day": "1995-01-31", "word": "a"}
        ]

    def test_whole_numbers_have_64_bits(self, instance: Instance) -> None:
        assert table(instance, f"select {2**62} as n").to_pylist() == [{"n": 2**62}]

    def test_absent_is_null(self, instance: Instance) -> None:
        assert table(instance, "select day from t where id = 2").to_pylist() == [{"day": None}]

    def test_an_expression_of_whole_and_other_numbers_is_a_fraction(
        self, instance: Instance
    ) -> None:
        result_table = table(instance, "select 1 as n union all select 2.5")
        assert (result_table.schema.types, result_table["n"].to_pylist()) == (
            [pa.float64()],
            [1.0, 2.5],
        )

    def test_numbers_among_texts_are_texts(self, instance: Instance) -> None:
        result_table = table(instance, "select 1 as n union all select 'two' union all select null")
        assert result_table["n"].to_pylist() == ["1", "two", None]

    def test_bytes_stay_bytes(self, instance: Instance) -> None:
        assert table(instance, "select x'00ff' as n").to_pylist() == [{"n": b"\x00\xff"}]

    def test_no_rows_have_columns_all_the_same(self, instance: Instance) -> None:
        result_table = table(instance, "select id, price from t where id > 2")
        assert (result_table.num_rows, result_table.schema.names) == (0, ["id", "price"])

    def test_two_columns_may_have_one_name(self, instance: Instance) -> None:
        result_table = table(instance, "select 1 as n, 2 as n")
        assert [column.to_pylist() for column in result_table.columns] == [[1], [2]]

    @pytest.mark.parametrize("prepared", [False, True])
    def test_values_are_bound_by_their_number(self, instance: Instance, prepared: bool) -> None:
        texts = ["select $1 as n, 2 * $1 as twice"]
        assert sqlite.played(instance, texts, value=7, prepared=prepared).rows() == [(7, 14)]

    def test_texts_are_compared_letter_by_letter(self, instance: Instance) -> None:
        assert sqlite.played(instance, ["select 'Ab' like 'a%' as x"]).rows() == [(0,)]

    def test_a_large_result_is_digested_while_it_comes(self, instance: Instance) -> None:
        rows = 80_000
        text = (
            "with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)"
            " select i, printf('%01000d', i) as word from n"
        )
        play = sqlite.played(instance, [text], value=rows)
        assert play.stream("events")["rows"].to_list() == [rows]
        assert not list((play.raw / "results").iterdir())


class TestTransactions:
    TRANSFER = (
        "begin",
        "update t set price = price + $1 where id = 1",
        "select price from t where id = 1",
        "commit",
    )
    PRICE = ("select price from t where id = 1",)

    def test_it_returns_the_rows_that_were_selected_and_lasts(self, instance: Instance) -> None:
        play = sqlite.played(instance, [*self.TRANSFER], value=3)
        assert play.rows() == [(20.0,)]
        assert play.stream("statements")["rows"].to_list() == [0, 1, 1, 0]
        assert sqlite.played(instance, [*self.PRICE]).rows() == [(20.0,)]

    @pytest.mark.parametrize(
        ("left", "error"), [(["select nosuch from t"], "SQLITE_ERROR"), ([], "open_transaction")]
    )
    def test_what_failed_or_was_left_open_is_rolled_back(
        self, instance: Instance, left: list[str], error: str
    ) -> None:
        texts = ["begin", "update t set price = 0", *left]
        play = sqlite.played(instance, texts, [*self.PRICE])
        assert play.outcome(0) == ("failed", error)
        assert play.rows(1) == [(17.0,)]

    def test_a_reader_goes_on_beside_a_writer(self, instance: Instance) -> None:
        writer = instance.handle.connection()
        count = ["select count(*) as n from t"]
        writer.execute("begin immediate; insert into t (id) values (3)")
        assert sqlite.played(instance, count).rows() == [(2,)]
        writer.execute("commit")
        assert sqlite.played(instance, count).rows() == [(3,)]


class TestOneLibrary:
    def test_locks_of_a_session_hold_while_pythons_connections_come_and_go(
        self, instance: Instance
    ) -> None:
        """A second copy of SQLite would undo them when it closes the file."""
        handle, said = instance.handle, []

        def come_and_go(flag: _core.CancelFlag) -> None:
            try:
                handle.own.execute("begin immediate; rollback")
            except apsw.BusyError:
                handle.connection().close()
                stranger = [sys.executable, "-c", STRANGER, str(handle.path)]
                result = subprocess.run(stranger, capture_output=True, text=True, check=True)
                said.append(result.stdout)
                flag.cancel()

        sqlite.played(instance, ["begin immediate", ENDLESS], during=come_and_go)
        assert said[0] == "database is locked\n"
        handle.own.execute("begin immediate; rollback")

    def test_a_session_without_sqlites_functions_says_so(self, tmp_path: Path) -> None:
        text = (
            "from assay import _core\n"
            f"_core.SqliteSession({json.dumps(json.dumps({'path': str(tmp_path / 'x')}))},"
            " '{\"operations\": []}', 1, 0)"
        )
        command = [sys.executable, "-c", text]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        assert "no connection of apsw has loaded" in result.stderr

    def test_a_file_that_is_not_there_is_told(self, instance: Instance) -> None:
        native = json.loads(instance.handle.native({})) | {"path": "/nowhere/x.sqlite"}
        script = json.dumps(sqlite.script(["select 1"]).facts())
        with pytest.raises(_core.SessionOpenError, match="SQLITE_CANTOPEN"):
            _core.SqliteSession(json.dumps(native), script, 1, 0)


class TestCounters:
    def test_a_wait_for_the_lock_is_counted_and_ends_in_time(self, tmp_path: Path) -> None:
        with sqlite.started(tmp_path, busy_timeout="20") as (engine, made):
            engine.run_script(made, "create table t (id integer primary key)")
            writer = made.handle.connection()
            writer.execute("begin immediate")
            play = sqlite.played(made, ["insert into t values (1)"])
            assert play.outcome() == ("failed", "SQLITE_BUSY")
            counted = {name: value for _, _, name, value in engine.counters(made).read()}
            writer.execute("rollback")
        assert counted["lock_waits"] == 1
        assert counted["lock_wait_ns"] > 0

    @pytest.mark.parametrize(("pages", "checkpoints"), [("1", 1), ("0", 0)])
    def test_checkpoints_are_written_as_the_setting_says(
        self, tmp_path: Path, pages: str, checkpoints: int
    ) -> None:
        with sqlite.started(tmp_path, wal_autocheckpoint=pages) as (engine, made):
            engine.run_script(made, "create table t (id integer primary key)")
            engine.settle(made)
            insert = ["insert into t values (1)"]
            assert sqlite.played(made, insert).outcome() == ("ok", None)
            rows = engine.counters(made).read()
        counted = {name: value for _, _, name, value in rows}
        assert counted["checkpoints"] == checkpoints
        assert counted["checkpoints_in_part"] == 0
        assert (counted["checkpoint_ns"] > 0) == (checkpoints > 0)
        assert counted["cache_write"] > 0
        assert counted["bytes"] > 0

    def test_without_a_log_it_has_no_size(self, tmp_path: Path) -> None:
        with sqlite.started(tmp_path, journal_mode="delete") as (engine, made):
            assert [row for row in engine.counters(made).read() if row[0] == "log"] == []


class TestErrors:
    def test_a_second_writer_may_try_again(self, instance: Instance) -> None:
        writer = instance.handle.connection()
        insert = ["insert into t (id) values (3)"]
        writer.execute("begin immediate")
        play = sqlite.played(instance, insert, retries_max=2)
        assert play.outcome() == ("failed", "SQLITE_BUSY")
        assert play.stream("events")["retries"].to_list() == [2]
        writer.execute("rollback")
        assert sqlite.played(instance, insert).outcome() == ("ok", None)

    def test_one_that_read_before_another_wrote_may_try_again(self, instance: Instance) -> None:
        long = ENDLESS.replace("from n)", "from n where i < 6000000)")
        late = ["begin", "select count(*) from t", long, "update t set price = 0", "commit"]
        begun_s = time.monotonic()
        own = instance.handle.own
        # A write that waits for the disk would hold the lock for which the late one asks.
        own.execute("pragma synchronous = off")
        changes = iter(["update t set price = price + 1"])

        def write_once_while_it_reads(_: _core.CancelFlag) -> None:
            if time.monotonic() - begun_s > READING_S and (change := next(changes, None)):
                own.execute(change)

        play = sqlite.played(instance, late, during=write_once_while_it_reads)
        assert next(changes, None) is None
        assert play.outcome() == ("failed", "SQLITE_BUSY_SNAPSHOT")

    @pytest.mark.parametrize(
        ("text", "name", "message"),
        [
            ("select nosuch from t", "SQLITE_ERROR", "no such column: nosuch"),
            (
                "insert into t (id) values (1)",
                "SQLITE_CONSTRAINT_PRIMARYKEY",
                "UNIQUE constraint failed: t.id",
            ),
        ],
    )
    def test_another_error_has_its_name_and_is_final(
        self, instance: Instance, text: str, name: str, message: str
    ) -> None:
        play = sqlite.played(instance, [text], retries_max=3)
        assert play.outcome() == ("failed", name)
        assert play.stream("events")["retries"].to_list() == [0]
        assert message in play.errors_text()

    def test_a_query_over_its_time_is_interrupted_and_the_next_one_works(
        self, instance: Instance
    ) -> None:
        play = sqlite.played(
            instance, [ENDLESS], ["select 1 as n"], operation_deadline_ns=200_000_000
        )
        assert play.outcome(0)[1] == "deadline"
        assert play.rows(1) == [(1,)]

    def test_a_damaged_page_is_told_by_its_name(self, instance: Instance) -> None:
        path = instance.handle.path
        instance.handle.own.execute("create table big (x); create index i on big (x)")
        instance.handle.own.execute(
            "with recursive n (i) as (select 1 union all select i + 1 from n where i < 9999)"
            " insert into big select hex(zeroblob(50)) || i from n"
        )
        instance.handle.own.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        damage = f"import sys; f = open({str(path)!r}, 'r+b'); f.seek({path.stat().st_size // 2})"
        damage += "; f.write(bytes([255]) * 65536)"
        subprocess.run([sys.executable, "-c", damage], check=True)
        play = sqlite.played(instance, ["select sum(length(x)) from big not indexed"])
        assert (play.outcome()[1] or "").startswith("SQLITE_CORRUPT")
