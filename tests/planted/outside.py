"""What others do to a server while it is measured, undone when the block is left.

Everything is done to our own server's processes and files; nothing of the host is changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg

from tests.planted.plants import CAUSES
from tests.planted.reached import Reached

CPU_CONTROLLER = Path("/sys/fs/cgroup/cpu")
GROUP_PREFIX = "assay-planted-"
PERIOD_US = 100_000
END_PATIENCE_S = 30.0
EVICTED_BYTES_MIN = 1 << 20
BURN = """
import os, sys, time
busy_s, idle_s, us = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
while os.getppid() == us:
    until_s = time.monotonic() + busy_s
    while time.monotonic() < until_s:
        pass
    time.sleep(idle_s)
"""


class UnplantableError(Exception):
    """This host does not let the cause be planted; the text says why."""


@contextmanager
def _repeated(once: Callable[[Event], None]) -> Iterator[None]:
    """Calls `once` again and again in a thread. It returns early when the event is set."""
    over = Event()
    failures: list[Exception] = []

    def repeat() -> None:
        try:
            while not over.is_set():
                once(over)
        except Exception as failure:  # noqa: BLE001 - it is raised below, in the caller's thread
            failures.append(failure)

    thread = Thread(target=repeat, name="planting")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]


@contextmanager
def lock(server: Reached, *, statement: str, held_ms: float, free_ms: float) -> Iterator[None]:
    """Another session holds a lock, lets it go, and takes it again."""
    text = (CAUSES / statement).read_text(encoding="utf-8")
    with closing(psycopg.connect(server.dsn)) as connection:

        def once(over: Event) -> None:
            # A server that is stopped ends its sessions.
            with suppress(psycopg.OperationalError):
                connection.execute(text.encode())
                over.wait(held_ms / 1e3)
                connection.rollback()
            over.wait(free_ms / 1e3)

        with _repeated(once):
            yield


@contextmanager
def quota(server: Reached, *, cpus: float) -> Iterator[None]:
    """All processes of the server share this much CPU time, in a control group of their own."""
    group = CPU_CONTROLLER / f"{GROUP_PREFIX}{server.pid}"
    if not os.access(CPU_CONTROLLER / "cgroup.procs", os.W_OK):
        raise UnplantableError(f"no CPU limit can be set here: {CPU_CONTROLLER} is not writable")
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(round(cpus * PERIOD_US)))
        for pid in server.processes:
            _move(pid, group)
        yield
    finally:
        _remove(group)


def _move(pid: int, group: Path) -> None:
    # A process that ended meanwhile is nobody's loss.
    with suppress(ProcessLookupError):
        (group / "cgroup.procs").write_text(str(pid))


def _remove(group: Path) -> None:
    deadline_s = time.monotonic() + END_PATIENCE_S
    while True:
        for pid in (group / "cgroup.procs").read_text(encoding="ascii").split():
            _move(int(pid), group.parent)
        try:
            group.rmdir()
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.01)


@contextmanager
def evict(server: Reached, *, every_ms: float, share: float) -> Iterator[None]:
    """The first part of each large file of the database leaves the page cache, again and again."""
    files = [file for file in (server.cluster / "base").rglob("*") if file.is_file()]
    with ExitStack() as stack:
        large: list[tuple[int, int]] = []
        for file in files:
            if (size_bytes := file.stat().st_size) >= EVICTED_BYTES_MIN:
                descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
                stack.callback(os.close, descriptor)
                # Only what is on the disk already can be let go.
                os.fdatasync(descriptor)
                large.append((descriptor, int(size_bytes * share)))

        def once(over: Event) -> None:
            for descriptor, let_go_bytes in large:
                os.posix_fadvise(descriptor, 0, let_go_bytes, os.POSIX_FADV_DONTNEED)
            over.wait(every_ms / 1e3)

        with _repeated(once):
            yield


@contextmanager
def neighbours(
    server: Reached, *, count: int, cpu: int, busy_ms: float = 100, idle_ms: float = 0
) -> Iterator[None]:
    """Others' processes that compute on one CPU, with pauses, until they are ended or we are."""
    program = [sys.executable, "-c", BURN]
    program += [str(busy_ms / 1e3), str(idle_ms / 1e3), str(os.getpid())]
    # In sessions of their own: a kernel that shares CPUs out by session shares out to each of them.
    burning = [subprocess.Popen(program, start_new_session=True) for _ in range(count)]
    try:
        for process in burning:
            os.sched_setaffinity(process.pid, [cpu])
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


@contextmanager
def nothing() -> Iterator[None]:
    """Nobody does anything."""
    yield


Outside = Callable[..., AbstractContextManager[None]]
BY_NAME: dict[str, Outside] = {
    "lock": lock,
    "quota": quota,
    "evict": evict,
    "neighbours": neighbours,
}


def planted_outside(
    asked: tuple[str, dict[str, Any]] | None, server: Reached | None
) -> AbstractContextManager[None]:
    """What an arm asks of others, done to a server."""
    if asked is None or server is None:
        return nothing()
    name, arguments = asked
    return BY_NAME[name](server, **arguments)
