"""Checks that a directory can hold the file of the disk trials, and describes its disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from assay.model.errors import UsageError
from assay.model.units import bytes_text
from assay.running.host.environment import mount_of

SYSFS = Path("/sys")
# File systems in memory: some of them accept O_DIRECT, but it has no meaning there.
IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
# Bytes that stay free for other users of the file system.
SPARE_BYTES = 256 << 20


def check_place(directory: Path, size_bytes: int, spare_bytes: int = SPARE_BYTES) -> None:
    """Check that a trial file of this size can be created, bypassing the page cache.

    Raises:
        UsageError: If such a file cannot be made. The error message says what to do.
    """
    if not directory.is_dir():
        raise UsageError(
            f"{directory} is not a directory: name a directory on the disk with --dir."
        )
    mounted = mount_of(directory)
    if mounted is not None and mounted["type"] in IN_MEMORY:
        raise UsageError(
            f"{directory} is on {mounted['type']}, which is in memory, so no disk would be "
            "measured. Name a directory on a disk with --dir."
        )
    _check_direct(directory)
    _check_room(directory, size_bytes, spare_bytes)


def _check_direct(directory: Path) -> None:
    """Check that the file system supports O_DIRECT and files without a name."""
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"{directory} cannot be written: name another directory with --dir.")
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError as error:
        if _is_refused(directory):
            raise UsageError(
                f"{directory} is on a file system without O_DIRECT ({error.strerror}), so reads "
                "would come from memory. Name a directory on a disk with --dir."
            ) from error


def _is_refused(directory: Path) -> bool:
    """Return True if files can be created in the directory but O_DIRECT is refused."""
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True


def _check_room(directory: Path, size_bytes: int, spare_bytes: int) -> None:
    file_system = os.statvfs(directory)
    free_bytes = file_system.f_bavail * file_system.f_frsize
    if free_bytes < size_bytes + spare_bytes:
        raise UsageError(
            f"the test file needs {bytes_text(size_bytes)} and must leave "
            f"{bytes_text(spare_bytes)} free, but {directory} has {bytes_text(free_bytes)} "
            "free: use a smaller --size, or name another directory with --dir."
        )


def describe_medium(device: dict[str, Any] | None) -> dict[str, Any] | None:
    """Describe the disk below a device; None if there is no disk or several.

    Args:
        device: Description from `devices.device_of`.

    Returns:
        The facts are name, model, driver, write_cache (as the kernel reports it),
        logical_block_bytes, physical_block_bytes and queue_requests. Unknown facts are null.
    """
    if device is None or len(device["disks"]) != 1:
        return None
    name = device["disks"][0]
    folder = SYSFS / "block" / name.replace("/", "!")
    driver = folder / "device" / "driver"
    return {
        "name": name,
        "model": _text(folder / "device" / "model"),
        "driver": driver.resolve().name if driver.exists() else None,
        "write_cache": _text(folder / "queue" / "write_cache"),
        "logical_block_bytes": _number(folder / "queue" / "logical_block_size"),
        "physical_block_bytes": _number(folder / "queue" / "physical_block_size"),
        "queue_requests": _number(folder / "queue" / "nr_requests"),
    }


def last_cache_bytes(cpu: int = 0) -> int | None:
    """Return the size of a CPU's largest cache; None if the host does not report it."""
    folder = SYSFS / "devices" / "system" / "cpu" / f"cpu{cpu}" / "cache"
    sizes = [size for index in folder.glob("index*") if (size := _kib(index / "size"))]
    return max(sizes, default=None)


def _kib(path: Path) -> int | None:
    text = _text(path)
    return int(text[:-1]) << 10 if text and text[-1] == "K" and text[:-1].isdecimal() else None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text and text.isdecimal() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
