"""SQLite's session: values and their types, transactions, errors, two connections at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pyarrow as pa
import pytest

from assay.engines.contract import Instance
from tests import sqlite

ENDLESS = "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n"


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
    told = sqlite.session(instance, [text]).execute(0, ())
    assert isinstance(told, pa.Table)
    return told


class TestValues:
    def test_columns_have_their_names_and_declared_types(self, instance: Instance) -> None:
        told = table(instance, "select id, price, day, word from t where id = 1")
        assert told.schema.names == ["id", "price", "day", "word"]
        assert told.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.string()]
        assert told.to_pylist() == [{"id": 1, "price": 17.0, "day": "1995-01-31", "word": "a"}]

    def test_whole_numbers_have_64_bits(self, instance: Instance) -> None:
        assert table(instance, f"select {2**62} as n").to_pylist() == [{"n": 2**62}]

    def test_absent_is_null(self, instance: Instance) -> None:
        assert table(instance, "select day from t where id = 2").to_pylist() == [{"day": None}]

    def test_an_expression_of_whole_and_other_numbers_is_a_fraction(
        self, instance: Instance
    ) -> None:
        told = table(instance, "select 1 as n union all select 2.5")
        assert (told.schema.types, told["n"].to_pylist()) == ([pa.float64()], [1.0, 2.5])

    def test_numbers_among_texts_are_texts(self, instance: Instance) -> None:
        told = table(instance, "select 1 as n union all select 'two' union all select null")
        assert told["n"].to_pylist() == ["1", "two", None]

    def test_no_rows_have_columns_all_the_same(self, instance: Instance) -> None:
        told = table(instance, "select id, price from t where id > 2")
        assert (told.num_rows, told.schema.names) == (0, ["id", "price"])

    def test_two_columns_may_have_one_name(self, instance: Instance) -> None:
        told = table(instance, "select 1 as n, 2 as n")
        assert [column.to_pylist() for column in told.columns] == [[1], [2]]

    def test_values_are_bound_by_their_number(self, instance: Instance) -> None:
        asked = sqlite.session(instance, ["select $1 as n, 2 * $1 as twice"])
        assert sqlite.rows(asked, 0, 7) == [(7, 14)]

    def test_texts_are_compared_letter_by_letter(self, instance: Instance) -> None:
        assert sqlite.rows(sqlite.session(instance, ["select 'Ab' like 'a%' as x"])) == [(0,)]


class TestTransactions:
    TRANSFER = (
        "begin",
        "update t set price = price + $1 where id = 1",
        "select price from t where id = 1",
        "commit",
    )

    def test_it_returns_the_rows_that_were_selected_and_lasts(self, instance: Instance) -> None:
        one = sqlite.session(instance, [*self.TRANSFER])
        other = sqlite.session(instance, ["select price from t where id = 1"])
        assert sqlite.rows(one, 0, 3) == [(20.0,)]
        assert sqlite.rows(other) == [(20.0,)]

    @pytest.mark.parametrize("left", [["select nosuch from t"], []])
    def test_what_failed_or_was_left_open_is_rolled_back(
        self, instance: Instance, left: list[str]
    ) -> None:
        texts = ["begin", "update t set price = 0", *left]
        asked = sqlite.session(instance, texts, ["select price from t where id = 1"])
        try:
            asked.execute(0, ())
        except apsw.SQLError:
            assert left
        assert sqlite.rows(asked, 1) == [(17.0,)]

    def test_a_reader_goes_on_beside_a_writer(self, instance: Instance) -> None:
        writer = instance.handle.session()
        reader = sqlite.session(instance, ["select count(*) as n from t"])
        writer.execute("begin immediate; insert into t (id) values (3)")
        assert sqlite.rows(reader) == [(2,)]
        writer.execute("commit")
        assert sqlite.rows(reader) == [(3,)]


class TestErrors:
    def test_a_second_writer_may_try_again(self, instance: Instance) -> None:
        writer = instance.handle.session()
        late = sqlite.session(instance, ["insert into t (id) values (3)"])
        writer.execute("begin immediate")
        with pytest.raises(apsw.BusyError, match="locked") as told:
            late.execute(0, ())
        assert (told.value.sqlstate, told.value.retryable) == ("SQLITE_BUSY", True)
        writer.execute("rollback")
        late.execute(0, ())

    def test_one_that_read_before_another_wrote_may_try_again(self, instance: Instance) -> None:
        writer = instance.handle.session()
        texts = ["begin", "select count(*) from t", "select wait()", "update t set price = 0"]
        late = sqlite.session(instance, texts)
        late._connection.create_scalar_function(
            "wait", lambda: writer.execute("insert into t (id) values (9)").get
        )
        with pytest.raises(apsw.BusyError) as told:
            late.execute(0, ())
        assert (told.value.sqlstate, told.value.retryable) == ("SQLITE_BUSY_SNAPSHOT", True)

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("select nosuch from t", "SQLITE_ERROR"),
            ("insert into t (id) values (1)", "SQLITE_CONSTRAINT_PRIMARYKEY"),
        ],
    )
    def test_another_error_has_its_name_and_is_final(
        self, instance: Instance, text: str, name: str
    ) -> None:
        with pytest.raises(apsw.Error) as told:
            sqlite.session(instance, [text]).execute(0, ())
        assert (told.value.sqlstate, told.value.retryable) == (name, False)

    def test_an_interrupted_query_ends_and_the_next_one_works(self, instance: Instance) -> None:
        asked = sqlite.session(instance, [ENDLESS], ["select 1 as n"])
        ending = threading.Event()

        def interrupt() -> None:
            while not ending.wait(0.05):
                asked.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(apsw.InterruptError) as told:
                asked.execute(0, ())
        finally:
            ending.set()
            thread.join()
        assert (told.value.sqlstate, told.value.retryable) == ("SQLITE_INTERRUPT", False)
        assert sqlite.rows(asked, 1) == [(1,)]

    def test_a_damaged_page_is_told_by_its_name(self, instance: Instance, tmp_path: Path) -> None:
        path = instance.handle.path
        instance.handle.own.execute("create table big (x); create index i on big (x)")
        instance.handle.own.execute(
            "with recursive n (i) as (select 1 union all select i + 1 from n where i < 9999)"
            " insert into big select hex(zeroblob(50)) || i from n"
        )
        instance.handle.own.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(b"\xff" * 65536)
        with pytest.raises(apsw.CorruptError) as told:
            sqlite.session(instance, ["select sum(length(x)) from big not indexed"]).execute(0, ())
        assert told.value.sqlstate.startswith("SQLITE_CORRUPT")
        assert not told.value.retryable
