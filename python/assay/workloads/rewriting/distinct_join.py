"""Rewrites a `select distinct` of a join to look for a match by `exists` instead.

If the result has columns of one table only, the other tables decide which of its rows are in the
result. `distinct` stays, so the result is the same for all data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import DISTINCT_JOIN
from assay.workloads.rewriting.blocks import conditions_of, own
from assay.workloads.rewriting.pieces import Piece
from assay.workloads.rewriting.safe import joining_block, sources_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.rewriting.blocks import Block, Query

CLAUSES = {
    *("with_", "distinct", "expressions", "from_", "joins", "where", "order", "limit", "offset"),
}


def distinct_join(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the join of a `select distinct` as a part that `exists` can replace.

    Raises:
        UsageError: If the query has no such join.
    """
    block = joining_block(query, CLAUSES, dialects)
    distinct = block.select.args.get("distinct")
    if distinct is None or distinct.args.get("on"):
        raise UsageError("the query is no `select distinct` of whole rows")
    kept = _shown_source(query, block)
    matching = [
        condition
        for condition in conditions_of(block)
        if sources_in(query, block, condition) - {kept}
    ]
    others = ", ".join(name for name in block.sources if name != kept)
    phrase = f"the join of {others}, where `exists` finds the first match"
    return Piece(DISTINCT_JOIN, phrase, partial(_look_for_match, block, kept, matching))


def _shown_source(query: Query, block: Block) -> str:
    """Return the only source whose columns are in the result.

    Raises:
        UsageError: If there is not exactly one, or if rows are computed from several rows.
    """
    shown = list(block.select.expressions)
    order = block.select.args.get("order")
    results = {expression.alias_or_name.lower() for expression in shown}
    shown += (
        [key.this for key in order.expressions if not _is_result(key.this, results)]
        if order
        else []
    )
    sources: set[str] = set()
    for expression in shown:
        if isinstance(expression, exp.Star):
            raise UsageError("the query returns all columns (`*`), and not those of one table")
        if any(isinstance(node, (exp.AggFunc, exp.Window)) for node in own(expression)):
            raise UsageError("the query computes each row from several rows")
        sources |= sources_in(query, block, expression)
    if len(sources) != 1:
        named = ", ".join(name for name in block.sources if name in sources) or "no table"
        raise UsageError(f"the result has columns of {named}, and not of one table")
    return sources.pop()


def _is_result(key: exp.Expr, results: set[str]) -> bool:
    """Return True if a key of ORDER BY is the name of a result column."""
    return isinstance(key, exp.Column) and not key.table and key.name.lower() in results


def _look_for_match(block: Block, kept: str, matching: Sequence[exp.Expr]) -> None:
    """Move all sources but one, with their conditions, into `exists`."""
    select = block.select
    inside = {id(condition) for condition in matching}
    staying = [condition for condition in conditions_of(block) if id(condition) not in inside]
    first, *others = [tree for name, tree in block.sources.items() if name != kept]
    inner = exp.Select(
        expressions=[exp.Literal.number(1)],
        from_=exp.From(this=first.copy()),
        joins=[exp.Join(this=tree.copy()) for tree in others],
    )
    if matching:
        inner.set("where", exp.Where(this=exp.and_(*matching)))
    select.set("from_", exp.From(this=block.sources[kept].copy()))
    select.set("joins", None)
    select.set("where", exp.Where(this=exp.and_(*staying, exp.Exists(this=inner))))
