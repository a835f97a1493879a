"""Starts, stops and awaits processes through the guardian process.

Every engine and driver host is started through a `Guardian`, never directly, so that it ends with
the owner. A `Guardian` is for one thread only.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.running.host import places
from assay.running.processes import guardian
from assay.running.processes.guarding import KILL_PATIENCE_S, MESSAGE_BYTES_MAX
from assay.running.processes.process_table import read_process
from assay.running.server.instances import (
    LaunchError,
    cannot_make,
    clear,
    directory_mode,
    planned_directory,
    write_owner,
)

ANSWER_PATIENCE_S = 60.0
# Limit of an orderly end: the longest grace, then twice the guardian's patience with SIGKILL.
CLOSE_MARGIN_S = 2 * KILL_PATIENCE_S + 15.0


@dataclass(frozen=True)
class Child:
    """A process that the guardian started, leader of its own session and group."""

    id: int
    pid: int
    pgid: int


@dataclass(frozen=True)
class Exit:
    """The end of a child process: its exit status or signal, and its resource use.

    Exactly one of `status` and `signal` is not None.

    The resources include those of descendants that the child waited for. `maxrss_bytes` is the
    maximum of any single process, and at least the guardian's own size (about 12 MiB), because the
    kernel keeps the value from before the child's exec.
    """

    child: Child
    status: int | None
    signal: int | None
    user_s: float
    system_s: float
    maxrss_bytes: int


class Guardian:
    """One guardian process, which ends all processes of a run and removes its directory.

    `run_id` is the name of the directory, which is private and below `instances` (default:
    `places.instances_dir()`). The names owner.json, children.json and guardian.* in it are
    reserved. Raises `LaunchError` if the directory exists or the guardian does not start.
    """

    def __init__(self, run_id: str, instances: Path | None = None) -> None:
        self.run_id = run_id
        self.directory = planned_directory(run_id, instances or places.instances_dir())
        self._children: dict[int, Child] = {}
        self._graces_s: dict[int, float] = {}
        self._exits: dict[int, Exit] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._stopped: set[int] = set()
        self._ready = self._lost = self._closed = False
        self._broken: str | None = None
        self._ids = 0
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            # The guardian prints into this file until it has made the directory with its log.
            with theirs, tempfile.TemporaryFile() as self._early_log:
                self._process = self._spawn(theirs)
                theirs.close()
                self._await_ready()
            self._write_owner()
        except OSError as failure:
            self._abandon()
            raise LaunchError(f"the guardian process cannot be started: {failure}") from failure
        except BaseException:
            self._abandon()
            raise

    @property
    def pid(self) -> int:
        """The guardian process's own pid."""
        return self._process.pid

    def start(  # noqa: PLR0913 - each is a fact of the process
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        stop_signal: str = "SIGTERM",
        stop_grace_s: float = 10.0,
        abandoned_grace_s: float | None = None,
        control: socket.socket | None = None,
        groups: Sequence[Path] = (),
        stops_others: bool = False,
    ) -> Child:
        """Start a process in its own session, with its output appended to `log`.

        `env` is the whole environment plus ASSAY_INSTANCE; nothing is inherited. `control` is the
        child's end of a socket pair, whose descriptor number is in ASSAY_CONTROL_FD for the child.
        The caller must close its copy after the call, or the end of the child's side is never seen.
        `abandoned_grace_s` is the grace if the owner ended without stopping the child; None means
        `stop_grace_s`. `groups` are member files of control groups that the child joins before its
        program begins. Processes that a child with `stops_others` left stopped are resumed when it
        has ended.

        A program that changes its user loses the parent-death signal. To start a server as another
        user, `setpriv --pdeathsig keep` is needed; otherwise only a sweep ends it after the
        guardian was killed.

        Raises `LaunchError` if the process cannot be started, `ValueError` for an unknown signal or
        a negative grace.
        """
        _check_stop(stop_signal, stop_grace_s)
        self._ids += 1
        request = {
            "do": "start",
            "id": self._ids,
            "argv": list(argv),
            "env": dict(env),
            "cwd": str(Path(cwd).absolute()),
            "log": str(Path(log).absolute()),
            "stop_signal": stop_signal,
            "stop_grace_s": stop_grace_s,
            "abandoned_grace_s": stop_grace_s if abandoned_grace_s is None else abandoned_grace_s,
            "fds": 0 if control is None else 1,
            "groups": [str(members) for members in groups],
            "stops_others": stops_others,
        }
        self._graces_s[self._ids] = stop_grace_s
        self._ask(request, [] if control is None else [control.fileno()])
        answer = self._await_answer(self._ids, argv[0])
        if answer["event"] == "start_failed":
            del self._graces_s[self._ids]
            raise LaunchError(_why_not_started(argv[0], answer) + _groups_of(answer, groups))
        return self._children[self._ids]

    def stop(self, child: Child) -> Exit:
        """Stop a process and its whole group, and return when none of it is left.

        The leader receives its stop signal, and after its end the rest of the group does. After the
        grace, all receive SIGKILL. A child that has ended already is no error. Raises `LaunchError`
        if SIGKILL has no effect.
        """
        if child.id not in self._stopped:
            self._ask({"do": "stop", "id": child.id}, [])
        deadline_s = self._graces_s[child.id] + KILL_PATIENCE_S
        for _ in self._news(deadline_s):
            if child.id in self._stopped and child.id in self._exits:
                return self._exits[child.id]
        raise LaunchError(
            f"process {child.pid} did not end within {KILL_PATIENCE_S:.0f} s of SIGKILL: "
            f"it waits inside the kernel, mostly for a disk; see /proc/{child.pid}/stack"
        )

    def wait(self, child: Child, timeout_s: float | None = None) -> Exit | None:
        """Return how a process ended, or None if it still runs after `timeout_s`."""
        for _ in self._news(timeout_s):
            if child.id in self._exits:
                return self._exits[child.id]
        return None

    def close(self) -> None:
        """Stop every process group and remove the run's directory.

        Raises `LaunchError` if something remains.
        """
        if self._closed:
            return
        self._closed = True
        try:
            with closing(self._channel):
                self._await_end()
        finally:
            if self._process.poll() is not None and self.directory.exists():
                self._clear_after_loss()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        # Without -S, the .pth files of site-packages would run, some of which import much.
        program = [sys.executable, "-I", "-S", str(Path(guardian.__file__).absolute())]
        channel = theirs.fileno()
        facts = (channel, os.getpid(), self.directory, f"{directory_mode():o}")
        return subprocess.Popen(
            [*program, *map(str, facts)],
            stdin=subprocess.DEVNULL,
            stdout=self._early_log,
            stderr=self._early_log,
            cwd="/",
            pass_fds=[channel],
            start_new_session=True,
        )

    def _write_owner(self) -> None:
        process = read_process(self._process.pid)
        write_owner(self.directory, self.run_id, process)

    def _await_ready(self) -> None:
        for _ in self._news(ANSWER_PATIENCE_S):
            if self._ready:
                return
        raise LaunchError(
            f"the guardian process was not ready within {ANSWER_PATIENCE_S:.0f} s: the host is "
            "overloaded, try again while it is less busy"
        )

    def _abandon(self) -> None:
        """Undo the construction of a guardian that failed to start."""
        self._closed = True
        self._channel.close()
        if hasattr(self, "_process"):
            self._process.wait()

    def _ask(self, request: dict[str, Any], fds: list[int]) -> None:
        self._check_alive()
        message = json.dumps(request).encode()
        if len(message) > MESSAGE_BYTES_MAX:
            raise LaunchError(
                f"arguments and environment take {len(message)} bytes, more than the "
                f"{MESSAGE_BYTES_MAX} of one request: pass fewer variables in env"
            )
        try:
            socket.send_fds(self._channel, [message], fds)
        except (BrokenPipeError, ConnectionResetError):
            self._lost = True
            self._check_alive()

    def _await_answer(self, child_id: int, program: str) -> dict[str, Any]:
        for _ in self._news(ANSWER_PATIENCE_S):
            if child_id in self._answers:
                return self._answers.pop(child_id)
        raise LaunchError(
            f"{program} was not started within {ANSWER_PATIENCE_S:.0f} s: the file system it lies "
            "on does not answer, or the host is overloaded"
        )

    def _news(self, timeout_s: float | None) -> Iterator[None]:
        """Yield at once and after every event from the guardian, until `timeout_s` have passed.

        Raises `LaunchError` if the guardian is lost and the caller still waits.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            yield
            self._check_alive()
            rest_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            if not self._readable(rest_s):
                return
            self._receive()

    def _readable(self, timeout_s: float | None) -> bool:
        watch = select.poll()
        watch.register(self._channel, select.POLLIN)
        return bool(watch.poll(None if timeout_s is None else timeout_s * 1000))

    def _receive(self) -> None:
        try:
            message = self._channel.recv(MESSAGE_BYTES_MAX)
        except ConnectionResetError:
            message = b""
        if not message:
            self._lost = True
            return
        self._note(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "ready":
                self._ready = True
            case "refused":
                raise cannot_make(event["errno"], event["error"], self.directory)
            case "started":
                child = Child(event["id"], event["pid"], event["pgid"])
                self._children[child.id] = child
                self._answers[child.id] = event
            case "start_failed":
                self._answers[event["id"]] = event
            case "exited":
                self._note_exit(event)
            case "stopped":
                self._stopped.add(event["id"])
            case "broken":
                self._broken = event["error"]

    def _note_exit(self, event: dict[str, Any]) -> None:
        ended = Exit(
            child=self._children[event["id"]],
            status=event["status"],
            signal=event["signal"],
            user_s=event["user_s"],
            system_s=event["system_s"],
            maxrss_bytes=event["maxrss_bytes"],
        )
        self._exits[ended.child.id] = ended

    def _check_alive(self) -> None:
        if self._closed:
            raise LaunchError(
                "this guardian process is closed: start a new one for the next process"
            )
        if self._lost:
            raise LaunchError(
                f"{self._loss()}: all processes that it had started are ended as well; repeat "
                "the run"
            )

    def _loss(self) -> str:
        if self._broken:
            return f"the guardian (pid {self.pid}) failed: {self._broken}"
        if not self._ready:
            return f"the guardian did not start: {self._log_end() or 'it left no message'}"
        return f"the guardian (pid {self.pid}) was ended from outside"

    def _log_end(self) -> str:
        self._early_log.seek(0)
        lines = self._early_log.read().decode(errors="replace").splitlines()
        return lines[-1] if lines else ""

    def _await_end(self) -> None:
        """Close the connection for writing and read until the guardian has sent everything."""
        give_up_s = time.monotonic() + max(self._graces_s.values(), default=0.0) + CLOSE_MARGIN_S
        if not self._lost:
            self._channel.shutdown(socket.SHUT_WR)
        while not self._lost and self._readable(max(0.0, give_up_s - time.monotonic())):
            self._receive()
        try:
            self._process.wait(max(0.1, give_up_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise LaunchError(
                f"the guardian (pid {self.pid}) continues to stop processes in the background, "
                f"and the next start removes {self.directory}"
            ) from None

    def _clear_after_loss(self) -> None:
        """Clean up after a guardian that was killed, or ended without removing the directory."""
        swept = clear(self.directory, comparable=True)
        if swept.outcome != "removed":
            raise LaunchError(
                f"the directory {self.directory} could not be removed: {swept.reason}"
            )


def _check_stop(stop_signal: str, stop_grace_s: float) -> None:
    if stop_signal not in signal.Signals.__members__:
        raise ValueError(f"unknown signal {stop_signal!r}: write it as SIGTERM or SIGQUIT")
    if stop_grace_s < 0:
        raise ValueError(f"stop_grace_s is {stop_grace_s}, but the grace period cannot be negative")


def _groups_of(answer: dict[str, Any], groups: Sequence[Path]) -> str:
    """Return text on control groups that may have refused a process at its start."""
    if not groups or answer["errno"] is not None:
        return ""
    there = ", ".join(str(members.parent) for members in groups)
    return f": it has to get into the control groups of --limit ({there}); its log says more"


def _why_not_started(program: str, answer: dict[str, Any]) -> str:
    path = answer["path"] or program
    start = f"cannot start {program}: "
    if answer["errno"] == errno.ENOENT and path == program:
        return start + "not found; install the engine, or give the full path of its program"
    if answer["errno"] == errno.ENOENT:
        return start + f"{path} does not exist; make it first"
    if answer["errno"] == errno.EACCES and path == program and "/" not in program:
        # The kernel also answers so if a directory of PATH is not accessible and no other has the
        # program.
        return start + "not found where this user may look; install it, or give its full path"
    if answer["errno"] in (errno.EACCES, errno.EPERM):
        return start + f"no permission for {path}; see its mode and that of each directory above"
    if answer["errno"] == errno.ENOEXEC:
        return start + "it is not a program for this machine; obtain the engine again"
    return start + f"{answer['error']} ({path})"
