"""Reads which columns of a recursive query keep the value with which the recursion starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.joins.wanted_groups import fixed_columns
from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.expressions import Expr


@dataclass(frozen=True)
class Recursion:
    """A recursive query of a statement.

    Attributes:
        name: Name of the query, in lower case.
        carried: For each column that keeps its value, the expression that the start selects.
        fixed: Columns that the statement compares with a value.
        is_whole: Whether the start has no condition.
    """

    name: str
    carried: dict[str, str]
    fixed: frozenset[str]
    is_whole: bool


def recursions(text: str | None, grammar: str | None) -> list[Recursion]:
    """Return the recursive queries of a statement; empty if it cannot be parsed.

    Args:
        text: The statement.
        grammar: SQL dialect of the statement, by its name in sqlglot.
    """
    from sqlglot import exp

    trees = parsed(text or "", grammar) or []
    found = [(tree, query) for tree in trees for query in tree.find_all(exp.CTE)]
    return [
        recursion for tree, query in found if (recursion := _recursion(tree, query)) is not None
    ]


def _recursion(tree: Expr, query: exp.CTE) -> Recursion | None:
    from sqlglot import exp

    name, union = query.alias.lower(), query.this
    if not isinstance(union, exp.Union) or name not in _table_names(union):
        return None
    parts = _parts(union)
    starts = [part for part in parts if name not in _table_names(part)]
    steps = [part for part in parts if name in _table_names(part)]
    is_cut = any(node.args.get("limit") for node in (union, *parts))
    has_windows = any(step.find(exp.Window, exp.AggFunc) for step in steps)
    if not starts or not steps or is_cut or has_windows:
        return Recursion(name, {}, frozenset(), is_whole=False)
    listed = query.args["alias"].args.get("columns") or []
    names = [column.name.lower() for column in listed]
    names = names or [column.alias_or_name.lower() for column in starts[0].expressions]
    carried = {
        column: starts[0].expressions[at].unalias().sql()
        for at, column in enumerate(names)
        if all(len(part.expressions) == len(names) for part in parts)
        if all(_is_carried(step, at, name, column) for step in steps)
    }
    is_whole = not any(start.args.get("where") for start in starts)
    return Recursion(name, carried, _fixed(tree, query, name), is_whole)


def _parts(tree: Expr) -> list[exp.Select]:
    """Return the selects of a union."""
    from sqlglot import exp

    tree = tree.unnest()
    if isinstance(tree, exp.Union):
        return [*_parts(tree.left), *_parts(tree.right)]
    return [tree] if isinstance(tree, exp.Select) else []


def _table_names(tree: Expr) -> set[str]:
    from sqlglot import exp

    return {table.name.lower() for table in tree.find_all(exp.Table)}


def _is_carried(step: exp.Select, at: int, name: str, column: str) -> bool:
    """Return True if a recursive part selects a column of the recursion without a change."""
    from sqlglot import exp

    own = step.expressions[at].unalias()
    aliases = {
        table.alias_or_name.lower()
        for table in step.find_all(exp.Table)
        if table.name.lower() == name
    }
    is_own = isinstance(own, exp.Column) and own.table.lower() in aliases
    return is_own and own.name.lower() == column


def _fixed(tree: Expr, query: exp.CTE, name: str) -> frozenset[str]:
    """Return the columns of a recursion that the only select that reads it compares with a value.

    The result is empty if several parts of the statement read it.
    """
    from sqlglot import exp

    own = set(map(id, query.find_all(exp.Table)))
    readers = [
        table
        for table in tree.find_all(exp.Table)
        if table.name.lower() == name and id(table) not in own
    ]
    select = readers[0].parent_select if len(readers) == 1 else None
    if not isinstance(select, exp.Select):
        return frozenset()
    begins = [f"{readers[0].alias_or_name.lower()}."]
    if not select.args.get("joins"):
        begins.append(".")
    fixed = fixed_columns(select)
    return frozenset(
        column.partition(".")[2] for column in fixed if column.startswith(tuple(begins))
    )
