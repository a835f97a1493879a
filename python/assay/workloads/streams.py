"""Streams of a throughput test: a file of orders, and the number of streams for a scale."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.workloads.facts import StreamsFacts

FIRST_COLUMN = "stream"


def read_orders(path: Path, text: str, operations: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the operations of each stream in order, from stream 0.

    `path` is the file of `text`; `operations` must all be in every stream.

    Raises:
        UsageError: If the file has an error. The error message has file, row and remedy.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    header, *rows = list(csv.reader(lines)) or [[]]
    expected = [FIRST_COLUMN, *(str(place + 1) for place in range(len(operations)))]
    if header != expected:
        raise UsageError(
            f"{path}: its first row names the columns, and it has to be"
            f" {','.join(expected[:2])},...,{expected[-1]}: the number of the stream, then a column"
            f" for each of the {len(operations)} operations of the order"
        )
    if not rows:
        raise UsageError(f"{path} has no stream: write a row for stream 0, the power test's order")
    return tuple(_order(path, stream, row, operations) for stream, row in enumerate(rows))


def minimum_at(streams: StreamsFacts, scale: float) -> int:
    """Return the minimum number of streams: that of the largest listed scale up to this one."""
    below = [number for at, number in streams.minimum if at <= scale]
    first = streams.minimum[0][1] if streams.minimum else 1
    return below[-1] if below else first


def is_standard(streams: StreamsFacts, scale: float) -> bool:
    """Return True if `minimum` lists the scale, or lists none."""
    return not streams.minimum or scale in {at for at, _ in streams.minimum}


def _order(path: Path, stream: int, row: list[str], operations: Sequence[str]) -> tuple[str, ...]:
    number, *names = (cell.strip() for cell in row)
    where = f"{path}: stream {number}"
    if number != str(stream):
        raise UsageError(f"{where} stands where stream {stream} belongs: number them from 0")
    for name in names:
        if name not in operations:
            raise UsageError(f"{where} plays {name!r}; {suggestion(name, list(operations))}")
    played, wanted = Counter(names), Counter(operations)
    for name in operations:
        if played[name] < wanted[name]:
            raise UsageError(f"{where} lacks {name!r}: every stream plays all operations of order")
        if played[name] > wanted[name]:
            raise UsageError(
                f"{where} plays {name!r} {played[name]} times; {wanted[name]} is right"
            )
    return tuple(names)
