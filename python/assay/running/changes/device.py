"""Makes a separate device for an instance's data: a file behind a loop device.

The device has its own read-ahead, counters and throttles, which no other program affects. The loop
device bypasses the page cache for its file, so nothing is cached twice.

A device with snapshots has its file on a separate XFS, which is itself a file behind a loop device.
XFS lets two files share their blocks, so a snapshot is immediate and lies between two writes of the
device (`copies`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import RunFailedError, UsageError
from assay.model.units import bytes_text, parse_bytes
from assay.running.changes.block_device import BlockDevice, device_numbered
from assay.running.changes.ledger import HostChange
from assay.running.changes.undo import BLOCK_DEVICES, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.running.changes.ledger import Ledger

OWN = "own"
IMAGE, MOUNT_POINT = "device.img", "device"
# File and mount point below a device that can be copied.
BELOW_IMAGE, BELOW = "below.img", "below"
PROGRAMS = {"losetup": "util-linux", "mount": "util-linux", "mkfs.ext4": "e2fsprogs"}
PROGRAMS_OF_COPIES = {"mkfs.xfs": "xfsprogs"}
SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
CAP_SYS_ADMIN = 21
SIZE_BYTES_MIN = 64 << 20
# Space in addition to the data for logs, sorted runs and the file system, and for data of unknown
# size.
BESIDE_BYTES, UNKNOWN_BYTES = 1 << 30, 8 << 30
# Space that must stay free on the disk of the file.
SPARE_BYTES = 512 << 20
# Space of XFS itself, mostly its journal; it makes none below 300 MB.
BELOW_BYTES = 512 << 20
PATIENCE_S = 300.0


class NotMountedError(RunFailedError):
    """Error for a device whose file system cannot be mounted."""


@dataclass(frozen=True)
class FileSystem:
    """A kind of file system: its type, and the command that creates it."""

    type: str
    format: tuple[str, ...]


# All metadata are written now, so that nothing is written in the background during the measurement.
EXT4 = FileSystem(
    "ext4",
    (
        *("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "4096", "-i", "65536"),
        *("-E", "lazy_itable_init=0,lazy_journal_init=0"),
    ),
)
XFS = FileSystem("xfs", ("mkfs.xfs", "-q", "-f", "-m", "reflink=1"))


def parse_device(text: str | None) -> tuple[bool, int | None]:
    """Return whether `--device` requests a new device, and its size in bytes.

    Raises:
        UsageError: If the text does not have that form.
    """
    if text is None:
        return False, None
    name, separator, size = text.partition(":")
    try:
        size_bytes = parse_bytes(size) if separator else None
    except ValueError:
        name = ""
    if name != OWN:
        raise UsageError(f"--device {text}: write it as own, or own:4GB for its size")
    if size_bytes is not None and size_bytes < SIZE_BYTES_MIN:
        least = bytes_text(SIZE_BYTES_MIN)
        raise UsageError(f"--device {text}: the minimum size is {least}")
    return True, size_bytes


def why_not(*, copied: bool = False) -> str | None:
    """Return why no loop device can be made here, and the remedy; None if one can.

    Args:
        copied: Whether snapshots of the device are needed.
    """
    if os.geteuid() != 0:
        return "loop devices and mounts are root's: run as root"
    if not _may_mount():
        return "this root may not mount: give the container the capability SYS_ADMIN"
    for program, package in (PROGRAMS | (PROGRAMS_OF_COPIES if copied else {})).items():
        if _program_path(program) is None:
            return f"{program} is not installed: install {package}"
    if not Path("/dev/loop-control").exists():
        return "/dev/loop-control is not there: load the module loop, or give it to the container"
    return None


def _may_mount() -> bool:
    """Return True if the kernel seems to allow mounts."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return True
    held = [int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")]
    return not held or bool(held[0] >> CAP_SYS_ADMIN & 1)


def size_for(asked_bytes: int | None, data_bytes: int | None) -> int:
    """Return the size in bytes of a device for the data: as requested, or twice the data."""
    if asked_bytes is not None:
        return asked_bytes
    return UNKNOWN_BYTES if data_bytes is None else 2 * data_bytes + BESIDE_BYTES


def make_device(
    instance: Path, size_bytes: int, ledger: Ledger, copies: int | None = None
) -> BlockDevice:
    """Make a loop device for the data and mount it below an instance's directory.

    Args:
        instance: Directory of the instance.
        size_bytes: Size of the device.
        ledger: Journal that records the device.
        copies: Number of snapshots that will be taken; None means snapshots are not possible.

    Raises:
        RunFailedError: If the disk has too little space, or a program fails.
    """
    _check_room(instance, size_bytes if copies is None else 2 * size_bytes)
    what = "device of our own"
    with ledger.locked():
        if copies is not None:
            _make_below(instance, size_bytes * (1 + copies) + BELOW_BYTES, ledger)
        image = image_of(instance, copied=copies is not None)
        ledger.journal.note(Step("unlink", str(image), f"{what}: its file {image}"))
        _allocate(image, size_bytes)
        mount_point = instance / MOUNT_POINT
        mount_point.mkdir(mode=0o755)
        loop = attach(image, mount_point, ledger, what, EXT4, make=True)
    direct = is_direct(loop)
    text = f"{bytes_text(size_bytes)}, {'direct' if direct else 'buffered'}"
    ledger.made.append(HostChange(what, loop, None, f"{bytes_text(size_bytes)}, direct", text))
    number = (BLOCK_DEVICES / Path(loop).name / "dev").read_text(encoding="ascii").strip()
    return device_numbered(number, mount_point)


def image_of(instance: Path, *, copied: bool) -> Path:
    """Return the file that backs the loop device of an instance."""
    return (instance / BELOW if copied else instance) / IMAGE


def attach(
    image: Path,
    mount_point: Path,
    ledger: Ledger,
    what: str,
    file_system: FileSystem,
    *,
    make: bool = False,
) -> str:
    """Attach a file to a loop device and mount it; return the device, such as /dev/loop3.

    Args:
        image: File behind the device.
        mount_point: Empty directory.
        ledger: Journal that records both before they are made.
        what: Description of the device.
        file_system: File system of the device.
        make: Whether the file system is made first.

    Raises:
        NotMountedError: If its file system cannot be mounted.
        RunFailedError: If a program fails before the mount.
    """
    ledger.journal.note(detaching(image, what))
    kept = ledger.kept_open
    loop = _run("losetup", "--find", "--show", "--direct-io=on", str(image), kept=kept).strip()
    if make:
        _run(*file_system.format, loop, kept=kept)
    ledger.journal.note(unmounting(mount_point, what))
    try:
        _run("mount", "-t", file_system.type, loop, str(mount_point), kept=kept)
    except RunFailedError as error:
        raise NotMountedError(str(error)) from error
    return loop


def detaching(image: Path, what: str) -> Step:
    """Return the step that frees the loop device of a file."""
    return Step("detach", str(image), f"{what}: loop device of {image}")


def unmounting(mount_point: Path, what: str) -> Step:
    """Return the step of the undo journal that unmounts a file system."""
    return Step("unmount", str(mount_point), f"{what}: mounted at {mount_point}")


def is_direct(loop: str) -> bool:
    """Return True if a loop device bypasses the page cache."""
    file = BLOCK_DEVICES / Path(loop).name / "loop" / "dio"
    return file.read_text(encoding="ascii").strip() == "1"


def _make_below(instance: Path, size_bytes: int, ledger: Ledger) -> None:
    """Make a file system whose files can share their blocks, for device snapshots.

    The file system is as large as without sharing, and takes only the space of written blocks, so
    it is never full.
    """
    image, mount_point = instance / BELOW_IMAGE, instance / BELOW
    what = "file system below the device of our own"
    ledger.journal.note(Step("unlink", str(image), f"{what}: its file {image}"))
    os.close(os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    os.truncate(image, size_bytes)
    mount_point.mkdir(mode=0o700)
    attach(image, mount_point, ledger, what, XFS, make=True)


def _check_room(instance: Path, size_bytes: int) -> None:
    free_bytes = shutil.disk_usage(instance).free
    if free_bytes < size_bytes + SPARE_BYTES:
        raise RunFailedError(
            f"--device own needs {bytes_text(size_bytes)} below {instance.parent}, where "
            f"{bytes_text(free_bytes)} are free: free some space, use a smaller device "
            "(own:SIZE), or set XDG_STATE_HOME to a directory with more space"
        )


def _allocate(image: Path, size_bytes: int) -> None:
    """Allocate all blocks of the file at once, contiguous if there is space."""
    descriptor = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        raise RunFailedError(
            f"--device own: the image {image} of {bytes_text(size_bytes)} cannot be created: "
            f"{error.strerror}"
        ) from error
    finally:
        os.close(descriptor)


def _program_path(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path=SYSTEM_PATH)


def _run(program: str, *arguments: str, kept: tuple[int, ...]) -> str:
    command: Sequence[str] = (_program_path(program) or program, *arguments)
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            pass_fds=kept,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailedError(f"--device own: {program} did not work: {error}") from error
    if ended.returncode != 0:
        message = " / ".join(ended.stderr.split("\n")).strip(" /")
        raise RunFailedError(
            f"--device own: {program} ended with status {ended.returncode}: {message}; `assay "
            "doctor` shows whether this host has the required programs"
        )
    return ended.stdout
