"""Lists the nodes of a run's cluster, with their processes on this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run

COORDINATOR = "coordinator"
# Role of a node that has counters but is not in the record's list: it joined later.
LATER = "later"


@dataclass(frozen=True)
class ClusterNode:
    """One node of a cluster, with its processes on this host.

    Attributes:
        name: Name of the node, as its counters use it.
        role: `coordinator`, `worker`, `both`, or `later` if only its counters are known.
        host: Host of the node, as the cluster reports it.
        pids: Root processes of the node if it is on this host; empty if the node is on another
            host.
    """

    name: str
    role: str
    host: str
    pids: tuple[int, ...] = ()

    @property
    def is_here(self) -> bool:
        """True if the node runs on this host, so that the kernel counts its CPU time."""
        return bool(self.pids)

    @property
    def works(self) -> bool:
        """True if the node executes work; False for a pure coordinator."""
        return self.role != COORDINATOR


def cluster_nodes(run: Run, counted: Iterable[str] = ()) -> tuple[ClusterNode, ...]:
    """Return the nodes of a run's cluster, then nodes with counters only; empty without a cluster.

    Args:
        run: A run of any engine.
        counted: Names of nodes that have counters.
    """
    entries = (run.facts.get("cluster") or {}).get("nodes") or []
    nodes = [
        ClusterNode(entry["name"], entry["role"], entry["host"], tuple(entry["pids"]))
        for entry in entries
    ]
    names = {node.name for node in nodes}
    later = [ClusterNode(name, LATER, "") for name in dict.fromkeys(counted) if name not in names]
    return (*nodes, *later) if nodes else ()


def workers_of(run: Run) -> tuple[ClusterNode, ...]:
    """Return the cluster nodes that execute work; empty for an engine without a cluster."""
    return tuple(node for node in cluster_nodes(run) if node.works)


def shared_cores(run: Run) -> str | None:
    """Return the reason why more cluster nodes add no cores; None if each node has its own host.

    Nodes on one host share its cores, and at least one core serves the client and the
    coordinator.
    """
    here = [node for node in workers_of(run) if node.is_here]
    cores = run.environment.get("host", {}).get("cpu", {}).get("online")
    if cores is None:
        return f"{len(here)} workers are on one host, whose cores are not known" if here else None
    if len(here) + 1 <= cores:
        return None
    return f"{len(here)} workers share the {cores} cores of one host, with the client"


def shares_threads(run: Run) -> bool:
    """Return True if several processes of a cluster run on this host, so that they share threads.

    Such processes have pools of hundreds of threads, and a task that waits for another node has
    no thread. So threads cannot be assigned to operations.
    """
    return sum(len(node.pids) for node in cluster_nodes(run)) > 1
