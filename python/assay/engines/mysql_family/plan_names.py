"""Names in plans of MySQL's family: without the schema and the quotes that the server adds.

A server writes a column as `schema.table.column` unless the table is in the session's database, and
quotes names that are words of SQL, such as `day`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from assay.model.plan import PlanNode

_STRING = r"'(?:[^'\\]|\\.|'')*'"
_QUOTED = re.compile(rf"({_STRING})|`([A-Za-z_]\w*)`", re.DOTALL)
_COLUMN = re.compile(
    rf"({_STRING})|(?<![\w.$`])(?:([A-Za-z_$][\w$]*)\.)?([A-Za-z_$][\w$]*)\.(?=[\w$`])", re.DOTALL
)


def with_schemas(root: PlanNode, database: str | None = None) -> PlanNode:
    """Return the plan with the schema of each table, and conditions that name tables alone.

    Args:
        root: Of a plan as the server has it.
        database: Of the session, where tables are that the server names without a schema; None: it
            is not known.
    """
    plain = _conditions(root, _without_quotes)
    named: dict[str, set[str | None]] = {}
    for node in plain.walk():
        for schema, table in _tables(node.condition or ""):
            named.setdefault(table, set()).add(schema or database)
    schemas = {table: next(iter(found)) for table, found in named.items() if len(found) == 1}
    return _conditions(_placed(plain, schemas), _without_schemas)


def _without_quotes(condition: str) -> str:
    return _QUOTED.sub(lambda match: match[1] or match[2], condition)


def _without_schemas(condition: str) -> str:
    return _COLUMN.sub(lambda match: match[1] or f"{match[3]}.", condition)


def _tables(condition: str) -> Iterable[tuple[str | None, str]]:
    """Schema and table of each column; None: the server names no schema."""
    return ((match[2], match[3]) for match in _COLUMN.finditer(condition) if match[1] is None)


def _conditions(node: PlanNode, change: Callable[[str], str]) -> PlanNode:
    return replace(
        node,
        condition=None if node.condition is None else change(node.condition),
        children=tuple(_conditions(child, change) for child in node.children),
    )


def _placed(node: PlanNode, schemas: Mapping[str, str | None]) -> PlanNode:
    return replace(
        node,
        schema=node.schema or schemas.get(node.object or ""),
        children=tuple(_placed(child, schemas) for child in node.children),
    )
