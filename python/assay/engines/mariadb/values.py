"""Rows of the text protocol as Arrow columns, each of the type that the server says it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pymysql.constants import FIELD_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of decimals, digits in all: Arrow's narrower kind has 38, MariaDB's has up to 65.
NARROW_DIGITS, WIDE_DIGITS = 38, 76
INTEGERS = {FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG} | {
    FIELD_TYPE.YEAR
}
FLOATS = {FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE}
DECIMALS = {FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL}
DATES = {FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE}
MOMENTS = {FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP}

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
    binary = any(isinstance(value, bytes) for value in values)
    texts = pa.array(values, pa.binary() if binary else pa.string())
    if binary:
        return texts
    if kind in INTEGERS:
        return texts.cast(pa.int64())
    if kind == FIELD_TYPE.LONGLONG:
        return _whole(texts)
    if kind in DECIMALS:
        digits = max((len(value) for value in values if isinstance(value, str)), default=0)
        if digits <= NARROW_DIGITS:
            return texts.cast(pa.decimal128(NARROW_DIGITS, scale))
        return texts.cast(pa.decimal256(WIDE_DIGITS, scale))
    if kind in FLOATS:
        return texts.cast(pa.float64())
    if kind in DATES:
        return texts.cast(pa.date32())
    if kind in MOMENTS:
        return texts.cast(pa.timestamp("us"))
    return texts


def _whole(texts: pa.Array) -> pa.Array:
    """Whole numbers of 64 bits: unsigned where one does not fit otherwise."""
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts.cast(pa.uint64())
