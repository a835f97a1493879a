"""The whole device below a directory, of a made /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.running.changes.block_device import device_below, device_numbered
from assay.running.changes.read_ahead import device_read_ahead, parse_read_ahead


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A disk of one partition."""
    root = tmp_path / "sys"
    disk = root / "devices" / "pci" / "sdx"
    (disk / "sdx1").mkdir(parents=True)
    (disk / "dev").write_text("8:16\n")
    (disk / "sdx1" / "dev").write_text("8:17\n")
    (disk / "sdx1" / "partition").write_text("1\n")
    numbers = root / "dev" / "block"
    numbers.mkdir(parents=True)
    (numbers / "8:16").symlink_to(disk)
    (numbers / "8:17").symlink_to(disk / "sdx1")
    return root


def number_of(place: Path) -> str:
    device = place.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"


@pytest.mark.parametrize("number", ["8:16", "8:17"])
def test_throttles_and_read_ahead_are_of_whole_disks(sysfs: Path, number: str) -> None:
    device = device_numbered(number, Path("/data"), sysfs)
    assert (device.name, device.number) == ("sdx", "8:16")
    assert device.read_ahead_file == sysfs / "devices/pci/sdx/queue/read_ahead_kb"


def test_what_is_not_there_yet_will_be_on_the_device_of_what_is(
    sysfs: Path, tmp_path: Path
) -> None:
    (sysfs / "dev/block" / number_of(tmp_path)).symlink_to(sysfs / "devices/pci/sdx/sdx1")
    assert device_below(tmp_path / "not" / "yet", sysfs).name == "sdx"
    assert device_read_ahead(tmp_path / "not" / "yet", sysfs).name == "sdx"


def test_no_device_is_told_with_the_mend(sysfs: Path, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"31 23 {number_of(tmp_path)} / / rw - tmpfs tmpfs rw\n")
    with pytest.raises(UsageError, match="--device own"):
        device_below(tmp_path, sysfs, mounts)
    with pytest.raises(UsageError, match="--device own"):
        device_read_ahead(tmp_path, sysfs)


@pytest.mark.parametrize(
    ("text", "size_bytes"), [("0", 0), ("8KiB", 8192), ("8192KiB", 8 << 20), ("4k", 4096)]
)
def test_read_ahead_is_a_size(text: str, size_bytes: int) -> None:
    assert parse_read_ahead(text) == size_bytes


@pytest.mark.parametrize("text", ["", "none", "-8KiB", "1.5", "100"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="whole KiB"):
        parse_read_ahead(text)


def test_without_one_it_stays_as_it_is() -> None:
    assert parse_read_ahead(None) is None
