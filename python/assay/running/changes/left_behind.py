"""Lists everything that dead runs, installations and data loads left on this host.

Listing changes nothing. Files and changes of active processes are not listed.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.obtaining import LOCK_FILE as INSTALL_LOCK
from assay.engines.obtaining import PARTIAL as INSTALL_PARTIAL
from assay.model.errors import error_words
from assay.running.changes.block_device import MOUNTS, unescaped
from assay.running.changes.limits.hierarchies import find_hierarchies
from assay.running.changes.restoring import changed_now
from assay.running.changes.undo import BLOCK_DEVICES, GROUP_MEMBERS
from assay.running.data.dataset_lock import lock_file, locked_names
from assay.running.data.kept_datasets import DATASETS, partial_names
from assay.running.processes.instance_files import INSTANCE_VARIABLE
from assay.running.processes.process_table import all_processes
from assay.running.processes.shared_memory import abandoned
from assay.running.server.instances import UNOWNED_AGE_S, is_live

if TYPE_CHECKING:
    from collections.abc import Iterator

CHANGE, CONTROL_GROUP, DATA, INSTANCE = "change", "control group", "data", "instance"
LOOP_DEVICE, MEMORY, MOUNT = "loop device", "shared memory", "mount"
PROCESS, SOCKET = "process", "socket"
KINDS = (
    *(CHANGE, CONTROL_GROUP, DATA, INSTANCE, LOOP_DEVICE),
    *(MEMORY, MOUNT, PROCESS, SOCKET),
)
GROUP_PREFIX = "assay-"
SOCKETS = Path("/proc/net/unix")
RESTORE = "`assay doctor --restore` removes it, and so does the next run"
PRUNE = "`assay cache prune` removes it, and so does the next run"


@dataclass(frozen=True)
class LeftBehind:
    """One thing that a dead run, installation or data load left behind.

    Attributes:
        kind: One of `KINDS`.
        description: Text with the path.
        mend: Command that removes it; empty if there is none.
        run: Id of its run; None if it belongs to no run, or the run is not known.
        pid: Process that left it; None if not known.
        since_s: Time of its creation, in seconds since 1970; None if not known.
    """

    kind: str
    description: str
    mend: str = RESTORE
    run: str | None = None
    pid: int | None = None
    since_s: float | None = None


def left_behind(instances: Path, cache: Path) -> list[LeftBehind]:
    """Return everything that dead processes left in the directories of instances and cache.

    For a kind of things that cannot be listed on this host, the result has the reason.
    """
    places = _Dead(instances)
    found: list[LeftBehind] = []
    for kind, things in (
        (INSTANCE, places.directories()),
        (PROCESS, places.processes()),
        (MOUNT, places.mounts()),
        (LOOP_DEVICE, places.loop_devices()),
        (SOCKET, places.sockets()),
        (CONTROL_GROUP, places.control_groups()),
        (CHANGE, _changes(instances)),
        (MEMORY, _memory()),
        (DATA, _half_data(cache / DATASETS)),
        (DATA, _half_installed(cache / "engines")),
    ):
        try:
            found += things
        except OSError as error:
            found.append(LeftBehind(kind, f"{kind}: not known: {error_words(error)}", ""))
    return found


class _Dead:
    """Finds what is left of runs whose owner and guardian processes have ended."""

    def __init__(self, instances: Path) -> None:
        self._instances = instances.resolve()

    def directories(self) -> Iterator[LeftBehind]:
        for path in sorted(self._instances.glob("[!.]*")):
            if path.is_dir() and self._run_of(path):
                yield LeftBehind(INSTANCE, f"directory {path}", run=path.name)

    def processes(self) -> Iterator[LeftBehind]:
        """Yield processes that belong to a dead run's instance."""
        for process in all_processes():
            if process.alive and (run := self._run_of_process(process.pid)):
                yield LeftBehind(PROCESS, f"process {process.pid} of {run}", run=run)

    def mounts(self) -> Iterator[LeftBehind]:
        for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            place = Path(unescaped(line.split()[4]))
            if run := self._run_of(place):
                yield LeftBehind(MOUNT, f"mounted at {place}", run=run)

    def loop_devices(self) -> Iterator[LeftBehind]:
        for file in sorted(BLOCK_DEVICES.glob("loop*/loop/backing_file")):
            with suppress(OSError):  # the device was freed meanwhile
                behind = Path(file.read_text(encoding="utf-8").rstrip("\n"))
                if run := self._run_of(behind):
                    name = file.parent.parent.name
                    yield LeftBehind(LOOP_DEVICE, f"/dev/{name} of {behind}", run=run)

    def sockets(self) -> Iterator[LeftBehind]:
        for line in SOCKETS.read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
            place = line.partition(" /")[2]
            if place and (run := self._run_of(Path(f"/{place}"))):
                yield LeftBehind(SOCKET, f"somebody listens at /{place}", run=run)

    def control_groups(self) -> Iterator[LeftBehind]:
        """Yield control groups of runs that contain no process.

        A run of another user may have made one meanwhile.
        """
        groups = find_hierarchies()
        above = {*groups.first.values(), groups.second, groups.top} - {None}
        group_paths = {path for place in above if place for path in place.glob(f"{GROUP_PREFIX}*")}
        for path in sorted(group_paths):
            run = path.name.removeprefix(GROUP_PREFIX)
            if not is_live(self._instances / run) and _is_deserted(path):
                yield LeftBehind(CONTROL_GROUP, f"control group {path}", f"rmdir {path}", run)

    def _run_of(self, path: Path) -> str | None:
        """Return the dead run to which a path belongs; None if there is none or it is active."""
        if not path.is_relative_to(self._instances) or path == self._instances:
            return None
        run = path.relative_to(self._instances).parts[0]
        return None if is_live(self._instances / run) else run

    def _run_of_process(self, pid: int) -> str | None:
        process = Path(f"/proc/{pid}")
        mark = f"{INSTANCE_VARIABLE}=".encode()
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            marks = [entry.removeprefix(mark) for entry in variables if entry.startswith(mark)]
            named = [Path(os.fsdecode(entry)) for entry in marks]
            runs = [self._run_of(path) for path in (*named, (process / "cwd").readlink())]
        except OSError:  # the file vanished, or belongs to another user
            return None
        dead = [run for run in runs if run is not None]
        return dead[0] if dead else None


