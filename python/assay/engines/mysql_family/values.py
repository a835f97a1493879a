"""Rows of the text protocol as Arrow columns, each of the type that the server says it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pymysql.constants import FIELD_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of decimals, digits in all: Arrow's narrower kind has 38, decimals here have up to 65.
NARROW_DIGITS, WIDE_DIGITS = 38, 76
TYPES = {
    FIELD_TYPE.TINY: pa.int64(),
    FIELD_TYPE.SHORT: pa.int64(),
    FIELD_TYPE.INT24: pa.int64(),
    FIELD_TYPE.LONG: pa.int64(),
    FIELD_TYPE.YEAR: pa.int64(),
    FIELD_TYPE.FLOAT: pa.float64(),
    FIELD_TYPE.DOUBLE: pa.float64(),
    FIELD_TYPE.DATE: pa.date32(),
    FIELD_TYPE.NEWDATE: pa.date32(),
    FIELD_TYPE.DATETIME: pa.timestamp("us"),
    FIELD_TYPE.TIMESTAMP: pa.timestamp("us"),
}
DECIMALS = {FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL}

# Name, type, and of a decimal the digits behind its point, as DB-API's `description` has them.
Described = tuple[str, int, object, object, object, int, object]


def table(described: Sequence[Described], rows: Sequence[Sequence[object]]) -> pa.Table:
    """All rows of a result.

    Args:
        described: The columns.
        rows: Texts as the server sent them, bytes where a column is binary, None for NULL.

    Raises:
        ValueError: If a text is none of its column's type.
    """
    # Columns may have the same name, so they go by place.
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in described]
    arrays = [
        column(list(values), kind=one[1], scale=one[5])
        for one, values in zip(described, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=[one[0] for one in described])


def column(values: list[object], *, kind: int, scale: int) -> pa.Array:
    """One column: `kind` is the server's number of its type. Raises `ValueError`."""
    if any(isinstance(value, bytes) for value in values):
        return pa.array(values, pa.binary())
    texts = pa.array(values, pa.string())
    if kind == FIELD_TYPE.LONGLONG:
        return _whole(texts)
    if kind in DECIMALS:
        digits = max((len(value) for value in values if isinstance(value, str)), default=0)
        narrow = digits <= NARROW_DIGITS
        wanted = pa.decimal128 if narrow else pa.decimal256
        return texts.cast(wanted(NARROW_DIGITS if narrow else WIDE_DIGITS, scale))
    return texts.cast(TYPES[kind]) if kind in TYPES else texts


def _whole(texts: pa.Array) -> pa.Array:
    """Whole numbers of 64 bits: unsigned where one does not fit otherwise."""
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts.cast(pa.uint64())
