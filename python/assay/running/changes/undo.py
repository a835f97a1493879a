"""Reverts a run's changes to its host, from a journal on disk.

Each step is in the journal on disk before its change is made. The journal is therefore complete,
however and whenever a run ends. Steps are executed in reverse order. A step that was executed
already, or whose change was never made, does nothing.

A guardian whose owner died executes this file by path with `python -I -S`, so it imports nothing of
Assay. The journal is one JSON document: `format`, `boot` (id of the kernel's boot), `run`, `owner`
(the owner's description of itself) and `steps`. Steps have `do`, `path` and `words` (the changed
thing). `write` and `run_sql` also have a `text`: the earlier value, or engine and statements as
JSON.

    write         writes the text into the file
    unmount       unmounts what is mounted there
    detach        frees the loop devices that this file is behind
    leave_group   removes a control group; whoever is still in it goes to the group above
    unlink        removes a file
    run_sql       runs statements on a database file, in a process that imports Assay
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
SUFFIX = ".json"
LOCK_FILE = ".lock"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
BLOCK_DEVICES = Path("/sys/block")
DEVICES = Path("/dev")
GROUP_MEMBERS = "cgroup.procs"
# Seconds to wait for a process that may be ending.
PATIENCE_S = 5.0
LOOK_S = 0.05
# Changes that survive a reboot; all others are in the kernel's memory.
OF_FILES = ("unlink", "run_sql")
# Module that opens an embedded engine, which this program cannot import.
SQL_PROGRAM = "assay.running.server.file_sql"

_LOOP_CLR_FD = 0x4C01
_MNT_DETACH = 2
# The kernel's mark on the name of a deleted file that a device has open.
_REMOVED = " (deleted)"
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Step:
    """One step in the journal that reverts a host change."""

    do: str
    path: str
    words: str
    text: str | None = None


class Journal:
    """The journal of host changes that one run must revert.

    The file exists only while there are any.
    """

    def __init__(self, path: Path, owner: dict[str, Any] | None = None) -> None:
        self.path = path
        self.run = path.name.removesuffix(SUFFIX)
        self.boot = boot_id()
        self.owner = owner or {}
        self.steps: list[Step] = []

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Return the journal of host changes in a file.

        Raises `OSError`, or `ValueError` if it is not a journal.
        """
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"{path} is not a journal of this version of Assay")
        journal = cls(path, document["owner"])
        journal.boot = document["boot"]
        journal.steps = [Step(**step) for step in document["steps"]]
        return journal

    def note(self, step: Step) -> None:
        """Record the step that reverts a host change.

        The caller makes the change afterwards. Raises `OSError`.
        """
        self.steps.append(step)
        try:
            self._keep()
        except BaseException:
            self.steps.pop()
            raise

    def undo(self) -> list[str]:
        """Revert all host changes, the last first; return descriptions of those that failed.

        Failed steps stay in the journal and do not stop independent steps.
        """
        rebooted = self.boot != boot_id()
        left = []
        for step in reversed(self.steps.copy()):
            try:
                if not rebooted or step.do in OF_FILES:
                    _DOING[step.do](step)
            except OSError as failure:
                left.append(f"{step.words}: {failure}")
            else:
                self._done(step)
        return left

    def take_back(self, step: Step) -> None:
        """Revert one host change now, before changes that were made after it.

        Raises `OSError`; the step then stays in the journal.
        """
        _DOING[step.do](step)
        self._done(step)

    def _done(self, step: Step) -> None:
        self.steps.remove(step)
        self._keep()

    def _keep(self) -> None:
        if not self.steps:
            self.path.unlink(missing_ok=True)
            _settle(self.path.parent)
            return
        document = {
            "format": FORMAT,
            "boot": self.boot,
            "run": self.run,
            "owner": self.owner,
            "steps": [asdict(step) for step in self.steps],
        }
        fresh = self.path.with_name(self.path.name + ".new")
        with fresh.open("w", encoding="utf-8") as out:
            json.dump(document, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.path)
        _settle(self.path.parent)


