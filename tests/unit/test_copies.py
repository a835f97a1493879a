"""Copies of a device hold what reached it: all that was synced before, and nothing out of order.

With real devices, and a writer that goes on while copies are taken.
"""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.model.errors import RunFailedError
from assay.running.changes import copies as copying
from assay.running.changes import device as of_devices
from assay.running.changes.copies import Copies, moments_s
from assay.running.changes.device import NotMountedError, make_device, why_not
from assay.running.changes.ledger import Ledger
from assay.running.changes.restoring import changed_now, restore_left
from assay.running.changes.undo import loops_of, put_back
from assay.running.processes.instance_files import journal_of
from tests.unit.test_changes import (
    ENDING,
    eventually_left,
    eventually_unchanged,
    instances,
    is_changed,
    killed,
)

__all__ = ["instances"]

MIB = 1 << 20
BLOCK = 4096
COPIES = 6
PATIENCE_S = 20.0

# Steps that one with a copy that is opened writes down.
STEPS = 8
OWNER = f"""{ENDING}
request = everything().changed(limits={{}}, copies=1, clients=1, time_s=0.01)
changes = Changes(request, guardian.directory, Told(sys.argv[4]))
changes.house(None)
changes.copies.settle()
changes.copies.begin(0.0)
while not changes.copies.taken:
    pass
opened = changes.copies.opened(changes.copies.taken[0])
opened.__enter__()
assert noted == last - 1, noted
end()
"""

needs_host = pytest.mark.skipif(why_not(copied=True) is not None, reason=str(why_not(copied=True)))


