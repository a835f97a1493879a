"""Compares the rows that an operation returned with the expected rows.

The tolerances are those of the specification. Below scale 1 the tolerance of sums shrinks with
the scale, because the sums shrink, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

CENT = Decimal("0.01")
# Largest number of rows in arbitrary order that are searched one by one, in quadratic time.
SEARCHED_ROWS_MAX = 2_000
SEPARATOR = "|"
# A double has 15 to 17 significant digits; a sum of millions of terms loses a few of them.
FLOAT_RELATIVE = Decimal("1e-9")
# Python's default of 28 digits is less than the 38 digits of SQL decimals, or than 1e308 in
# cents.
EXACT = Context(prec=1000, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Tolerances:
    """Tolerances for comparing numbers, by the kind of their column."""

    kinds: Mapping[str, str]
    sum_absolute: Decimal
    ratio_relative: Decimal
    float_relative: Decimal = Decimal(0)

    @classmethod
    def of(
        cls,
        kinds: Mapping[str, str],
        sum_absolute: float,
        ratio_relative: float,
        scale: float,
        float_relative: float = 0.0,
    ) -> Tolerances:
        """Return the numeric tolerances for data of a scale factor."""
        return cls(
            kinds=kinds,
            sum_absolute=Decimal(str(sum_absolute)) * Decimal(str(min(1.0, scale))),
            ratio_relative=Decimal(str(ratio_relative)),
            float_relative=Decimal(str(float_relative)),
        )


@dataclass(frozen=True)
class Expected:
    """Reference rows: column names, and the fields of each row as text (None: NULL).

    Attributes:
        columns, rows: Names of the columns, and the rows.
        ordered_by: Columns that determine the order of rows. Rows that are equal in these
            columns may come in any order; None means that rows come exactly in this order.
        offset, limit: Range of these rows that the query returns. Among rows that tie at an end
            of the range, any may be returned. A limit of None means all further rows.
        more_rows: Whether other rows may be returned as well.
        cut: Ends of the order, `first` or `last`, at which an offset or a limit selects among
            tied rows. Of tied rows at such an end, only the columns of the order are compared.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    ordered_by: tuple[str, ...] | None = None
    offset: int = 0
    limit: int | None = None
    more_rows: bool = False
    cut: tuple[str, ...] = ()

    @property
    def returned(self) -> range:
        """The indexes of the rows within the query's LIMIT and OFFSET, if no rows tie."""
        stop = len(self.rows) if self.limit is None else self.offset + self.limit
        return range(len(self.rows))[self.offset : stop]

    def ties(self, tolerances: Tolerances) -> list[range]:
        """Return index ranges of rows with equal ORDER BY values, which may come in any order.

        Floating-point values tie within their tolerance. After such a tie, the order by later
        columns is not known.
        """
        if self.ordered_by is None:
            return [range(place, place + 1) for place in range(len(self.rows))]
        named = [name for name in self.ordered_by if name in self.columns]
        floats = [
            place for place, name in enumerate(named) if tolerances.kinds.get(name) == "float"
        ]
        keys = [self.columns.index(name) for name in named[: floats[0] + 1 if floats else None]]
        ties: list[range] = []
        for place, row in enumerate(self.rows):
            before = self.rows[place - 1]
            tied = place > 0 and all(
                row[key] == before[key] or self._is_near(row[key], before[key], key, tolerances)
                for key in keys
            )
            begin = ties.pop().start if tied else place
            ties.append(range(begin, place + 1))
        return ties

    def _is_near(
        self, left: str | None, right: str | None, key: int, tolerances: Tolerances
    ) -> bool:
        if tolerances.kinds.get(self.columns[key]) != "float" or left is None:
            return False
        number = _decimal(left)
        return number is not None and cell_is_right(number, right, self.columns[key], tolerances)


