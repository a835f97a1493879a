"""Reads the engine's own counters just before and just after operations of a serial run."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.model.errors import AssayError
from assay.model.units import NS_PER_S
from assay.probes.streams import ENGINE_OPERATIONS, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.probes.contract import CounterReader

START = "start"
FLUSH_INTERVAL_NS = NS_PER_S
# Maximum share of a run's time for readings; only some short operations are read.
READING_SHARE_MAX = 0.1


class OperationCounters:
    """Reads counters at both edges of an operation, outside its timed interval.

    `anew` makes a new reader after an engine crash and restart; None if there is no restart.
    """

    def __init__(
        self,
        reader: CounterReader,
        stream: Stream,
        anew: Callable[[], CounterReader] | None = None,
    ) -> None:
        self._reader: CounterReader | None = reader
        self._anew = anew
        self._stream = stream
        self._flushed_ns = time.monotonic_ns()
        self._due_ns = 0
        self._spent_ns = 0
        self._reads = False

    def read(self, sequence: int, edge: str) -> None:
        """Read the counters at an edge of an operation, if it is among those measured.

        Raises:
            OSError: If the engine does not answer, or the disk is full.
        """
        begun_ns = time.monotonic_ns()
        if edge == START:
            self._reads = begun_ns >= self._due_ns
            self._spent_ns = 0
        rows = self._read() if self._reads else None
        if rows is None:
            # An operation without a first reading gets no second one.
            self._reads = False
            return
        for source, thing, counter, value in rows:
            self._stream.push(sequence, edge, begun_ns, source, thing, counter, value)
        if begun_ns - self._flushed_ns >= FLUSH_INTERVAL_NS:
            self._stream.flush()
            self._flushed_ns = begun_ns
        ended_ns = time.monotonic_ns()
        self._spent_ns += ended_ns - begun_ns
        self._due_ns = ended_ns + round(self._spent_ns * (1 / READING_SHARE_MAX - 1))

    def close(self) -> None:
        """Close the connection that reads counters."""
        if self._reader is not None:
            self._reader.close()

    def _read(self) -> list[tuple[str, str, str, float]] | None:
        """Return the counters; None while a crashed engine is not back."""
        try:
            if self._reader is None and self._anew is not None:
                self._reader = self._anew()
            return None if self._reader is None else self._reader.read()
        except (OSError, AssayError):
            if self._anew is None:
                raise
            self.close()
            self._reader = None
            return None


@contextmanager
def operation_counters(
    reader: CounterReader, raw_dir: Path, anew: Callable[[], CounterReader] | None = None
) -> Iterator[OperationCounters]:
    """Write counters around operations to `engine-operations.arrows`; close the reader at the end.

    Raises:
        OSError: If the stream cannot be created or closed.
    """
    reading: OperationCounters | None = None
    try:
        with Stream(raw_dir, "engine-operations", ENGINE_OPERATIONS) as stream:
            reading = OperationCounters(reader, stream, anew)
            yield reading
    finally:
        (reading or reader).close()
