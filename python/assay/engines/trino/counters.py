"""Reads the work of each Trino node, from query reports and from the nodes.

The figures are sums over all queries since the reader began. Completed queries are added once;
running ones are read at each sample. Counters of a node itself are read from the node, if it is
reachable.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from assay.engines.trino.connecting import Rest, bean
from assay.engines.trino.query_counts import OF_QUERIES, node_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address
    from assay.engines.trino.query_counts import Counts

NODES = "nodes"
ENDED = ("FINISHED", "FAILED")
# Seconds after its end in which a query's report may be incomplete.
WHOLE_PATIENCE_S, LOOK_S = 2.0, 0.01
FETCHES, FETCHED_BYTES, SPLIT_WAIT, QUANTA = "fetches", "fetched_bytes", "split_wait_us", "quanta"
COLLECTING, COLLECTIONS, HEAP = "collecting_ms", "collections", "heap_bytes"
PROCESS_CPU = "process_cpu_ns"
SYSTEM = "java.lang:type=OperatingSystem"
EXCHANGE = "io.airlift.http.client:type=HttpClient,name=ForExchange"
EXECUTOR = "trino.execution.executor:name=TaskExecutor"
MEMORY = "java.lang:type=Memory", "HeapMemoryUsage"
COLLECTOR = "java.lang:type=GarbageCollector,name=G1 {} Generation"
COLLECTORS = tuple(COLLECTOR.format(which) for which in ("Young", "Old"))
# Counters with a mean and a count since the node's start.
WAITED = ("LeafSplitWaitTime", "IntermediateSplitWaitTime")
WORKED = ("BlockedQuantaWallTime.AllTime", "UnblockedQuantaWallTime.AllTime")
# Counters that are read from each node, by name and attribute.
OF_NODE = (
    *((EXCHANGE, attribute) for attribute in ("AllResponse.TotalCount", "ReadBytes.AllTime.Total")),
    *((EXECUTOR, f"{name}.{part}") for name in WAITED for part in ("Avg", "Count")),
    *((EXECUTOR, f"{name}.Count") for name in WORKED),
    (SYSTEM, "ProcessCpuTime"),
    *((name, part) for name in COLLECTORS for part in ("CollectionTime", "CollectionCount")),
    MEMORY,
)

Row = tuple[str, str, str, float]


class TrinoCounters:
    """Reads Trino's counters.

    Args:
        address: Address of the cluster.
        places: Address of each node, by name.
    """

    def __init__(self, address: Address, places: Mapping[str, str]) -> None:
        self._coordinator = Rest.of(address)
        self._queries = Queries(self._coordinator)
        self._totals: dict[tuple[str, str], float] = {
            (node, counter): 0.0 for node in places for counter in OF_QUERIES
        }
        self._nodes = {name: Rest.of(address, place) for name, place in places.items()}
        if "pids" not in address:
            # The nodes' addresses may be reachable only within the cluster.
            self._nodes = {name: node for name, node in self._nodes.items() if _answers(node)}

    def read(self) -> list[Row]:
        """Return Trino's counters as rows of (source, node, counter, value).

        Raises:
            OSError: If a node does not answer, or its answer cannot be parsed.
        """
        try:
            for key, value in self._queries.counted().items():
                # Times of running queries are rounded; a sum never decreases.
                self._totals[key] = max(self._totals.get(key, 0.0), float(value))
            rows = [(NODES, *key, value) for key, value in self._totals.items()]
            for name, node in self._nodes.items():
                rows += [(NODES, name, counter, value) for counter, value in _of_node(node)]
        except (KeyError, ValueError, TypeError) as error:
            raise OSError(f"the cluster's counters cannot be read: {error!r}") from error
        return rows

    def close(self) -> None:
        """Close the connection to Trino."""
        self._coordinator.close()
        for node in self._nodes.values():
            node.close()


class Queries:
    """Reads Trino's reports of all queries since the first reading."""

    def __init__(self, coordinator: Rest) -> None:
        self._coordinator = coordinator
        self._ended: Counts = Counter()
        self._known: set[str] | None = None

    def counted(self) -> Counts:
        """Return counters summed over queries since the first call, by node.

        Raises:
            OSError: If the coordinator does not answer.
            ValueError: If the answer has an unknown form.
        """
        listed = {str(query["queryId"]): str(query["state"]) for query in self._listed()}
        if self._known is None:
            self._known = {name for name, state in listed.items() if state in ENDED}
        running: Counts = Counter()
        for name in listed.keys() - self._known:
            account = self._whole(name)
            if account is None:
                continue
            counts = node_counts(account)
            if account["state"] in ENDED:
                self._ended += counts
                self._known.add(name)
            else:
                running += counts
        self._known &= listed.keys()
        return self._ended + running

    def _listed(self) -> list[dict[str, Any]]:
        queries: list[dict[str, Any]] = self._coordinator.get("/v1/query")
        return queries

    def _whole(self, name: str) -> dict[str, Any] | None:
        """Return the report of a Trino query, complete once it has ended."""
        deadline_s = time.monotonic() + WHOLE_PATIENCE_S
        while True:
            account: dict[str, Any] | None = self._coordinator.get(f"/v1/query/{name}")
            if account is None or account["state"] not in ENDED or account["finalQueryInfo"]:
                return account
            if time.monotonic() > deadline_s:
                return account
            time.sleep(LOOK_S)


def _answers(node: Rest) -> bool:
    """Return True if a node of a running cluster shows its counters."""
    try:
        node.get(bean(*MEMORY))
    except OSError:
        node.close()
        return False
    return True


def _of_node(node: Rest) -> list[tuple[str, float]]:
    """Return a Trino node's own counters.

    Attributes are requested by name, because all of them are 100 kB.
    """
    answers = dict(zip(OF_NODE, node.get_all([bean(*of) for of in OF_NODE]), strict=True))

    def attribute_value(name: str, attribute: str) -> float:
        return _number(answers[name, attribute])

    def total(attribute: str) -> float:
        return attribute_value(EXECUTOR, f"{attribute}.Avg") * attribute_value(
            EXECUTOR, f"{attribute}.Count"
        )

    return [
        (FETCHES, attribute_value(EXCHANGE, "AllResponse.TotalCount")),
        (FETCHED_BYTES, attribute_value(EXCHANGE, "ReadBytes.AllTime.Total")),
        (SPLIT_WAIT, sum(map(total, WAITED))),
        (QUANTA, sum(attribute_value(EXECUTOR, f"{name}.Count") for name in WORKED)),
        (PROCESS_CPU, attribute_value(SYSTEM, "ProcessCpuTime")),
        (COLLECTING, sum(attribute_value(name, "CollectionTime") for name in COLLECTORS)),
        (COLLECTIONS, sum(attribute_value(name, "CollectionCount") for name in COLLECTORS)),
        (HEAP, _number(answers[MEMORY]["used"])),
    ]


def _number(text: object) -> float:
    """Return a JSON number, 0 for NaN or infinity."""
    value = float(str(text))
    return value if math.isfinite(value) else 0.0
