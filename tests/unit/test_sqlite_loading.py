"""SQLite's loading: values as they are generated, keys, statistics, and what it counts."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from assay import _core
from assay.engines.contract import EngineError, tell_nobody
from assay.engines.sqlite.database import statements
from assay.model.errors import RunFailedError
from tests import sqlite

ROWS = pa.table(
    {
        "n": pa.array([2**40, None], pa.int64()),
        "price": pa.array([Decimal("0.07"), None], pa.decimal128(15, 2)),
        "day": pa.array([datetime.date(1998, 12, 1), None], pa.date32()),
        "at": pa.array([951_868_741_000_000, None], pa.timestamp("us")),
        "word": pa.array(["it's", None], pa.string()),
    }
)


class Full:
    """More rows than the disk has room for."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        batch = pa.record_batch({"word": ["x" * 4000] * 1000})
        reader = pa.RecordBatchReader.from_batches(batch.schema, [batch] * 100)
        return reader.__arrow_c_stream__(requested_schema)


def test_values_are_loaded_as_sqlite_has_them(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(
            instance, 'create table "a b" (n integer, price real, day text, at text, word)'
        )
        engine.load(instance, "a b", ROWS, 1)
        assert engine.count(instance, "a b") == 2
        rows = instance.handle.own.execute('select * from "a b"').fetchall()
        assert rows == [
            (2**40, 0.07, "1998-12-01", "2000-02-29 23:59:01.000000", "it's"),
            (None,) * 5,
        ]


def test_a_type_that_sqlite_has_no_form_of_is_told(tmp_path: Path) -> None:
    rows = pa.table({"n": [{"a": 1}]})
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, "create table t (n)")
        with pytest.raises(RunFailedError, match=r"load t: column n: Struct.* is not loaded"):
            engine.load(instance, "t", rows, 1)


@pytest.mark.parametrize(("digits", "scale"), [(11, 2), (15, 2), (15, 0), (20, 4)])
def test_a_loaded_decimal_is_the_nearest_number(tmp_path: Path, digits: int, scale: int) -> None:
    """Oracle: Python reads the decimal's digits."""
    random = Random(1)
    units = [random.randrange(-(10**digits) + 1, 10**digits) for _ in range(5000)]
    prices = [Decimal(unit).scaleb(-scale) for unit in units]
    kind = pa.decimal128(max(digits, 15), scale)
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, "create table t (price real)")
        engine.load(instance, "t", pa.table({"price": pa.array(prices, kind)}), 1)
        rows = instance.handle.own.execute("select price from t order by rowid").fetchall()
    assert rows == [(float(str(price)),) for price in prices]


def test_a_full_disk_is_told_with_the_table(tmp_path: Path) -> None:
    with sqlite.started(tmp_path, max_page_count="100") as (engine, instance):
        engine.run_script(instance, "create table t (word text)")
        with pytest.raises(RunFailedError, match=r"load t: database or disk is full\. Free some"):
            engine.load(instance, "t", Full(), 1)
        with pytest.raises(RunFailedError, match="cannot load t"):
            engine.load(instance, "t", ROWS, 1)


def test_after_the_load_settings_are_what_they_were_and_the_planner_knows(tmp_path: Path) -> None:
    progress: list[tuple[str, float]] = []
    with sqlite.started(tmp_path, cache_size="-512") as (engine, instance):
        before = engine.effective_settings(instance)
        engine.run_script(instance, "create table region (k integer, name text, comment text)")
        engine.load(instance, "region", _core.TableStream("tpch", "region", 1.0, 1), 1)
        assert engine.effective_settings(instance)["journal_mode"] == "off"
        keys = "-- only; a comment\ncreate unique index i on region (k);"
        engine.make_keys(instance, keys, 2, lambda phase, done, *_: progress.append((phase, done)))
        engine.finish_load(instance)
        assert engine.effective_settings(instance) == before
        statistics = instance.handle.own.execute("select stat from sqlite_stat1").get
        assert (statistics, progress) == ("5 1", [("keys and indexes", 1)])


def test_a_key_that_the_rows_break_is_told_with_its_statement(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, "create table t (n integer); insert into t values (1), (1)")
        with pytest.raises(EngineError, match=r"(?s)UNIQUE.*The statement: create unique index i"):
            engine.make_keys(instance, "create unique index i on t (n)", 1, tell_nobody)


def test_an_unfinished_transaction_of_a_script_is_told(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.prepare(instance, "begin; create table t (n integer);")
        with pytest.raises(EngineError, match="cannot write a checkpoint"):
            engine.settle(instance)


@pytest.mark.parametrize(
    ("sql", "split_statements"),
    [
        ("select 1; select 2", ["select 1;", "select 2;"]),
        ("select ';' ; -- a; b\n;\n", ["select ';' ;"]),
        ("-- why; so\nselect 1;", ["-- why; so\nselect 1;"]),
        (
            "create trigger x after insert on t begin delete from t; end; select 1;",
            ["create trigger x after insert on t begin delete from t; end;", "select 1;"],
        ),
        (" ;; \n", []),
        ("select 'open", ["select 'open"]),
    ],
)
def test_statements_end_where_sqlite_says(sql: str, split_statements: list[str]) -> None:
    assert [
        statement for statement in statements(sql) if statement.strip("-; \nab")
    ] == split_statements


def test_pages_that_are_not_cached_are_counted(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        engine.run_script(instance, "create table t (word text)")
        engine.load(instance, "t", pa.table({"word": ["x" * 4000] * 1000}), 1)
        engine.finish_load(instance)
        play = sqlite.played(instance, ["select sum(length(word)) as n from t"])
        assert play.rows() == [(4_000_000,)]
        reader = engine.counters(instance)
        grown = {row[2]: row[3] for row in reader.read()}
        reader.close()
    pages = 4_000_000 / 4096
    assert pages <= grown["cache_miss"] <= 1.2 * pages
    assert grown["cache_miss_bytes"] == grown["cache_miss"] * 4096
    assert grown["cache_write"] == 0


def test_missed_bytes_are_of_the_files_own_pages(tmp_path: Path) -> None:
    with sqlite.started(tmp_path, page_size="512") as (engine, instance):
        engine.run_script(instance, "create table t (word text); insert into t values ('x')")
        sqlite.played(instance, ["select word from t"])
        reader = engine.counters(instance)
        grown = {row[2]: row[3] for row in reader.read()}
        reader.close()
    assert grown["cache_miss_bytes"] == grown["cache_miss"] * 512 > 0
