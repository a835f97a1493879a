"""Counts the work of Spark's executors by worker, from the driver's API.

A completed stage is read once, task by task, and its sums are kept. A running stage is read again
each time, to include what its tasks reported by heartbeat.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from assay.engines.spark.executors import workers_of
from assay.engines.spark.rest import Rest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.engines.contract import Address

NODES = "nodes"
# States of stages that no longer change, and of stages that were never executed.
ENDED, UNDONE = ("COMPLETE", "FAILED"), ("SKIPPED",)
# Upper bound of tasks per stage.
TASKS_MAX = 1_000_000
# A driver is notified of ended tasks slightly later than the client receives the answer.
SETTLE_S = 0.03
MEMORY = "ProcessTreeJVMRSSMemory"
# Paths of figures in a task's JSON; an empty path is the task itself.
FIGURES: dict[str, tuple[str, ...]] = {
    "remoteBlocksFetched": ("taskMetrics", "shuffleReadMetrics"),
    "remoteBytesRead": ("taskMetrics", "shuffleReadMetrics"),
    "localBlocksFetched": ("taskMetrics", "shuffleReadMetrics"),
    "localBytesRead": ("taskMetrics", "shuffleReadMetrics"),
    "fetchWaitTime": ("taskMetrics", "shuffleReadMetrics"),
    "bytesWritten": ("taskMetrics", "shuffleWriteMetrics"),
    "recordsWritten": ("taskMetrics", "shuffleWriteMetrics"),
    "writeTime": ("taskMetrics", "shuffleWriteMetrics"),
    "executorRunTime": ("taskMetrics",),
    "executorCpuTime": ("taskMetrics",),
    "executorDeserializeTime": ("taskMetrics",),
    "executorDeserializeCpuTime": ("taskMetrics",),
    "jvmGcTime": ("taskMetrics",),
    "memoryBytesSpilled": ("taskMetrics",),
    "diskBytesSpilled": ("taskMetrics",),
    "schedulerDelay": (),
}
# Spark uses the same key for rows read from data and for rows read from shuffles.
RECORDS = {
    "inputRecords": ("taskMetrics", "inputMetrics"),
    "shuffleRecordsRead": ("taskMetrics", "shuffleReadMetrics"),
}
TASKS, CPU = "tasks", "cpuTime"

Row = tuple[str, str, str, float]
Sums = dict[str, dict[str, float]]


class SparkCounters:
    """Reads Spark's counters from one thread; implements `CounterReader`.

    Args:
        address: Address of a cluster; without its driver's web address there are no counters.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._rest = Rest.of(address) if "ui" in address else None
        self._ended: Sums = {}
        # First stage that was not read yet; a running driver may have thousands of earlier ones.
        self._next: int | None = 0 if address["ours"] else None
        self._open: set[int] = set()

    def read(self) -> list[Row]:
        """Return the driver's current counters as rows of (source, object, counter, value).

        Raises:
            OSError: If the driver does not answer, or its answer cannot be parsed.
        """
        if self._rest is None:
            return []
        try:
            executors = self._rest.get("allexecutors") or []
            workers = {
                executor: node
                for executor, (node, _) in workers_of(executors, self._address).items()
            }
            return [*_rows(self._sums(self._rest), workers), *_memory(executors, workers)]
        except (LookupError, TypeError, ValueError) as error:
            raise OSError(f"what Spark's driver tells cannot be read: {error!r}") from error

    def close(self) -> None:
        """Close the connection to Spark."""
        if self._rest is not None:
            self._rest.close()

    def _sums(self, rest: Rest) -> Sums:
        """Return the sums of task counters by executor."""
        running: Sums = {}
        if self._look(rest, running):
            time.sleep(SETTLE_S)
            running = {}
            self._look(rest, running)
        return added([self._ended, running])

    def _look(self, rest: Rest, running: Sums) -> bool:
        """Read Spark stages that are new or running; return True if some still run."""
        for number in sorted(self._open):
            self._stage(rest, number, running)
        if self._next is None:
            begun = rest.get("stages?details=false") or []
            self._next = 1 + max((int(stage["stageId"]) for stage in begun), default=-1)
        while self._stage(rest, self._next, running):
            self._next += 1
        return bool(self._open)

    def _stage(self, rest: Rest, number: int, running: Sums) -> bool:
        """Read all attempts of a Spark stage; return True if the stage exists."""
        attempts = rest.get(f"stages/{number}?details=false")
        if attempts is None:
            return False
        states = {str(attempt["status"]) for attempt in attempts}
        begun = [
            attempt
            for attempt in attempts
            if attempt["status"] not in UNDONE and attempt["numTasks"]
        ]
        sums = [
            task_sums(_tasks(rest, number, attempt)) for attempt in begun if _has_tasks(attempt)
        ]
        if states <= {*ENDED, *UNDONE}:
            self._open.discard(number)
            self._ended = added([self._ended, *sums])
        else:
            self._open.add(number)
            running.update(added([running, *sums]))
        return True


def _tasks(rest: Rest, number: int, attempt: Mapping[str, Any]) -> list[dict[str, Any]]:
    path = f"stages/{number}/{attempt['attemptId']}/taskList?length={TASKS_MAX}"
    return rest.get(path) or []


def task_sums(tasks: Iterable[Mapping[str, Any]]) -> Sums:
    """Return the counters of Spark tasks, summed by executor."""
    sums: Sums = defaultdict(lambda: defaultdict(float))
    for task in tasks:
        own = sums[str(task["executorId"])]
        own[TASKS] += 1
        for name, path in FIGURES.items():
            own[name] += _figure(task, path, name)
        for name, path in RECORDS.items():
            own[name] += _figure(task, path, "recordsRead")
        for name in ("executorCpuTime", "executorDeserializeCpuTime"):
            own[CPU] += _figure(task, FIGURES[name], name)
    return {executor: dict(own) for executor, own in sums.items()}


def added(parts: Iterable[Sums]) -> Sums:
    """Return several sums of counters added up, by executor and counter."""
    whole: Sums = {}
    for part in parts:
        for executor, own in part.items():
            into = whole.setdefault(executor, {})
            for name, value in own.items():
                into[name] = into.get(name, 0.0) + value
    return whole


def _figure(task: Mapping[str, Any], path: tuple[str, ...], name: str) -> float:
    """Return a counter of a Spark task; 0 if it has not reported any yet."""
    figures: Any = task
    for step in path:
        figures = figures.get(step) or {}
    return float(figures.get(name) or 0)


def _has_tasks(attempt: Mapping[str, Any]) -> bool:
    return str(attempt["status"]) != "PENDING"


def _memory(executors: Iterable[Mapping[str, Any]], workers: Mapping[str, str]) -> list[Row]:
    """Return the memory of live executors, by worker."""
    taken: dict[str, float] = defaultdict(float)
    for executor in executors:
        most = (executor.get("peakMemoryMetrics") or {}).get(MEMORY)
        if most and executor["isActive"] and str(executor["id"]) in workers:
            taken[workers[str(executor["id"])]] += float(most)
    return [(NODES, worker, MEMORY, most) for worker, most in taken.items()]


def _rows(sums: Sums, workers: Mapping[str, str]) -> list[Row]:
    """Return counter rows by worker, summed over its executors."""
    by_worker = added(
        {workers[executor]: own} for executor, own in sums.items() if executor in workers
    )
    return [
        (NODES, worker, name, value)
        for worker, own in by_worker.items()
        for name, value in own.items()
    ]
