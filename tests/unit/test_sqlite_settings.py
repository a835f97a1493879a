"""SQLite's settings: which there are, what they take, and that they are in effect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.engines.contract import EngineError
from assay.engines.sqlite.settings import PRAGMAS, checked
from tests import sqlite


@pytest.mark.parametrize(
    ("value", "recorded"), [("FULL", "full"), ("2", "full"), (" normal ", "normal")]
)
def test_a_value_is_recorded_in_one_way(value: str, recorded: str) -> None:
    assert checked({"synchronous": value}) == {"synchronous": recorded}


@pytest.mark.parametrize(
    ("name", "value", "recorded"),
    [
        ("cache_size", "64MiB", "-65536"),
        ("cache_size", "1 gib", "-1048576"),
        ("cache_size", "512KiB", "-512"),
        ("cache_size", "4000", "4000"),
        ("mmap_size", "1MiB", "1048576"),
        ("threads", "-0", "0"),
    ],
)
def test_a_size_may_have_a_unit(name: str, value: str, recorded: str) -> None:
    assert checked({name: value}) == {name: recorded}


@pytest.mark.parametrize("value", ["yes", "TRUE", "1", "on"])
def test_a_switch_takes_several_words(value: str) -> None:
    assert checked({"automatic_index": value}) == {"automatic_index": "on"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("synchronous", "sometimes", "one of off, normal, full, extra"),
        ("synchronous", "7", "one of off, normal, full, extra"),
        ("cache_size", "many", "a whole number or a size such as 64MiB"),
        ("threads", "", "a whole number"),
        ("threads", "1MiB", "a whole number"),
        ("automatic_index", "2", "one of off, on"),
    ],
)
def test_a_senseless_value_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(
        EngineError, match=re.escape(f"--set {name}={value}: the setting accepts {message}.")
    ):
        checked({name: value})


def test_a_value_that_sqlite_does_not_keep_is_refused(tmp_path: Path) -> None:
    place = sqlite.place_in(tmp_path)
    with pytest.raises(EngineError, match=r"page_size=1000: the setting stays at 4096\."):
        sqlite.made_engine().start(place, {"page_size": "1000"})


def test_sessions_have_the_settings_too(tmp_path: Path) -> None:
    with sqlite.started(tmp_path, cache_size="-512", foreign_keys="on") as (_, instance):
        # How long a session waits for a lock is its own affair: the library knows of no time.
        names = ("cache_size", "foreign_keys")
        play = sqlite.played(
            instance, *[[f"pragma {name}"] for name in names], ["select 'a' like 'A'"]
        )
        assert [play.rows(number) for number in range(3)] == [[(-512,)], [(1,)], [(0,)]]


def test_every_setting_is_told(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (engine, instance):
        assert set(engine.effective_settings(instance)) == set(PRAGMAS)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_filled_file_is_written_anew_for_other_pages(tmp_path: Path, journal: str) -> None:
    with sqlite.started(tmp_path, journal_mode=journal) as (engine, instance):
        engine.run_script(instance, "create table t (n integer); insert into t values (7);")
    wanted = {"page_size": "16384", "auto_vacuum": "full"}
    with sqlite.started(tmp_path, **wanted) as (engine, instance):
        effective = engine.effective_settings(instance)
        assert {name: effective[name] for name in wanted} == wanted
        assert effective["journal_mode"] == "wal"
        assert instance.handle.own.execute("select n from t").get == 7


def test_a_file_that_is_no_database_is_told_with_its_place(tmp_path: Path) -> None:
    place = sqlite.place_in(tmp_path)
    (place.data / "assay.sqlite").write_bytes(b"no database at all " * 1000)
    with pytest.raises(EngineError, match=r"cannot open .*assay\.sqlite: file is not a database"):
        sqlite.made_engine().start(place, {})


def test_sorts_write_where_the_instance_is(tmp_path: Path) -> None:
    with sqlite.started(tmp_path) as (_, instance):
        directory = instance.handle.own.pragma("temp_store_directory")
        assert directory == str(tmp_path / "scratch")
