"""Rewrites a count that is compared with zero to look for a row by `exists` instead."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import COUNTED_ROWS
from assay.workloads.rewriting.blocks import own
from assay.workloads.rewriting.pieces import Piece
from assay.workloads.rewriting.safe import plain_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.rewriting.blocks import Query

CLAUSES = {"with_", "expressions", "from_", "joins", "where"}
# Comparisons of a count with a number: whether they hold if there is a row.
HOLDS: dict[tuple[type[exp.Expr], str], bool] = {
    (exp.GT, "0"): True,
    (exp.NEQ, "0"): True,
    (exp.GTE, "1"): True,
    (exp.EQ, "0"): False,
    (exp.LTE, "0"): False,
    (exp.LT, "1"): False,
}


def counted_rows(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the count of a query that `exists` can replace.

    Raises:
        UsageError: If the query has no such count, or computes something else from its rows.
    """
    block = plain_block(query, CLAUSES, dialects)
    select = block.select
    if select.args.get("from_") is None:
        raise UsageError("the query reads no table")
    nodes = [node for shown in select.expressions for node in own(shown)]
    comparisons = [node for node in nodes if _holds(node) is not None]
    counts = {id(comparison.this) for comparison in comparisons}
    if not comparisons:
        raise UsageError("the query compares no `count(*)` with zero")
    if any(isinstance(node, (exp.Query, exp.Window)) for node in nodes) or any(
        isinstance(node, exp.AggFunc) and id(node) not in counts for node in nodes
    ):
        raise UsageError("the query computes more from its rows than whether there is one")
    if any(isinstance(node, exp.Column) for node in nodes):
        raise UsageError("the query returns columns of its rows")
    phrase = "the count of all rows, where `exists` finds the first one"
    return Piece(COUNTED_ROWS, phrase, partial(_look_for_row, select, comparisons))


def _holds(node: exp.Expr) -> bool | None:
    """Return whether a comparison holds if there is a row; None if it compares no count of rows."""
    counted, number = node.args.get("this"), node.args.get("expression")
    if not isinstance(counted, exp.Count) or not isinstance(number, exp.Literal):
        return None
    if counted.args.get("expressions") or not isinstance(counted.this, (exp.Star, exp.Literal)):
        return None
    return None if number.is_string else HOLDS.get((type(node), number.name))


def _look_for_row(select: exp.Select, comparisons: Sequence[exp.Expr]) -> None:
    """Replace each comparison by `exists` of the rows that were counted."""
    rows = exp.Select(
        expressions=[exp.Literal.number(1)],
        **{name: select.args.get(name) for name in ("from_", "joins", "where")},
    )
    for comparison in comparisons:
        found: exp.Expr = exp.Exists(this=rows.copy())
        comparison.replace(found if _holds(comparison) else exp.Not(this=found))
    for name in ("from_", "joins", "where"):
        select.set(name, None)
