"""Builds the time tree of one operation, from its split by cause and its split of CPU time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES, UNCOVERED
from assay.analysis.time.tree import TimeNode, parent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.time.computing import Computing

COMPUTING, LOG, NETWORK, WAITING, UNEXPLAINED = (
    "computing",
    "log",
    "network",
    "waiting",
    "unexplained",
)
EXECUTING, PLANNING, KERNEL = "executing", "planning", "kernel"
# Causes of waiting for a CPU, which grow with the CPU time that is needed.
FOR_CPU = {"run_queue": "queue", "throttled": "limit", "stolen": "steal"}
WAITS = ("lock", "latch", "disk_read", "disk_write", "disk", "workers", "idle", "paused")
# Waits of several threads for one another are part of the operation's time, too.
WALL = "wall"


def operation_tree(
    where: Mapping[str, float | None], computing: Computing | None
) -> TimeNode | None:
    """Return the tree of an operation's wall time, whose root has the share 1.

    Args:
        where: Shares of the time by cause, from `analysis.where`.
        computing: Split of the CPU time in the engine's code; None if not known.

    Returns:
        The root of the tree; None if the time was not split.
    """
    if where.get(UNCOVERED) is None:
        return None
    shares = {name: share or 0.0 for name, share in where.items()}
    on_cpu = _executing(shares.get("cpu_user", 0.0), computing)
    kernel = TimeNode(KERNEL, "Kernel, for the engine", shares.get("cpu_system", 0.0))
    queues = [
        TimeNode(name, _titled(TITLES[cause]), shares.get(cause, 0.0))
        for cause, name in FOR_CPU.items()
    ]
    waits = [TimeNode(cause, _titled(TITLES[cause]), shares.get(cause, 0.0)) for cause in WAITS]
    return parent(
        WALL,
        "Wall time",
        (
            parent(COMPUTING, "Computing, and waiting for a CPU", (*on_cpu, kernel, *queues)),
            TimeNode(LOG, "Commit and log", shares.get("log", 0.0)),
            TimeNode(NETWORK, "Network and client", shares.get("client", 0.0)),
            parent(WAITING, "Waiting", waits),
            TimeNode(UNEXPLAINED, "Not explained", shares[UNCOVERED]),
        ),
    )


def _titled(text: str) -> str:
    return text[:1].upper() + text[1:]


def _executing(cpu_user: float, computing: Computing | None) -> tuple[TimeNode, TimeNode]:
    """Return the time tree nodes of execution by kind of work, and of planning."""
    if computing is None:
        return TimeNode(EXECUTING, "Executing", cpu_user), TimeNode(PLANNING, "Planning", 0.0)
    planning = cpu_user * computing.planning
    executing = cpu_user - planning
    whole = math.fsum(computing.kinds.values())
    kinds = tuple(
        TimeNode(kind.replace("/", " "), _titled(kind), executing * part / whole)
        for kind, part in computing.kinds.items()
        if whole > 0
    )
    return (
        TimeNode(EXECUTING, "Executing", executing, kinds, computing.source),
        TimeNode(PLANNING, "Planning", planning, (), computing.source),
    )
