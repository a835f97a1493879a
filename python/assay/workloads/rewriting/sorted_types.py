"""Knows the types of columns that MySQL and MariaDB sort as they compare them.

They compare an `enum` as a text, and sort it by its number. A sort compares only the beginning of a
long text (`max_sort_length`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from assay.model.declared import DeclaredColumns

MYSQL = "mysql"
LETTERS_MAX = 255
_KINDS = exp.DataType.Type
EXACT_KINDS = {
    *exp.DataType.INTEGER_TYPES,
    *exp.DataType.TEMPORAL_TYPES,
    *(_KINDS.DECIMAL, _KINDS.UDECIMAL, _KINDS.DOUBLE, _KINDS.BOOLEAN, _KINDS.YEAR),
}


def is_exact(declared: DeclaredColumns, name: str) -> bool:
    """Return True if a column of MySQL or MariaDB is declared as a number or a time."""
    kind = _kind(declared, name)
    return kind is not None and kind.this in EXACT_KINDS


def is_sorted_as_compared(declared: DeclaredColumns, name: str, grammar: str | None) -> bool:
    """Return True if a sort by a column is known to compare whole values as `=` and `<` do."""
    if grammar != MYSQL or is_exact(declared, name):
        return True
    kind = _kind(declared, name)
    if kind is None or kind.this not in (_KINDS.CHAR, _KINDS.VARCHAR):
        return False
    length = kind.find(exp.DataTypeParam)
    return length is not None and length.name.isdigit() and int(length.name) <= LETTERS_MAX


def _kind(declared: DeclaredColumns, name: str) -> exp.DataType | None:
    """Return the declared type of a column; None if it is not known."""
    text = declared.types.get(name.lower())
    kind = exp.DataType.build(text, dialect=MYSQL, udt=True) if text else None
    return kind if isinstance(kind, exp.DataType) else None
