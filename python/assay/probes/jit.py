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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROC = Path("/proc")
TIMEOUT_S = 5.0
_POLL_S = 0.01
# Version 1 of the protocol: version, command, and three arguments, each ended by a zero byte.
_REQUEST = b"1\0jcmd\0Compiler.perfmap\0\0\0"
_DONE = b"0"


class Started(NamedTuple):
    """A process and the time of its start, which no later process with the same pid has."""

    pid: int
    start_ticks: int  # since boot


class _Jvm(NamedTuple):
    """A JVM that is open: descriptor and directory are never those of another process.

    Attributes:
        descriptor: Process descriptor.
        tmp: The JVM's own `/tmp`.
        status: Fields of the process's `status`, when it was opened.
    """

    descriptor: int
    tmp: Path
    status: dict[str, str]

    @property
    def own_pid(self) -> str:
        """The pid that the JVM has in its own namespace."""
        return self.status["NSpid"].split()[-1]


class _RefusedError(Exception):
    """Error: a JVM does not write its list of compiled code."""


def find_started(pid: int, proc: Path = PROC) -> Started | None:
    """Return the process that has a pid now, or None."""
    found = _parent_and_start(pid, proc)
    return Started(pid, found[1]) if found else None


@contextmanager
def perf_maps(
    engine: Iterable[Started], timeout_s: float = TIMEOUT_S, proc: Path = PROC
) -> Iterator[list[str]]:
    """Have every JVM among some processes write its list of compiled code, for the block.

    Yields a sentence for each JVM that wrote none. The lists are removed at the end.

    Args:
        engine: Roots of process trees; ended processes are skipped.
        timeout_s: Timeout for each JVM.
        proc: Directory of the kernel's process files.
    """
    with ExitStack() as stack:
        refusals = [_refusal(jvm, timeout_s, proc, stack) for jvm in virtual_machines(engine, proc)]
        yield [refusal for refusal in refusals if refusal is not None]


def virtual_machines(engine: Iterable[Started], proc: Path = PROC) -> list[Started]:
    """Return the processes that run a HotSpot JVM, by ascending pid."""
    processes = _with_descendants(engine, proc)
    return sorted(process for process in processes if _runs_hotspot(proc / str(process.pid)))


def _with_descendants(engine: Iterable[Started], proc: Path) -> set[Started]:
    descendants: set[Started] = set()
    waiting = list(engine)
    while waiting:
        process = waiting.pop()
        if process in descendants or find_started(process.pid, proc) != process:
            continue
        descendants.add(process)
        waiting += _children(process, proc)
    return descendants


def _children(process: Started, proc: Path) -> list[Started]:
    children: list[Started] = []
    for path in proc.glob(f"{process.pid}/task/*/children"):
        with suppress(OSError):  # the thread ended
            for pid in map(int, path.read_text().split()):
                parent, start_ticks = _parent_and_start(pid, proc) or (None, 0)
                if parent == process.pid:
                    children.append(Started(pid, start_ticks))
    # If another process has the pid by now, the children may be that one's.
    return children if find_started(process.pid, proc) == process else []


def _parent_and_start(pid: int, proc: Path) -> tuple[int, int] | None:
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command name, in parentheses, may itself contain spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[19])


def _runs_hotspot(process: Path) -> bool:
    try:
        # File names may contain arbitrary bytes.
        mappings = (process / "maps").read_text(errors="replace")
    except OSError:
        return False
    # OpenJ9 also has a libjvm.so, but answers the signal with a dump of all its memory.
    return "/libjvm.so" in mappings and "/libj9" not in mappings


def _refusal(process: Started, timeout_s: float, proc: Path, stack: ExitStack) -> str | None:
    """Have a JVM write its list until `stack` is closed; return why it did not, or None."""
    pid = process.pid
    try:
        jvm = _opened(process, proc, stack)
        _write_perf_map(jvm, proc / str(pid), time.monotonic() + timeout_s, stack)
    except TimeoutError:
        return (
            f"The JVM {pid} did not answer within {timeout_s:g} s (-XX:+DisableAttachMechanism?)."
        )
    except PermissionError:
        return f"The JVM {pid} belongs to another user: run as that user, or as root."
    except (OSError, _RefusedError) as error:
        return f"The JVM {pid} did not list its compiled code: {error}."
    return None


def _opened(process: Started, proc: Path, stack: ExitStack) -> _Jvm:
    """Open a JVM until `stack` is closed.

    All is opened before the start is compared: it is then of this process, even if the process ends
    and another one gets its pid.
    """
    place = proc / str(process.pid)
    descriptor = os.pidfd_open(process.pid)
    stack.callback(os.close, descriptor)
    tmp = os.open(place / "root/tmp", os.O_PATH | os.O_DIRECTORY)
    stack.callback(os.close, tmp)
    status = _status(place)
    if find_started(process.pid, proc) != process:
        raise _RefusedError("it ended")
    return _Jvm(descriptor, Path(f"/proc/self/fd/{tmp}"), status)


def _write_perf_map(jvm: _Jvm, process: Path, deadline_s: float, stack: ExitStack) -> None:
    _ask(_attach(jvm, process, deadline_s), deadline_s)
    path = jvm.tmp / f"perf-{jvm.own_pid}.map"
    if not path.is_file():
        raise _RefusedError(f"{path.name} is missing though it said that it wrote it")
    stack.callback(_remove, path)


def _remove(path: Path) -> None:
    with suppress(OSError):  # the JVM has ended, and its `/tmp` with it
        path.unlink()


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text(errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _attach(jvm: _Jvm, process: Path, deadline_s: float) -> Path:
    """Make a JVM listen for requests, and return its socket's path."""
    listening = jvm.tmp / f".java_pid{jvm.own_pid}"
    uid, gid = (int(jvm.status[name].split()[1]) for name in ("Uid", "Gid"))
    if not listening.exists():
        _check_handler(jvm, process)
        with _marked(jvm.tmp / f".attach_pid{jvm.own_pid}", uid, gid):
            signal.pidfd_send_signal(jvm.descriptor, signal.SIGQUIT)
            _wait_for(listening, deadline_s)
    file_status = listening.lstat()
    if not stat.S_ISSOCK(file_status.st_mode) or file_status.st_uid != uid:
        raise _RefusedError(f"{listening.name} is not its socket")
    return listening


def _check_handler(jvm: _Jvm, process: Path) -> None:
    """Raise `_RefusedError` if SIGQUIT would end the process.

    It ends a JVM without a handler (-Xrs, or still starting), and most other programs, which the
    process may execute by now.
    """
    if not _runs_hotspot(process):
        raise _RefusedError("it ended")
    if not int(jvm.status["SigCgt"], 16) & 1 << signal.SIGQUIT - 1:
        raise _RefusedError("it does not handle SIGQUIT (option -Xrs?)")


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