def expected_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as the text of a file of expected rows.

    Raises:
        ValueError: If a value contains a field separator or a line break.
    """
    lines = [[name.replace(SEPARATOR, " ").replace("\n", " ") for name in columns]]
    lines += [["" if cell is None else _written(cell) for cell in row] for row in rows]
    for line in lines:
        if any(SEPARATOR in field or "\n" in field for field in line):
            raise ValueError(f"a value contains {SEPARATOR!r} or a line break")
    return "".join(SEPARATOR.join(line) + "\n" for line in lines)


def _written(cell: object) -> str:
    return format(cell, "f") if isinstance(cell, Decimal) else _text(cell)


def read_expected(path: Path, ordered_by: Sequence[str] | None = None) -> Expected:
    """Read expected rows from a file: a header, then one row per line with fields split by `|`."""
    columns, rows = _read(path)
    return Expected(columns, rows, None if ordered_by is None else tuple(ordered_by))


def read_expected_by(path: Path, rule: Mapping[str, Any]) -> Expected:
    """Read expected rows from a file, with the ORDER BY and LIMIT rules of their operation."""
    columns, rows = _read(path)
    return Expected(
        columns,
        rows,
        tuple(rule["ordered_by"]),
        offset=rule["offset"],
        limit=rule["limit"],
        more_rows=rule["more_rows"],
    )


def _read(path: Path) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    columns = tuple(lines[0].split(SEPARATOR))
    rows = tuple(tuple(field or None for field in line.split(SEPARATOR)) for line in lines[1:])
    return columns, rows


def difference(
    actual: Sequence[Sequence[object]], expected: Expected, tolerances: Tolerances
) -> str | None:
    """Return text on the first difference between actual and expected rows; None if they match."""
    if actual and not expected.rows and not expected.more_rows:
        cells = [
            f"{column} {cell}" for column, cell in zip(expected.columns, actual[0], strict=False)
        ]
        return f"{len(actual)} rows instead of none; the first: {', '.join(cells)}"
    returned = expected.returned
    for row in actual:
        if len(row) != len(expected.columns):
            return f"{len(row)} columns instead of {len(expected.columns)}"
    if expected.more_rows:
        return _lacking(actual, expected, tolerances)
    if len(actual) != len(returned):
        return f"{len(actual)} rows instead of {len(returned)}"
    for tied in expected.ties(tolerances):
        shown_of = range(max(tied.start, returned.start), min(tied.stop, returned.stop))
        rows = actual[shown_of.start - returned.start : shown_of.stop - returned.start]
        wanted = _only_ordered(expected) if _may_be_others(tied, expected) else expected
        rows = [_of_columns(row, wanted, expected) for row in rows]
        first_difference = _difference_of(rows, tied, wanted, tolerances) if shown_of else None
        if first_difference is not None:
            order = " (the rows are right, their order is not)"
            is_whole = len(returned) == len(expected.rows)
            hint = order if is_whole and _same(actual, expected.rows, expected, tolerances) else ""
            place, text = first_difference
            return f"row {shown_of.start - returned.start + place + 1}, {text}{hint}"
    return None


def _may_be_others(tied: range, expected: Expected) -> bool:
    """Return True if LIMIT or OFFSET cuts through rows with equal ORDER BY values."""
    at_first = "first" in expected.cut and tied.start == 0
    return at_first or ("last" in expected.cut and tied.stop == len(expected.rows))


def _only_ordered(expected: Expected) -> Expected:
    """Return the expected rows reduced to the columns of the ORDER BY."""
    columns = tuple(name for name in expected.columns if name in (expected.ordered_by or ()))
    rows = tuple(
        tuple(cell for name, cell in zip(expected.columns, row, strict=True) if name in columns)
        for row in expected.rows
    )
    return Expected(columns, rows, expected.ordered_by)


def _of_columns(row: Sequence[object], wanted: Expected, expected: Expected) -> Sequence[object]:
    if wanted is expected:
        return row
    return [
        cell for name, cell in zip(expected.columns, row, strict=True) if name in wanted.columns
    ]


def _difference_of(
    rows: Sequence[Sequence[object]], tied: range, expected: Expected, tolerances: Tolerances
) -> tuple[int, str] | None:
    """Return the index and a description of the first difference among tied rows, or None."""
    wanted = expected.rows[tied.start : tied.stop]
    if len(rows) < len(wanted):
        place = _not_among(rows, wanted, expected.columns, tolerances)
        if place is None:
            return None
        cells = [
            f"{name} {shown(cell)}"
            for name, cell in zip(expected.columns, rows[place], strict=True)
        ]
        return place, f"{', '.join(cells)} is none of the {len(wanted)} rows that tie there"
    first = _first_difference(rows, wanted, expected.columns, tolerances)
    if first is None or (len(tied) > 1 and _same(rows, wanted, expected, tolerances)):
        return None
    place, column, cell, text = first
    return place, f"{column}: {shown(cell)} instead of {shown(text)}"


def _not_among(
    rows: Sequence[Sequence[object]],
    wanted: Sequence[Sequence[str | None]],
    columns: Sequence[str],
    tolerances: Tolerances,
) -> int | None:
    """Return row, column and values of the first differing cell; None if all match."""
    left = list(wanted)
    for place, row in enumerate(rows):
        same = (
            at
            for at, candidate in enumerate(left)
            if _first_difference([row], [candidate], columns, tolerances) is None
        )
        at = next(same, None)
        if at is None:
            return place
        del left[at]
    return None


def _lacking(
    actual: Sequence[Sequence[object]], expected: Expected, tolerances: Tolerances
) -> str | None:
    """Return a sentence about the first expected row that is missing; None if none is missing."""
    for wanted in expected.rows:
        same = (
            _first_difference([row], [wanted], expected.columns, tolerances) is None
            for row in actual
        )
        if not any(same):
            cells = [
                f"{name} {shown(cell)}" for name, cell in zip(expected.columns, wanted, strict=True)
            ]
            return f"a row is missing: {', '.join(cells)}"
    return None


def _first_difference(
    actual: Sequence[Sequence[object]],
    wanted: Sequence[Sequence[str | None]],
    columns: Sequence[str],
    tolerances: Tolerances,
) -> tuple[int, str, object, str | None] | None:
    """Return row, column and values of the first cell that differs; None if all cells match."""
    for place, (row, wanted_row) in enumerate(zip(actual, wanted, strict=True)):
        for column, cell, text in zip(columns, row, wanted_row, strict=True):
            # Most cells are equal as text, and comparing numbers is slow.
            same = cell == text if type(cell) is str else type(cell) is int and str(cell) == text
            if not (same or cell_is_right(cell, text, column, tolerances)):
                return place, column, cell, text
    return None


def cell_is_right(cell: object, wanted: str | None, column: str, tolerances: Tolerances) -> bool:
    """Return True if a value equals the expected text within the tolerance of its column."""
    if cell is None or wanted is None:
        return wanted is None and (cell is None or _text(cell) == "")
    number = _number(cell)
    if number is None:
        return _text(cell) == wanted.rstrip(" ")
    answer = _decimal(wanted)
    if not number.is_finite():
        return _text(cell) == wanted
    if answer is None:
        return False
    match tolerances.kinds.get(column, "exact"):
        case "sum":
            apart, allowed = _distance(number, answer), tolerances.sum_absolute
        case "average" | "ratio":
            target = _cents(answer)
            apart, allowed = (
                _distance(_cents(number), target),
                tolerances.ratio_relative * abs(target),
            )
        case "float":
            apart, allowed = _distance(number, answer), tolerances.float_relative * abs(answer)
        case _:
            return _exact(number, answer, is_float=isinstance(cell, float))
    return apart <= allowed


def _exact(number: Decimal, answer: Decimal, *, is_float: bool) -> bool:
    if is_float and _distance(number, answer) <= FLOAT_RELATIVE * abs(answer):
        return True
    exponent = answer.as_tuple().exponent
    if isinstance(exponent, int) and exponent < CENT.as_tuple().exponent:  # type: ignore[operator]
        return _cents(number) == _cents(answer)
    return number == answer


def _distance(left: Decimal, right: Decimal) -> Decimal:
    return EXACT.abs(EXACT.subtract(left, right))


def _cents(number: Decimal) -> Decimal:
    return number.quantize(CENT, context=EXACT)


def _decimal(text: str) -> Decimal | None:
    """Parse a text as a finite number; None for any other text, including 'NaN'."""
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


def cell_text(cell: object) -> str:
    """Return a value as unescaped text in the notation of files of expected rows."""
    return _text(cell)


def _text(cell: object) -> str:
    if isinstance(cell, datetime):
        return (
            cell.date().isoformat() if cell.time().isoformat() == "00:00:00" else cell.isoformat()
        )
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell).rstrip(" ")


def shown(cell: object) -> str:
    """Return a value as text for a message, with `null` for NULL."""
    return "null" if cell is None else _text(cell)


def _same(
    actual: Sequence[Sequence[object]],
    rows: Sequence[Sequence[str | None]],
    expected: Expected,
    tolerances: Tolerances,
) -> bool:
    """Return True if the actual rows match the expected rows in some order."""
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
    if _first_difference(ordered, wanted, expected.columns, tolerances) is None:
        return True
    # Rows without exact columns cannot be sorted for the comparison, so each row is searched
    # for.
    if len(ordered) > SEARCHED_ROWS_MAX or len(exact) == len(expected.columns):
        return False
    return _not_among(ordered, wanted, expected.columns, tolerances) is None


def _normal(text: str | None) -> str:
    if text is None:
        return "null"
    number = _decimal(text)
    return text.rstrip(" ") if number is None else str(number.normalize(EXACT))
