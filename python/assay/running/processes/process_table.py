"""Processes of /proc, and signals that reach exactly one of them.

The guardian runs without the owner's modules, so this module imports only the standard library.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """One line of /proc/<pid>/stat; `start_ticks` (since boot) detects a reused pid.

    It is no dataclass: their module takes a fifth of the time in which a guardian starts.
    """

    pid: int
    state: str
    ppid: int
    pgid: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Return False for a zombie, which runs nothing and holds nothing."""
        return self.state not in "ZXx"


def read_process(pid: int) -> Process | None:
    """Return the process `pid` from /proc, or None if it does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command name, in parentheses, may itself contain spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return Process(pid, fields[0], int(fields[1]), int(fields[2]), int(fields[19]))


def all_processes() -> list[Process]:
    """Return every process visible in /proc, including zombies."""
    processes = (read_process(int(p.name)) for p in Path("/proc").iterdir() if p.name.isdigit())
    return [process for process in processes if process is not None]


def live_descendants(ancestor: int) -> list[Process]:
    """Return live processes below `ancestor`, at any depth."""
    children: dict[int, list[Process]] = {}
    for process in all_processes():
        children.setdefault(process.ppid, []).append(process)
    descendants: list[Process] = []
    pending = [ancestor]
    while pending:
        below = children.get(pending.pop(), [])
        descendants += below
        pending += [process.pid for process in below]
    return [process for process in descendants if process.alive]


def send_signal(process: Process, signum: int) -> bool:
    """Send a signal to exactly this process, never to a later one with the same pid.

    The result is False if the process ended or belongs to another user.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        now = read_process(process.pid)
        if now is None or now.start_ticks != process.start_ticks:
            return False
        signal.pidfd_send_signal(descriptor, signum)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(descriptor)
    return True
