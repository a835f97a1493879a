"""Simplifies names in MySQL's plans: removes the schema and quotes that the server adds.

A server writes a column as `schema.table.column` unless its table is in the session's database. It
quotes names that are SQL keywords, such as `day`.
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
# Forms of a condition that applies only to matched rows of an outer join.
_OF_OUTER_JOIN = re.compile(r"\btrigcond\b|<if>|is_not_null_compl")


def with_schemas(root: PlanNode, database: str | None = None) -> PlanNode:
    """Return the plan with each table's schema, and with conditions that name only tables.

    Args:
        root: Root of the server's plan.
        database: Database of the session, for tables without a schema in the plan; None if it is
            not known.
    """
    plain = _conditions(root, _without_quotes)
    named: dict[str, set[str | None]] = {}
    for node in plain.walk():
        for schema, table in _tables(node.condition or ""):
            named.setdefault(table, set()).add(schema or database)
    schemas = {
        table: next(iter(own_schemas))
        for table, own_schemas in named.items()
        if len(own_schemas) == 1
    }
    return _conditions(_placed(plain, schemas, database), _without_schemas)


def _without_quotes(condition: str) -> str:
    return _QUOTED.sub(lambda match: match[1] or match[2], condition)


def _without_schemas(condition: str) -> str:
    return _COLUMN.sub(lambda match: match[1] or f"{match[3]}.", condition)


def _tables(condition: str) -> Iterable[tuple[str | None, str]]:
    """Yield schema and table of each column; None means the condition names no schema."""
    return ((match[2], match[3]) for match in _COLUMN.finditer(condition) if match[1] is None)


def _own_schema(node: PlanNode, database: str | None) -> str | None:
    """Return the schema of a scan's table from its filter, if its name is ambiguous.

    The filter of a scan names columns of its table and of tables that are read before it. The
    filter of an outer join may name only earlier tables.
    """
    condition = node.condition or ""
    if not node.is_full_scan or _OF_OUTER_JOIN.search(condition):
        return None
    schemas = {schema or database for schema, name in _tables(condition) if name == node.object}
    return schemas.pop() if len(schemas) == 1 else None


def _conditions(node: PlanNode, change: Callable[[str], str]) -> PlanNode:
    return replace(
        node,
        condition=None if node.condition is None else change(node.condition),
        children=tuple(_conditions(child, change) for child in node.children),
    )


def _placed(node: PlanNode, schemas: Mapping[str, str | None], database: str | None) -> PlanNode:
    return replace(
        node,
        schema=node.schema or schemas.get(node.object or "") or _own_schema(node, database),
        children=tuple(_placed(child, schemas, database) for child in node.children),
    )
