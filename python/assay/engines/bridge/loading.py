"""Loads rows into a table through the JDBC bridge, by array inserts."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from assay.engines.bridge import values
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.wire import INTEGER, LENGTH, message, text
from assay.engines.feeding import fed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from assay.engines.feeding import Batches

KINDS = {
    pa.bool_(): values.BOOLEAN,
    pa.int64(): values.LONG,
    pa.float64(): values.DOUBLE,
    pa.date32(): values.DATE,
    pa.timestamp("us"): values.TIMESTAMP,
    pa.string(): values.TEXT,
    pa.binary(): values.BYTES,
}
BITS = 8
VALUE_BYTES = {
    values.LONG: 8,
    values.DOUBLE: 8,
    values.TIMESTAMP: 8,
    values.DECIMAL: 16,
    values.DATE: 4,
}
OFFSET_BYTES = 4


class Exchanges(Protocol):
    """The interface of a bridge connection that loading needs."""

    def exchange(self, pieces: Sequence[bytes | memoryview]) -> list[tuple[bytes, bytes]]:
        """Send messages to the JDBC bridge, and return the messages of its answer."""
        ...


def load(
    connect: Callable[[], AbstractContextManager[Exchanges]],
    insert_sql: str,
    reader: pa.RecordBatchReader,
    streams: int,
    at_once: int,
) -> int:
    """Load rows over several connections at once, and return their number."""
    with ExitStack() as links:
        opened = [links.enter_context(connect()) for _ in range(max(streams, 1))]
        return fed(reader, [partial(_feed, link, insert_sql, at_once) for link in opened])


def _feed(link: Exchanges, insert_sql: str, at_once: int, batches: Batches) -> None:
    link.exchange(message(b"L", text(insert_sql), INTEGER.pack(at_once)))
    for batch in batches:
        link.exchange(message(b"B", *_columns(batch)))


def _columns(batch: pa.RecordBatch) -> Iterator[bytes | memoryview]:
    yield INTEGER.pack(batch.num_rows) + INTEGER.pack(batch.num_columns)
    for column in batch.columns:
        yield from _column(column)


def _column(array: pa.Array) -> Iterator[bytes | memoryview]:
    column = _sendable(array)
    if column.offset:
        # Concatenation with an empty array copies the column, so that its buffers have no offset.
        column = pa.concat_arrays([column, column[:0]])
    decimals = pa.types.is_decimal128(column.type)
    kind = values.DECIMAL if decimals else KINDS[column.type]
    scale = column.type.scale if decimals else 0
    count = len(column)
    nulls, *buffers = column.buffers()
    absent = column.null_count > 0
    yield bytes((kind,)) + INTEGER.pack(scale) + bytes((absent,))
    bits = (count + BITS - 1) // BITS
    if absent:
        yield memoryview(nulls)[:bits]
    if kind in (values.TEXT, values.BYTES):
        yield from _texts(count, *buffers)
    else:
        size = bits if kind == values.BOOLEAN else count * VALUE_BYTES[kind]
        yield memoryview(buffers[0])[:size]


def _texts(count: int, places: pa.Buffer, held: pa.Buffer | None) -> Iterator[bytes | memoryview]:
    offsets = memoryview(places)[: (count + 1) * OFFSET_BYTES]
    size = int.from_bytes(offsets[-OFFSET_BYTES:], "little")
    yield offsets
    yield LENGTH.pack(size)
    if held is not None and size:
        yield memoryview(held)[:size]


def _sendable(column: pa.Array) -> pa.Array:
    """Return the column cast to a type that the JDBC bridge accepts.

    Raises `BridgeError` if no type fits.
    """
    kind = column.type
    if kind in KINDS or pa.types.is_decimal128(kind):
        return column
    wanted = _nearest(kind)
    if wanted is None:
        raise BridgeError(
            f"a column of type {kind} cannot be inserted: cast the column in the data"
        )
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as error:
        raise BridgeError(f"a column of type {kind} does not fit {wanted}: {error}") from error


def _nearest(kind: pa.DataType) -> pa.DataType | None:
    types = pa.types
    if types.is_integer(kind):
        return pa.int64()
    if types.is_floating(kind):
        return pa.float64()
    if types.is_timestamp(kind):
        return pa.timestamp("us")
    if types.is_large_string(kind) or types.is_dictionary(kind) or kind == pa.string_view():
        return pa.string()
    return pa.binary() if types.is_large_binary(kind) else None
