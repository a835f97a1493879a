"""Samples the engine's counters once a second, and its processes' activity twice a second.

Counters that cost much to read are read less often. The engine's status, which costs more to query,
is read at the start and end of the measured part. Sessions are sampled after pauses of random
length. Even pauses would meet a lock that is held every 300 ms at every sample or at none. Samples
are more frequent at the start of the measured part, so that a run of seconds has enough of them to
separate kinds of waits.
"""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from assay.model.units import NS_PER_S
from assay.probes.contract import (
    ActivityReader,
    BlockedReader,
    Cost,
    CountsAnew,
    OtherWorkReader,
    StatusReader,
)
from assay.probes.streams import (
    ACTIVITY,
    BLOCKERS,
    COST,
    ENGINE,
    ENGINE_STATUS,
    OTHER_WORK,
    Stream,
)
from assay.record.layout import STATUS_FILES

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from assay.probes.contract import CounterReader, Target

COUNTERS_INTERVAL_S = 1.0
# Maximum share of a core for reading counters; within limits, readings become rarer above it.
COUNTERS_CORE_SHARE_MAX = 0.002
COUNTERS_INTERVAL_S_MAX = 5.0
# A query for activity costs a server about as much as a short query, so it is not sent at every
# sample.
ACTIVITY_INTERVAL_S = 0.5
ACTIVITY_CORE_SHARE_MAX = 0.0008
ACTIVITY_INTERVAL_S_MAX = 1.0
# Number of session samples that even a short measured part gets at least.
EARLY_LOOKS = 20
EARLY_INTERVAL_S = 0.1
EARLY_CORE_SHARE_MAX = 0.01
# Shortest and longest pause between session samples, as a multiple of the mean interval.
PAUSE_SHARES = (0.5, 1.5)
# Time in seconds after which a server that does not answer is given up.
PATIENCE_S = 10.0
START, END = "start", "end"
LOOK, MEASURED, STOP = "look", "measured", "stop"
DEFECT = "its thread broke down; the trace is where errors of this process go"


class EngineProbe:
    """Samples the engine's counters on a separate connection."""

    name = "engine"
    stream = "engine"
    cost = (
        "asks the engine for its counters once a second, for its activity twice, and at both ends"
        " of the measured part how it stands"
    )

    core_share_max = COUNTERS_CORE_SHARE_MAX + ACTIVITY_CORE_SHARE_MAX

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._requests: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._cost = RunningCost()
        self._error: str | None = DEFECT

    def applies(self, target: Target) -> bool:
        """Return True if the engine has performance counters that the probe can read."""
        return target.counters is not None

    def start(self, target: Target) -> None:
        """Start the engine probe's thread, and wait for its first reading.

        Raises:
            OSError: If the first reading fails, or takes too long.
        """
        if target.counters is None:
            raise RuntimeError("probe engine was started without counters")
        self._thread = threading.Thread(
            target=self._run, args=(target, target.counters), name="assay-probe-engine", daemon=True
        )
        self._thread.start()
        if not self._begun.wait(PATIENCE_S):
            self._requests.put(STOP)
            raise TimeoutError(f"the engine did not report its counters within {PATIENCE_S:.0f} s")
        if self._cost.samples == 0:
            self._thread.join()
            raise OSError(self._error)

    def measured(self) -> None:
        """Have the thread read the engine's status again, after a warm-up."""
        self._requests.put(MEASURED)

    def stop(self) -> Cost:
        """Take a last reading and end the thread, with a timeout."""
        if self._thread is None:
            raise RuntimeError("probe engine was stopped before it was started")
        self._requests.put(STOP)
        self._thread.join(PATIENCE_S)
        cost, error = self._cost, self._error
        if self._thread.is_alive():
            error = f"the engine did not report its counters within {PATIENCE_S:.0f} s"
        return Cost(cost.samples, cost.cpu_ns, cost.longest_ns, error, cost.interval_s)

    def _run(self, target: Target, counters: CounterReader) -> None:
        """Sample the engine in a thread until stopped, or until the server ends."""
        try:
            with Watch(target, counters, self._cost) as watch:
                watch.look(time.monotonic(), edge=START)
                self._begun.set()
                while (word := self._next_request(watch.due_s)) != STOP:
                    if word == MEASURED:
                        watch.begin_measured()
                    else:
                        watch.look(watch.due_s)
                watch.look(time.monotonic(), edge=END)
            self._error = None
        except OSError as error:
            self._error = str(error)
        finally:
            self._begun.set()

    def _next_request(self, due_s: float) -> str:
        """Return the next request to the thread: a sample when it is due, or another one."""
        try:
            return self._requests.get(timeout=max(0.0, due_s - time.monotonic()))
        except queue.Empty:
            return LOOK


