"""Counts executors' work by worker: sums over all tasks since the driver began.

A stage that has ended is read once, task by task, and its sums are kept. One that runs is read
anew each time, so that what its running tasks have told by their heartbeats counts, too.
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
# States in which nothing of a stage changes any more, and in which nothing of it was done.
ENDED, UNDONE = ("COMPLETE", "FAILED"), ("SKIPPED",)
# More than a stage can have here.
TASKS_MAX = 1_000_000
# A driver hears of the end of tasks a little later than whoever waits for the answer.
SETTLE_S = 0.03
MEMORY = "ProcessTreeJVMRSSMemory"
# Where a task's figures stand below it; an empty path: in the task itself.
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
# The same word stands for what was read of the data and of what others shuffled.
RECORDS = {
    "inputRecords": ("taskMetrics", "inputMetrics"),
    "shuffleRecordsRead": ("taskMetrics", "shuffleReadMetrics"),
}
TASKS, CPU = "tasks", "cpuTime"

Row = tuple[str, str, str, float]
Sums = dict[str, dict[str, float]]


class SparkCounters:
    """Reads Spark's counters; implements `CounterReader`. Belongs to one thread.

    Args:
        address: Address of a cluster; one whose driver's pages are not known tells nothing.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._rest = Rest(*address["ui"]) if "ui" in address else None
        self._ended: Sums = {}
        # The first stage that was not looked at; a driver of others may have had thousands before.
        self._next: int | None = 0 if address["ours"] else None
        self._open: set[int] = set()

    def read(self) -> list[Row]:
        """Rows of (source, object, counter, value), as the driver has them now.

        Raises:
            OSError: If the driver does not answer, or tells what is not understood.
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
        """Ends the connection."""
        if self._rest is not None:
            self._rest.close()

    def _sums(self, rest: Rest) -> Sums:
        """Return the sums of tasks by executor."""
        running: Sums = {}
        if self._look(rest, running):
            time.sleep(SETTLE_S)
            running = {}
            self._look(rest, running)
        return added([self._ended, running])

    def _look(self, rest: Rest, running: Sums) -> bool:
        """Reads stages that are new or not ended; whether some still run."""
        for number in sorted(self._open):
            self._stage(rest, number, running)
        if self._next is None:
            begun = rest.get("stages?details=false") or []
            self._next = 1 + max((int(stage["stageId"]) for stage in begun), default=-1)
        while self._stage(rest, self._next, running):
            self._next += 1
        return bool(self._open)

    def _stage(self, rest: Rest, number: int, running: Sums) -> bool:
        """Reads a stage, all attempts of it; whether there is one of this number."""
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
    """Sum the counters of tasks by executor."""
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
    """The sum of sums, by executor and counter. Pure."""
    whole: Sums = {}
    for part in parts:
        for executor, own in part.items():
            into = whole.setdefault(executor, {})
            for name, value in own.items():
                into[name] = into.get(name, 0.0) + value
    return whole


def _figure(task: Mapping[str, Any], path: tuple[str, ...], name: str) -> float:
    """Return a figure of a task; 0 if it has not reported any yet."""
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
    """Return rows by worker, summed over its executors."""
    by_worker = added(
        {workers[executor]: own} for executor, own in sums.items() if executor in workers
    )
    return [
        (NODES, worker, name, value)
        for worker, own in by_worker.items()
        for name, value in own.items()
    ]
