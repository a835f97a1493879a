"""MySQL as a person uses it: transactions with its counters, plans and profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import SMALL, Lab
from tests.e2e.program_plans import assert_programs_have_plans
from tests.products import obtained

ENGINE = ["--engine", "mysql", "--set", "innodb_buffer_pool_size=256M"]


@pytest.fixture(scope="module", autouse=True)
def _obtained() -> None:
    obtained("mysql")


def reasons(document: dict) -> dict[str, str]:
    return {
        check["check"]: f"{check['verdict']}: {check['reason']}" for check in document["checks"]
    }


def test_transactions_of_one_warehouse_are_consistent(server_lab: Lab) -> None:
    result = server_lab.assay(
        *("run", "tpcc", *ENGINE, "--warehouses", "1", "--clients", "2", "--json"),
        *("--time", "1s", "--warmup", "0s", "--durability", "relaxed"),
    )
    # In a second, a limit or a share of the mix may be missed; no condition may.
    assert result.returncode in {0, 3}, result.stderr
    document = json.loads(result.stdout)
    assert reasons(document)["answers"].startswith("valid: 12 of 12")
    run = json.loads((Path(document["path"]) / "run.json").read_text())
    assert run["durability"]["level"] == "relaxed"
    assert_programs_have_plans(document)
    server_lab.assert_nothing_left()


def test_all_22_answers_are_right_and_all_plans_are_told(server_lab: Lab) -> None:
    document = server_lab.document("run", "tpch", *ENGINE, *SMALL)
    assert reasons(document)["answers"].startswith("valid: 22 of 22")
    plans_file = json.loads((Path(document["path"]) / "raw" / "plans" / "plans.json").read_text())
    assert len(plans_file["plans"]) == 22
    assert plans_file["missing"] == []