class RunningCost:
    """The cost of the engine probe so far."""

    def __init__(self) -> None:
        self.samples = 0
        self.cpu_ns = 0
        self.longest_ns = 0
        self.interval_s = COUNTERS_INTERVAL_S


class Watch:
    """Samples an engine's counters: its reader, and the streams they are written to."""

    def __init__(self, target: Target, counters: CounterReader, running_cost: RunningCost) -> None:
        self._counters = counters
        self._activity = counters if isinstance(counters, ActivityReader) else None
        self._blocked = counters if isinstance(counters, BlockedReader) else None
        self._other_work = counters if isinstance(counters, OtherWorkReader) else None
        self._pauses = SessionPauses(target.interval_s)
        self._standing: Standing | None = None
        if isinstance(counters, CountsAnew):
            counters.reset()
        self._counters_interval_s = COUNTERS_INTERVAL_S
        self._looks_at_sessions = bool(self._activity or self._blocked)
        self._sessions_due_s = self._counters_due_s = 0.0
        self._cost = running_cost
        with ExitStack() as opened:
            self._engine_stream = opened.enter_context(Stream(target.raw_dir, "engine", ENGINE))
            if self._activity:
                stream = Stream(target.raw_dir, "activity", ACTIVITY)
                self._activity_stream = opened.enter_context(stream)
            if self._blocked:
                stream = Stream(target.raw_dir, "blockers", BLOCKERS)
                self._blocked_stream = opened.enter_context(stream)
            if self._other_work:
                stream = Stream(target.raw_dir, "other-work", OTHER_WORK)
                self._other_work_stream = opened.enter_context(stream)
            if isinstance(counters, StatusReader):
                stream = Stream(target.raw_dir, "engine-status", ENGINE_STATUS)
                self._standing = Standing(counters, opened.enter_context(stream), target.raw_dir)
            self._cost_stream = opened.enter_context(Stream(target.raw_dir, "probe-engine", COST))
            self._open = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def due_s(self) -> float:
        """Return the time at which an engine's next counter sample is due, in seconds."""
        if not self._looks_at_sessions:
            return self._counters_due_s
        return min(self._sessions_due_s, self._counters_due_s)

    def stand(self, edge: str) -> None:
        """Read the engine's status, if it reports one.

        Raises `OSError`.
        """
        if self._standing:
            begun_ns = time.monotonic_ns()
            self._standing.read(edge)
            self._count_look(begun_ns)

    def begin_measured(self) -> None:
        """Read the engine's status, and begin with frequent samples of sessions.

        Raises `OSError`.
        """
        self.stand(START)
        self._pauses.measured_s = time.monotonic()
        self._sessions_due_s = min(self._sessions_due_s, time.monotonic() + self._pauses.least_s)

    def look(self, now_s: float, edge: str | None = None) -> None:
        """Read all counters that are due, and schedule the next sample.

        Raises `OSError`.

        The first and the last sample read everything, including the engine's status. Samples that
        were missed because the engine was slow are not made up for.
        """
        begun_ns = time.monotonic_ns()
        if self._looks_at_sessions and (edge or now_s >= self._sessions_due_s):
            self._read_sessions(begun_ns, edge)
            self._sessions_due_s = max(now_s + self._pauses.next_s(now_s), time.monotonic())
        if edge or now_s >= self._counters_due_s:
            spent_ns = time.thread_time_ns()
            self._read_counters(time.monotonic_ns())
            if self._other_work:
                self._read_other_work(self._other_work, begun_ns)
            # Only the first reading includes the connection.
            if edge != START:
                self._afford_counters(time.thread_time_ns() - spent_ns)
            late_s = max(0.0, time.monotonic() - now_s)
            intervals = late_s // self._counters_interval_s + 1
            self._counters_due_s = now_s + intervals * self._counters_interval_s
            self._flush()
        self._count_look(begun_ns)
        if edge:
            self.stand(edge)

    def _read_sessions(self, begun_ns: int, edge: str | None) -> None:
        spent_ns = time.thread_time_ns()
        if self._activity:
            self._read_activity(self._activity, begun_ns)
        if self._blocked:
            self._read_blocked(self._blocked, begun_ns)
        if edge != START:
            self._pauses.reading_ns = time.thread_time_ns() - spent_ns

    def _afford_counters(self, reading_ns: int) -> None:
        interval_s = _affordable_s(
            reading_ns, COUNTERS_CORE_SHARE_MAX, COUNTERS_INTERVAL_S, COUNTERS_INTERVAL_S_MAX
        )
        self._counters_interval_s = interval_s
        self._cost.interval_s = max(self._cost.interval_s, interval_s)

    def _count_look(self, begun_ns: int) -> None:
        cost = self._cost
        cost.samples += 1
        cost.longest_ns = max(cost.longest_ns, time.monotonic_ns() - begun_ns)
        cost.cpu_ns = time.thread_time_ns()

    def _read_counters(self, time_ns: int) -> None:
        for source, thing, counter, value in self._counters.read():
            self._engine_stream.push(time_ns, source, thing, counter, value)

    def _read_activity(self, reader: ActivityReader, time_ns: int) -> None:
        for row in reader.activity():
            self._activity_stream.push(
                time_ns,
                row.pid,
                row.backend_type,
                row.leader_pid,
                row.application,
                row.state,
                row.wait_event_type,
                row.wait_event,
                row.tid,
                row.connection,
            )

    def _read_blocked(self, reader: BlockedReader, time_ns: int) -> None:
        for row in reader.blocked():
            self._blocked_stream.push(time_ns, *row.facts().values())

    def _read_other_work(self, reader: OtherWorkReader, time_ns: int) -> None:
        for row in reader.other_work():
            self._other_work_stream.push(time_ns, *row.facts().values())

    def _flush(self) -> None:
        self._engine_stream.flush()
        if self._activity:
            self._activity_stream.flush()
        if self._blocked:
            self._blocked_stream.flush()
        if self._other_work:
            self._other_work_stream.flush()
        cost, now_ns = self._cost, time.monotonic_ns()
        cost.cpu_ns = time.thread_time_ns()
        # The current sample already counts, so that a killed run has no sample without cost.
        row = (now_ns, EngineProbe.name, cost.cpu_ns, cost.samples + 1, cost.longest_ns)
        self._cost_stream.push(*row)
        self._cost_stream.flush()


