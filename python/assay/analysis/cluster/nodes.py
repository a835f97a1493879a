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
        role: `coordinator`, `worker`, `both`, or `later` where only its counters are known.
        host: Where it is, as the cluster tells.
        pids: Its root processes where it is on this host; empty: it is elsewhere.
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
    """Return the nodes of a run, then those with counters alone; empty: it is no cluster.

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
    """Return the nodes that work; empty for an engine that is no cluster."""
    return tuple(node for node in cluster_nodes(run) if node.works)


def shared_cores(run: Run) -> str | None:
    """Return the reason why more nodes are not more machine; None if they are.

    Nodes of one host are worth no more than its cores, of which one at least is the client's and
    the coordinator's.
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

    They rest in pools of hundreds, and what waits for another node has no thread meanwhile: which
    of them were at work for an operation nobody tells.
    """
    return sum(len(node.pids) for node in cluster_nodes(run)) > 1
