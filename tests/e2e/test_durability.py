"""Engines that are killed under load, and devices that are copied: what was acknowledged is there.

And where a level of durability lets an engine not wait for its device, it is not, and counted.
"""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.record.reader import Run
from assay.running.changes.device import why_not
from tests.e2e.conftest import (
    POSTGRESQL,
    Lab,
    end,
    laboratory_in_memory,
    wait_for_phase,
)
from tests.e2e.test_changes import changed
from tests.lying_disk import lying_disk, programs_on_such_a_disk, why_no_lies
from tests.products import obtained

BRIEF = ["--warehouses", "1", "--clients", "2", "--warmup", "0s", "--probes", "none"]
KILLED = ["--kill", "500ms", "--time", "60s", "--no-plans", "--durability", "full"]
COPIED = ["--device", "own", "--allow-host-changes", "--time", "1500ms", "--no-plans", "--copies"]
MYSQL = ["--set", "innodb_buffer_pool_size=256M"]
ENGINES = {
    "postgresql": [POSTGRESQL, "--pipeline"],
    "mysql": ["mysql", *MYSQL],
    "mariadb": ["mariadb", *MYSQL],
    "dolt": ["dolt"],
}
# Servers whose flushes a disk can ignore: the version of each, and its options.
SERVERS: dict[str, tuple[str | None, list[str]]] = {
    "postgresql": ("16", []),
    "mysql": (None, MYSQL),
    "mariadb": (None, MYSQL),
    "dolt": (None, []),
}
EXIT_INVALID = 3

needs_copies = pytest.mark.skipif(
    why_not(copied=True) is not None, reason=str(why_not(copied=True))
)
needs_lies = pytest.mark.skipif(why_no_lies() is not None, reason=str(why_no_lies()))


