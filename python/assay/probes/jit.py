"""Requests the map of compiled code from the JVMs among an engine's processes.

Code that a JVM compiles is in no file. Its addresses have names only in the JVM's own list:
`/tmp/perf-PID.map`, in the format of the kernel's `perf`. HotSpot writes this list on request since
JDK 17. The request uses HotSpot's attach protocol, like `jcmd`, because an engine with a bundled
runtime rarely includes `jcmd`.

Callers of compiled code are known only if the JVM keeps frame pointers:
`-XX:+PreserveFramePointer`.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TIMEOUT_S = 5.0
_POLL_S = 0.01
# Version 1 of the protocol: version, command, and three arguments, each ended by a zero byte.
_REQUEST = b"1\0jcmd\0Compiler.perfmap\0\0\0"
_DONE = b"0"


@dataclass(frozen=True)
class PerfMap:
    """The list of compiled code that a JVM wrote, or why it did not.

    Attributes:
        pid: Process id of the JVM.
        path: Path of the list in the JVM's own `/tmp`, readable while the JVM lives; None without a
            list.
        reason: Sentence on why there is no list.
    """

    pid: int
    path: Path | None
    reason: str | None = None

    def remove(self) -> None:
        """Remove the JVM's list of compiled code, if there is one."""
        if self.path is not None:
            with suppress(OSError):  # the JVM has ended, and its `/tmp` with it
                self.path.unlink()


class _RefusedError(Exception):
    """Error: a JVM does not write its list of compiled code."""


def write_perf_maps(
    pids: Iterable[int], timeout_s: float = TIMEOUT_S, proc: Path = Path("/proc")
) -> list[PerfMap]:
    """Have every JVM among some processes write its list of compiled code.

    Args:
        pids: Roots of process trees; ended processes are skipped.
        timeout_s: Timeout for each JVM.
        proc: Directory of the kernel's process files.
    """
    return [_perf_map(proc / str(pid), timeout_s) for pid in virtual_machines(pids, proc)]


def virtual_machines(pids: Iterable[int], proc: Path = Path("/proc")) -> list[int]:
    """Return the pids of processes that run a HotSpot JVM, in ascending order."""
    return sorted(pid for pid in _with_descendants(pids, proc) if _runs_hotspot(proc / str(pid)))


def _with_descendants(pids: Iterable[int], proc: Path) -> set[int]:
    descendants: set[int] = set()
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        if pid in descendants:
            continue
        descendants.add(pid)
        for children in proc.glob(f"{pid}/task/*/children"):
            with suppress(OSError):  # the thread ended
                waiting.extend(map(int, children.read_text().split()))
    return descendants


def _runs_hotspot(process: Path) -> bool:
    try:
        # File names may contain arbitrary bytes.
        mappings = (process / "maps").read_text(errors="replace")
    except OSError:
        return False
    # OpenJ9 also has a libjvm.so, but answers the signal with a dump of all its memory.
    return "/libjvm.so" in mappings and "/libj9" not in mappings


def _perf_map(process: Path, timeout_s: float) -> PerfMap:
    pid = int(process.name)
    try:
        return PerfMap(pid, _write_perf_map(process, time.monotonic() + timeout_s))
    except TimeoutError:
        reason = (
            f"The JVM {pid} did not answer within {timeout_s:g} s (-XX:+DisableAttachMechanism?)."
        )
    except PermissionError:
        reason = f"The JVM {pid} belongs to another user: run as that user, or as root."
    except (OSError, _RefusedError) as error:
        reason = f"The JVM {pid} did not list its compiled code: {error}."
    return PerfMap(pid, None, reason)


def _write_perf_map(process: Path, deadline_s: float) -> Path:
    own_pid = _status(process)["NSpid"].split()[-1]
    tmp = process / "root/tmp"
    _ask(_attach(process, tmp, own_pid, deadline_s), deadline_s)
    path = tmp / f"perf-{own_pid}.map"
    if not path.is_file():
        raise _RefusedError(f"{path} is missing though it said that it wrote it")
    return path


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text(errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _attach(process: Path, tmp: Path, own_pid: str, deadline_s: float) -> Path:
    """Make a JVM listen for requests, and return its socket's path."""
    listening = tmp / f".java_pid{own_pid}"
    status = _status(process)
    uid, gid = (int(status[name].split()[1]) for name in ("Uid", "Gid"))
    if not listening.exists():
        with _opened(process) as descriptor, _marked(tmp / f".attach_pid{own_pid}", uid, gid):
            signal.pidfd_send_signal(descriptor, signal.SIGQUIT)
            _wait_for(listening, deadline_s)
    file_status = listening.lstat()
    if not stat.S_ISSOCK(file_status.st_mode) or file_status.st_uid != uid:
        raise _RefusedError(f"{listening} is not its socket")
    return listening


@contextmanager
def _opened(process: Path) -> Iterator[int]:
    """Open a process descriptor of a JVM that takes SIGQUIT as a request to listen.

    SIGQUIT ends other processes: a JVM without a handler (-Xrs, or still starting), and most
    processes that reuse the pid of an ended JVM. The descriptor is therefore opened before the
    process is examined.
    """
    descriptor = os.pidfd_open(int(process.name))
    try:
        if not _runs_hotspot(process):
            raise _RefusedError("it ended")
        if not int(_status(process)["SigCgt"], 16) & 1 << signal.SIGQUIT - 1:
            raise _RefusedError("it does not handle SIGQUIT (option -Xrs?)")
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _marked(mark: Path, uid: int, gid: int) -> Iterator[None]:
    """Create the file that makes a JVM listen on the signal instead of dumping its threads."""
    with suppress(FileNotFoundError):
        mark.unlink()
    descriptor = os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        if os.geteuid() != uid:
            os.fchown(descriptor, uid, gid)
        yield
    finally:
        os.close(descriptor)
        mark.unlink(missing_ok=True)


def _wait_for(path: Path, deadline_s: float) -> None:
    while not path.exists():
        if time.monotonic() > deadline_s:
            raise TimeoutError
        time.sleep(_POLL_S)


def _ask(listening: Path, deadline_s: float) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(max(_POLL_S, deadline_s - time.monotonic()))
        connection.connect(str(listening))
        connection.sendall(_REQUEST)
        with connection.makefile("rb") as answer:
            code, _, body = answer.read().partition(b"\n")
    if code != _DONE:
        raise _RefusedError(body.decode(errors="replace").strip().partition("\n")[0] or "no answer")
