"""Dolt as a person uses it, where one was built (`make dolt`), which takes minutes."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Lab
from tests.products import obtained

ENGINE = ["--engine", "dolt"]
# Each of the two changes the one branch.
MEETING = ["--clients", "2", "--retries", "100", "--durability", "full"]
TIMES = ["--time", "1s", "--warmup", "0s"]


@pytest.fixture(autouse=True)
def _built() -> None:
    obtained("dolt")


def reasons(document: dict) -> dict[str, str]:
    return {
        check["check"]: f"{check['verdict']}: {check['reason']}" for check in document["checks"]
    }


def test_transactions_add_up_though_they_meet(server_lab: Lab) -> None:
    document = server_lab.document("run", "tpcb", *ENGINE, "--scale", "0.1", *TIMES, *MEETING)
    assert reasons(document)["answers"].startswith("valid: 1 of 1")
    assert document["engine"] == "dolt"
    assert document["operations"][0]["failed"] == 0
    server_lab.assert_nothing_left()


@pytest.mark.parametrize("level", ["relaxed", "none"])
def test_it_promises_no_less_than_all(server_lab: Lab, level: str) -> None:
    result = server_lab.assay(
        "run", "tpcb", *ENGINE, "--scale", "0.1", *TIMES, "--durability", level
    )
    assert result.returncode == 1
    assert level in result.stderr


def test_an_unknown_setting_is_told_with_the_nearest(server_lab: Lab) -> None:
    result = server_lab.assay("run", "tpcb", *ENGINE, "--set", "dolt_stats_enbled=0")
    assert result.returncode == 1
    assert "did you mean 'dolt_stats_enabled'" in result.stderr
