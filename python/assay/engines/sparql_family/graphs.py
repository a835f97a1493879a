"""Manages Assay's graphs on a user's server, by the Graph Store protocol.

A graph stands for a schema: `urn:assay:graph:NAME`. The note on a graph is one triple of another
graph, which has the same name with the suffix `:mark`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.sparql_family.addresses import with_graph
from assay.engines.sparql_family.client import STATEMENTS, Client, query_text
from assay.record.places import state_dir

if TYPE_CHECKING:
    from assay.engines.contract import Instance

GRAPH = "urn:assay:graph:"
MARK = "urn:assay:mark"
# Directory below the state directory with a lock file for each graph that a run of this host uses.
LOCKS = "graphs"


def graph_of(name: str) -> str:
    """Return the graph that stands for a schema, by the schema's name."""
    return f"{GRAPH}{name}"


def store_of(instance: Instance) -> str:
    """Return the URL of the server's Graph Store.

    Raises `EngineError` if the DSN names none.
    """
    store = instance.address.get("store")
    if store is None:
        raise EngineError(
            "loading data needs a Graph Store endpoint: name it in --dsn, such as ?store=/ds/data"
        )
    return str(store)


def mark_of(instance: Instance, name: str) -> str | None:
    """Return the note that marks a graph as Assay's; None without a note."""
    client: Client = instance.handle
    graph = graph_of(name)
    rows = client.rows(query_text("mark.rq", graph=graph), f"{graph}:mark")
    return rows[0].get("mark") if rows else None


def note(instance: Instance, name: str, mark: str) -> None:
    """Write the note that marks a graph as Assay's."""
    graph = graph_of(name)
    line = f"<{graph}> <{MARK}> {json.dumps(mark)} .\n"
    _send(instance, "PUT", f"{graph}:mark", line.encode())


def drop(instance: Instance, name: str) -> None:
    """Drop a graph, and then the note that marks the graph as Assay's."""
    for graph in (graph_of(name), f"{graph_of(name)}:mark"):
        # The graph is emptied instead of deleted, because servers answer differently for a missing
        # graph.
        _send(instance, "PUT", graph, b"")


def _send(instance: Instance, method: str, graph: str, body: bytes) -> None:
    client: Client = instance.handle
    target = with_graph(store_of(instance), "graph", graph)
    client.request(method, target, body, {"Content-Type": STATEMENTS, "Accept": "*/*"})


def lock(instance: Instance, name: str) -> bool:
    """Lock a graph's name among the runs of this host."""
    label = f"{instance.address['host']}:{instance.address['port']}:{name}"
    digest = hashlib.sha256(label.encode()).hexdigest()[:16]
    locks = state_dir() / LOCKS
    locks.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(locks / digest, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    client: Client = instance.handle
    client.locks.append(descriptor)
    return True
