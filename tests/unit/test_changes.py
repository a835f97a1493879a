"""A run that is killed at any step of changing its host leaves nothing changed.

With real devices, mounts and control groups: an owner kills itself, and its guardian if it is to,
as soon as a step is in the journal, so that each change is found made and not made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.model.errors import RunFailedError, UsageError
from assay.running.asked.request import RunRequest
from assay.running.changes.block_device import device_below
from assay.running.changes.changing import Changes, changing
from assay.running.changes.device import size_for, why_not
from assay.running.changes.ledger import Ledger
from assay.running.changes.left_behind import CONTROL_GROUP, MEMORY, LeftBehind, left_behind
from assay.running.changes.limits.group import check
from assay.running.changes.limits.hierarchies import find_hierarchies
from assay.running.changes.restoring import Left, changed_now, restore_left
from assay.running.changes.undo import loops_of
from assay.running.processes.instance_files import journal_of

PATIENCE_S = 60.0
MIB = 1 << 20
# Steps that a run with all of it writes down; the tests look that it is so.
STEPS = 8
IMAGES = ("device.img", "below.img", "below/device.img", "below/copy-0.img")
# Control groups and throttles are everybody's: tests of another process have others.
RUN = os.environ.setdefault("ASSAY_TEST_RUN", f"a-run-{os.getpid()}")
LIMITS = {"cpu": 0.5, "write-rate": 50.0 * MIB + zlib.crc32(RUN.encode()) % MIB}

# An owner that ends itself, and its guardian where both are to, at the step that it is told.
ENDING = """
import os, signal, sys
from pathlib import Path
from assay.running.changes import undo
from assay.running.changes.changing import Changes
from assay.running.processes.launcher import Guardian
from tests.unit.test_changes import Told, everything

instances, last, both = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "both"
guardian = Guardian(sys.argv[4], instances)
noted = 0
note = undo.Journal.note

def counted(journal, step):
    global noted
    note(journal, step)
    noted += 1
    if noted == last:
        end()

def end():
    if both:
        os.kill(guardian.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)

undo.Journal.note = counted
"""
OWNER = f"""{ENDING}
changes = Changes(everything(), guardian.directory, Told(sys.argv[4]))
changes.house(None)
changes.settle()
room = changes.room
guardian.start(
    ["sleep", "1000"], env={{}}, cwd=guardian.directory, log=guardian.directory / "log",
    groups=room.groups,
)
assert noted == last - 1, noted
end()
"""


@dataclass
class Told:
    """What would stand in run.json."""

    id: str = RUN

    def __post_init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def update(self, **facts: Any) -> None:
        self.facts |= facts


def everything() -> RunRequest:
    return RunRequest(
        workload="tpch",
        engine="postgresql",
        scale=0.01,
        state="cold",
        allow_host_changes=True,
        own_device=True,
        device_bytes=64 * MIB,
        read_ahead_bytes=0,
        limits=LIMITS,
    )


def why_not_here() -> str | None:
    try:
        check(LIMITS, find_hierarchies())
    except UsageError as error:
        return str(error)
    return why_not()


needs_host = pytest.mark.skipif(why_not_here() is not None, reason=str(why_not_here()))


@pytest.fixture
def instances(tmp_path: Path) -> Iterator[Path]:
    """Where instances are; what a test that failed left there is put back."""
    place = tmp_path.resolve() / "state" / "instances"
    place.mkdir(parents=True)
    yield place
    restore_left(place)


def groups_left() -> list[Path]:
    hierarchies = find_hierarchies()
    ours = {*hierarchies.first.values(), hierarchies.top, hierarchies.second} - {None}
    return [group for own in ours for group in own.glob(f"assay-{RUN}")]


def is_of_test(left: LeftBehind) -> bool:
    """Not of another test, whose groups and memory are everybody's."""
    return left.kind not in (CONTROL_GROUP, MEMORY) or left.run == RUN


def is_changed(instances: Path) -> list[str]:
    """What is not as it was, in words."""
    directory = instances / RUN
    throttles = Path("/sys/fs/cgroup/blkio").glob("blkio.throttle.*_device")
    return [
        *(["the directory"] if directory.exists() else []),
        *(["the journal"] if journal_of(directory).exists() else []),
        *(["mounted"] if str(directory) in Path("/proc/self/mounts").read_text() else []),
        *(name for image in IMAGES for name in loops_of(str(directory / image))),
        *map(str, groups_left()),
        *(
            left.description
            for left in left_behind(instances, instances.parent)
            if is_of_test(left)
        ),
        *(str(file) for file in throttles if f" {LIMITS['write-rate']:.0f}\n" in file.read_text()),
    ]


def eventually_left(instances: Path) -> Left:
    """What is changed, once the kernel has taken the lock from a guardian that was killed."""
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        (left,) = changed_now(instances)
        if left.whose == "left":
            return left
        assert time.monotonic() < deadline_s, left
        time.sleep(0.05)


def eventually_unchanged(instances: Path) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while left := is_changed(instances):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.05)