def _changes(instances: Path) -> Iterator[LeftBehind]:
    for left in changed_now(instances):
        if left.whose == "left":
            yield LeftBehind(CHANGE, f"{left.run}: {'; '.join(left.words)}", run=left.run)


def _memory() -> Iterator[LeftBehind]:
    for memory in abandoned():
        files = "".join(f" {file}" for file in memory.files)
        mend = f"ipcrm -m {memory.segment.id}" + (f" && rm{files}" if files else "")
        created_s, pid = float(memory.segment.created_s), memory.segment.creator_pid
        yield LeftBehind(MEMORY, memory.description, mend, pid=pid, since_s=created_s)


def _half_data(root: Path) -> Iterator[LeftBehind]:
    for name in sorted({*partial_names(root), *locked_names(root)}):
        if not _is_held(lock_file(root, name)):
            half = "half a data set" if name in partial_names(root) else "lock of a data set"
            yield LeftBehind(DATA, f"{half}: {root / name}", PRUNE)


def _half_installed(engines: Path) -> Iterator[LeftBehind]:
    for partial in sorted(engines.glob(f"*/{INSTALL_PARTIAL}*")):
        if not _is_held(partial.parent / INSTALL_LOCK):
            mend = f"`assay engines install {partial.parent.name}` removes it"
            yield LeftBehind(DATA, f"half an engine: {partial}", mend)


def _is_deserted(group: Path) -> bool:
    with suppress(OSError):
        age_s = time.time() - group.stat().st_mtime
        return age_s > UNOWNED_AGE_S and not (group / GROUP_MEMBERS).read_text(encoding="ascii")
    return False


def _is_held(lock: Path) -> bool:
    """Return True if a process holds the lock of a file, without creating the file."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
