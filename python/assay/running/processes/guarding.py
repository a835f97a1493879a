"""The guardian's loop: it starts every engine and driver host of a run, and ends them with it.

The guardian ensures that no process started by Assay survives the owner, however the owner ends.
The owner holds one end of a socket. When that end closes, or the owner's process ends, the guardian
stops every process group in the engine's own way, kills the rest, and removes the instance
directory.

Every process that the guardian starts stays its descendant until it is dead. The guardian is a
child subreaper, so it adopts orphans, and its children receive SIGKILL when it dies.

The guardian makes the instance directory itself: were the owner to make it, an owner that is killed
before its guardian runs would leave a directory that nobody removes.

The guardian has only one thread: a parent-death signal is sent when the thread that started the
child ends, not the process.

Protocol: SOCK_SEQPACKET, one JSON object per message; a start request carries the child's
descriptors as SCM_RIGHTS.

    start    {do: "start", id, argv, env, cwd, log, stop_signal, stop_grace_s, abandoned_grace_s,
              fds, groups, stops_others}
    stop     {do: "stop", id}
    replies  {event: "refused", errno, error}  the directory could not be made; the guardian ends
             {event: "ready"}
             {event: "started", id, pid, pgid}
             {event: "start_failed", id, errno, path, error}
             {event: "exited", id, status, signal, user_s, system_s, maxrss_bytes}
             {event: "stopped", id}          the whole group is gone
             {event: "broken", error}        the guardian failed and is ending
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from assay.running.processes.c_library import (
    adopt_orphans,
    hear_of_ends_only,
    send_at_parents_death,
)
from assay.running.processes.instance_files import (
    CHILDREN_FILE,
    INSTANCE_VARIABLE,
    LOCK_FILE,
    LOG_FILE,
    MARK_FILE,
    free_memory,
    put_back,
    remove_tree,
    take_lock,
    write_json,
)
from assay.running.processes.process_table import (
    Process,
    live_descendants,
    read_process,
    send_signal,
)

CONTROL_VARIABLE = "ASSAY_CONTROL_FD"


MESSAGE_BYTES_MAX = 192 * 1024  # less than the kernel's default socket buffer of 212,992 bytes
DESCRIPTORS_MAX = 16
# A process that survives SIGKILL for so many seconds hangs in the kernel, so waiting longer is
# useless.
KILL_PATIENCE_S = 30.0
# Interval of polling a group without a leader, because its end may send no SIGCHLD to the guardian.
LEADERLESS_LOOK_S = 0.2

_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class _Child:
    """A process group that the guardian started; its leader's pid is the group's number."""

    def __init__(self, request: dict[str, Any], process: subprocess.Popen[bytes]) -> None:
        self.id: int = request["id"]
        self.process = process
        self.pid = process.pid
        self.stop_signal = signal.Signals[request["stop_signal"]]
        self.stop_grace_s: float = request["stop_grace_s"]
        self.abandoned_grace_s: float = request["abandoned_grace_s"]
        self.stops_others: bool = request["stops_others"]
        self.kill_at_s: float | None = None  # set when a stop begins; time of the monotonic clock
        self.rest_asked = False
        self.killed = False
        # The child is not yet reaped, so the pid is still its own even if it is dead.
        started = read_process(self.pid)
        self.start_ticks = started.start_ticks if started else 0

    @property
    def reaped(self) -> bool:
        return self.process.returncode is not None

    def members(self) -> list[Process]:
        """Return live processes of the group; only descendants of the guardian can be in it."""
        return [p for p in live_descendants(os.getpid()) if p.pgid == self.pid]

    def abandon(self) -> None:
        """Stop the group because the owner is gone, also if it is being stopped already."""
        self.begin_stop()
        give_up_s = time.monotonic() + self.abandoned_grace_s
        self.kill_at_s = min(self.kill_at_s or give_up_s, give_up_s)

    def begin_stop(self) -> None:
        """Signal the leader to end, or the rest of the group if the leader has ended already."""
        if self.kill_at_s is not None:
            return
        self.kill_at_s = time.monotonic() + self.stop_grace_s
        if not self.reaped:
            with contextlib.suppress(PermissionError):
                os.kill(self.pid, self.stop_signal)

    def go_on_stopping(self, members: list[Process]) -> None:
        """Continue a stop: signal the rest of the group, then send SIGKILL."""
        if self.kill_at_s is None or self.killed:
            return
        if time.monotonic() >= self.kill_at_s:
            self.killed = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        elif self.reaped and not self.rest_asked:
            self.rest_asked = True
            for process in members:
                send_signal(process, self.stop_signal)


class _Guard:
    """The guardian's state and its single loop."""

    def __init__(self, channel: socket.socket, owner_pid: int, directory: Path) -> None:
        self.channel = channel
        self.directory = directory
        self.lock = take_lock(directory / LOCK_FILE)
        self.ending = False
        self.listening = True
        self.children: dict[int, _Child] = {}
        self.outbox: deque[bytes] = deque()
        self.selector = selectors.DefaultSelector()
        self.pid = os.getpid()
        self._watch_signals()
        channel.setblocking(False)  # noqa: FBT003 - it has no other form
        self._watch(channel, self._on_request)
        self._watch_owner(owner_pid)

    def serve(self) -> None:
        """Run until the owner ends or a signal requests the end."""
        self._tell({"event": "ready"})
        while not self.ending:
            self._turn()

    def end(self) -> None:
        """Stop every group, kill every other descendant, remove memory and directory.

        The youngest group ends first, so that clients of a server end before the server. The
        directory stays if a process cannot be killed, which may still write to it, or if host
        changes cannot be reverted: a device may be mounted in it.
        """
        self._stop_listening()
        for child in reversed(list(self.children.values())):
            child.abandon()
            give_up_s = (child.kill_at_s or 0.0) + KILL_PATIENCE_S
            while child.id in self.children and time.monotonic() < give_up_s:
                self._turn(1.0)
        if not self._kill_descendants():
            return
        free_memory(self.directory)
        if put_back(self.directory):
            remove_tree(self.directory)

    def tell_broken(self, error: str) -> None:
        self._tell({"event": "broken", "error": error})

    def _turn(self, seconds_max: float | None = None) -> None:
        for key, _ in self.selector.select(self._sleep_s(seconds_max)):
            key.data()
        self._reap()
        self._settle()

    def _sleep_s(self, seconds_max: float | None) -> float | None:
        """Return the seconds until the next step without an event; None waits for events only."""
        limits = [] if seconds_max is None else [seconds_max]
        for child in self.children.values():
            if child.kill_at_s is None:
                continue
            if not child.killed:
                limits.append(child.kill_at_s - time.monotonic())
            if child.reaped:
                limits.append(LEADERLESS_LOOK_S)
        return max(0.0, min(limits)) if limits else None

    def _watch(self, source: socket.socket | int, act: Callable[[], None]) -> None:
        self.selector.register(source, selectors.EVENT_READ, act)

    def _watch_signals(self) -> None:
        reader, self.waker = socket.socketpair()
        reader.setblocking(False)  # noqa: FBT003 - it has no other form
        self.waker.setblocking(False)  # noqa: FBT003 - it has no other form
        signal.set_wakeup_fd(self.waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        hear_of_ends_only()
        for signum in _END_SIGNALS:
            signal.signal(signum, self._on_end_signal)
        self._watch(reader, lambda: _drain(reader))

    def _on_end_signal(self, *_: object) -> None:
        self.ending = True

    def _watch_owner(self, owner_pid: int) -> None:
        # The socket alone is not enough: a forked child of the owner may hold it open.
        if os.getppid() != owner_pid:
            self.ending = True
            return
        with contextlib.suppress(OSError):  # without pidfd, the socket's end must suffice
            self.owner_fd = os.pidfd_open(owner_pid)
            self._watch(self.owner_fd, self._on_owner_gone)

    def _on_owner_gone(self) -> None:
        self.ending = True
        self.selector.unregister(self.owner_fd)

    def _stop_listening(self) -> None:
        self.ending = True
        if self.listening:
            self.listening = False
            self.selector.unregister(self.channel)

    def _on_request(self) -> None:
        self._flush()
        try:
            message, fds, _, _ = socket.recv_fds(
                self.channel, MESSAGE_BYTES_MAX, DESCRIPTORS_MAX, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return
        except ConnectionResetError:  # the owner died with unread events of the guardian
            message, fds = b"", []
        if not message:
            self._stop_listening()
            return
        try:
            self._obey(json.loads(message), fds)
        finally:
            for fd in fds:
                os.close(fd)

    def _obey(self, request: dict[str, Any], fds: list[int]) -> None:
        if request["do"] == "start":
            self._start(request, fds)
        elif (child := self.children.get(request["id"])) is not None:
            child.begin_stop()
        else:
            self._tell({"event": "stopped", "id": request["id"]})

    def _start(self, request: dict[str, Any], fds: list[int]) -> None:
        try:
            _check_arrived(request, fds)
            child = _Child(request, self._spawn(request, fds))
        except (OSError, ValueError, subprocess.SubprocessError) as failure:
            self._tell(_start_failed(request["id"], failure))
            return
        self.children[child.id] = child
        self._note_children()
        self._tell({"event": "started", "id": child.id, "pid": child.pid, "pgid": child.pid})

    def _spawn(self, request: dict[str, Any], fds: list[int]) -> subprocess.Popen[bytes]:
        environment = {**request["env"], INSTANCE_VARIABLE: str(self.directory)}
        if fds:
            environment[CONTROL_VARIABLE] = ",".join(map(str, fds))
        with contextlib.ExitStack() as opened:
            log = opened.enter_context(Path(request["log"]).open("ab"))
            mark = opened.enter_context(self._mark())
            groups = [
                opened.enter_context(Path(group).open("wb", buffering=0))
                for group in request["groups"]
            ]
            return subprocess.Popen(
                request["argv"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=request["cwd"],
                pass_fds=[*fds, mark.fileno()],
                start_new_session=True,
                preexec_fn=partial(  # noqa: PLW1509 - one thread only
                    self._before_program,
                    groups,
                    # This process must undo its own stops before it dies.
                    signal.SIGTERM if request["stops_others"] else signal.SIGKILL,
                ),
            )

    def _mark(self) -> BinaryIO:
        """Open the file that every descendant inherits, by which a sweep recognises it.

        Processes of a server may overwrite their environment with a title and lead their own
        groups, but no other process has this file open.
        """
        return (self.directory / MARK_FILE).open("ab")

    def _before_program(self, groups: list[FileIO], death_signal: int) -> None:
        """Prepare the child between fork and exec: it dies with the guardian, and joins its groups.

        The program is therefore in its groups from its start, with the guardian's rights, whatever
        user it runs as.
        """
        for members in groups:
            try:
                members.write(b"0")
            except OSError as failure:
                sys.stderr.write(f"not let into {members.name}: {failure}\n")
                raise
        send_at_parents_death(death_signal)
        if os.getppid() != self.pid:  # it died before the request, so no signal would arrive
            os._exit(127)

    def _note_children(self) -> None:
        """Write what a later sweep needs to end the groups if the guardian is killed.

        A full disk does not end the run, because the sweep has other marks.
        """
        noted = [
            {"pid": child.pid, "pgid": child.pid, "start_ticks": child.start_ticks}
            for child in self.children.values()
        ]
        with contextlib.suppress(OSError):
            write_json(self.directory / CHILDREN_FILE, noted)

    def _reap(self) -> None:
        by_pid = {child.pid: child for child in self.children.values()}
        for pid, wait_status, usage in _ended_processes():
            child = by_pid.get(pid)
            if child is None:
                continue  # an orphan that the guardian adopted
            code = os.waitstatus_to_exitcode(wait_status)
            child.process.returncode = code
            if child.stops_others:
                self._have_all_go_on()
            self._tell(
                {
                    "event": "exited",
                    "id": child.id,
                    "status": code if code >= 0 else None,
                    "signal": -code if code < 0 else None,
                    "user_s": usage.ru_utime,
                    "system_s": usage.ru_stime,
                    "maxrss_bytes": usage.ru_maxrss * 1024,
                }
            )

    def _have_all_go_on(self) -> None:
        """Resume processes that an ended child had stopped, including stops still pending."""
        for process in live_descendants(self.pid):
            send_signal(process, signal.SIGCONT)

    def _settle(self) -> None:
        """Continue stops, and forget the groups that have ended."""
        gone = []
        for child in self.children.values():
            members = child.members() if child.reaped else []
            if child.reaped and not members:
                gone.append(child)
            else:
                child.go_on_stopping(members)
        for child in gone:
            del self.children[child.id]
            if child.kill_at_s is not None:
                self._tell({"event": "stopped", "id": child.id})
        if gone:
            self._note_children()

    def _kill_descendants(self) -> bool:
        """Kill processes that left their group, such as daemons.

        The result is False if something could not be killed.
        """
        give_up_s = time.monotonic() + KILL_PATIENCE_S
        # A process whose parent ends during the listing is missed, and found the next time.
        while remaining := live_descendants(self.pid) or live_descendants(self.pid):
            if time.monotonic() > give_up_s:
                pids = [process.pid for process in remaining]
                sys.stderr.write(f"SIGKILL did not end {pids}; {self.directory} is left\n")
                return False
            for process in remaining:
                send_signal(process, signal.SIGKILL)
            self._turn(0.05)
        return True

    def _tell(self, event: dict[str, Any]) -> None:
        self.outbox.append(json.dumps(event).encode())
        self._flush()

    def _flush(self) -> None:
        """Send what fits; an owner that does not read must never block the guardian."""
        try:
            while self.outbox:
                self.channel.send(self.outbox[0])
                self.outbox.popleft()
        except BlockingIOError:
            pass
        except OSError:  # the owner no longer reads
            self.outbox.clear()
        if self.listening:
            interest = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.outbox else 0)
            self.selector.modify(self.channel, interest, self._on_request)


def _check_arrived(request: dict[str, Any], fds: list[int]) -> None:
    if len(fds) != request["fds"]:
        raise OSError(f"{len(fds)} of {request['fds']} descriptors arrived")


def _start_failed(child_id: int, failure: Exception) -> dict[str, Any]:
    return {
        "event": "start_failed",
        "id": child_id,
        "errno": failure.errno if isinstance(failure, OSError) else None,
        "path": os.fsdecode(getattr(failure, "filename", None) or ""),
        "error": getattr(failure, "strerror", None) or str(failure),
    }


def _ended_processes() -> Iterator[tuple[int, int, Any]]:
    while True:
        try:
            pid, wait_status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, wait_status, usage


def _drain(reader: socket.socket) -> None:
    with contextlib.suppress(BlockingIOError):
        while reader.recv(4096):
            pass


def main(arguments: list[str]) -> int:
    """Run the guardian.

    Arguments are the socket's descriptor, the owner's pid, the instance directory that is to be
    made, and its mode as an octal number.
    """
    channel = socket.socket(fileno=int(arguments[0]))
    owner_pid, directory, mode = int(arguments[1]), Path(arguments[2]), int(arguments[3], 8)
    adopt_orphans()
    try:
        directory.mkdir(mode)
    except OSError as failure:
        event = {"event": "refused", "errno": failure.errno, "error": failure.strerror}
        channel.send(json.dumps(event).encode())
        return 1
    try:
        guard = _Guard(channel, owner_pid, directory)
        _log_into(directory / LOG_FILE)
    except BaseException:
        remove_tree(directory)
        raise
    try:
        guard.serve()
    except Exception as failure:
        guard.tell_broken(repr(failure))
        raise
    finally:
        guard.end()
    return 0


def _log_into(path: Path) -> None:
    """Append what the guardian prints to a file."""
    with path.open("ab") as log:
        for descriptor in (1, 2):
            os.dup2(log.fileno(), descriptor)
