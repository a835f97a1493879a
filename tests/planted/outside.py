"""What others do to a database while it is measured, undone when the block is left.

Everything is done to our own server's processes and files; nothing of the host is changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from assay.engines.mysql_family.statements import split as split_mysql
from assay.engines.postgresql.statements import split as split_standard
from tests.planted.cells import Outsider
from tests.planted.reached import Execute, Reached

CPU_CONTROLLER = Path("/sys/fs/cgroup/cpu")
GROUP_PREFIX = "assay-planted-"
PERIOD_US = 100_000
END_PATIENCE_S = 30.0
EVICTED_BYTES_MIN = 1 << 20
# A process that goes by this name, so that a report can say who it was.
BURN_NAME, WRITE_NAME, READ_NAME = "batch-encoder", "backup-writer", "backup-reader"
BURN = """
import os, sys, time
busy_s, idle_s, us = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
open("/proc/self/comm", "w").write(sys.argv[4])
while os.getppid() == us:
    until_s = time.monotonic() + busy_s
    while time.monotonic() < until_s:
        pass
    time.sleep(idle_s)
"""
# Writes blocks and syncs each, or reads blocks past the cache, until we are gone.
DISK = """
import mmap, os, sys, time
file, kind, block, idle_s, us, name = sys.argv[1:]
block, idle_s, us = int(block), float(idle_s), int(us)
open("/proc/self/comm", "w").write(name)
room = mmap.mmap(-1, block)
room.write(os.urandom(min(block, 1 << 16)) * (block // min(block, 1 << 16)))
span = 256 << 20
flags = os.O_RDWR | os.O_CREAT | (os.O_DIRECT if kind == "read" else 0)
descriptor = os.open(file, flags, 0o600)
if kind == "read":
    for at in range(0, span, block):
        os.pwritev(descriptor, [room], at)
at = 0
while os.getppid() == us:
    if kind == "read":
        os.preadv(descriptor, [room], at)
    else:
        os.pwritev(descriptor, [room], at)
        os.fdatasync(descriptor)
    at = (at + block * 7) % span // block * block
    time.sleep(idle_s)
"""


class UnplantableError(Exception):
    """This host does not let the cause be planted; the text says why."""


@contextmanager
def _repeated(*actions: Callable[[Event], None]) -> Iterator[None]:
    """Calls each action again and again, in a thread each, until the block is left."""
    over = Event()
    failures: list[Exception] = []

    def repeat(action: Callable[[Event], None]) -> None:
        try:
            while not over.is_set():
                action(over)
        except Exception as failure:  # noqa: BLE001 - it is raised below, in the caller's thread
            failures.append(failure)

    threads = [Thread(target=repeat, args=(action,), name="planting") for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


@contextmanager
def session(
    database: Reached,
    *,
    sql: str,
    name: str,
    count: int = 1,
    transaction: bool = True,
    held_ms: float = 0,
    free_ms: float = 0,
) -> Iterator[None]:
    """Sessions of somebody else: statements in a transaction that stays open, again and again.

    Args:
        database: Whose session.
        sql: Its statements.
        name: Under which the server shows it.
        count: How many sessions.
        transaction: False: each statement commits by itself.
        held_ms: How long the transaction stays open, idle, after the last statement.
        free_ms: The pause until it begins anew.
    """
    is_mysql = not any((database.data / file).exists() for file in ("cluster", "assay.sqlite"))
    statements = (split_mysql if is_mysql else split_standard)(sql)
    begin, end = (["begin"], ["rollback"]) if transaction else ([], [])
    with ExitStack() as stack:
        sessions = [stack.enter_context(database.session(name)) for _ in range(count)]

        def action(execute: Execute) -> Callable[[Event], None]:
            def once(over: Event) -> None:
                with _ended_by_the_server(over):
                    for statement in (*begin, *statements):
                        execute(statement)
                    over.wait(held_ms / 1e3)
                    for statement in end:
                        execute(statement)
                over.wait(free_ms / 1e3)

            return once

        with _repeated(*map(action, sessions)):
            yield


@contextmanager
def _ended_by_the_server(over: Event) -> Iterator[None]:
    """A server that is stopped ends its sessions: then there is no more to do."""
    import psycopg
    import pymysql

    try:
        yield
    except (psycopg.OperationalError, pymysql.OperationalError):
        over.wait()


@contextmanager
def quota(database: Reached, *, cpus: float) -> Iterator[None]:
    """All processes of the server share this much CPU time, in a control group of their own."""
    group = CPU_CONTROLLER / f"{GROUP_PREFIX}{database.pid}"
    if not os.access(CPU_CONTROLLER / "cgroup.procs", os.W_OK):
        raise UnplantableError(f"no CPU limit can be set here: {CPU_CONTROLLER} is not writable")
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(round(cpus * PERIOD_US)))
        for pid in database.processes:
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
def evict(database: Reached, *, every_ms: float, share: float) -> Iterator[None]:
    """The first part of each large file of the database leaves the page cache, again and again."""
    files = [file for file in database.data.rglob("*") if file.is_file()]
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
    database: Reached,
    *,
    count: int,
    cpu: int | None = None,
    busy_ms: float = 100,
    idle_ms: float = 0,
) -> Iterator[None]:
    """Others' processes that compute, with pauses, on one CPU or wherever the kernel puts them."""
    program = [sys.executable, "-c", BURN]
    program += [str(busy_ms / 1e3), str(idle_ms / 1e3), str(os.getpid()), BURN_NAME]
    with _processes([program] * count) as pids:
        for pid in pids if cpu is not None else ():
            os.sched_setaffinity(pid, [cpu])
        yield


@contextmanager
def disk(
    database: Reached,
    *,
    kind: str,
    count: int = 1,
    block_bytes: int = 1 << 20,
    idle_ms: float = 0,
) -> Iterator[None]:
    """Others' processes that write and sync, or read past the cache, on the database's disk."""
    files = [database.directory.parent / f"{kind}-{number}.bin" for number in range(count)]
    name = WRITE_NAME if kind == "write" else READ_NAME
    behind = [kind, str(block_bytes), str(idle_ms / 1e3), str(os.getpid()), name]
    try:
        with _processes([[sys.executable, "-c", DISK, str(file), *behind] for file in files]):
            yield
    finally:
        for file in files:
            file.unlink(missing_ok=True)


@contextmanager
def _processes(programs: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Processes that live as long as the block; they end by themselves when we are gone."""
    # In sessions of their own: a kernel that shares CPUs out by session shares out to each of them.
    running = [subprocess.Popen(program, start_new_session=True) for program in programs]
    try:
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()


Acting = Callable[..., AbstractContextManager[None]]
BY_NAME: dict[str, Acting] = {
    "session": session,
    "quota": quota,
    "evict": evict,
    "neighbours": neighbours,
    "disk": disk,
}


@contextmanager
def planted_outside(outsiders: Sequence[Outsider], database: Reached | None) -> Iterator[None]:
    """All that others do to a database; nothing where there is none."""
    with ExitStack() as stack:
        for outsider in outsiders if database is not None else ():
            arguments: dict[str, Any] = outsider.arguments
            stack.enter_context(BY_NAME[outsider.does](database, **arguments))
        yield
