"""Predicts an operation's time on more or fewer cores, by Amdahl's law.

An operation's time has three parts. Time in which its threads wait for something other than a
processor stays. Time in which one thread works stays, too. Time in which all threads at work
need a processor shrinks with the number of threads that have one. The mean number of active
threads determines the parts: an operation whose workers are idle all the time has one active
thread, and gains nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.whatif.timing import FOLLOW

if TYPE_CHECKING:
    from assay.analysis.whatif.timing import TimedOperation

# If threads at work equal the cores within this share, the engine takes their number from the
# cores.
SAME_NUMBER_WITHIN = 0.1
QUEUE = "run_queue"


def parallel_share(operation: TimedOperation) -> float:
    """Return the share (0 to 1) of an operation's time in which all threads need a processor."""
    threads = operation.threads or 1.0
    if threads <= 1 or operation.seconds <= 0:
        return 0.0
    active = operation.active_s / operation.seconds
    wants_cpu = operation.wants_cpu_s / operation.active_s
    return min(1.0, max(0.0, (active - 1) / (threads - 1))) * wants_cpu


def threads_on(operation: TimedOperation, before: int, after: int) -> float:
    """Return the number of threads at work on another number of cores.

    The number of threads grows with the cores if there are as many threads as cores. On one core
    it is not known whether the single thread is a consequence of the single core.
    """
    threads = max(1.0, operation.threads or 1.0)
    follows = before > 1 and abs(threads / before - 1) <= SAME_NUMBER_WITHIN
    return threads * after / before if follows and after > before else threads


def seconds_on(operation: TimedOperation, before: int, after: int) -> float:
    """Return the predicted seconds of an operation on another number of cores."""
    least_s, most_s = bounds_s(operation, before, after)
    parallel = parallel_share(operation)
    threads = max(1.0, operation.threads or 1.0)
    at_once = min(threads, before), min(threads_on(operation, before, after), after)
    slower = 1 - parallel + parallel * at_once[0] / at_once[1]
    return min(most_s, max(least_s, operation.seconds * slower))


def bounds_s(operation: TimedOperation, before: int, after: int) -> tuple[float, float]:
    """Return minimum and maximum seconds of an operation on another number of cores.

    The minimum is the CPU time spread over all cores, and without more cores at least the
    present time. The maximum with more cores is the present time. With fewer cores it is the
    smaller of two times: each thread that ran at a moment gets its turn, or at any moment either
    all cores are busy or the longest chain of steps advances (Graham, 1969).
    """
    seconds, cpu_s = operation.seconds, operation.cpu_s
    if after >= before:
        return min(cpu_s / after, seconds), seconds
    at_once = max(1.0, min(operation.threads or 1.0, before) / after)
    return max(cpu_s / after, seconds), max(
        cpu_s / after, min(seconds * at_once, cpu_s / after + seconds)
    )


def on_cores(operation: TimedOperation, before: int, after: int) -> TimedOperation:
    """Return the operation on another number of cores, with equal CPU time.

    An operation whose time was not split stays as it is.
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
