"""Refuses queries whose rewritten form could return other rows.

A query in another form returns the same rows only if its clauses and functions allow it. Each
check raises `UsageError` with the reason if they do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.workloads.rewriting.grammar import text_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

# Expressions with another value at each call. A function that the grammar does not know may be one.
VOLATILE = (
    *(exp.Rand, exp.Randn, exp.Randstr, exp.Uuid, exp.NextValueFor, exp.TableSample),
    exp.Anonymous,
)
INNER = ("", "inner", "cross")
JOIN_ARGUMENTS = {"this", "on", "kind", "side", "method"}
TABLE_ARGUMENTS = {"this", "db", "catalog", "alias", "hints", "indexed"}


def joining_block(query: Query, clauses: Container[str], dialects: Sequence[str]) -> Block:
    """Return the outermost SELECT of a query, whose joins may be written in another form.

    Args and Raises: those of `plain_block`.
    """
    block = plain_block(query, clauses, dialects)
    _check_joins(block, dialects)
    return block


def plain_block(query: Query, clauses: Container[str], dialects: Sequence[str]) -> Block:
    """Return the outermost SELECT of a query, which may be written in another form.

    Args:
        query: The query.
        clauses: Names of the clauses that the SELECT may have.
        dialects: Dialects of the engine in order of preference.

    Raises:
        UsageError: If the other form could return other rows.
    """
    block = query.outermost
    if block is None:
        raise UsageError("the query is a set operation such as `union`")
    args = block.select.args
    other = next((name for name, value in args.items() if value and name not in clauses), None)
    if other is not None:
        raise UsageError(f"a query with the clause `{other}` is not rewritten")
    if (args.get("limit") or args.get("offset")) and not args.get("order"):
        raise UsageError(
            "the query has a limit without an order, so that any of its rows may be returned"
        )
    assigned = (node for node in query.tree.find_all(exp.PropertyEQ) if _is_variable(node.this))
    call = query.tree.find(*VOLATILE) or next(assigned, None)
    if call is not None:
        text = text_of(call, dialects)
        raise UsageError(f"{text} may return another value each time it is computed")
    return block


def _is_variable(tree: exp.Expr) -> bool:
    """Return True for a variable of a MySQL session, to which each row may assign a value."""
    return isinstance(tree, (exp.Parameter, exp.SessionParameter))


def _check_joins(block: Block, dialects: Sequence[str]) -> None:
    """Raise `UsageError` if a SELECT has other joins than inner joins of tables."""
    joins = block.select.args.get("joins") or []
    if not joins:
        raise UsageError("the query joins no tables")
    for join in joins:
        form = " ".join(filter(None, (join.method, join.side, join.kind))).lower()
        if form not in INNER:
            raise UsageError(f"the query has a {form} join, and only inner joins are rewritten")
        if _other_arguments(join, JOIN_ARGUMENTS):
            raise UsageError(
                f"the join has an option with which it is not rewritten: {text_of(join, dialects)}"
            )
    trees = [block.select.args["from_"].this, *(join.this for join in joins)]
    for tree in trees:
        if not is_plain(tree):
            raise UsageError(
                f"{text_of(tree, dialects)} is no table or plain subquery, so it is not rewritten"
            )
    if len(trees) != len(block.sources):
        raise UsageError("two tables of the query have the same name")


def is_plain(tree: exp.Expr) -> bool:
    """Return True for a table or a derived table, as opposed to a function or a nested join."""
    if isinstance(tree, exp.Table):
        is_named = isinstance(tree.this, exp.Identifier)
        return is_named and not _other_arguments(tree, TABLE_ARGUMENTS)
    is_derived = isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query)
    return is_derived and not _other_arguments(tree, {"this", "alias"})


def _other_arguments(tree: exp.Expr, usual: Container[str]) -> bool:
    return any(value and name not in usual for name, value in tree.args.items())


def sources_in(query: Query, block: Block, tree: exp.Expr) -> set[str]:
    """Return the sources of a SELECT that a part of it names.

    Raises:
        UsageError: If the part has a column whose table is not known.
    """
    sources: set[str] = set()
    for column in tree.find_all(exp.Column):
        owner = query.owner(column)
        if owner is None or not _is_certain(column, block, *owner):
            raise UsageError(
                f"the table of the column {column.sql()} is not known: write it before the column"
            )
        if owner[0] is block:
            sources.add(owner[1])
    return sources


def _is_certain(column: exp.Column, block: Block, owner: Block, source: str) -> bool:
    """Return False if a column may also be one of an enclosing SELECT."""
    return bool(column.table) or owner is block or owner.columns[source] is not None
