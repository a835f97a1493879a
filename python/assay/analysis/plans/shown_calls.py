"""Finds the function calls that a statement computes from the rows that it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp
    from sqlglot.expressions import Expr

# Clauses of a query that only define what is made of its rows.
SHOWN = ("expressions", "group", "having", "order", "distinct", "windows", "qualify")
# Place of a drawn value: `${room}`.
_PLACE = re.compile(r"\$\{[^}]*\}")


def shows_call(text: str, grammar: str | None, function: str) -> bool:
    """Return True if a text is one query that computes a function of its rows' columns.

    A number can then stand for the call, so that the query runs without the function. A call in a
    condition chooses rows, so nothing can stand for it.

    Args:
        text: The text of an operation.
        grammar: SQL dialect of the text, by its name in sqlglot.
        function: Name of the function, which may include its schema.
    """
    from sqlglot import exp

    trees = parsed(_PLACE.sub("0", text), grammar) or []
    select = trees[0].unnest() if len(trees) == 1 else None
    if not isinstance(select, exp.Select):
        return False
    name = function.rpartition(".")[2].lower()
    return any(
        isinstance(node, exp.Anonymous) and node.name.lower() == name and _has_column(node)
        for node in _shown_nodes(select)
    )


def _shown_nodes(select: exp.Select) -> Iterator[Expr]:
    for clause in SHOWN:
        part = select.args.get(clause)
        for tree in part if isinstance(part, list) else [part] if part is not None else []:
            yield from _own_nodes(tree)


def _own_nodes(tree: Expr) -> Iterator[Expr]:
    """Yield the nodes of a part of a query, without those of nested queries."""
    from sqlglot import exp

    return tree.walk(prune=lambda node: isinstance(node, exp.Query))


def _has_column(call: Expr) -> bool:
    from sqlglot import exp

    return any(isinstance(node, exp.Column) for node in _own_nodes(call))
