"""Computes the share of an operation's elapsed time in which its plans compute or wait for data.

A time tree divides the time of all threads. While one thread computes, the others have nothing to
do or wait for it. This idle time ends with the work, so it is distributed among what the busy
threads do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.time.operation_tree import (
    COMPUTING,
    EXECUTING,
    FOR_CPU,
    KERNEL,
    PLANNING,
    WAITING,
)

if TYPE_CHECKING:
    from assay.analysis.time.tree import TimeNode

# Causes of waiting for data, and their nodes in a time tree.
DISK = ("disk_read", "disk_write", "disk")
DISK_WAITS = tuple(f"{WAITING}/{name}" for name in DISK)
FOR_OTHERS = tuple(f"{WAITING}/{name}" for name in ("workers", "idle"))
CPU_WAITS = tuple(f"{COMPUTING}/{name}" for name in FOR_CPU.values())


def computing_share(tree: TimeNode) -> float:
    """Return the share of the elapsed time in which plans compute or wait for a CPU, 0 to 1."""
    return _of_busy(tree, tree.share_of(COMPUTING))


def plan_share(tree: TimeNode, *, with_cpu_waits: bool = True) -> float:
    """Return the share of the elapsed time in which plans compute, read or write data, 0 to 1.

    Args:
        tree: Time tree of the operation.
        with_cpu_waits: Whether waits for a CPU count as computing.
    """
    spent = tree.share_of(COMPUTING) + sum(map(tree.share_of, DISK_WAITS))
    if not with_cpu_waits:
        spent -= sum(map(tree.share_of, CPU_WAITS))
    return _of_busy(tree, spent)


def with_cpu_waits(tree: TimeNode, name: str) -> float:
    """Return the share of a kind of computing with its portion of the waits for a CPU, 0 to 1.

    It is an upper limit of what is saved without it. The waits are caused by other programs, too.

    Args:
        tree: Time tree of the operation.
        name: `EXECUTING`, `PLANNING` or `KERNEL`.
    """
    kinds = (EXECUTING, PLANNING, KERNEL)
    on_cpu = sum(tree.share_of(f"{COMPUTING}/{kind}") for kind in kinds)
    own = tree.share_of(f"{COMPUTING}/{name}")
    return own / on_cpu * tree.share_of(COMPUTING) if on_cpu else 0.0


def _of_busy(tree: TimeNode, share: float) -> float:
    """Return a share of the threads' time as a share of the time in which they are busy."""
    busy = 1 - sum(map(tree.share_of, FOR_OTHERS))
    return min(1.0, max(0.0, share / busy)) if busy > 0 else 0.0
