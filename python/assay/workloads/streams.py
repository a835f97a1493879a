"""Reads the query streams of TPC-H's throughput test: orders, and number by scale."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

from assay.model.errors import UsageError, suggestion
from assay.workloads.texts import lacking_table, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.workloads.contract import Workload
    from assay.workloads.facts import StreamsFacts

FIRST_COLUMN = "stream"


def stream_order(workload: Workload, stream: int) -> tuple[str, ...]:
    """Return the operations of a stream in order; stream 0 is the power test's.

    Stream numbers beyond the file's last stream start again with its first.

    Raises:
        UsageError: If the manifest has no `[streams]`, or its file is missing or has errors.
    """
    facts = workload.facts
    if facts.streams is None:
        raise UsageError(lacking_table(workload.folder, "streams", "a file of their orders"))
    path = workload.folder / facts.streams.orders
    orders = read_orders(path, read_text(path), facts.order)
    return orders[stream % len(orders)]


def read_orders(path: Path, text: str, operations: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the queries of each stream in order, from stream 0.

    `path` is the file of `text`; `operations` must all be in every stream.

    Raises:
        UsageError: If the file has an error. The error message has file, row and remedy.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    header, *rows = list(csv.reader(lines)) or [[]]
    expected = [FIRST_COLUMN, *(str(place + 1) for place in range(len(operations)))]
    if header != expected:
        raise UsageError(
            f"{path}: the first row must be {','.join(expected[:2])},...,{expected[-1]}: the "
            f"number of the stream, then a column for each of the {len(operations)} operations "
            "of the order"
        )
    if not rows:
        raise UsageError(f"{path} has no stream: write a row for stream 0, the power test's order")
    return tuple(_order(path, stream, row, operations) for stream, row in enumerate(rows))


def minimum_at(streams: StreamsFacts, scale: float) -> int:
    """Return the minimum number of query streams at a scale."""
    below = [number for at, number in streams.minimum if at <= scale]
    first = streams.minimum[0][1] if streams.minimum else 1
    return below[-1] if below else first


def is_standard(streams: StreamsFacts, scale: float) -> bool:
    """Return True if the specification lists the scale for streams."""
    return not streams.minimum or scale in {at for at, _ in streams.minimum}


def _order(path: Path, stream: int, row: list[str], operations: Sequence[str]) -> tuple[str, ...]:
    number, *names = (cell.strip() for cell in row)
    where = f"{path}: stream {number}"
    if number != str(stream):
        raise UsageError(f"{where} stands in the row of stream {stream}: number the streams from 0")
    for name in names:
        if name not in operations:
            raise UsageError(
                f"{where} names the unknown operation {name!r}; "
                f"{suggestion(name, list(operations))}"
            )
    played, wanted = Counter(names), Counter(operations)
    for name in operations:
        if played[name] < wanted[name]:
            raise UsageError(
                f"{where} lacks {name!r}: every stream must contain all operations of order"
            )
        if played[name] > wanted[name]:
            raise UsageError(
                f"{where} contains {name!r} {played[name]} times instead of {wanted[name]}"
            )
    return tuple(names)
