"""Causes of a thread's time: running on a CPU, ready to run, or asleep for a reason.

A thread is on a CPU, ready to run, or asleep for a cause. Time without an explanation is a
separate part, `uncovered`, and is shown.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A cause of time of an operation: CPU use, waiting for a CPU, or a kind of sleep.

    Attributes:
        name: Name in documents and columns.
        title: Title for readers.
        on_cpu: Whether the thread was on a CPU.
    """

    name: str
    title: str
    on_cpu: bool = False


UNCOVERED = "uncovered"

# In the order of the stacked charts.
CAUSES = (
    Cause("cpu_user", "CPU, user", on_cpu=True),
    Cause("cpu_system", "CPU, kernel", on_cpu=True),
    Cause("run_queue", "waiting for a CPU"),
    Cause("throttled", "held back by a CPU limit"),
    Cause("stolen", "stolen by the hypervisor"),
    Cause("disk_read", "disk read"),
    Cause("disk_write", "disk write and sync"),
    Cause("disk", "disk read or write"),
    Cause("log", "commit and log"),
    Cause("lock", "lock"),
    Cause("latch", "latch"),
    Cause("client", "network or client"),
    Cause("workers", "waiting for other workers"),
    Cause("idle", "idle worker"),
    Cause("paused", "paused"),
    Cause(UNCOVERED, "not accounted for"),
)
# Causes for which a thread may sleep, in the order of `CAUSES`.
SLEEPS = (
    "disk_read",
    "disk_write",
    "disk",
    "log",
    "lock",
    "latch",
    "client",
    "workers",
    "idle",
    "paused",
)
PARTS = tuple(cause.name for cause in CAUSES)
TITLES = {cause.name: cause.title for cause in CAUSES}
