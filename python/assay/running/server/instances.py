"""Manages instance directories of runs: their owners, and removal after a crash.

A directory below `instances_dir()` has a living owner or guardian, or the next sweep removes it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.model.errors import RunFailedError
from assay.running.processes.instance_files import (
    CHILDREN_FILE,
    INSTANCE_VARIABLE,
    LOCK_FILE,
    MARK_FILE,
    free_memory,
    put_back,
    remove_tree,
    take_lock,
    write_json,
)
from assay.running.processes.process_table import Process, all_processes, read_process, send_signal

OWNER_FILE = "owner.json"
SWEEP_LOCK = ".sweep.lock"
GUARDIAN_GRACE_S = 2.0
KILLED_PATIENCE_S = 10.0
# Age in seconds until which a directory without a readable owner file may still be in creation.
UNOWNED_AGE_S = 60.0

_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class LaunchError(RunFailedError):
    """Error: a process could not be started or stopped."""


@dataclass(frozen=True)
class Swept:
    """The result of cleaning up one instance directory.

    `removed`: it was removed now. `live`: it is in use and was not touched. `left`: it should be
    removed but could not be, see `reason`.
    """

    directory: Path
    outcome: Literal["removed", "live", "left"]
    reason: str
    killed_pids: tuple[int, ...] = ()


def sweep(instances_dir: Path) -> list[Swept]:
    """Remove the instance directories of dead runs, with their processes.

    The result has one entry per directory, including live ones. Every start of Assay sweeps. If
    another sweep runs, that one does the work, and the result is empty. Links and directories of
    other users are never touched.
    """
    try:
        lock = take_lock(instances_dir / SWEEP_LOCK)
    except FileNotFoundError:  # no instance was ever started here
        return []
    if lock is None:
        return []
    try:
        # The path is resolved, because processes are recognised by the resolved path.
        entries = sorted(instances_dir.resolve().iterdir())
        return [_sweep_one(entry) for entry in entries if entry.is_symlink() or entry.is_dir()]
    finally:
        os.close(lock)


def is_live(directory: Path) -> bool:
    """Return True if an instance directory is in use or is being made."""
    try:
        owner = _read_owner(directory)
        if owner is None and time.time() - directory.stat().st_mtime < UNOWNED_AGE_S:
            return True
        return (owner is not None and lives_here(owner)) or is_guarded(directory)
    except OSError:  # the directory vanished, or is not readable for this user
        return False


def is_guarded(directory: Path) -> bool:
    """Return True if a guardian holds an instance and cleans up after its owner."""
    if not (directory / LOCK_FILE).exists():
        return False
    with suppress(OSError):
        lock = take_lock(directory / LOCK_FILE)
        if lock is None:
            return True
        os.close(lock)
    return False


def _sweep_one(directory: Path) -> Swept:
    try:
        return _judge(directory)
    except FileNotFoundError:  # its guardian removed it first
        return Swept(directory, "removed", "its guardian removed it")
    except OSError as failure:
        return Swept(directory, "left", f"{failure}: remove it by hand")


def _judge(directory: Path) -> Swept:
    if directory.is_symlink():
        return Swept(directory, "left", "it is a symbolic link, which Assay never makes")
    if directory.stat().st_uid != os.geteuid():
        return Swept(directory, "left", "it belongs to another user")
    owner = _read_owner(directory)
    if owner is None:
        return _judge_unowned(directory)
    comparable = owner.get("pid_space") == _pid_space()
    if comparable and _find(owner, "owner"):
        return Swept(directory, "live", "its owner runs")
    if comparable and (process := _find(owner, "guardian")):
        return _hurry_guardian(directory, process)
    return _clear_unlocked(directory, comparable=comparable)


def _judge_unowned(directory: Path) -> Swept:
    age_s = time.time() - directory.stat().st_mtime
    if age_s < UNOWNED_AGE_S:
        return Swept(directory, "live", "it is being made, or its making failed a moment ago")
    return _clear_unlocked(directory, comparable=False)


def _hurry_guardian(directory: Path, process: Process) -> Swept:
    """End a guardian whose run is dead and that takes too long to clean up."""
    if not _until_gone([process], GUARDIAN_GRACE_S):
        return _clear_unlocked(directory, comparable=True)
    send_signal(process, signal.SIGTERM)
    reason = f"its guardian (pid {process.pid}) still stops processes; the next start looks again"
    return Swept(directory, "left", reason)


def _clear_unlocked(directory: Path, *, comparable: bool) -> Swept:
    # The lock shows a guardian in another container or on another host, whose pid means nothing
    # here.
    lock = take_lock(directory / LOCK_FILE)
    if lock is None:
        return Swept(directory, "live", "a guardian holds its lock")
    try:
        return clear(directory, comparable=comparable)
    finally:
        os.close(lock)


def clear(directory: Path, *, comparable: bool) -> Swept:
    """Kill the remaining processes of an instance directory, then remove it.

    `comparable` is False if the recorded pids are from another boot or pid namespace: then they
    mean nothing here and no process is touched.
    """
    doomed = _leftovers(directory) if comparable else []
    for process in doomed:
        send_signal(process, signal.SIGKILL)
    if stuck := _until_gone(doomed, KILLED_PATIENCE_S):
        pids = ", ".join(str(process.pid) for process in stuck)
        return Swept(directory, "left", f"SIGKILL did not end {pids}; the next start looks again")
    free_memory(directory)
    if not put_back(directory):
        reason = "what its run changed on this host is not put back: `assay doctor --restore`"
        return Swept(directory, "left", reason)
    remove_tree(directory)
    pids_killed = tuple(process.pid for process in doomed)
    return Swept(directory, "removed", "owner and guardian are dead", pids_killed)


def _leftovers(directory: Path) -> list[Process]:
    """Return the processes that a dead guardian of an instance directory left.

    Only sure signs count: the recorded leader (same start time) and its group; a process with the
    directory in ASSAY_INSTANCE or with its mark open. If a group's leader is dead, the group's
    number alone proves nothing, so a member must have one of these signs or work inside the
    directory.
    """
    recorded = {note["pgid"]: note["start_ticks"] for note in _read_children(directory)}
    processes = [p for p in all_processes() if p.alive and p.pid not in _own_line()]
    leaders = {p.pid for p in processes if recorded.get(p.pid) == p.start_ticks}
    return [
        process
        for process in processes
        if process.pgid in leaders
        or _is_marked(process.pid, directory)
        or (
            process.start_ticks >= recorded.get(process.pgid, process.start_ticks + 1)
            and _works_inside(process.pid, directory)
        )
    ]


def _is_marked(pid: int, directory: Path) -> bool:
    mark = f"{INSTANCE_VARIABLE}={directory}".encode()
    try:
        if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return True
        return any(_leads_to(file, directory) for file in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:  # the process ended, or belongs to another user
        return False


def _leads_to(descriptor: Path, directory: Path) -> bool:
    """Return True if an open file is the instance's mark, which only its processes have."""
    try:
        return descriptor.readlink() == directory / MARK_FILE
    except FileNotFoundError:  # the file was closed meanwhile
        return False


