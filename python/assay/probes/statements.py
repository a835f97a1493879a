"""Samples the statements that a server executes for other clients, ten times a second.

A sample is a row without a session, and a row for each session that executed a statement at that
moment. Totals of statements are read at the start, at the end and occasionally between; statements
without new executions have no row.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from assay.model.units import NS_PER_S
from assay.probes.contract import Cost
from assay.probes.streams import COST, LOOKS, STATEMENT_COUNTS, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.probes.contract import StatementReader, Target

# Maximum share of a core for samples; above it samples become rarer.
LOOKS_CORE_SHARE_MAX = 0.004
LOOK_INTERVAL_S_MAX = 2.0
COUNTS_INTERVAL_S = 5.0
COUNTS_CORE_SHARE_MAX = 0.001
FLUSH_INTERVAL_S = 1.0
# Time in seconds after which a server that does not answer is given up.
PATIENCE_S = 10.0
STOP_PATIENCE_S = 2.0
DEFECT = "its thread broke down; the trace is where errors of this process go"


class StatementsProbe:
    """Samples the statements that a server executes for other clients."""

    name = "statements"
    stream = "looks"
    cost = (
        "asks the server at each sample which sessions execute what, and every 5 s what statements"
        " have come to"
    )
    core_share_max = LOOKS_CORE_SHARE_MAX + COUNTS_CORE_SHARE_MAX

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._watch: Watch | None = None
        self._error: str | None = DEFECT

    @property
    def at_work(self) -> bool:
        """True while the probe samples; False after the server ended."""
        return self._thread is not None and self._thread.is_alive()

    def applies(self, target: Target) -> bool:
        """Return True if other clients' statements are watched."""
        return target.statements is not None

    def start(self, target: Target) -> None:
        """Start the statement probe's thread, and wait for its first sample.

        Raises:
            OSError: If the first sample fails, or takes too long.
        """
        if target.statements is None:
            raise RuntimeError("probe statements was started without a server to watch")
        self._thread = threading.Thread(
            target=self._run,
            args=(target, target.statements),
            name="assay-probe-statements",
            daemon=True,
        )
        self._thread.start()
        if not self._begun.wait(PATIENCE_S):
            self._stopping.set()
            raise TimeoutError(f"the server did not tell its statements within {PATIENCE_S:.0f} s")
        if self._watch is None or self._watch.samples == 0:
            self._thread.join()
            raise OSError(self._error)

    def stop(self) -> Cost:
        """Take a last sample and end the thread, with a timeout."""
        if self._thread is None or self._watch is None:
            raise RuntimeError("probe statements was stopped before it was started")
        self._stopping.set()
        self._thread.join(STOP_PATIENCE_S)
        watch, error = self._watch, self._error
        if self._thread.is_alive():
            error = f"the server did not tell its statements within {STOP_PATIENCE_S:.0f} s"
        return Cost(watch.samples, watch.cpu_ns, watch.longest_ns, error, watch.interval_s_max)

    def _run(self, target: Target, reader: StatementReader) -> None:
        """Sample the server in a thread until stopped, or until the server ends."""
        try:
            with ExitStack() as opened:
                self._watch = watch = Watch(target, reader, opened)
                watch.look(count=True)
                self._begun.set()
                while not self._stopping.wait(watch.rest_s):
                    watch.look()
                watch.look(count=True)
            self._error = None
        except OSError as error:
            self._error = str(error)
        finally:
            self._begun.set()


