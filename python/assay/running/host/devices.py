"""Finds the block device of a path and the devices below it, from sysfs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSFS = Path("/sys")
KIB = 1024
# Major number of file systems with several devices (btrfs) or without one (tmpfs).
NO_DEVICE_MAJOR = 0


def device_of(path: Path, source: str | None = None) -> dict[str, Any] | None:
    """Return the block device that holds a path; None if there is none.

    Args:
        path: Path of a file or a folder.
        source: Mounted device, for file systems whose number is not a device's.

    Returns:
        Facts of the device: name (as in /proc/diskstats), major_minor, kind (disk, partition,
        stacked or loop), disks (names of the whole disks below, which serve its reads), and
        read_ahead_bytes, scheduler and rotational of its queue.
    """
    number = _number(path, source)
    if number is None:
        return None
    folder = SYSFS / "dev" / "block" / f"{os.major(number)}:{os.minor(number)}"
    if not folder.exists():
        return None
    return described(folder.resolve())


def stat_file(device: Mapping[str, Any] | None) -> str | None:
    """Return the sysfs file with the counters of a block device."""
    if device is None:
        return None
    return str(SYSFS / "dev" / "block" / device["major_minor"] / "stat")


def described(folder: Path) -> dict[str, Any]:
    """Return sysfs's facts of a block device."""
    kind = _kind(folder)
    queue = (folder.parent if kind == "partition" else folder) / "queue"
    read_ahead_kib = _text(queue / "read_ahead_kb")
    rotational = _text(queue / "rotational")
    return {
        "name": _name(folder),
        "major_minor": _text(folder / "dev"),
        "kind": kind,
        "disks": sorted(_disks(folder)),
        "read_ahead_bytes": None if read_ahead_kib is None else int(read_ahead_kib) * KIB,
        "scheduler": _chosen(_text(queue / "scheduler")),
        "rotational": None if rotational is None else rotational == "1",
    }


def _number(path: Path, source: str | None) -> int | None:
    try:
        number = path.stat().st_dev
        if os.major(number) != NO_DEVICE_MAJOR:
            return number
        # The device number of anything else than a block device is 0.
        return (Path(source).stat().st_rdev or None) if source and source[0] == "/" else None
    except OSError:
        return None


def _kind(folder: Path) -> str:
    if (folder / "partition").exists():
        return "partition"
    if (folder / "loop" / "backing_file").exists():
        return "loop"
    return "stacked" if _slaves(folder) else "disk"


def _disks(folder: Path) -> set[str]:
    """Return the whole disks below a block device, or the device itself if it is one."""
    match _kind(folder):
        case "partition":
            return _disks(folder.parent)
        case "loop":
            backing = _text(folder / "loop" / "backing_file")
            below = None if backing is None else device_of(Path(backing))
            return set() if below is None else set(below["disks"])
        case "stacked":
            return {name for slave in _slaves(folder) for name in _disks(slave)}
        case _:
            return {_name(folder)}


def _slaves(folder: Path) -> list[Path]:
    try:
        return [slave.resolve() for slave in (folder / "slaves").iterdir()]
    except OSError:
        return []


def _name(folder: Path) -> str:
    # sysfs writes the slash of names such as `cciss/c0d0` as an exclamation mark.
    return folder.name.replace("!", "/")


def _chosen(schedulers: str | None) -> str | None:
    """Return the I/O scheduler in brackets, which is the one in use."""
    if schedulers is None:
        return None
    return next((word[1:-1] for word in schedulers.split() if word.startswith("[")), schedulers)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
