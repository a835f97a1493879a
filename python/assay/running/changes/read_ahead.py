"""Sets the read-ahead of the device that holds an instance's data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.units import parse_bytes
from assay.running.changes.block_device import SYSFS, BlockDevice, device_below

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.changes.ledger import Ledger

KIB = 1024
# The kernel counts the KiB with 32 bits.
READ_AHEAD_BYTES_MAX = (2**32 - 1) * KIB


def parse_read_ahead(text: str | None) -> int | None:
    """Return the bytes of `--read-ahead`; None if the option is not given.

    Raises:
        UsageError: If the text is not a size in whole KiB.
    """
    if text is None:
        return None
    try:
        size_bytes = 0 if text.strip() == "0" else parse_bytes(text)
    except ValueError:
        size_bytes = -1
    if not 0 <= size_bytes <= READ_AHEAD_BYTES_MAX or size_bytes % KIB:
        raise UsageError(
            f"--read-ahead {text}: write it in whole KiB, like 0, 8KiB or 8192KiB; the maximum is"
            f" {READ_AHEAD_BYTES_MAX // KIB}KiB"
        )
    return size_bytes


def device_read_ahead(place: Path, sysfs: Path = SYSFS) -> BlockDevice:
    """Return the block device whose read-ahead applies to files below a directory.

    Raises:
        UsageError: If the file system has its own read-ahead, or no device.
    """
    there = next(path for path in (place, *place.parents) if path.exists())
    device_number = there.stat().st_dev
    if not (
        sysfs / "dev" / "block" / f"{os.major(device_number)}:{os.minor(device_number)}"
    ).exists():
        raise UsageError(
            f"--read-ahead: the file system of {there} does not lie on a single block device: "
            "add --device own"
        )
    return device_below(place, sysfs)


def set_read_ahead(device: BlockDevice, size_bytes: int, ledger: Ledger) -> None:
    """Set the read-ahead of a device for files that are opened from now on.

    Raises `RunFailedError`.
    """
    ledger.write(device.read_ahead_file, str(size_bytes // KIB), read_ahead_words(device))


def like_the_disk(device: BlockDevice, disk: BlockDevice, ledger: Ledger) -> None:
    """Give a loop device the read-ahead of the disk below it."""
    kib = disk.read_ahead_file.read_text(encoding="ascii").strip()
    ledger.write(device.read_ahead_file, kib, read_ahead_words(device))


def read_ahead_words(device: BlockDevice) -> str:
    """Return text that names a device's read-ahead setting, with its unit."""
    return f"read-ahead of {device.name} (KiB)"
