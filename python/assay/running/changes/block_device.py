"""Finds the block device below a directory, and its facts in the kernel."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from assay.model.errors import UsageError

SYSFS = Path("/sys")
MOUNTS = Path("/proc/self/mountinfo")
# The kernel writes a blank in a path as \040, and three other characters likewise.
ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class BlockDevice:
    """A whole device, never a partition: throttles and read-ahead are of whole ones.

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
        """The file that holds the read-ahead, in KiB."""
        return self.folder / "queue" / "read_ahead_kb"


def device_below(place: Path, sysfs: Path = SYSFS, mounts: Path = MOUNTS) -> BlockDevice:
    """The device that holds a directory, or the nearest one above it that is there.

    Raises:
        UsageError: If the file system is not on exactly one device.
    """
    there = next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())
    device_number = there.stat().st_dev
    number = f"{os.major(device_number)}:{os.minor(device_number)}"
    if not (sysfs / "dev" / "block" / number).exists():
        # Some file systems have numbers of their own, and name their device where it is mounted.
        number = _number_of_source(number, mounts) or number
    return device_numbered(number, there, sysfs)


def device_numbered(number: str, there: Path, sysfs: Path = SYSFS) -> BlockDevice:
    """The whole device that has a number or a partition of it; `there` is for the message."""
    link = sysfs / "dev" / "block" / number
    if not link.exists():
        raise UsageError(
            f"no block device is below {there}, as far as the kernel reports: set XDG_STATE_HOME"
            f" to a"
            " place on a disk, or say --device own"
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
