"""Compares the rows an operation returned with the rows it should have returned.

The tolerances are the specification's; below scale 1 the tolerance of sums shrinks with the scale,
because the sums do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

CENT = Decimal("0.01")
SEPARATOR = "|"
# Binary floating point carries 15 to 17 digits; a sum of millions of terms loses a few of them.
FLOAT_RELATIVE = Decimal("1e-9")
# Python's own 28 digits are fewer than the 38 of an engine's decimals, or than 1e308 has in cents.
EXACT = Context(prec=1000, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Tolerances:
    """How far a number may be from its answer, by the kind of its column."""

    kinds: Mapping[str, str]
    sum_absolute: Decimal
    ratio_relative: Decimal

    @classmethod
    def of(
        cls, kinds: Mapping[str, str], sum_absolute: float, ratio_relative: float, scale: float
    ) -> Tolerances:
        """Tolerances at a scale."""
        return cls(
            kinds=kinds,
            sum_absolute=Decimal(str(sum_absolute)) * Decimal(str(min(1.0, scale))),
            ratio_relative=Decimal(str(ratio_relative)),
        )


@dataclass(frozen=True)
class Expected:
    """Reference rows: column names and, row by row, texts (None: absent).

    Attributes:
        columns, rows: As they were asked for.
        ordered_by: Columns that say in which order rows come; rows that are equal in them may come
            in any. None: all rows come as they stand here.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    ordered_by: tuple[str, ...] | None = None

    def ties(self) -> list[range]:
        """Places of rows that may change with each other, from the first row to the last."""
        if self.ordered_by is None:
            return [range(place, place + 1) for place in range(len(self.rows))]
        keys = [self.columns.index(name) for name in self.ordered_by if name in self.columns]
        groups = groupby(range(len(self.rows)), lambda row: [self.rows[row][key] for key in keys])
        runs = [list(places) for _, places in groups]
        return [range(places[0], places[-1] + 1) for places in runs]


def expected_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows in the form of a file of expected rows.

    Raises:
        ValueError: If a value holds what separates fields or lines.
    """
    lines = [[name.replace(SEPARATOR, " ").replace("\n", " ") for name in columns]]
    lines += [["" if cell is None else _written(cell) for cell in row] for row in rows]
    for line in lines:
        if any(SEPARATOR in field or "\n" in field for field in line):
            raise ValueError(f"a value holds {SEPARATOR!r} or a line break")
    return "".join(SEPARATOR.join(line) + "\n" for line in lines)


def _written(cell: object) -> str:
    return format(cell, "f") if isinstance(cell, Decimal) else _text(cell)


def read_expected(path: Path, ordered_by: Sequence[str] | None = None) -> Expected:
    """Reads reference rows: a header, then a row a line, fields separated by `|`, empty: null."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    columns = tuple(lines[0].split(SEPARATOR))
    rows = tuple(tuple(field or None for field in line.split(SEPARATOR)) for line in lines[1:])
    return Expected(columns, rows, None if ordered_by is None else tuple(ordered_by))


def difference(
    actual: Sequence[Sequence[object]], expected: Expected, tolerances: Tolerances
) -> str | None:
    """The first difference in words, or None if the rows are right."""
    if actual and not expected.rows:
        told = [
            f"{column} {cell}" for column, cell in zip(expected.columns, actual[0], strict=False)
        ]
        return f"{len(actual)} rows instead of none; the first: {', '.join(told)}"
    if len(actual) != len(expected.rows):
        return f"{len(actual)} rows instead of {len(expected.rows)}"
    for row in actual:
        if len(row) != len(expected.columns):
            return f"{len(row)} columns instead of {len(expected.columns)}"
    for tied in expected.ties():
        rows, wanted_rows = actual[tied.start : tied.stop], expected.rows[tied.start : tied.stop]
        first = _first_difference(rows, wanted_rows, expected.columns, tolerances)
        if first is None or (len(tied) > 1 and _same(rows, wanted_rows, expected, tolerances)):
            continue
        place, column, cell, text = first
        order = " (the rows are right, their order is not)"
        hint = order if _same(actual, expected.rows, expected, tolerances) else ""
        number = tied.start + place + 1
        return f"row {number}, {column}: {shown(cell)} instead of {shown(text)}{hint}"
    return None


