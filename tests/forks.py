"""Commands of `assay` in forks of a process that has imported its modules.

Half of the CPU time of a short command is spent on imports. So a test worker has one process that
imports them once, and each command runs in a fork of it, with its own environment, working
directory, standard output and standard error. Tests that signal a command, or start it through
another program, start the executable instead.

Protocol: SOCK_SEQPACKET. A request is a JSON object with three descriptors: standard output,
standard error, and a socket that gets the command's wait status when it has ended. If the other end
of that socket is closed before, the command is killed.

A program that a test starts can use the same process. It inherits the channel's descriptor, and
the variable `ASSAY_TEST_FORKS` has its number.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).parents[1]
ASSAY = Path(sys.executable).parent / "assay"
CHANNEL = "ASSAY_TEST_FORKS"
REQUEST_BYTES_MAX = 192 * 1024
DESCRIPTORS = 3
# The interpreter and libraries read these variables when they start, which they have done.
READ_AT_START = ("LANG", "LC_", "LD_", "MALLOC_", "OMP_", "POLARS_", "PYTHON", "TZ")
# Threads that its library starts when it is imported would be missing in a fork.
NOT_IMPORTED = "assay.engines.chdb."
# Of memory allocators, and a cleaner of files that Polars writes for what does not fit in memory: a
# fork does without them. OpenBLAS stops its own, which have the process's name, around a fork.
SAFE_THREADS = {"jemalloc_bg_thd", "polars-ooc-clea", Path("/proc/self/comm").read_text().strip()}
LIBRARIES = (
    *(f"sqlglot.dialects.{dialect}" for dialect in ("duckdb", "mysql", "postgres", "sqlite")),
    *("altair", "apsw.ext", "duckdb", "narwhals._interchange", "psycopg", "pymysql"),
    *("rich._emoji_codes", "rich.console", "typer._adapters"),
)


class Forks:
    """Runs commands in forks of a process, which listens at the other end of a channel.

    Attributes:
        channel: Where requests are sent.
        server: Process id of the one that forks; None if this program inherited the channel.
    """

    def __init__(self, channel: socket.socket, server: int | None = None) -> None:
        self.channel = channel
        self.server = server
        self._at_start = at_start(os.environ)

    def fit(self, env: dict[str, str]) -> bool:
        """True if a fork can have this environment."""
        return at_start(env) == self._at_start

    def run(
        self, arguments: tuple[str, ...], env: dict[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Runs `assay` and returns its exit code and output, as `subprocess.run` does."""
        deadline_s = time.monotonic() + timeout_s
        outputs, status = self._started(arguments, env)
        with status:
            texts = read_all(outputs, deadline_s)
            status.settimeout(max(0.1, deadline_s - time.monotonic()))
            code = os.waitstatus_to_exitcode(int(status.recv(64)))
        return subprocess.CompletedProcess([str(ASSAY), *arguments], code, *texts)

    def _started(
        self, arguments: tuple[str, ...], env: dict[str, str]
    ) -> tuple[list[int], socket.socket]:
        """Starts a command; returns where its output and its wait status can be read."""
        request = {"arguments": [*map(str, arguments)], "env": env, "cwd": str(Path.cwd())}
        pipes = [os.pipe(), os.pipe()]
        status, given = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends = [*(end for _, end in pipes), given.detach()]
        socket.send_fds(self.channel, [json.dumps(request).encode()], ends)
        for end in ends:
            os.close(end)
        return [end for end, _ in pipes], status

    def shared(self) -> dict[str, str]:
        """The variables for a program that inherits the channel."""
        return {CHANNEL: str(self.channel.fileno())}


@cache
def forks() -> Forks:
    """The forks of this test worker, or of the one that started this program."""
    number = os.environ.get(CHANNEL)
    return Forks(socket.socket(fileno=int(number))) if number else started()


def started() -> Forks:
    """Starts a process that forks, and that ends with this one."""
    channel, served = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with served:
        number = served.fileno()
        command = [sys.executable, "-m", "tests.forks", str(number)]
        # As the command does for itself before it imports anything.
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        server = subprocess.Popen(command, pass_fds=[number], cwd=ROOT, env=env)
    atexit.register(server.wait)
    atexit.register(channel.close)
    return Forks(channel, server.pid)


def at_start(env: dict[str, str] | os._Environ[str]) -> dict[str, str]:
    """The variables that are read when a process starts, and not again."""
    return {name: value for name, value in env.items() if name.startswith(READ_AT_START)}


