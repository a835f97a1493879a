"""Spark as a person uses it, where it was brought (`make cluster`): it is half a gigabyte."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Lab
from tests.products import installed

ENGINE = ["--engine", "spark"]


@pytest.fixture(autouse=True)
def _brought() -> None:
    installed("spark")


def test_a_query_is_answered_by_all_workers(server_lab: Lab) -> None:
    asked = [*ENGINE, "--scale", "0.01", "--operation", "q13", "--set", "workers=2"]
    document = server_lab.document("run", "tpch", *asked)
    verdicts = {check["check"]: check["verdict"] for check in document["checks"]}
    assert verdicts["answers"] == "valid"
    assert document["engine"] == "spark"
    server_lab.assert_nothing_left()


def test_an_unknown_setting_is_told_with_the_nearest(server_lab: Lab) -> None:
    result = server_lab.assay("run", "tpch", *ENGINE, "--set", "spark.sql.shuffle.partition=4")
    assert result.returncode == 1
    assert "did you mean 'spark.sql.shuffle.partitions'" in result.stderr


def test_a_server_that_is_not_there_is_told(server_lab: Lab) -> None:
    result = server_lab.assay("run", "point-select", *ENGINE, "--dsn", "hive2://127.0.0.1:1/")
    assert result.returncode == 1
    assert "127.0.0.1" in result.stderr
    server_lab.assert_nothing_left()
