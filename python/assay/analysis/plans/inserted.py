"""Finds the rows and values that an `insert ... values` statement gives to its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp


@dataclass(frozen=True)
class Inserted:
    """The rows that one execution of a statement inserts.

    Attributes:
        table: Name of the table, without its schema, in lower case.
        rows: Number of rows.
        values: SQL of the first row's values by column, in lower case; empty if the statement does
            not name its columns.
    """

    table: str
    rows: int
    values: Mapping[str, str]


def inserted(text: str, grammar: str | None) -> Inserted | None:
    """Return what a statement inserts; None if it does not insert listed values only.

    Args:
        text: The statement's text.
        grammar: SQL dialect of the statement, by its name in sqlglot.
    """
    from sqlglot import exp

    trees = parsed(text, grammar) or []
    if len(trees) != 1 or not isinstance(trees[0], exp.Insert):
        return None
    insert, values = trees[0], trees[0].expression
    table = insert.find(exp.Table)
    if not isinstance(values, exp.Values) or table is None or insert.find(exp.Select) is not None:
        return None
    rows = values.expressions
    return Inserted(table.name.lower(), len(rows), _values(insert, rows[0]))


def _values(insert: exp.Insert, row: exp.Expression) -> dict[str, str]:
    """Return the values of one row by column; empty if the columns are not named."""
    from sqlglot import exp

    if not isinstance(insert.this, exp.Schema) or not isinstance(row, exp.Tuple):
        return {}
    names = [column.name.lower() for column in insert.this.expressions]
    texts = [value.sql().lower() for value in row.expressions]
    return dict(zip(names, texts, strict=False))
