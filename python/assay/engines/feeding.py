"""Distributes batches of rows among several loading connections."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Batches:
    """Batches of a row stream, each taken once by one of several threads.

    Attributes:
        rows: Number of rows taken so far.
    """

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.rows = 0
        self._stopped = False
        self._reader = reader
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Stop handing out batches of rows."""
        self._stopped = True

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while True:
            with self._lock:
                batch = None if self._stopped else next(self._reader, None)
                if batch is None:
                    return
                self.rows += batch.num_rows
            if batch.num_rows:
                yield batch


def fed(reader: pa.RecordBatchReader, feeds: Sequence[Callable[[Batches], None]]) -> int:
    """Load a stream of batches with several threads, and return the number of rows.

    The first exception of a thread is raised when all have ended; the others stop after a batch.
    """
    batches, failures = Batches(reader), list[BaseException]()

    def feed(take: Callable[[Batches], None]) -> None:
        try:
            take(batches)
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits for this one
            batches.stop()
            failures.append(error)

    threads = [threading.Thread(target=feed, args=(take,)) for take in feeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return batches.rows


def text_bytes(batch: pa.RecordBatch) -> memoryview:
    """Return the texts of a batch's only column as one block of bytes.

    Raises:
        ValueError: If the batch does not have exactly one column of texts.
    """
    kinds = batch.schema.types
    if len(kinds) != 1 or not (pa.types.is_string(kinds[0]) or pa.types.is_large_string(kinds[0])):
        raise ValueError(f"a single text column was expected, not {', '.join(map(str, kinds))}")
    column = batch.column(0)
    _, places, values = column.buffers()
    if values is None or not len(column):
        return memoryview(b"")
    offsets = memoryview(places).cast("q" if pa.types.is_large_string(column.type) else "i")
    return memoryview(values)[offsets[column.offset] : offsets[column.offset + len(column)]]
