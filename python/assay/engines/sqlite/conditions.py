"""Extracts the WHERE condition of statements that scan one table, from their text.

A statement's compiled program shows comparisons of columns with values. Other conditions, such as
on a function of a column, are only in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.database import script
from assay.model.sql import parsed_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    from sqlglot.expressions import Expr

DIALECT = "sqlite"
NO_CONDITION = "true"
# Prefix of the plan line for a scan of a whole table.
SCAN = "SCAN "
_VALUE = re.compile(r"[?$:@]\w*")
_TEXT = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True)
class TextCondition:
    """The WHERE condition of a statement on a single table.

    Attributes:
        table: Table as the statement names it, with its alias.
        name: Name of the table.
        condition: Condition in SQL.
        values: Number of values in the condition.
    """

    table: str
    name: str
    condition: str
    values: int


def scanned_alone(plan: Sequence[dict[str, Any]]) -> bool:
    """Return True if a plan reads one whole table and nothing else."""
    accesses = [line for line in plan if line["detail"].startswith((SCAN, "SEARCH "))]
    return len(accesses) == 1 and accesses[0]["detail"].startswith(SCAN)


def parsed(text: str) -> Expr | None:
    """Return a statement as a tree; None if it cannot be parsed, or if there are several."""
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in parsed_script(text, DIALECT) if tree is not None]
    except SqlglotError:
        return None
    return trees[0] if len(trees) == 1 else None


def condition_of(text: str) -> TextCondition | None:
    """Return the condition of a statement on one table, `true` without one; None otherwise."""
    from sqlglot import exp

    tree = parsed(text)
    if tree is None:
        return None
    where, tables = tree.args.get("where"), list(tree.find_all(exp.Table))
    if len(tables) != 1 or len(list(tree.find_all(exp.Select))) > 1:
        return None
    condition = NO_CONDITION
    if where is not None:
        condition = where.this.sql(dialect=DIALECT, comments=False)
    values = _values(condition)
    # The order of values is known only if all of them are in the condition.
    if values != _values(tree.sql(dialect=DIALECT, comments=False)):
        return None
    table = tables[0].sql(dialect=DIALECT, comments=False)
    return TextCondition(table, tables[0].name, condition, values)


def _values(text: str) -> int:
    """Return the number of placeholders for values, such as `?`, in a statement's text."""
    return len(_VALUE.findall(_TEXT.sub("''", text)))


def counted_condition(
    connection: apsw.Connection, text_condition: TextCondition, values: Sequence[object]
) -> list[dict[str, Any]]:
    """Return the rows that a scan reads and keeps, counted by extra queries.

    Raises apsw's errors.
    """
    if text_condition.values != len(values) or text_condition.condition == NO_CONDITION:
        return []
    text = script("plans/kept.sql", table=text_condition.table, condition=text_condition.condition)
    counts: tuple[Any, ...] = connection.execute(text, tuple(values)).fetchall()[0]
    return [
        {
            "table": text_condition.name,
            "condition": f"({text_condition.condition})",
            # The statement only scans, so each row takes the same time.
            "steps": None,
            "joined": False,
            "read": float(counts[0]),
            "kept": float(counts[1]),
        }
    ]
