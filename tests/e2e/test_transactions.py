"""TPC-C and the mixes of small transactions on PostgreSQL: figures, verdicts, durability."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import (
    PATIENCE_S,
    POSTGRESQL,
    Lab,
    laboratory_in_memory,
    wait_for_phase,
)
from tests.schemas import RUN_SCHEMA, validator

ON_POSTGRESQL = ["--engine", POSTGRESQL, "--no-plans", "--warmup", "200ms"]
TPCC = ["run", "tpcc", *ON_POSTGRESQL, "--warehouses", "1"]
TYPES = ["new-order", "payment", "order-status", "delivery", "stock-level"]
EXIT_INVALID = 3


def verdict(document: dict, check: str) -> tuple[str, str]:
    (checks,) = [candidate for candidate in document["checks"] if candidate["check"] == check]
    return checks["verdict"], checks["reason"]


@pytest.fixture(scope="module")
def laboratory(server_place: Path) -> Iterator[Lab]:
    """One for all runs here: they share a warehouse that is loaded once."""
    with laboratory_in_memory(server_place) as lab:
        yield lab


@pytest.fixture(scope="module")
def tpcc(laboratory: Lab) -> dict:
    return laboratory.document(*TPCC, "--clients", "2", "--time", "2s", "--durability", "relaxed")


def test_the_mix_is_whole_and_the_data_are_consistent(tpcc: dict) -> None:
    validator(RUN_SCHEMA).validate(tpcc)
    transactions = tpcc["transactions"]
    assert [transaction["name"] for transaction in transactions["types"]] == TYPES
    assert transactions["rate"]["name"] == "NOPM"
    assert transactions["rate"]["value"] > 0
    assert verdict(tpcc, "mix")[0] in ("valid", "unknown")
    assert verdict(tpcc, "conditions") == (
        "valid",
        "all consistency conditions held: 12 before and 11 after the load",
    )
    assert verdict(tpcc, "outcomes")[0] == "valid"
    assert verdict(tpcc, "answers")[0] == "valid"


def test_its_level_of_durability_is_recorded(tpcc: dict) -> None:
    record = Path(tpcc["path"])
    facts = json.loads((record / "run.json").read_text())
    assert facts["durability"]["level"] == "relaxed"
    settings = json.loads((record / "environment.json").read_text())["engine"]["settings"]
    assert settings["synchronous_commit"] == "off"


def test_a_broken_mix_is_invalid_with_its_reason(laboratory: Lab) -> None:
    asked = [*TPCC, "--operation", "payment", "--time", "500ms", "--probes", "none"]
    document = laboratory.document(*asked, code=EXIT_INVALID)
    assert verdict(document, "mix")[0] == "invalid"
    broken = verdict(document, "mix")[1]
    assert broken.startswith("the mix violates its specification: ")
    assert "transactions, and the minimum is " in broken


def test_terminals_wait_and_the_rate_is_a_tpmc_that_so_few_do_not_settle(laboratory: Lab) -> None:
    asked = [*TPCC, "--think-time", "--clients", "4", "--time", "2s", "--probes", "none"]
    result = laboratory.assay(*asked, "--json")
    document = json.loads(result.stdout)
    facts = json.loads((Path(document["path"]) / "run.json").read_text())
    measured = [phase for phase in facts["plan"]["phases"] if phase["name"] == "measured"]
    assert measured[0]["waits"][0] == {
        "keying_ns": 18_000_000_000,
        "think_mean_ns": 12_000_000_000,
    }
    assert "NOPM" not in result.stdout


def test_a_condition_that_does_not_hold_is_invalid(laboratory: Lab, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoil.sql"
    spoilt.write_text("update warehouse set w_ytd = w_ytd + 1;\n")
    asked = [*TPCC, "--clients", "1", "--time", "500ms", "--probes", "none"]
    document = laboratory.document(*asked, "--prepare", str(spoilt), code=EXIT_INVALID)
    state, reason = verdict(document, "conditions")
    assert state == "invalid"
    assert "condition c01" in reason
    assert "before the load, by 1 row" in reason


@pytest.mark.parametrize("workload", ["oltp-read", "oltp-write", "oltp-read-write"])
def test_small_mixes_return_what_they_should(laboratory: Lab, workload: str) -> None:
    asked = ["run", workload, *ON_POSTGRESQL, "--clients", "2", "--time", "500ms"]
    document = laboratory.document(*asked, "--probes", "none")
    assert verdict(document, "row_counts")[0] == "valid"
    assert verdict(document, "outcomes")[0] == "valid"
    if workload != "oltp-read":
        assert verdict(document, "answers")[0] == "valid"


def test_a_server_that_is_killed_leaves_a_record_that_can_be_read(server_lab: Lab) -> None:
    asked = [*TPCC, "--clients", "2", "--time", "10m", "--probes", "none"]
    started = server_lab.begin(*asked)
    wait_for_phase(server_lab, started, "measured")
    (postmaster,) = server_lab.titled("bin/postgres")
    os.kill(postmaster, signal.SIGKILL)
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    assert "PostgreSQL ended unexpectedly: it was ended by signal 9" in errors
    server_lab.assert_nothing_left()
    assert server_lab.status() == "failed"
    document = server_lab.document("show", "latest", code=EXIT_INVALID)
    assert document["verdict"] == "invalid"
    assert document["metrics"]["operations"] > 0
    assert [transaction["name"] for transaction in document["transactions"]["types"]] == TYPES