class TestMoments:
    def test_lie_one_in_each_part(self) -> None:
        for seed in range(50):
            drawn = moments_s(seed, 4, 8.0)
            assert [int(moment // 2) for moment in drawn] == [0, 1, 2, 3]

    def test_are_those_of_the_seed(self) -> None:
        assert moments_s(1, 3, 10.0) == moments_s(1, 3, 10.0)
        assert moments_s(1, 3, 10.0) != moments_s(2, 3, 10.0)


def test_fewer_copies_than_were_asked_for_are_told(tmp_path: Path) -> None:
    copies = Copies(tmp_path, [1000.0, 2000.0], Ledger(tmp_path / "one"))
    copies.begin(time.monotonic())
    copies.end()
    with pytest.raises(
        RunFailedError, match="the load ended after 0 of 2 snapshots: use a longer --time, or"
    ):
        copies.check()


class TestWhyNot:
    @pytest.mark.parametrize("copied", [False, True])
    def test_what_copies_need_is_asked_of_copies_alone(
        self, monkeypatch: pytest.MonkeyPatch, *, copied: bool
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(of_devices, "_may_mount", lambda: True)
        lacking = {"mkfs.xfs"}
        monkeypatch.setattr(
            of_devices, "_program_path", lambda name: None if name in lacking else name
        )
        monkeypatch.setattr(Path, "exists", lambda _: True)
        text = why_not(copied=copied)
        assert text == ("mkfs.xfs is not installed: install xfsprogs" if copied else None)


class Writer:
    """Writes 1, 2, 3 ... each first at one place, then at another, on the device when it counts."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "synced"
        self.file.write_bytes(bytes(64 * MIB))
        self.counted = 0
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        file = os.open(self.file, os.O_WRONLY | os.O_DIRECT | os.O_DSYNC)
        with mmap.mmap(-1, BLOCK) as block:
            while not self._leave.is_set():
                number = struct.pack("<Q", self.counted + 1)
                block[:8], block[-8:] = number, number
                os.pwrite(file, block, 0)
                os.pwrite(file, block, 32 * MIB)
                self.counted += 1
        os.close(file)

    def stop(self) -> None:
        self._leave.set()
        self._thread.join()


def numbers_in(file: Path) -> tuple[int, int]:
    """The numbers at the two places, each of one write."""
    with file.open("rb") as source:
        blocks = [os.pread(source.fileno(), BLOCK, offset) for offset in (0, 32 * MIB)]
    first, second = (struct.unpack("<Q", block[:8])[0] for block in blocks)
    assert [block[-8:] for block in blocks] == [block[:8] for block in blocks]
    return first, second


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Path]:
    """An instance's directory; what a test that failed left there is put back."""
    place = tmp_path.resolve() / "state" / "instances" / f"copies-{os.getpid()}"
    place.mkdir(parents=True)
    yield place
    assert put_back(journal_of(place)) == []


def made(instance: Path, copies: int) -> tuple[Copies, Ledger, Path]:
    ledger = Ledger(instance)
    make_device(instance, 160 * MIB, ledger, copies)
    return Copies(instance, [0.0] * copies, ledger), ledger, instance / "device"


def taken(copies: Copies, number: int) -> None:
    """Has a number of copies taken."""
    copies.begin(0.0)
    done = threading.Event()
    for _ in range(int(PATIENCE_S / 0.01)):
        if len(copies.taken) == number or done.wait(0.01):
            break
    copies.end()
    copies.check()
    assert len(copies.taken) == number


@needs_host
class TestCopies:
    def test_hold_what_had_reached_the_device_and_nothing_out_of_order(
        self, instance: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copies, ledger, device = made(instance, COPIES)
        counts: list[tuple[int, int]] = []
        take = Copies._take

        def counted(self: Copies, number: int) -> copying.Copy:
            before = writer.counted
            copy = take(self, number)
            counts.append((before, writer.counted + 1))
            return copy

        monkeypatch.setattr(Copies, "_take", counted)
        copies.settle()
        writer = Writer(device)
        try:
            while writer.counted < 10:
                pass
            taken(copies, COPIES)
        finally:
            writer.stop()
        for copy, (before, after) in zip(copies.taken, counts, strict=True):
            with copies.opened(copy):
                first, second = numbers_in(device / "synced")
            assert before <= second <= first <= after
            assert first - second <= 1
            assert copy.began_ns < copy.ended_ns
        assert ledger.restore() == []
        assert not journal_of(instance).exists()
        assert not device.is_mount()
        assert loops_of(str(instance / "below.img")) == []

    def test_lack_what_only_the_page_cache_had(self, instance: Path) -> None:
        copies, ledger, device = made(instance, 1)
        (device / "settled").write_text("before the load")
        copies.settle()
        (device / "written").write_text("never synced")
        taken(copies, 1)
        with copies.opened(copies.taken[0]):
            assert (device / "settled").read_text() == "before the load"
            assert not (device / "written").exists()
        assert ledger.restore() == []

    def test_one_that_is_not_mounted_makes_room_for_the_next(self, instance: Path) -> None:
        copies, ledger, device = made(instance, 2)
        copies.settle()
        taken(copies, 2)
        torn, whole = copies.taken
        with copies._image_of(torn.number).open("r+b") as image:
            image.write(bytes(64 * MIB))
        with pytest.raises(NotMountedError, match="mount ended with status"), copies.opened(torn):
            pytest.fail("it was mounted")
        with copies.opened(whole):
            assert device.is_mount()
        assert not copies._image_of(torn.number).exists()
        assert ledger.restore() == []
        assert loops_of(str(instance / "below.img")) == []

    def test_none_is_taken_without_room(
        self, instance: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copies, ledger, _ = made(instance, 1)
        monkeypatch.setattr(copying, "SPARE_BYTES", 1 << 60)
        copies.begin(0.0)
        copies.end()
        with pytest.raises(RunFailedError, match="use fewer --copies, or a smaller"):
            copies.check()
        assert copies.taken == []
        assert ledger.restore() == []


# A mount that has begun and goes on for a while, as one that plays back a journal.
SLOW_MOUNT = """#!/bin/sh
exec 9< "$3"
: > "$BEGUN"
sleep 0.5
PATH=/usr/sbin:/sbin:/usr/bin:/bin exec mount "$@"
"""
MOUNTING = """
import sys
from pathlib import Path
from assay.running.changes.device import make_device
from assay.running.changes.ledger import Ledger
make_device(Path(sys.argv[1]), 64 << 20, Ledger(Path(sys.argv[1])))
"""


@needs_host
def test_nothing_is_put_back_while_a_program_of_a_dead_owner_mounts(
    instance: Path, tmp_path: Path
) -> None:
    slow, begun = tmp_path / "bin" / "mount", tmp_path / "begun"
    slow.parent.mkdir()
    slow.write_text(SLOW_MOUNT)
    slow.chmod(0o755)
    paths = f"{slow.parent}:{os.environ['PATH']}"
    owner = subprocess.Popen(
        [sys.executable, "-c", MOUNTING, str(instance)],
        env=os.environ | {"PATH": paths, "BEGUN": str(begun)},
    )
    while not begun.exists():
        assert owner.poll() is None
        time.sleep(0.01)
    owner.kill()
    owner.wait()
    assert put_back(journal_of(instance)) == []
    assert not (instance / "device").is_mount()
    assert loops_of(str(instance / "device.img")) == []
    assert not journal_of(instance).exists()


@needs_host
class TestKilled:
    """As `test_changes` has it of what else is changed, with a copy open at the end."""

    @pytest.mark.parametrize("step", [4, STEPS, STEPS + 1])
    def test_its_guardian_puts_all_back(self, instances: Path, step: int) -> None:
        killed(instances, step, "owner", OWNER)
        eventually_unchanged(instances)

    @pytest.mark.parametrize("step", [2, 3, 5, STEPS - 1, STEPS + 1])
    def test_with_its_guardian_the_next_start_puts_all_back(
        self, instances: Path, step: int
    ) -> None:
        killed(instances, step, "both", OWNER)
        eventually_left(instances)
        (leftover,) = restore_left(instances)
        assert leftover.problems == ()
        assert is_changed(instances) == []
        assert changed_now(instances) == []
