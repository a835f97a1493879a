"""Finds the block device of a directory, and its facts in the kernel."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from assay.model.errors import UsageError

SYSFS = Path("/sys")
MOUNTS = Path("/proc/self/mountinfo")
# The kernel writes a space in a path as \040, and escapes three other characters likewise.
ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class BlockDevice:
    """A whole block device, never a partition.

    Attributes:
        name: The kernel's name, such as `vda` or `loop3`.
        number: `major:minor`.
        folder: Its directory below /sys.
    """

    name: str
    number: str
    folder: Path

    @property
    def read_ahead_file(self) -> Path:
        """The kernel file with the device's read-ahead, in KiB."""
        return self.folder / "queue" / "read_ahead_kb"


def device_below(place: Path, sysfs: Path = SYSFS, mounts: Path = MOUNTS) -> BlockDevice:
    """Return the block device of a directory, or of its nearest existing parent.

    Raises:
        UsageError: If the file system is not on exactly one device.
    """
    there = next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())
    device_number = there.stat().st_dev
    number = f"{os.major(device_number)}:{os.minor(device_number)}"
    if not (sysfs / "dev" / "block" / number).exists():
        # Some file systems have numbers of their own; their device is in the list of mounts.
        number = _number_of_source(number, mounts) or number
    return device_numbered(number, there, sysfs)


def device_numbered(number: str, there: Path, sysfs: Path = SYSFS) -> BlockDevice:
    """Return the whole block device for the number of a device or of a partition."""
    link = sysfs / "dev" / "block" / number
    if not link.exists():
        raise UsageError(
            f"the kernel reports no block device for {there}: set XDG_STATE_HOME to a directory "
            "on a disk, or use --device own"
        )
    folder = link.resolve()
    if (folder / "partition").exists():
        folder = folder.parent
    return BlockDevice(folder.name, (folder / "dev").read_text(encoding="ascii").strip(), folder)


def unescaped(path: str) -> str:
    """Return a path without the escapes that the kernel writes into lines."""
    return ESCAPE.sub(lambda escape: chr(int(escape[1], 8)), path)


def _number_of_source(number: str, mounts: Path) -> str | None:
    for line in mounts.read_text(encoding="utf-8").splitlines():
        mount, _, rest = line.partition(" - ")
        if mount.split()[2] != number:
            continue
        source = Path(unescaped(rest.split()[1]))
        if source.is_block_device():
            device_number = source.stat().st_rdev
            return f"{os.major(device_number)}:{os.minor(device_number)}"
    return None