def verdicts(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {check["check"]: (check["verdict"], check["reason"]) for check in document["checks"]}


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """An engine whose product is there."""
    name: str = request.param
    obtained(name)
    return name


# SQLite is killed in studies, below.
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_nothing_acknowledged_is_lost_to_a_kill(server_lab: Lab, engine: str) -> None:
    document = server_lab.document("run", "tpcc", "--engine", *ENGINES[engine], *BRIEF, *KILLED)
    check_verdicts = verdicts(document)
    for check in ("recovery", "conditions", "outcomes", "completeness"):
        assert check_verdicts[check][0] == "valid", check_verdicts[check]
    path = Path(document["path"])
    facts = json.loads((path / "run.json").read_text())
    assert not facts["fault"]["with_driver"]
    (recovered,) = facts["recovered"]
    assert recovered["error"] is None
    assert recovered["recovery_s"] > 0
    receipts = pl.read_ipc_stream(path / "raw" / "receipts.arrows")
    assert receipts.height > 0
    assert f"all {receipts.height:,} acknowledged new-order" in check_verdicts["recovery"][1]
    server_lab.assert_nothing_left()


@needs_copies
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"], indirect=True)
def test_what_was_acknowledged_has_reached_the_device(server_lab: Lab, engine: str) -> None:
    asked = ["--engine", *ENGINES[engine], *BRIEF, *COPIED, "1", "--durability", "full"]
    document = server_lab.document("run", "tpcc", *asked)
    check_verdicts = verdicts(document)
    for check in ("recovery", "conditions", "outcomes", "completeness"):
        assert check_verdicts[check][0] == "valid", check_verdicts[check]
    path = Path(document["path"])
    facts = json.loads((path / "run.json").read_text())
    (recovered,), (copy,) = facts["recovered"], facts["copies"]
    assert (recovered["kind"], recovered["error"]) == ("copy", None)
    assert recovered["before_ns"] == copy["began_ns"] < copy["ended_ns"]
    receipts = pl.read_ipc_stream(path / "raw" / "receipts.arrows")
    before = receipts.filter(pl.col("finished_ns") < copy["began_ns"]).height
    assert before > 0
    assert f"all {before:,} acknowledged new-order" in check_verdicts["recovery"][1]
    assert changed(server_lab) == []
    server_lab.assert_nothing_left()


@needs_copies
def test_without_durability_the_device_lacks_what_was_acknowledged(server_lab: Lab) -> None:
    asked = ["--engine", *ENGINES["postgresql"], *BRIEF, *COPIED, "1", "--durability", "none"]
    document = server_lab.document("run", "tpcc", *asked, code=EXIT_INVALID)
    verdict, reason = verdicts(document)["recovery"]
    assert verdict == "invalid", reason
    assert "from a copy of the device" in reason
    server_lab.assert_nothing_left()


@needs_copies
@needs_lies
def test_a_disk_that_lies_is_caught(server_lab: Lab, tmp_path: Path) -> None:
    server_lab.extra_env |= lying_disk(tmp_path)
    asked = ["--engine", "sqlite", *BRIEF, *COPIED, "1", "--durability", "full"]
    document = server_lab.document("run", "tpcc", *asked, code=EXIT_INVALID)
    verdict, reason = verdicts(document)["recovery"]
    assert verdict == "invalid", reason
    assert "were lost from a copy of the device" in reason


@needs_copies
@needs_lies
@pytest.mark.parametrize("lies", [True, False], ids=["lying", "honest"])
@pytest.mark.parametrize("name", SERVERS)
def test_a_disk_that_lies_to_a_server_is_caught_and_an_honest_one_is_not(
    server_lab: Lab, name: str, lies: bool
) -> None:
    version, settings = SERVERS[name]
    programs = programs_on_such_a_disk(name, server_lab.root, version=version, lies=lies)
    asked = ["--engine", name, *settings, "--bin-dir", str(programs)]
    asked += [*BRIEF, *COPIED, "1", "--durability", "full"]
    document = server_lab.document("run", "tpcc", *asked, code=EXIT_INVALID if lies else 0)
    verdict, reason = verdicts(document)["recovery"]
    assert verdict == ("invalid" if lies else "valid"), reason
    acknowledged = "were lost from a copy of the device" if lies else "acknowledged new-order"
    assert acknowledged in reason
    assert changed(server_lab) == []
    server_lab.assert_nothing_left()


@needs_copies
def test_a_study_without_durability_counts_what_the_device_lacks(server_lab: Lab) -> None:
    document = server_lab.document(
        *("durability", "tpcc", "--engine", "sqlite", "--durability", "none", "--kills", "0"),
        *("--copies", "2", "--allow-host-changes", "--clients", "2"),
        code=EXIT_INVALID,
    )
    (figure,) = document["figures"]
    sums, _ = figure["tables"]
    names = [column["name"] for column in sums["columns"]]
    (copied,) = (dict(zip(names, row, strict=True)) for row in sums["rows"])
    assert copied["times"] == 2
    assert copied["lost"] > 0
    assert copied["found"] == copied["acked"] - copied["lost"]
    assert changed(server_lab) == []


def test_a_study_goes_on_where_it_was_and_tells_its_kills(server_place: Path) -> None:
    asked = ["durability", "tpcc", "--engine", "sqlite", "--kills", "2", "--between", "300ms-600ms"]
    with laboratory_in_memory(server_place) as lab:
        first = lab.document(*asked, "--clients", "2")
        made = sorted(path.parent for path in lab.runs.glob("*/run.json"))
        faults = [json.loads((path / "run.json").read_text())["fault"] for path in made]
        assert len({fault["asked_s"] for fault in faults}) == 2
        # An engine in the driver's process is killed with it.
        assert all(fault["with_driver"] for fault in faults)
        shutil.rmtree(made[0])
        document = lab.document(*asked, "--clients", "2")
        assert document["path"] == first["path"]
        assert len([*lab.runs.glob("*/run.json")]) == 2
        assert made[1].is_dir()
        (figure,) = document["figures"]
        sums, each = figure["tables"]
        (row,) = sums["rows"]
        sums_row = dict(zip((column["name"] for column in sums["columns"]), row, strict=True))
        assert (sums_row["times"], sums_row["lost"]) == (2, 0)
        assert sums_row["acked"] == sums_row["found"] > 0
        assert len(each["rows"]) == 2
        lab.assert_nothing_left()


def test_a_killed_run_of_transactions_can_be_read_and_its_server_is_stopped(
    server_lab: Lab,
) -> None:
    started = server_lab.begin(
        *("run", "tpcc", "--engine", POSTGRESQL, *BRIEF, "--time", "10m", "--kill", "9m")
    )
    wait_for_phase(server_lab, started, "measured")
    assert server_lab.titled("bin/postgres")
    end(started, signal.SIGKILL)
    server_lab.assert_nothing_left()
    assert server_lab.status() == "running"
    document = server_lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert document["transactions"] is not None
    assert Run(server_lab.latest()).table("receipts").height > 0
