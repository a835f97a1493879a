"""Numbers that no run can carry out are refused before anything is loaded."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.report.csv_text import inert_table
from assay.running.asked.asking import considered
from assay.running.asked.understanding import engine_of
from assay.verbs.preparing.engines import install
from tests.unit.test_fleet_asked import asked

MIX: dict[str, Any] = {"workload": "point-select", "engine": "null", "clients": 2}


@pytest.mark.parametrize(
    ("beyond", "message"),
    [
        ({"rate": 1e18}, "--rate 1e[+]18: the maximum is 10,000,000 operations a second"),
        ({"time": "1e9s"}, "--time"),
        ({"time": "99999999999s"}, "--time 99999999999s: the maximum is 31,536,000 s,"),
        ({"time": "0.0000000001s"}, "--time 0.0000000001s: the minimum is 1 ns"),
        ({"clients": None, "state": "hot:4294967296"}, r"hot:N for N passes [(]N from 1 to 4,294"),
        ({"read_ahead": "999999999999GB"}, "--read-ahead 9+GB: .* maximum is 4294967295KiB"),
        ({"read_ahead": "4TiB"}, "--read-ahead 4TiB: .* maximum is 4294967295KiB"),
        ({"device": f"own:{'9' * 320}GB"}, "--device own:9+GB: write it as own, or own:4GB"),
        ({"engine": "postgresql@"}, "--engine postgresql@: the version after @ is missing"),
    ],
)
def test_what_no_run_can_carry_out_is_refused_before_work(beyond, message):
    with pytest.raises(UsageError, match=message):
        asked(**(MIX | beyond))


@pytest.mark.parametrize(
    "option",
    [("--seed", str(2**64)), ("--clients", "99999999"), ("--engine", "null@")],
)
def test_a_command_line_beyond_range_ends_with_1_and_without_record(option, tmp_path, capsys):
    given = ["run", "point-select", "--clients", "2", "--engine", "null", *option]
    assert run_command([*given, "--time", "100ms", "--runs", str(tmp_path)]) == 1
    assert option[0] in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "point-select", "--engine", "null", "--runs", ""], "--runs: the value is empty"),
        (["run", "tpch", "-o", "q01", "--operation="], "--operation: the value is empty"),
        (["workloads", "new", ""], "FOLDER: the value is empty"),
    ],
)
def test_an_empty_value_is_refused(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_command(words) == 1
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("workload", ["tpch", "ssb", "tpcc"])
def test_data_that_the_disk_has_no_room_for_is_refused_with_both_sizes(workload, tmp_path, capsys):
    given = ["run", workload, "--engine", "sqlite", "--scale", "100000", "--clients", "1"]
    given = given[:-2] if workload == "ssb" else given
    assert run_command([*given, "--runs", str(tmp_path)]) == 1
    told = r"needs \S+ TiB at least, and the disk of \S+ has \S+ .iB free: use a smaller scale"
    assert re.search(told, capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("engine", "words", "told"),
    [
        (
            "postgresql",
            "--clients 301",
            "accepts only 300 (max_connections): add --set",
        ),
        (
            "postgresql",
            "--clients 298",
            "298 clients, and Assay needs 3 connections more",
        ),
        ("postgresql", "--clients 20 --set MAX_connections=5", "(max_connections): add --set max_"),
        ("mariadb", "--clients 301", "MariaDB accepts only 300 (max_connections): add"),
        (
            "mariadb",
            "--clients 20 --set max-connections=22",
            "add --set max_connections=23, or",
        ),
        ("mysql", "--clients 301", "MySQL accepts only 300 (max_connections): add"),
        (
            "dolt",
            "--clients 301",
            "accepts only 300 (listener.max_connections): add",
        ),
    ],
)
def test_more_clients_than_connections_are_refused(engine, words, told, tmp_path, capsys):
    given = ["run", "point-select", "--engine", engine, "--time", "1s", "--runs", str(tmp_path)]
    assert run_command([*given, *words.split()]) == 1
    assert told in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_as_many_clients_as_connections_are_taken():
    request = asked(**(MIX | {"engine": "postgresql", "clients": 297}))
    assert considered(request).plan["phases"][0]["arrival"]["clients"] == 297


@pytest.mark.parametrize(
    ("engine", "dsn", "right"),
    [
        ("mariadb", "postgresql://me@localhost/shop", "belongs to PostgreSQL:"),
        ("postgresql", "mysql://me@localhost/shop", "belongs to MySQL:"),
        ("sqlite", "duckdb:/tmp/shop.duckdb", "belongs to DuckDB:"),
    ],
)
def test_an_address_of_another_engine_is_told_as_such(engine, dsn, right):
    with pytest.raises(UsageError, match=right):
        engine_of(engine, dsn)


def test_an_address_that_both_engines_speak_is_taken():
    assert engine_of("mariadb", "mysql://me@localhost/shop") == ("mariadb", None)


def test_an_empty_file_of_answers_is_refused_before_work(tmp_path, capsys):
    (tmp_path / "q.sql").write_text("select 1 as n", "utf-8")
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "q.csv").touch()
    runs = tmp_path / "runs"
    assert run_command(["run", str(tmp_path), "--runs", str(runs)]) == 1
    assert "is empty; its first line must name the columns." in capsys.readouterr().err
    assert not runs.exists()


def test_an_engine_without_its_version_is_not_installed():
    with pytest.raises(UsageError, match="@: the version after @ is missing"):
        install("postgresql@")


def test_texts_of_a_csv_file_are_no_formulas():
    hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "plain", None]
    table = pl.DataFrame({"text": hostile, "number": [-1] * 7})
    kept = table.with_columns(pl.col("text").cast(pl.Categorical))
    for written in (inert_table(table), inert_table(kept)):
        shown = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "plain", None]
        assert written["text"].to_list() == shown
        assert written["number"].to_list() == [-1] * 7
