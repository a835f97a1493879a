"""Writes rows in Virtuoso's file format: a vector of columns, each a vector of values.

The server reads such a vector with one call, instead of parsing text for each value. Each value is
preceded by a byte for its type; numbers are big-endian.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTOR, SHORT, LONG, INT64, DOUBLE, DATETIME = 0xC1, 0xBC, 0xBD, 0xF7, 0xBF, 0xD3
TEXT, LONG_TEXT, NULL = 0xB5, 0xB6, 0xCC
SHORT_TEXT_MAX = 255
# Day number of 1 January 1970 in the server's calendar, counted from year one.
EPOCH_DAY = 719_165
# Midnight, and the mark of a value without a time.
MIDNIGHT_OF_DATE = bytes.fromhex("80000000004000")
DAY_BYTES = 3
# Every integer with this number of digits is exact as a floating point number.
DIGITS_EXACT = 15
_PREFIXES = pa.array([bytes((TEXT, size)) for size in range(SHORT_TEXT_MAX + 1)], pa.binary())


def serialised(batch: pa.RecordBatch) -> Iterator[bytes | bytearray | memoryview]:
    """Yield a batch of rows in Virtuoso's binary format, piece by piece.

    Raises:
        EngineError: For a column of a type that has no counterpart.
    """
    yield _vector(batch.num_columns)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        yield _vector(len(column))
        if column.null_count:
            yield b"".join(_absent(name, column))
        else:
            yield _values(name, column)


def _vector(size: int) -> bytes:
    return bytes((VECTOR, LONG)) + struct.pack(">i", size)


def _absent(name: str, column: pa.Array) -> Iterator[bytes | bytearray | memoryview]:
    """Yield a column that contains NULL in Virtuoso's format, value by value."""
    for place in range(len(column)):
        value = column[place : place + 1]
        yield bytes((NULL,)) if value.null_count else _values(name, value)


def _values(name: str, column: pa.Array) -> bytes | bytearray | memoryview:
    kind, types = column.type, pa.types
    if types.is_string(kind) or types.is_string_view(kind) or types.is_large_string(kind):
        return _texts(column.cast(pa.binary()))
    if types.is_integer(kind):
        return _whole(column.cast(pa.int64()))
    if types.is_decimal(kind):
        return _tagged(DOUBLE, _nearest(column))
    if types.is_floating(kind):
        return _tagged(DOUBLE, column.cast(pa.float64()))
    if types.is_date(kind):
        return _dates(column.cast(pa.date32()).cast(pa.int32()))
    raise EngineError(
        f"column {name} of type {kind} cannot be loaded: cast the column in the data."
    )


def _texts(column: pa.Array) -> bytes | memoryview:
    sizes = pc.binary_length(column)
    if len(column) and pc.max(sizes).as_py() > SHORT_TEXT_MAX:
        return b"".join(_text(value) for value in column.to_pylist())
    joined = pc.binary_join_element_wise(pc.take(_PREFIXES, sizes), column, b"")
    _, offsets, held = joined.buffers()
    places = memoryview(offsets).cast("i")
    return memoryview(held)[places[joined.offset] : places[joined.offset + len(joined)]]


def _text(value: bytes) -> bytes:
    if len(value) <= SHORT_TEXT_MAX:
        return bytes((TEXT, len(value))) + value
    return bytes((LONG_TEXT,)) + struct.pack(">i", len(value)) + value


def _whole(column: pa.Array) -> bytearray:
    try:
        return _tagged(LONG, column.cast(pa.int32()))
    except pa.ArrowInvalid:
        return _tagged(INT64, column)


def _tagged(tag: int, column: pa.Array) -> bytearray:
    """Return numbers in Virtuoso's format: each after its type tag, big-endian."""
    width = column.type.bit_width // 8
    begin = column.offset * width
    held = memoryview(column.buffers()[1])[begin : begin + len(column) * width].tobytes()
    made = bytearray(len(column) * (width + 1))
    made[0 :: width + 1] = bytes((tag,)) * len(column)
    for byte in range(width):
        made[byte + 1 :: width + 1] = held[width - 1 - byte :: width]
    return made


def _nearest(column: pa.Array) -> pa.Array:
    """Return decimal numbers as the nearest floating point numbers."""
    kind = column.type
    if kind.precision > DIGITS_EXACT:
        return pc.cast(pc.cast(column, pa.string()), pa.float64())
    unit = 10**kind.scale
    factor = pa.scalar(Decimal(unit), pa.decimal128(kind.scale + 1, 0))
    units = pc.cast(pc.multiply(column, factor), pa.int64())
    return pc.divide(pc.cast(units, pa.float64()), float(unit))


def _dates(days: pa.Array) -> bytes | memoryview:
    """Return dates in Virtuoso's format, from days since 1970.

    Dates repeat, so each distinct one is encoded once.
    """
    if not len(days):
        return b""
    ends = pc.min_max(days).as_py()
    first, last = ends["min"], ends["max"]
    encoded = [_date(day) for day in range(first, last + 1)]
    taken = pc.take(pa.array(encoded, pa.binary(len(encoded[0]))), pc.subtract(days, first))
    return memoryview(taken.buffers()[1])[: len(taken) * len(encoded[0])]


def _date(day: int) -> bytes:
    return bytes((DATETIME,)) + (EPOCH_DAY + day).to_bytes(DAY_BYTES, "big") + MIDNIGHT_OF_DATE
