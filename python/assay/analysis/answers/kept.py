"""Converts the result rows that a user stored as expected answers to text and back.

Fields are separated as in other files of expected rows. Separators within a value are escaped,
and NULL differs from an empty text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.answers.comparison import SEPARATOR, Expected, cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from assay.model.kept_answer import KeptAnswer

ABSENT = "\\N"
ESCAPES = {"\\": "\\\\", SEPARATOR: "\\p", "\n": "\\n", "\r": "\\r"}
UNESCAPED = {escape[1]: letter for letter, escape in ESCAPES.items()}
# Decimals with more digits after the point are often sums or quotients, which engines round.
DECIMALS_EXACT = 2


def kept_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as text: a line of column names, then one line per row."""
    lines = [[_escaped(name) for name in columns]]
    lines += [
        [ABSENT if cell is None else _escaped(_written(cell)) for cell in row] for row in rows
    ]
    return "".join(SEPARATOR.join(line) + "\n" for line in lines)


def read_kept_rows(path: Path, answer: KeptAnswer) -> Expected:
    """Read the expected rows of a stored answer, with its ORDER BY and LIMIT rules."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    table = [[_unescaped(field) for field in line.split(SEPARATOR)] for line in lines]
    return Expected(
        tuple(name or "" for name in table[0]),
        tuple(tuple(row) for row in table[1:]),
        tuple(answer.ordered_by),
        cut=tuple(answer.cut),
    )


def expected_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], answer: KeptAnswer
) -> Expected:
    """Return rows as if they had been written to a stored answer and read back."""
    texts = (tuple(None if cell is None else _written(cell) for cell in row) for row in rows)
    return Expected(tuple(columns), tuple(texts), tuple(answer.ordered_by), cut=tuple(answer.cut))


def inexact_columns(schema: pl.Schema) -> list[str]:
    """Return the names of floating-point and decimal columns, compared within a tolerance."""
    return [
        name
        for name, kind in schema.items()
        if kind.is_float() or (isinstance(kind, pl.Decimal) and kind.scale > DECIMALS_EXACT)
    ]


def _written(cell: object) -> str:
    return format(cell, "f") if isinstance(cell, Decimal) else cell_text(cell)


def _escaped(text: str) -> str:
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def _unescaped(field: str) -> str | None:
    if field == ABSENT:
        return None
    if "\\" not in field:
        return field
    letters = iter(field)
    return "".join(
        UNESCAPED.get(next(letters, ""), "") if letter == "\\" else letter for letter in letters
    )
