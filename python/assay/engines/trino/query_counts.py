"""Sums a query's tasks and operators by node, from the coordinator's report."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGES, BYTES, ROWS = "pages", "exchange_bytes", "exchange_rows"
WAIT, BLOCKED = "exchange_wait_ns", "output_blocked_ns"
TASKS, DRIVERS, DRIVER = "tasks", "drivers", "driver_ns"
QUEUED, SCHEDULED, CPU = "queued_ns", "scheduled_ns", "task_cpu_ns"
READ_BYTES, READ_ROWS, SPILLED = "read_bytes", "read_rows", "spilled_bytes"
OF_QUERIES = (
    *(PAGES, BYTES, ROWS, WAIT, BLOCKED, TASKS, DRIVERS, DRIVER),
    *(QUEUED, SCHEDULED, CPU, READ_BYTES, READ_ROWS, SPILLED),
)
# Operators that receive pages from other tasks, and operators that send pages.
TAKERS = ("ExchangeOperator", "MergeOperator")
GIVERS = ("PartitionedOutputOperator", "TaskOutputOperator")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]+)")
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9}
SIZES = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}

# Counts by node and counter.
Counts = Counter[tuple[str, str]]


def nanoseconds(text: str) -> float:
    """Return the nanoseconds of a duration in Trino's notation, such as `1.26m`."""
    return _quantity(text, NS)


def size_bytes(text: str) -> float:
    """Return the bytes of an amount in Trino's notation, such as `782B`.

    Raises `ValueError`.
    """
    return _quantity(text, SIZES)


def _quantity(text: str, units: Mapping[str, float]) -> float:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2] not in units:
        raise ValueError(f"{text!r} is not a quantity in Trino's notation")
    return float(match[1]) * units[match[2]]


def stages(query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all stages of a Trino query, the last one first."""
    waiting = [query["outputStage"]] if query.get("outputStage") else []
    while waiting:
        stage = waiting.pop()
        yield stage
        waiting.extend(reversed(stage["subStages"]))


def node_counts(query: Mapping[str, Any]) -> Counts:
    """Return the counters of a Trino query's tasks so far, by node.

    Args:
        query: JSON document of `/v1/query/<id>`.

    Raises:
        ValueError: If the document cannot be parsed.
    """
    counts: Counts = Counter()
    try:
        for stage in stages(query):
            for task in stage["tasks"]:
                node = str(task["taskStatus"]["nodeId"])
                for name, value in _of_task(task["stats"]):
                    counts[node, name] += value  # type: ignore[assignment]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the JSON is not a Trino query report: {error!r}") from error
    return counts


def _of_task(stats: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    yield TASKS, 1
    yield DRIVERS, stats["totalDrivers"]
    yield SCHEDULED, nanoseconds(stats["totalScheduledTime"])
    yield CPU, nanoseconds(stats["totalCpuTime"])
    yield BYTES, size_bytes(stats["internalNetworkInputDataSize"])
    yield ROWS, stats["internalNetworkInputPositions"]
    yield READ_BYTES, size_bytes(stats["physicalInputDataSize"])
    yield READ_ROWS, stats["physicalInputPositions"]
    for pipeline in stats["pipelines"]:
        yield DRIVER, pipeline["elapsedTime"]["total"]
        yield QUEUED, pipeline["queuedTime"]["total"]
        for operator in pipeline["operatorSummaries"]:
            yield SPILLED, size_bytes(operator["spilledDataSize"])
            if operator["operatorType"] in TAKERS:
                yield PAGES, operator["getOutputCalls"]
                yield WAIT, nanoseconds(operator["blockedWall"])
            elif operator["operatorType"] in GIVERS:
                yield BLOCKED, nanoseconds(operator["blockedWall"])