def read_all(ends: list[int], deadline_s: float) -> list[str]:
    """What is written into pipes until every process that can write has closed them."""
    blocks: dict[int, list[bytes]] = {end: [] for end in ends}
    with selectors.DefaultSelector() as open_ends:
        for end in ends:
            open_ends.register(end, selectors.EVENT_READ)
        while open_ends.get_map():
            for end in _readable(open_ends, deadline_s):
                blocks[end].append(os.read(end, 1 << 16))
                if not blocks[end][-1]:
                    open_ends.unregister(end)
                    os.close(end)
    return [b"".join(blocks[end]).decode() for end in ends]


def _readable(open_ends: selectors.BaseSelector, deadline_s: float) -> list[int]:
    ready = open_ends.select(max(0.0, deadline_s - time.monotonic()))
    if not ready:
        raise TimeoutError("the command did not end in time")
    return [key.fd for key, _ in ready]


@dataclass(frozen=True)
class Command:
    """A request in its own process."""

    arguments: list[str]
    env: dict[str, str]
    cwd: str
    outputs: tuple[int, int]

    def run(self) -> int:
        """Runs `assay` in place of this process; returns its exit code."""
        from assay.cli.main import main

        self._take_place()
        try:
            main()
        except SystemExit as end:
            return end.code
        return 0

    def _take_place(self) -> None:
        for number, output in enumerate(self.outputs, start=1):
            os.dup2(output, number)
            os.close(output)
        letters = {"encoding": sys.stdout.encoding, "closefd": False}
        sys.stdout = os.fdopen(1, "w", errors=sys.stdout.errors, **letters)
        sys.stderr = os.fdopen(2, "w", errors=sys.stderr.errors, buffering=1, **letters)
        sys.argv = [str(ASSAY), *self.arguments]
        sys.path[0] = str(ASSAY.parent)
        os.environ.clear()
        os.environ.update(self.env)
        os.chdir(self.cwd)


class Server:
    """Forks a process for each request."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.events = selectors.DefaultSelector()
        self.events.register(channel, selectors.EVENT_READ, self._request)
        self.ended = False

    def serve(self) -> Command | None:
        """Returns, in each fork, its command; None when nobody can ask any more."""
        while not self.ended:
            for key, _ in self.events.select():
                if command := key.data():
                    return command
        return None

    def _request(self) -> Command | None:
        message, fds, _, _ = socket.recv_fds(
            self.channel, REQUEST_BYTES_MAX, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            self.ended = True
            return None
        pid = os.fork()
        if pid == 0:
            self.channel.close()
            self.events.close()
            os.close(fds[2])
            return Command(**json.loads(message), outputs=(fds[0], fds[1]))
        for output in fds[:2]:
            os.close(output)
        self._watch(pid, socket.socket(fileno=fds[2]))
        return None

    def _watch(self, pid: int, status: socket.socket) -> None:
        ended = os.pidfd_open(pid)
        self.events.register(ended, selectors.EVENT_READ, partial(self._tell, pid, ended, status))
        self.events.register(status, selectors.EVENT_READ, partial(self._kill, pid, status))

    def _kill(self, pid: int, status: socket.socket) -> None:
        """Ends a command whose end nobody waits for."""
        self.events.unregister(status)
        os.kill(pid, signal.SIGKILL)

    def _tell(self, pid: int, ended: int, status: socket.socket) -> None:
        self.events.unregister(ended)
        os.close(ended)
        _, wait_status = os.waitpid(pid, 0)
        if status in self.events.get_map():
            self.events.unregister(status)
            status.send(str(wait_status).encode())
        status.close()


def import_all() -> None:
    """Imports what commands import, most of it when they come to it."""
    gc.disable()
    package = import_module("assay")
    names = [module.name for module in walk_packages(package.__path__, "assay.")]
    for name in (*names, *LIBRARIES):
        if not name.startswith(NOT_IMPORTED):
            import_module(name)
    # What is there is never garbage: looking at it would copy its memory in each fork.
    gc.collect()
    gc.freeze()
    gc.enable()


def threads() -> set[str]:
    """Names of this process's threads but the first."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    return {(task / "comm").read_text().strip() for task in tasks}


def end(code: int) -> None:
    """Ends this process as Python does, without taking a thousand modules down."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def main() -> None:
    """Serves on the socket whose descriptor is the argument."""
    import_all()
    assert threading.active_count() == 1
    assert threads() <= SAFE_THREADS, f"not safe to fork: {threads()}"
    command = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    end(command.run() if command else 0)


if __name__ == "__main__":
    main()