def boot_id() -> str:
    """Return the id of the kernel's current boot."""
    return BOOT_ID.read_text(encoding="ascii").strip()


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[int]:
    """Hold the lock of host changes, so that one process at a time makes or reverts them.

    The lock belongs to the yielded file descriptor. A child that inherits it also holds the lock.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(directory / LOCK_FILE, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def loops_of(file: str, devices: Path = BLOCK_DEVICES) -> list[str]:
    """Return the names of the loop devices attached to a file."""
    names = []
    for backing_file in sorted(devices.glob("loop*/loop/backing_file")):
        with contextlib.suppress(OSError):  # the device was freed meanwhile
            if backing_file.read_text(encoding="utf-8").rstrip("\n").removesuffix(_REMOVED) == file:
                names.append(backing_file.parent.parent.name)
    return names


def _settle(directory: Path) -> None:
    """Flush a directory to disk, so that new names in it are durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(step: Step) -> None:
    """Write the earlier value to a kernel file; do nothing if the device is gone."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        # Without O_CREAT, a file that the kernel does not have is not created.
        descriptor = os.open(step.path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, (step.text or "").encode())
        finally:
            os.close(descriptor)


def _unmount(step: Step) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while (number := _umount2(step.path, 0)) == errno.EBUSY and time.monotonic() < deadline_s:
        time.sleep(LOOK_S)
    if number == errno.EBUSY:
        number = _umount2(step.path, _MNT_DETACH)
    # EINVAL means that nothing is mounted there. A process without permission to mount gets EPERM
    # even then.
    if number == errno.EPERM and not os.path.ismount(step.path):
        return
    if number not in (0, errno.EINVAL, errno.ENOENT):
        raise OSError(number, os.strerror(number), step.path)


def _umount2(path: str, flags: int) -> int:
    if _LIBC.umount2(os.fsencode(path), flags) == 0:
        return 0
    return ctypes.get_errno()


def _detach(step: Step) -> None:
    for name in loops_of(step.path):
        try:
            descriptor = os.open(DEVICES / name, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            fcntl.ioctl(descriptor, _LOOP_CLR_FD, 0)
        except OSError as failure:
            if failure.errno != errno.ENXIO:  # the device is free already
                raise
        finally:
            os.close(descriptor)
    deadline_s = time.monotonic() + PATIENCE_S
    while held := loops_of(step.path):
        if time.monotonic() > deadline_s:
            # Another mount namespace may hold the mount; the kernel frees the device when it ends.
            if all(_frees_itself(name) for name in held):
                return
            raise OSError(errno.EBUSY, "something has the loop device open", step.path)
        time.sleep(LOOK_S)


def _frees_itself(name: str) -> bool:
    """Return True if the kernel detaches a loop device once no process has it open."""
    try:
        return (BLOCK_DEVICES / name / "loop" / "autoclear").read_text().strip() == "1"
    except OSError:
        return False


def _leave_group(step: Step) -> None:
    group = Path(step.path)
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError as failure:
            if failure.errno != errno.EBUSY or time.monotonic() > deadline_s + PATIENCE_S:
                raise
        else:
            return
        if time.monotonic() > deadline_s:
            _empty(group)
        time.sleep(LOOK_S)


def _empty(group: Path) -> None:
    for pid in (group / GROUP_MEMBERS).read_text(encoding="ascii").split():
        with contextlib.suppress(ProcessLookupError):
            (group.parent / GROUP_MEMBERS).write_text(pid, encoding="ascii")


def _unlink(step: Step) -> None:
    Path(step.path).unlink(missing_ok=True)


def _run_sql(step: Step) -> None:
    """Execute SQL statements on a database file; do nothing if the file is gone."""
    if not Path(step.path).exists():
        return
    # A module in the current directory, which may be another user's, must not take its place.
    command = [sys.executable, "-P", "-m", SQL_PROGRAM, step.path]
    # In its own session, the process does not receive Ctrl-C of the terminal.
    ended = subprocess.run(
        command,
        input=step.text or "",
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines()
        raise OSError(said[-1] if said else f"{SQL_PROGRAM} ended with {ended.returncode}")


_DOING = {
    "write": _write,
    "unmount": _unmount,
    "detach": _detach,
    "leave_group": _leave_group,
    "unlink": _unlink,
    "run_sql": _run_sql,
}


def put_back(path: Path) -> list[str]:
    """Revert the host changes of a journal if it exists; return what failed."""
    if not path.exists():
        return []
    with locked(path.parent):
        try:
            journal = Journal.read(path)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as failure:
            return [f"{path} cannot be read: {failure}"]
        return journal.undo()


def main(arguments: list[str]) -> int:
    """Revert the host changes of the journal named by the argument; return the exit code."""
    left = put_back(Path(arguments[0]))
    for problem in left:
        sys.stderr.write(f"not put back: {problem}\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