class Watch:
    """Samples a server's statements: its reader, its streams and the cost so far."""

    def __init__(self, target: Target, reader: StatementReader, opened: ExitStack) -> None:
        self._reader = reader
        self._least_s = self._interval_s = target.interval_s
        self._counts_interval_s = COUNTS_INTERVAL_S
        self._due_s = self._counted_s = self._flushed_s = time.monotonic()
        self._begun_ns = 0
        self._first: dict[str, tuple[int, Mapping[str, float]]] = {}
        self._last: dict[str, float] = {}
        self.samples = self.cpu_ns = self.longest_ns = 0
        self.interval_s_max: float | None = None
        of = target.raw_dir
        self._looks = opened.enter_context(Stream(of, "looks", LOOKS))
        self._counts = opened.enter_context(Stream(of, "statement-counts", STATEMENT_COUNTS))
        self._cost = opened.enter_context(Stream(of, "probe-statements", COST))

    @property
    def rest_s(self) -> float:
        """Return the seconds until the next sample of sessions is due."""
        return max(0.0, self._due_s - time.monotonic())

    def look(self, *, count: bool = False) -> None:
        """Sample sessions and, if due, the totals of statements.

        Raises `OSError`.
        """
        begun_ns, spent_ns = time.monotonic_ns(), time.thread_time_ns()
        self._looks.push(begun_ns, *[None] * 9)
        for look in self._reader.looks():
            self._looks.push(
                begun_ns,
                look.session,
                look.statement,
                look.leader,
                look.tid,
                look.application,
                look.database,
                look.wait_kind,
                look.wait_event,
                look.seconds,
            )
        self._afford(time.thread_time_ns() - spent_ns)
        self.samples += 1
        self.longest_ns = max(self.longest_ns, time.monotonic_ns() - begun_ns)
        now_s = time.monotonic()
        if count or now_s - self._counted_s >= self._counts_interval_s:
            self._read_counts()
            self._counted_s = now_s
        if count or now_s - self._flushed_s >= FLUSH_INTERVAL_S:
            self._flush()
            self._flushed_s = now_s
        self._set_due()

    def _set_due(self) -> None:
        """Set the next time of a sample; missed samples are not made up for."""
        late_s = max(0.0, time.monotonic() - self._due_s)
        self._due_s += (late_s // self._interval_s + 1) * self._interval_s

    def _afford(self, looking_ns: int) -> None:
        """Adapt the pause between samples to the cost of a sample."""
        if not self.samples:
            return
        share_s = looking_ns / NS_PER_S / LOOKS_CORE_SHARE_MAX
        # One expensive sample in a busy moment does not make all later samples rare.
        eased_s = self._interval_s + 0.1 * (share_s - self._interval_s)
        self._interval_s = min(max(self._least_s, eased_s), LOOK_INTERVAL_S_MAX)
        if self._interval_s > self._least_s:
            self.interval_s_max = max(self.interval_s_max or 0.0, self._interval_s)

    def _read_counts(self) -> None:
        spent_ns, time_ns = time.thread_time_ns(), time.monotonic_ns()
        for statement, counts in self._reader.counts():
            calls = counts["calls"]
            # Statements that appear after the first reading had zero executions before it.
            zero = (self._begun_ns, dict.fromkeys(counts, 0.0)) if self._begun_ns else None
            first = self._first.setdefault(statement, zero or (time_ns, counts))
            if self._last.get(statement, first[1]["calls"]) == calls:
                continue
            if statement not in self._last:
                self._push(statement, *first)
            self._last[statement] = calls
            self._push(statement, time_ns, counts)
        self._begun_ns = self._begun_ns or time_ns
        spent_s = (time.thread_time_ns() - spent_ns) / NS_PER_S
        self._counts_interval_s = max(COUNTS_INTERVAL_S, spent_s / COUNTS_CORE_SHARE_MAX)

    def _push(self, statement: str, time_ns: int, counts: Mapping[str, float]) -> None:
        for counter, value in counts.items():
            self._counts.push(time_ns, statement, counter, value)

    def _flush(self) -> None:
        self._looks.flush()
        self._counts.flush()
        self.cpu_ns = time.thread_time_ns()
        row = (StatementsProbe.name, self.cpu_ns, self.samples, self.longest_ns)
        self._cost.push(time.monotonic_ns(), *row)
        self._cost.flush()


probe = StatementsProbe
