"""What reached the device holds what was acknowledged, and does not where nobody waits for it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.study.changes.device import why_not
from assay.study.places import engines_dir
from tests.e2e.conftest import PATIENCE_S, POSTGRESQL, Lab, laboratory_in_memory, wait_for_phase
from tests.e2e.test_changes import changed, wait_until
from tests.e2e.test_transactions import verdict
from tests.products import obtained

COPIED = ("--device", "own", "--allow-host-changes", "--copies")
PLAYED = ("run", "tpcc", "--warehouses", "1", "--clients", "2", "--warmup", "0s", "--no-plans")
UNSEEN = ("--probes", "none", "2")
SERVERS = ("mysql", "mariadb", "dolt")

pytestmark = pytest.mark.skipif(
    why_not(copied=True) is not None, reason=str(why_not(copied=True))
)


@pytest.fixture(scope="module")
def laboratory(server_place: Path) -> Iterator[Lab]:
    """One for all runs here: an engine's warehouse is loaded once."""
    with laboratory_in_memory(server_place) as lab:
        yield lab


def recovered(lab: Lab, engine: str, level: str, copies: str) -> tuple[dict, list[dict], tuple[str, str]]:
    """A short run's record, what was recovered from its copies, and the verdict."""
    name = engine.partition("@")[0]
    if name in SERVERS:
        shelf = lab.root / "cache" / "assay" / "engines"
        obtained(name)
        shelf.mkdir(parents=True, exist_ok=True)
        if not (shelf / name).exists():
            (shelf / name).symlink_to(engines_dir() / name)
    told = lab.assay(
        *PLAYED, "--engine", engine, "--durability", level, "--time", "1500ms", *COPIED, copies,
        *UNSEEN, "--json",
    )
    # In a second, a share of the mix may be missed, too.
    assert told.returncode in {0, 3}, told.stderr
    document = json.loads(told.stdout)
    run = json.loads((Path(document["path"]) / "run.json").read_text())
    return run, run["recovered"], verdict(document, "recovery")


@pytest.mark.parametrize("engine", [POSTGRESQL, "mysql", "mariadb", "sqlite", "dolt"])
def test_what_was_acknowledged_has_reached_the_device(laboratory: Lab, engine: str) -> None:
    run, found, (told, reason) = recovered(laboratory, engine, "full", "1")
    assert told == "valid", reason
    assert [one["before_ns"] for one in found] == [copy["began_ns"] for copy in run["copies"]]
    assert len(found) == 1
    assert all(one["kind"] == "copy" and one["error"] is None for one in found)
    assert reason.startswith("all ")
    assert changed(laboratory) == []
    laboratory.assert_nothing_left()


@pytest.mark.parametrize("engine", [POSTGRESQL, "mysql", "mariadb", "sqlite"])
def test_where_nobody_waits_for_the_device_it_is_lost(laboratory: Lab, engine: str) -> None:
    _, found, (told, reason) = recovered(laboratory, engine, "none", "2")
    assert told == "invalid", (reason, found)
    assert "lost from a copy of the device" in reason
