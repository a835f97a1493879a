"""A workload that asks the data of another: one data set serves both."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.request import RunRequest
from assay.running.server.starting import key_of
from assay.workloads.discovery import find_workload, read_workload

QUERY = "select count(*) as n from lineitem\n"


def a_workload(folder: Path, manifest: str = 'data_of = "tpch"\n') -> Path:
    folder.mkdir(parents=True)
    (folder / "workload.toml").write_text(manifest, encoding="utf-8")
    (folder / "q1.sql").write_text(QUERY, encoding="utf-8")
    return folder


def test_tables_schema_and_keys_are_those_of_the_other(tmp_path: Path) -> None:
    tpch, made = find_workload("tpch"), read_workload(a_workload(tmp_path / "x"))
    assert made.facts.tables == tpch.facts.tables
    assert made.setup(("postgresql",), 0.01) == tpch.setup(("postgresql",), 0.01)
    assert made.keys(("postgresql",), 0.01) == tpch.keys(("postgresql",), 0.01)
    assert made.row_facts(0.01) == tpch.row_facts(0.01)
    assert (made.facts.scale_name, made.facts.legal) == (tpch.facts.scale_name, tpch.facts.legal)
    assert list(made.facts.operations) == ["q1"]
    assert made.makes_data


def test_both_have_one_data_set_and_are_two_workloads(tmp_path: Path) -> None:
    folder = a_workload(tmp_path / "x")
    request = RunRequest(workload=str(folder), engine="duckdb", scale=0.01)
    own, other = considered(request), considered(request.changed(workload="tpch"))
    assert key_of(own) == key_of(other)
    assert own.workload.content_hash != other.workload.content_hash


def test_the_content_is_another_where_the_data_are(tmp_path: Path) -> None:
    source = a_workload(tmp_path / "source", 'setup = ["made.setup"]\n')
    (source / "made.setup").write_text("create table lineitem (n integer);\n", encoding="utf-8")
    folder = a_workload(tmp_path / "x", 'data_of = "../source"\n')
    before = read_workload(folder)
    hash_before = before.content_hash
    (source / "made.setup").write_text("create table lineitem (n bigint);\n", encoding="utf-8")
    after = read_workload(folder)
    assert before.data.folder == folder / "../source"
    assert hash_before != after.content_hash


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ('data_of = "tpcg"', "the nearest is 'tpch'|did you mean|tpch"),
        ('data_of = "../nowhere"', "data_of names"),
        ('data_of = "tpch"\nsetup = ["x.sql"]', "remove one of the two"),
        ('data_of = "tpch"\ntables = ["lineitem"]', "remove one of the two"),
        ('data_of = "../chained"', "name 'tpch'"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, manifest: str, message: str) -> None:
    a_workload(tmp_path / "chained")
    with pytest.raises(UsageError, match=message):
        read_workload(a_workload(tmp_path / "x", f"{manifest}\n"))
