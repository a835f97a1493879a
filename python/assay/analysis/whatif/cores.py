"""Predicts an operation's time on more or fewer cores, by Amdahl's law.

An operation's time is cut into three: time in which its threads wait for something else than a
processor, which stays; time in which one thread works, which stays; and time in which all threads
at work want a processor, which is as much shorter as more of them have one. How much is of which
kind follows from how many threads were active on average: an operation whose workers are idle all
the time has one, and gains nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.whatif.timing import FOLLOW

if TYPE_CHECKING:
    from assay.analysis.whatif.timing import TimedOperation

# Threads at work that are as many as the cores: the engine takes their number from the cores.
SAME_NUMBER_WITHIN = 0.1
QUEUE = "run_queue"


def parallel_share(operation: TimedOperation) -> float:
    """Share of the operation's time in which all its threads want a processor, 0 to 1."""
    threads = operation.threads or 1.0
    if threads <= 1 or operation.seconds <= 0:
        return 0.0
    active = operation.active_s / operation.seconds
    wants_cpu = operation.wants_cpu_s / operation.active_s
    return min(1.0, max(0.0, (active - 1) / (threads - 1))) * wants_cpu


def threads_on(operation: TimedOperation, before: int, after: int) -> float:
    """Threads at work on other cores: as many a core as now if they were as many as the cores.

    On one core nothing tells whether there was one thread because there was one core.
    """
    threads = max(1.0, operation.threads or 1.0)
    follows = before > 1 and abs(threads / before - 1) <= SAME_NUMBER_WITHIN
    return threads * after / before if follows and after > before else threads


def seconds_on(operation: TimedOperation, before: int, after: int) -> float:
    """Return the predicted seconds of the operation."""
    least_s, most_s = bounds_s(operation, before, after)
    parallel = parallel_share(operation)
    threads = max(1.0, operation.threads or 1.0)
    at_once = min(threads, before), min(threads_on(operation, before, after), after)
    slower = 1 - parallel + parallel * at_once[0] / at_once[1]
    return min(most_s, max(least_s, operation.seconds * slower))


def bounds_s(operation: TimedOperation, before: int, after: int) -> tuple[float, float]:
    """The least and the most that it can take, if a second of CPU time is worth the same.

    At least its CPU time spread over all cores, and no less than now on no more cores. At most: on
    more cores, as long as now; on fewer, as long as it takes to give each thread that ran at a
    moment its turn, or to let either all cores be busy or the longest chain of steps advance
    (Graham, 1969), whichever is less.
    """
    seconds, cpu_s = operation.seconds, operation.cpu_s
    if after >= before:
        return min(cpu_s / after, seconds), seconds
    at_once = max(1.0, min(operation.threads or 1.0, before) / after)
    return max(cpu_s / after, seconds), max(
        cpu_s / after, min(seconds * at_once, cpu_s / after + seconds)
    )


def on_cores(operation: TimedOperation, before: int, after: int) -> TimedOperation:
    """The operation on other cores: the CPU time is the same, the waiting for a processor is not.

    An operation whose time was not split is left as it is.
    """
    if operation.thread_s is None:
        return operation
    seconds, threads = seconds_on(operation, before, after), threads_on(operation, before, after)
    in_parallel_s = max(0.0, seconds - operation.seconds * (1 - parallel_share(operation)))
    stay = {name: time for name, time in operation.thread_s.items() if name not in FOLLOW}
    if parallel_share(operation) > 0:
        stay[QUEUE] = in_parallel_s * max(0.0, threads - after)
    follow = {name: time for name, time in operation.thread_s.items() if name in FOLLOW}
    rest_s = max(0.0, threads * seconds - sum(stay.values()))
    scaled = rest_s / sum(follow.values()) if sum(follow.values()) > 0 else 0.0
    parts = stay | {name: time * scaled for name, time in follow.items()}
    return replace(operation, seconds=seconds, threads=threads, thread_s=parts)
