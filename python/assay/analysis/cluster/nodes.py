"""The nodes of a run's cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run

COORDINATOR = "coordinator"
# Of a node that counts and is not in the record's list: it came later.
LATER = "later"


@dataclass(frozen=True)
class ClusterNode:
    """A node of a cluster, with its processes on this host.

    Attributes:
        name: The object of its counters.
        role: `coordinator`, `worker`, `both`, or `later` if only its counters are known.
        host: Host of the node, as the cluster reports it.
        pids: Its root processes if it is on this host; empty if it is on another host.
    """

    name: str
    role: str
    host: str
    pids: tuple[int, ...] = ()

    @property
    def is_here(self) -> bool:
        """True if this host's kernel counts the node's CPU time."""
        return bool(self.pids)

    @property
    def works(self) -> bool:
        """True if the node shares in the work, so that it can be compared with others."""
        return self.role != COORDINATOR


def cluster_nodes(run: Run, counted: Iterable[str] = ()) -> tuple[ClusterNode, ...]:
    """Return the nodes of a run, then nodes with counters only; empty without a cluster.

    Args:
        run: Any.
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
    """Return the nodes that execute work; empty for an engine that is not a cluster."""
    return tuple(node for node in cluster_nodes(run) if node.works)


def shared_cores(run: Run) -> str | None:
    """Return the reason why more nodes are not more machine; None if they are.

    Nodes on one host cannot use more than its cores, of which at least one serves the client and
    the coordinator.
    """
    here = [node for node in workers_of(run) if node.is_here]
    cores = run.environment.get("host", {}).get("cpu", {}).get("online")
    if cores is None:
        return f"{len(here)} workers are on one host, whose cores are not known" if here else None
    if len(here) + 1 <= cores:
        return None
    return f"{len(here)} workers share the {cores} cores of one host, with the client"


def shares_threads(run: Run) -> bool:
    """Return True if several of a cluster's processes run here with threads for any operation.

    Their threads are in pools of hundreds, and a task that waits for another node has no thread. So
    it is not known which threads worked for an operation.
    """
    return sum(len(node.pids) for node in cluster_nodes(run)) > 1