class SessionPauses:
    """Chooses random pauses between samples of sessions: longer ones if a sample costs more.

    Attributes:
        least_s: Shortest time between samples.
        reading_ns: CPU time of the last sample.
        measured_s: Time when the measured part began; None before that.
    """

    def __init__(self, interval_s: float) -> None:
        self.least_s = max(interval_s, EARLY_INTERVAL_S)
        self.reading_ns = 0
        self.measured_s: float | None = None
        self._usual_s = max(interval_s, ACTIVITY_INTERVAL_S)
        self._random = random.Random()  # noqa: S311 - when to look is no secret

    def next_s(self, now_s: float) -> float:
        """Return the random pause in seconds before the next sample."""
        usual_s = _affordable_s(
            self.reading_ns,
            ACTIVITY_CORE_SHARE_MAX,
            self._usual_s,
            max(self._usual_s, ACTIVITY_INTERVAL_S_MAX),
        )
        return min(usual_s, self._early_s(now_s)) * self._random.uniform(*PAUSE_SHARES)

    def _early_s(self, now_s: float) -> float:
        """Return the pause in seconds at the start of the measured part, which grows with time."""
        if self.measured_s is None:
            return math.inf
        growing_s = (now_s - self.measured_s) / EARLY_LOOKS
        return max(growing_s, self.least_s, self.reading_ns / NS_PER_S / EARLY_CORE_SHARE_MAX)


def _affordable_s(reading_ns: int, share_max: float, least_s: float, most_s: float) -> float:
    """Return the seconds to the next reading that keep its cost within a share of a core."""
    return min(max(least_s, reading_ns / NS_PER_S / share_max), most_s)


class Standing:
    """Writes the engine's status at the start and the end of the measured part."""

    def __init__(self, reader: StatusReader, stream: Stream, raw_dir: Path) -> None:
        self._reader = reader
        self._stream = stream
        self._raw_dir = raw_dir

    def read(self, edge: str) -> None:
        """Read the engine's status at an edge; a later reading replaces an earlier one.

        Raises `OSError`.
        """
        time_ns = time.monotonic_ns()
        rows, text = self._reader.status()
        for row in rows:
            self._stream.push(edge, time_ns, *row)
        self._stream.flush()
        (self._raw_dir / STATUS_FILES[edge]).write_text(text, encoding="utf-8")


probe = EngineProbe