def _first_difference(
    actual: Sequence[Sequence[object]],
    wanted: Sequence[Sequence[str | None]],
    columns: Sequence[str],
    tolerances: Tolerances,
) -> tuple[int, str, object, str | None] | None:
    """Place, column and both values of the first cell that is not right."""
    for place, (row, wanted_row) in enumerate(zip(actual, wanted, strict=True)):
        for column, cell, text in zip(columns, row, wanted_row, strict=True):
            # Most cells are the same to the letter, and comparing numbers is slow.
            same = cell == text if type(cell) is str else type(cell) is int and str(cell) == text
            if not (same or cell_is_right(cell, text, column, tolerances)):
                return place, column, cell, text
    return None


def cell_is_right(cell: object, wanted: str | None, column: str, tolerances: Tolerances) -> bool:
    """Whether one value is within the tolerance of its column."""
    if cell is None or wanted is None:
        return wanted is None and (cell is None or _text(cell) == "")
    number = _number(cell)
    if number is None:
        return _text(cell) == wanted.rstrip(" ")
    answer = _decimal(wanted)
    if answer is None or not number.is_finite():
        return False
    match tolerances.kinds.get(column, "exact"):
        case "sum":
            return _distance(number, answer) <= tolerances.sum_absolute
        case "average" | "ratio":
            rounded, target = _cents(number), _cents(answer)
            return _distance(rounded, target) <= tolerances.ratio_relative * abs(target)
        case _:
            return _exact(number, answer, is_float=isinstance(cell, float))


def _exact(number: Decimal, answer: Decimal, *, is_float: bool) -> bool:
    if is_float and _distance(number, answer) <= FLOAT_RELATIVE * abs(answer):
        return True
    exponent = answer.as_tuple().exponent
    if isinstance(exponent, int) and exponent < CENT.as_tuple().exponent:  # type: ignore[operator]
        return _cents(number) == _cents(answer)
    return number == answer


def _distance(one: Decimal, other: Decimal) -> Decimal:
    return EXACT.abs(EXACT.subtract(one, other))


def _cents(number: Decimal) -> Decimal:
    return number.quantize(CENT, context=EXACT)


def _decimal(text: str) -> Decimal | None:
    """The finite number that a text stands for; None for other texts, 'NaN' among them."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _number(cell: object) -> Decimal | None:
    if isinstance(cell, Decimal):
        return cell
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return Decimal(repr(cell))
    return None


def _text(cell: object) -> str:
    if isinstance(cell, datetime):
        return (
            cell.date().isoformat() if cell.time().isoformat() == "00:00:00" else cell.isoformat()
        )
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell).rstrip(" ")


def shown(cell: object) -> str:
    """A value as a message shows it."""
    return "null" if cell is None else _text(cell)


def _same(
    actual: Sequence[Sequence[object]],
    rows: Sequence[Sequence[str | None]],
    expected: Expected,
    tolerances: Tolerances,
) -> bool:
    """Whether rows would be right in another order."""
    exact = [
        index
        for index, column in enumerate(expected.columns)
        if tolerances.kinds.get(column, "exact") == "exact"
    ]

    def key(row: Sequence[object]) -> list[str]:
        numbers = [(_number(row[index]), row[index]) for index in exact]
        return [shown(cell) if n is None else str(n.normalize(EXACT)) for n, cell in numbers]

    def wanted_key(row: Sequence[str | None]) -> list[str]:
        return [_normal(row[index]) for index in exact]

    ordered = sorted(actual, key=key)
    wanted = sorted(rows, key=wanted_key)
    return _first_difference(ordered, wanted, expected.columns, tolerances) is None


def _normal(text: str | None) -> str:
    if text is None:
        return "null"
    number = _decimal(text)
    return text.rstrip(" ") if number is None else str(number.normalize(EXACT))
