"""Converts values of the JDBC bridge's protocol to Arrow and back.

Each value has the kind in which the driver returns it; a column has the type that fits all its
values.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.wire import Body, text

if TYPE_CHECKING:
    from collections.abc import Iterable

NULL, BOOLEAN, LONG, DOUBLE, DECIMAL, DATE, TIMESTAMP, TEXT, BYTES, DIGITS = range(10)

DECIMAL_DIGITS = 38
EPOCH = datetime.date(1970, 1, 1)
EPOCH_TIME = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1
LOW_BITS, LOW_MASK = 64, (1 << 64) - 1
# Types of `java.sql.Types` for columns whose values are all NULL.
TYPES = {
    **dict.fromkeys((-6, 5, 4, -5), pa.int64()),
    **dict.fromkeys((6, 7, 8), pa.float64()),
    **dict.fromkeys((2, 3), pa.decimal128(DECIMAL_DIGITS, 0)),
    **dict.fromkeys((-7, 16), pa.bool_()),
    **dict.fromkeys((-2, -3, -4, 2004), pa.binary()),
    91: pa.date32(),
    93: pa.timestamp("us"),
    2014: pa.timestamp("us"),
}
PLAIN = {
    BOOLEAN: pa.bool_(),
    LONG: pa.int64(),
    DOUBLE: pa.float64(),
    DATE: pa.date32(),
    TIMESTAMP: pa.timestamp("us"),
    TEXT: pa.string(),
    BYTES: pa.binary(),
}

# Kind and value; dates are days and times microseconds since 1970.
TypedValue = tuple[int, object]


def described(body: bytes) -> list[tuple[str, int]]:
    """Return the column names and JDBC types that a result message describes."""
    reader = Body(body)
    return [(reader.text(), reader.integer()) for _ in range(reader.integer())]


def row(body: bytes, columns: int) -> list[TypedValue]:
    """Return the values of one row message."""
    reader = Body(body)
    return [_read_value(reader) for _ in range(columns)]


def table(columns: Sequence[tuple[str, int]], rows: Sequence[Sequence[TypedValue]]) -> pa.Table:
    """Return the rows of a result as an Arrow table."""
    cells: Iterable[Sequence[TypedValue]] = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [_array(values, kind) for values, (_, kind) in zip(cells, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in columns])


def sent(values: Sequence[object]) -> bytes:
    """Return a statement's values in the JDBC bridge's format.

    Raises `BridgeError` for a value of an unknown type.
    """
    return struct.pack(">i", len(values)) + b"".join(map(_sent, values))


def printed(typed: TypedValue) -> str | None:
    """Return a value as text; None for NULL."""
    kind, value = typed
    if kind == DATE and isinstance(value, int):
        return (EPOCH + datetime.timedelta(days=value)).isoformat()
    if kind == TIMESTAMP and isinstance(value, int):
        return (EPOCH_TIME + value * MICROSECOND).replace(tzinfo=None).isoformat(" ")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    return None if value is None else str(value)


def _read_value(reader: Body) -> TypedValue:  # noqa: PLR0911 - a case a kind
    kind = reader.byte()
    match kind:
        case 0:
            return kind, None
        case 1:
            return kind, reader.byte() != 0
        case 2 | 6:
            return kind, reader.long()
        case 3:
            return kind, struct.unpack(">d", struct.pack(">q", reader.long()))[0]
        case 4:
            scale = reader.integer()
            whole = (reader.long() << LOW_BITS) + (reader.long() & LOW_MASK)
            return kind, decimal.Decimal(whole).scaleb(-scale, EXACT)
        case 5:
            return kind, reader.integer()
        case 7 | 9:
            return kind, reader.text()
        case 8:
            return kind, reader.blob()
    raise BridgeError(
        f"the JDBC bridge sent a value of the unknown type {kind}: build the bridge again with "
        "`make setup`"
    )


EXACT = decimal.Context(prec=2 * DECIMAL_DIGITS)


def _array(values: Sequence[TypedValue], declared: int) -> pa.Array:
    kinds = {kind for kind, _ in values} - {NULL}
    plain = [value for _, value in values]
    if not kinds:
        return pa.array(plain, TYPES.get(declared, pa.string()))
    if len(kinds) == 1 and (only := next(iter(kinds))) in PLAIN:
        return pa.array(plain, PLAIN[only])
    if kinds == {LONG, DOUBLE}:
        return pa.array([None if v is None else float(str(v)) for v in plain], pa.float64())
    if kinds <= {LONG, DECIMAL}:
        numbers = [None if v is None else decimal.Decimal(str(v)) for v in plain]
        scale = max(-int(n.as_tuple().exponent) for n in numbers if n is not None)
        try:
            return pa.array(numbers, pa.decimal128(DECIMAL_DIGITS, max(scale, 0)))
        except pa.ArrowInvalid:
            pass  # Some decimals have many digits before the point, others after it.
    return pa.array([printed(typed) for typed in values], pa.string())


def _sent(value: object) -> bytes:  # noqa: C901, PLR0911 - a case a type
    match value:
        case None:
            return bytes((NULL,))
        case bool():
            return bytes((BOOLEAN, value))
        case int() if LONG_MIN <= value <= LONG_MAX:
            return struct.pack(">Bq", LONG, value)
        case int():
            return bytes((DIGITS,)) + text(str(value))
        case float():
            return struct.pack(">Bd", DOUBLE, value)
        case decimal.Decimal():
            return bytes((DIGITS,)) + text(f"{value:f}")
        case str():
            return bytes((TEXT,)) + text(value)
        case bytes():
            return struct.pack(">BI", BYTES, len(value)) + value
        case datetime.datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return struct.pack(">Bq", TIMESTAMP, (moment - EPOCH_TIME) // MICROSECOND)
        case datetime.date():
            return struct.pack(">Bi", DATE, (value - EPOCH).days)
    raise BridgeError(
        f"a value of type {type(value).__name__} cannot be bound to a statement's parameter: "
        "convert the value first"
    )
