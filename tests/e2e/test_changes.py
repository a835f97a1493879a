"""A run that changes its host: it is measured so, told so, and the host is as it was after it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.running.changes.device import why_not
from assay.running.changes.limits.group import check
from assay.running.changes.limits.hierarchies import find_hierarchies
from tests.e2e.conftest import FEW, PATIENCE_S, POSTGRESQL, Lab, wait_for_phase, wait_until

LIMITS = ["cpu", "read-rate", "write-rate", "memory"]
MIB = 1 << 20
ALL = (
    *("--device", "own:300MB", "--read-ahead", "8KiB", "--allow-host-changes"),
    *("--limit", "cpu=1.5", "--limit", "read-rate=20MB", "--limit", "write-rate=20MB"),
    *("--limit", "memory=1GB"),
)


def why_not_here() -> str | None:
    try:
        check(LIMITS, find_hierarchies())
    except UsageError as error:
        return str(error)
    return why_not()


pytestmark = pytest.mark.skipif(why_not_here() is not None, reason=str(why_not_here()))


def changed(lab: Lab) -> list[str]:
    """What of the laboratory's runs is still changed."""
    journals = lab.root / "state" / "assay" / "changes"
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    loops = [file.read_text() for file in Path("/sys/block").glob("loop*/loop/backing_file")]
    place = str((lab.root / "state").resolve())
    hierarchies = find_hierarchies()
    groups = {group for own in hierarchies.first.values() for group in own.glob("assay-*")}
    runs = {f"assay-{run.name}" for run in lab.runs.iterdir()}
    return [
        *(str(journal) for journal in journals.glob("*.json")),
        *([mounts] if place in mounts else []),
        *(loop for loop in loops if place in loop),
        *(str(group) for group in groups if group.name in runs),
    ]


def test_an_engine_that_its_memory_limit_killed_is_told_so_first(lab: Lab) -> None:
    ended = lab.assay("run", "tpch", *FEW, "--limit", "memory=24MB")
    assert ended.returncode == 2, ended.stderr
    (said, *_) = [line for line in ended.stderr.splitlines() if line.startswith("assay: ")]
    assert said.startswith("assay: the memory limit of 24 MiB (--limit memory) killed a process")
    assert changed(lab) == []


def test_a_run_with_all_of_it(lab: Lab) -> None:
    document = lab.document("run", "tpch", *FEW, "--state", "cold", *ALL)
    changes = document["changes"]
    limits = {limit["name"]: limit for limit in changes["limits"]}
    assert {name: amount["effective"] for name, amount in limits.items()} == {
        "cpu": 1.5,
        "read-rate": 20 * MIB,
        "write-rate": 20 * MIB,
        "memory": 1024 * MIB,
    }
    assert all(limit["in_effect"] and limit["used"] is not None for limit in limits.values())
    assert limits["cpu"]["used"] > 0
    assert limits["memory"]["used"] > 0
    device, read_ahead = changes["host"]
    assert device["path"] == f"/dev/{changes['device']}"
    assert device["effective"] == device["asked"]
    assert (read_ahead["asked"], read_ahead["effective"]) == ("8", "8")
    assert device["restored"]
    assert read_ahead["restored"]
    result = next(candidate for candidate in document["checks"] if candidate["check"] == "limits")
    assert result["verdict"] == "valid", result["reason"]
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    filesystem = environment["host"]["data_filesystem"]
    assert (filesystem["device"], filesystem["type"]) == (device["path"], "ext4")
    page = lab.page(document)
    assert "Limits: cpu 1.5 cores" in page
    assert "Changed on the host: device of our own" in page
    shown = lab.assay("show", document["run"]).stdout
    assert "limits    cpu 1.5 cores" in shown
    assert "put back" in shown
    assert changed(lab) == []
    lab.assert_nothing_left()


def test_a_device_that_somebody_else_has_open_goes_when_they_let_go(lab: Lab) -> None:
    own = ("--device", "own:300MB", "--allow-host-changes")
    started = lab.begin("run", "tpch", "--scale", "0.01", "--min-time", "60s", *own)
    wait_for_phase(lab, started, "warmup")
    place = str((lab.root / "state").resolve())
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    (name,) = [file.parts[3] for file in files if place in file.read_text()]
    with Path("/dev", name).open("rb"):
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == 2
        assert "could not revert all its changes" not in errors
    wait_until(lambda: not changed(lab), "the loop device stays")
    lab.assert_nothing_left()


def test_killed_in_mid_run_its_guardian_puts_it_back(lab: Lab) -> None:
    started = lab.begin("run", "tpch", "--scale", "0.01", "--min-time", "60s", *ALL)
    wait_for_phase(lab, started, "warmup")
    assert changed(lab)
    started.send_signal(signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not changed(lab), f"changed: {changed(lab)}")
    lab.assert_nothing_left()


def test_killed_with_its_guardian_doctor_puts_it_back(lab: Lab) -> None:
    started = lab.begin("run", "tpch", "--scale", "0.01", "--min-time", "60s", *ALL)
    run = wait_for_phase(lab, started, "warmup").name
    live = json.loads(lab.assay("doctor", "--restore", "--json").stdout)
    assert [(run_row["run"], run_row["whose"], run_row["owner_pid"]) for run_row in live] == [
        (run, "live", started.pid)
    ]
    assert changed(lab), "a living run's changes are left alone"
    owner = json.loads((lab.instances / run / "owner.json").read_text())
    os.kill(owner["guardian"]["pid"], signal.SIGKILL)
    started.send_signal(signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)
    assert "`assay doctor --restore` puts it back" in lab.assay("doctor").stdout
    result = lab.assay("doctor", "--restore")
    assert result.returncode == 0, result.stderr
    assert f"{run}: put back" in result.stdout
    assert changed(lab) == []
    lab.assert_nothing_left()
    again = lab.assay("doctor", "--restore")
    assert "all changes that runs made on this host are reverted" in again.stdout


def owner_of(pid: int) -> int | None:
    """Whose a process is; None: it has ended, and may wait for its parent to hear of it."""
    place = Path(f"/proc/{pid}")
    try:
        return place.stat().st_uid if (place / "cmdline").read_bytes() else None
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_a_server_is_in_its_group_with_all_its_processes(server_lab: Lab) -> None:
    limits = ("--limit", "cpu=1.4", "--limit", "cpus=1")
    started = server_lab.begin(
        "run", "tpch", "--engine", POSTGRESQL, "--scale", "0.01", "--min-time", "60s", *limits
    )
    run = wait_for_phase(server_lab, started, "warmup").name
    hierarchies = find_hierarchies()
    members = {
        int(pid)
        for pid in (hierarchies.first["cpu"] / f"assay-{run}" / "cgroup.procs").read_text().split()
    }
    titled = set(server_lab.titled("postgres"))
    # Some end by themselves while they are looked at.
    owners = {pid: owner for pid in members if (owner := owner_of(pid)) is not None}
    members &= set(owners)
    servers = titled & {pid for pid, owner in owners.items() if owner != 0}
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=PATIENCE_S)
    assert len(members) > 1
    assert servers == members, "nobody else is in it"
    assert json.loads((server_lab.latest() / "run.json").read_text())["limits"]["effective"] == {
        "cpu": 1.4,
        "cpus": 1,
    }
    assert changed(server_lab) == []
