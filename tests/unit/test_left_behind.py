"""What dead runs left is found, each kind of it, and nothing of those who live."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.running.changes import left_behind as finding
from assay.running.changes.abilities import host_abilities
from assay.running.changes.device import why_not
from assay.running.changes.left_behind import KINDS, LeftBehind, left_behind
from assay.running.changes.limits.hierarchies import Hierarchies
from assay.running.changes.undo import Journal, Step
from assay.running.processes.instance_files import INSTANCE_VARIABLE, journal_of
from assay.running.server.instances import planned_directory, write_owner
from tests.abandoned_memory import abandon

RUN = "20990101T000000000Z-a-run"


class Host:
    """Directories of a user of Assay, with an instance of a run that is dead."""

    def __init__(self, root: Path) -> None:
        self.instances, self.cache = root / "state" / "instances", root / "cache"
        self.datasets = self.cache / "datasets"
        self.datasets.mkdir(parents=True)
        self.instance = planned_directory(RUN, self.instances)
        self.instance.mkdir()
        write_owner(self.instance, RUN, None)
        # As an owner that had another number and is gone.
        owner = json.loads((self.instance / "owner.json").read_text())
        owner["owner"]["start_ticks"] += 1
        (self.instance / "owner.json").write_text(json.dumps(owner))

    def left(self, kind: str) -> list[LeftBehind]:
        return [one for one in left_behind(self.instances, self.cache) if one.kind == kind]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path.resolve())


def test_what_cannot_be_listed_is_named_beside_the_rest(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "mountinfo"
    monkeypatch.setattr(finding, "MOUNTS", missing)
    (left,) = host.left("mount")
    reason = f"mount: not known: {missing}: No such file or directory"
    assert (left.description, left.mend, left.run) == (reason, "", None)
    assert len(host.left("instance")) == 1


def test_a_directory_without_an_owner(host: Host) -> None:
    (left,) = host.left("instance")
    assert (left.run, left.description) == (RUN, f"directory {host.instance}")
    write_owner(host.instance, RUN, None)
    assert host.left("instance") == []


@pytest.mark.parametrize("how", ["mark", "directory"])
def test_a_process(host: Host, how: str) -> None:
    environment = {INSTANCE_VARIABLE: str(host.instance)} if how == "mark" else {}
    where = "/" if how == "mark" else host.instance
    with subprocess.Popen(["sleep", "60"], env={**os.environ, **environment}, cwd=where) as stray:
        try:
            (left,) = host.left("process")
            assert left.description == f"process {stray.pid} of {RUN}"
            write_owner(host.instance, RUN, None)
            assert host.left("process") == []
        finally:
            stray.kill()


def test_a_socket(host: Host) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(host.instance / "s"))
        assert [left.run for left in host.left("socket")] == [RUN]


def test_shared_memory(host: Host, tmp_path: Path) -> None:
    memory = abandon(tmp_path / "data")
    try:
        told = [one for one in host.left("shared memory") if str(memory.segment) in one.description]
        assert [one.mend for one in told] == [
            f"ipcrm -m {memory.segment} && rm {memory.files[1]} {memory.files[0]}"
        ]
    finally:
        memory.remove()
    assert not [one for one in host.left("shared memory") if str(memory.segment) in one.description]


def test_half_of_a_data_set_and_a_lock(host: Host) -> None:
    (host.datasets / "half.partial").mkdir()
    lock = host.datasets / ".half.lock"
    lock.touch()
    (host.datasets / ".other.lock").touch()
    assert [one.description for one in host.left("data")] == [
        f"half a data set: {host.datasets / 'half'}",
        f"lock of a data set: {host.datasets / 'other'}",
    ]
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert len(host.left("data")) == 1


def test_half_of_an_engine(host: Host) -> None:
    shelf = host.cache / "engines" / "postgresql"
    (shelf / ".partial-x").mkdir(parents=True)
    assert host.left("data")[0].description == f"half an engine: {shelf / '.partial-x'}"
    with (shelf / ".install.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert host.left("data") == []


def test_a_change_of_the_host(host: Host) -> None:
    owner = json.loads((host.instance / "owner.json").read_text())
    path = journal_of(host.instance)
    path.parent.mkdir(parents=True)
    Journal(path, owner).note(Step("write", "/nowhere/read_ahead_kb", "read-ahead of vda", "128"))
    assert [one.description for one in host.left("change")] == [f"{RUN}: read-ahead of vda"]


def test_a_control_group(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = Hierarchies({"cpu": tmp_path / "cpu"}, tmp_path / "all", tmp_path / "all")
    monkeypatch.setattr(finding, "find_hierarchies", lambda: groups)
    for place in ("cpu", "all"):
        (tmp_path / place / f"assay-{RUN}").mkdir(parents=True)
        (tmp_path / place / f"assay-{RUN}" / "cgroup.procs").touch()
        assert host.left("control group") == [], "it may have been made just now"
    long_ago_s = time.time() - 3600
    for place in ("cpu", "all"):
        os.utime(tmp_path / place / f"assay-{RUN}", (long_ago_s, long_ago_s))
    assert [one.mend for one in host.left("control group")] == [
        f"rmdir {tmp_path / place / f'assay-{RUN}'}" for place in ("all", "cpu")
    ]
    (tmp_path / "cpu" / f"assay-{RUN}" / "cgroup.procs").write_text("7\n")
    assert len(host.left("control group")) == 1


@pytest.fixture
def mounted(host: Host) -> Iterator[Path]:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    place, image = host.instance / "a place", host.instance / "device.img"
    place.mkdir()
    image.write_bytes(bytes(1 << 20))
    loop = subprocess.check_output(["losetup", "--find", "--show", str(image)], text=True).strip()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(place)], check=True)
    yield Path(loop)
    subprocess.run(["umount", str(place)], check=True)
    subprocess.run(["losetup", "--detach", loop], check=True)


def test_a_mount_and_a_loop_device(host: Host, mounted: Path) -> None:
    (mount,), (loop,) = host.left("mount"), host.left("loop device")
    assert mount.description == f"mounted at {host.instance / 'a place'}"
    assert loop.description == f"{mounted} of {host.instance / 'device.img'}"
    write_owner(host.instance, RUN, None)
    assert host.left("mount") == host.left("loop device") == []


def test_where_nothing_was_ever_started_nothing_is_left(tmp_path: Path) -> None:
    left = left_behind(tmp_path / "state" / "instances", tmp_path / "cache")
    # Memory and groups are everybody's on this host.
    assert {one.kind for one in left} <= {"shared memory", "control group"}
    assert {one.kind for one in left} <= set(KINDS)


def test_the_doctor_tells_it(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.running.changes.abilities.instances_dir", lambda: host.instances)
    monkeypatch.setattr("assay.running.changes.abilities.cache_dir", lambda: host.cache)
    told = [one for one in host_abilities() if one.name == "left behind"]
    assert f"directory {host.instance}" in [one.seen for one in told]
    assert {one.works for one in told} == {"partly"}
    monkeypatch.setattr("assay.running.changes.abilities.left_behind", lambda *_: [])
    (told_again,) = [one for one in host_abilities() if one.name == "left behind"]
    assert (told_again.works, told_again.seen) == ("yes", "nothing of runs that are dead")
