"""Moves conditions on derived tables into them, as optimisers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.merge_subqueries import merge_subqueries
from sqlglot.optimizer.pushdown_predicates import pushdown_predicates
from sqlglot.optimizer.qualify import qualify

from assay.model.declared import DeclaredColumns

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def with_outer_conditions(
    query: exp.Query, tables: Mapping[str, Collection[str]], grammar: str | None
) -> exp.Query:
    """Return a query whose derived tables are part of it, or have its conditions on their columns.

    The result serves to find which columns are compared; it is not sent to an engine. A query
    without derived tables, or with columns that are not known, is returned as it is.

    Args:
        query: Syntax tree, which stays as it is.
        tables: Columns by table.
        grammar: Name of the grammar in sqlglot.
    """
    if query.find(exp.Subquery, exp.CTE) is None:
        return query
    schema: dict[str, object] = {
        name: dict(columns.types)
        for name, columns in tables.items()
        if isinstance(columns, DeclaredColumns) and columns.types
    }
    try:
        tree = qualify(
            query.copy(),
            schema=schema,
            dialect=grammar,
            quote_identifiers=False,
            validate_qualify_columns=False,
        )
        merged = merge_subqueries(pushdown_predicates(tree))
    except (SqlglotError, ValueError, RecursionError):
        return query
    return merged if isinstance(merged, exp.Query) else query