def killed(instances: Path, step: int, who: str, owner: str = OWNER) -> None:
    """An owner that died as soon as a step was in the journal."""
    tree = Path(next(iter(assay.__path__))).parent.parent
    path = f"{tree / 'python'}:{tree}"
    result = subprocess.run(
        [sys.executable, "-c", owner, str(instances), str(step), who, RUN],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert result.returncode == -9, result.stderr


@needs_host
class TestKilled:
    @pytest.mark.parametrize("step", [2, 4, STEPS + 1])
    def test_its_guardian_puts_all_back(self, instances: Path, step: int) -> None:
        killed(instances, step, "owner")
        eventually_unchanged(instances)

    @pytest.mark.parametrize("step", [1, 3, 5, STEPS, STEPS + 1])
    def test_with_its_guardian_the_next_start_puts_all_back(
        self, instances: Path, step: int
    ) -> None:
        killed(instances, step, "both")
        before = eventually_left(instances)
        assert before.run == RUN
        assert len(before.words) == min(step, STEPS)
        (leftover,) = restore_left(instances)
        assert leftover.problems == ()
        assert is_changed(instances) == []
        assert changed_now(instances) == []


@needs_host
class TestInGoodOrder:
    def test_all_is_there_and_then_as_it_was(self, instances: Path) -> None:
        directory = instances / RUN
        directory.mkdir()
        disk = device_below(directory)
        before = disk.read_ahead_file.read_text()
        record = Told()
        with changing(everything(), directory, record) as changes:
            changes.house(None)
            changes.settle()
            changes.edge("start")
            room = changes.room
            room.data.mkdir()
            own = device_below(room.data)
            assert own.read_ahead_file.read_text() == "0\n"
            assert own.name != disk.name
            assert all(members.exists() for members in room.groups)
            assert changed_now(instances)[0].whose == "live"
            assert restore_left(instances)[0].problems == ()
            assert own.read_ahead_file.read_text() == "0\n", "a living run's is not touched"
            changes.edge("end")
        assert disk.read_ahead_file.read_text() == before
        directory.rmdir() if not list(directory.iterdir()) else (directory / "device").rmdir()
        assert {change["what"] for change in record.facts["changes"]} >= {"device of our own"}
        assert all(change["restored"] for change in record.facts["changes"])
        limits = record.facts["limits"]
        assert limits["asked"] == limits["effective"] == LIMITS
        assert limits["device"] == own.name
        assert set(limits["counted"]) == {"start", "end"}

    def test_a_failure_puts_back_what_was_made_before(self, instances: Path) -> None:
        directory = instances / RUN
        directory.mkdir()
        (directory / "device").mkdir()
        with (
            pytest.raises(FileExistsError),
            changing(everything(), directory, Told()) as changes,
        ):
            changes.house(None)
        assert loops_of(str(directory / "device.img")) == []
        assert not journal_of(directory).exists()


class TestALedger:
    def test_writes_and_puts_back(self, instances: Path, tmp_path: Path) -> None:
        file = tmp_path / "read_ahead_kb"
        file.write_text("128\n")
        ledger = Ledger(instances / "one")
        change = ledger.write(file, "8", "read-ahead")
        assert (change.before, change.asked, change.effective) == ("128", "8", "8")
        assert json.loads(journal_of(instances / "one").read_text())["steps"][0]["text"] == "128"
        assert ledger.restore() == []
        assert file.read_text() == "128"
        assert change.restored

    def test_lets_nobody_change_what_another_run_has_changed(
        self, instances: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "read_ahead_kb"
        file.write_text("128")
        first = Ledger(instances / "one")
        first.write(file, "8", "read-ahead")
        with pytest.raises(RunFailedError, match="is in use by the run one:"):
            Ledger(instances / "two").write(file, "0", "read-ahead")
        first.restore()
        second = Ledger(instances / "two")
        second.write(file, "0", "read-ahead")
        second.restore()
        assert file.read_text() == "128"

    def test_names_the_mend_where_the_kernel_refuses(self, instances: Path, tmp_path: Path) -> None:
        with pytest.raises(RunFailedError, match="run as root"):
            Ledger(instances / "one").write(tmp_path / "none", "8", "read-ahead")


def test_a_device_is_as_large_as_asked_or_as_the_data_need() -> None:
    assert size_for(64 * MIB, 900 * MIB) == 64 * MIB
    assert size_for(None, 900 * MIB) > 2 * 900 * MIB
    assert size_for(None, None) > size_for(None, 0)


def test_changes_of_a_plain_run_are_none(instances: Path) -> None:
    record = Told()
    with changing(
        RunRequest(workload="tpch", engine="duckdb", scale=0.01), instances / RUN, record
    ) as changes:
        changes.house(10)
        changes.settle()
        changes.edge("start")
        assert isinstance(changes, Changes)
        assert changes.room.data == instances / RUN / "data"
    assert record.facts == {}
    assert changed_now(instances) == []