def _works_inside(pid: int, directory: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(directory)
    except OSError:
        return False


def _own_line() -> set[int]:
    """Return the pids of this process and its ancestors, which must not be killed."""
    line: set[int] = set()
    process = read_process(os.getpid())
    while process is not None and process.pid not in line:
        line.add(process.pid)
        process = read_process(process.ppid)
    return line


def _until_gone(processes: list[Process], timeout_s: float) -> list[Process]:
    """Wait for processes to end, and return those that still run."""
    deadline_s = time.monotonic() + timeout_s
    while alive := [process for process in processes if _lives(process)]:
        if time.monotonic() >= deadline_s:
            break
        time.sleep(0.02)
    return alive


def _lives(process: Process) -> bool:
    now = read_process(process.pid)
    return now is not None and now.alive and now.start_ticks == process.start_ticks


def planned_directory(run_id: str, instances: Path) -> Path:
    """Return the path of a new instance's directory, which its guardian makes; make its parents.

    Raises `LaunchError`.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise LaunchError(
            f"{run_id!r} is not a valid run id: use letters, digits, '.', '_' and '-'"
        )
    try:
        instances.mkdir(mode=directory_mode(), parents=True, exist_ok=True)
    except OSError as failure:
        raise cannot_make(failure.errno, failure.strerror, instances) from None
    # The path is resolved, because processes are recognised by it and the guardian works from "/".
    return instances.resolve() / run_id


def directory_mode() -> int:
    """Return the mode of instance directories.

    Root's servers run as another user, who must traverse the directory; its content has its own
    modes.
    """
    return 0o711 if os.geteuid() == 0 else 0o700


def cannot_make(number: int | None, error: str | None, directory: Path) -> LaunchError:
    """Return the error for a directory that could not be made.

    Args:
        number: Error number of the operating system.
        error: Its text; None if there is none.
        directory: Path of the directory.
    """
    if number == errno.EEXIST:
        return LaunchError(f"{directory} exists: choose another run id")
    return LaunchError(
        f"{directory} cannot be created: {error}. Set XDG_STATE_HOME to a directory in which this "
        "user can create files"
    )


def write_owner(directory: Path, run_id: str, guardian_process: Process | None) -> None:
    """Record this process as an instance's owner, with its guardian."""
    facts = {"run_id": run_id, **identity(), "guardian": _identity(guardian_process)}
    write_json(directory / OWNER_FILE, facts)


def identity() -> dict[str, Any]:
    """Return this process's identity, which stays unique if its pid is reused."""
    return {"pid_space": _pid_space(), "owner": _identity(read_process(os.getpid()))}


def lives_here(facts: dict[str, Any]) -> bool:
    """Return True if the process with an identity lives in this pid namespace."""
    return facts.get("pid_space") == _pid_space() and _find(facts, "owner") is not None


def _identity(process: Process | None) -> dict[str, int] | None:
    if process is None:
        return None
    return {"pid": process.pid, "start_ticks": process.start_ticks}


def _find(owner: dict[str, Any], who: str) -> Process | None:
    """Return the recorded process if it lives; None if it ended or its pid was reused."""
    recorded = owner.get(who)
    process = read_process(recorded["pid"]) if recorded else None
    if recorded is None or process is None or not process.alive:
        return None
    return process if process.start_ticks == recorded["start_ticks"] else None


def _pid_space() -> str:
    """Return the scope in which pids are comparable: one boot, one pid namespace."""
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot_id} {Path('/proc/self/ns/pid').readlink()}"


def _read_owner(directory: Path) -> dict[str, Any] | None:
    try:
        owner = json.loads(_read_plain(directory / OWNER_FILE))
    except (FileNotFoundError, ValueError):
        return None
    return owner if isinstance(owner, dict) else None


def _read_children(directory: Path) -> list[dict[str, int]]:
    try:
        noted = json.loads(_read_plain(directory / CHILDREN_FILE))
    except (FileNotFoundError, ValueError):
        return []
    return noted if isinstance(noted, list) else []


def _read_plain(path: Path) -> bytes:
    # A link in place of the file is not Assay's, and is not followed.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as source:
        return source.read()
