"""A path's device and the disks below it are found through partitions, stacks and loops."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.running.host import devices
from assay.running.host.devices import described, device_of, stat_file


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    return folder


class TestDescribed:
    def test_a_disk_is_its_own(self, tmp_path: Path) -> None:
        queue = {
            "queue__read_ahead_kb": "128",
            "queue__scheduler": "none [mq-deadline]",
            "queue__rotational": "1",
        }
        assert described(write(tmp_path / "sda", dev="8:0", **queue)) == {
            "name": "sda",
            "major_minor": "8:0",
            "kind": "disk",
            "disks": ["sda"],
            "read_ahead_bytes": 128 << 10,
            "scheduler": "mq-deadline",
            "rotational": True,
        }

    def test_a_partition_is_of_its_disk_and_has_its_queue(self, tmp_path: Path) -> None:
        disk = write(tmp_path / "sda", dev="8:0", queue__read_ahead_kb="8")
        description = described(write(disk / "sda1", dev="8:1", partition="1"))
        assert (description["name"], description["kind"], description["disks"]) == (
            "sda1",
            "partition",
            ["sda"],
        )
        assert description["read_ahead_bytes"] == 8192
        assert description["rotational"] is None

    def test_a_stack_leads_to_all_its_disks(self, tmp_path: Path) -> None:
        for name in ("sda", "sdb"):
            write(tmp_path / name / f"{name}1", dev="8:1", partition="1")
        slaves = write(tmp_path / "md0", dev="9:0") / "slaves"
        slaves.mkdir()
        for name in ("sda", "sdb"):
            (slaves / f"{name}1").symlink_to(tmp_path / name / f"{name}1")
        mapped = write(tmp_path / "dm-0", dev="252:0") / "slaves"
        mapped.mkdir()
        (mapped / "md0").symlink_to(tmp_path / "md0")
        description = described(tmp_path / "dm-0")
        assert (description["kind"], description["disks"]) == ("stacked", ["sda", "sdb"])

    def test_a_loop_leads_to_the_disk_of_its_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "file"
        file.touch()
        number = file.stat().st_dev
        place = f"{os.major(number)}:{os.minor(number)}"
        write(tmp_path / "dev" / "block" / place, dev=place)
        monkeypatch.setattr(devices, "SYSFS", tmp_path)
        description = described(write(tmp_path / "loop3", dev="7:3", loop__backing_file=str(file)))
        assert (description["kind"], description["disks"]) == ("loop", [place])

    def test_a_slash_of_a_name_is_written_otherwise(self, tmp_path: Path) -> None:
        assert described(write(tmp_path / "cciss!c0d0", dev="104:0"))["name"] == "cciss/c0d0"


class TestDeviceOf:
    def test_it_is_in_the_kernels_list(self, tmp_path: Path) -> None:
        device = device_of(tmp_path)
        if device is None:
            pytest.skip("temporary files are on no block device here")
        assert f" {device['name']} " in Path("/proc/diskstats").read_text("ascii")
        stat = stat_file(device)
        assert stat is not None
        assert len(Path(stat).read_text("ascii").split()) >= 11

    def test_memory_is_no_device(self) -> None:
        assert device_of(Path("/proc"), "proc") is None

    def test_what_is_not_there_is_on_none(self, tmp_path: Path) -> None:
        assert device_of(tmp_path / "missing" / "too") is None
