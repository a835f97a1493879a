"""Rewrites a join by alternatives (`a.x = b.x or a.y = b.y`) as a union of a join for each.

Each join leaves out the pairs of the earlier ones, so that `union all` returns each pair once. The
rest of the query reads the union as a derived table, so the result is the same for all data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import EITHER_JOIN
from assay.workloads.rewriting.blocks import conditions_of
from assay.workloads.rewriting.grammar import grammar_of, text_of
from assay.workloads.rewriting.joined_columns import JOINED, joined_columns
from assay.workloads.rewriting.pieces import Piece
from assay.workloads.rewriting.safe import joining_block, sources_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.workloads.rewriting.blocks import Block, Query
    from assay.workloads.rewriting.joined_columns import JoinedColumn

# Clauses that choose the pairs of rows.
JOINING = {"from_", "joins", "where"}
CLAUSES = {
    *("with_", "distinct", "expressions", "group", "having", "order", "limit", "offset"),
    *JOINING,
}
# Grammars with `is true`.
IS_TRUE = {"postgres", "duckdb", "sqlite", "mysql", "spark"}
# Each alternative reads the tables once more.
ALTERNATIVES_MAX = 8


def either_join(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the join by alternatives as a part that a union of joins can replace.

    Raises:
        UsageError: If the query has no such join, or if the union could return other rows.
    """
    block = joining_block(query, CLAUSES, dialects)
    distinct = block.select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise UsageError("the query has `distinct on`, which may return any row of several")
    conditions = [each for each in conditions_of(block) if _alternatives(query, block, each)]
    if not conditions:
        raise UsageError("the query joins no two tables by one of several equalities (`or`)")
    if len(conditions) > 1:
        raise UsageError("the query has several joins by one of several equalities (`or`)")
    (condition,) = conditions
    if len(list(_branches(condition))) > ALTERNATIVES_MAX:
        raise UsageError(f"the join has more than {ALTERNATIVES_MAX} alternatives")
    columns = joined_columns(query, block)
    phrase = f"the join by {text_of(condition, dialects)}, now one join for each alternative"
    remove = partial(_unite, block, condition, columns, dialects)
    return Piece(EITHER_JOIN, phrase, remove)


def _alternatives(query: Query, block: Block, condition: exp.Expr) -> list[exp.Expr]:
    """Return the alternatives of a condition, if an equality of two tables is in each."""
    alternatives = list(_branches(condition))
    equalities = [list(_equalities(alternative)) for alternative in alternatives]
    if len(alternatives) == 1 or not all(equalities):
        return []
    joins = [any(_joins(query, block, equality) for equality in some) for some in equalities]
    return alternatives if all(joins) else []


def _branches(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the alternatives of a condition, or the condition if it has none."""
    tree = condition.unnest()
    if isinstance(tree, exp.Or):
        for branch in tree.flatten():
            yield from _branches(branch)
    else:
        yield tree


def _equalities(alternative: exp.Expr) -> Iterator[exp.EQ]:
    """Yield the equalities of two columns, or of computations from them, in an alternative."""
    tree = alternative.unnest()
    parts = tree.flatten() if isinstance(tree, exp.And) else [tree]
    for part in parts:
        if not isinstance(part, exp.EQ) or part.find(exp.Query) is not None:
            continue
        if all(side.find(exp.Column) for side in (part.left, part.right)):
            yield part


def _joins(query: Query, block: Block, equality: exp.EQ) -> bool:
    """Return True if the sides of an equality have columns of different tables."""
    left, right = (sources_in(query, block, side) for side in (equality.left, equality.right))
    return bool(left and right) and not left & right


def _unite(
    block: Block, condition: exp.Expr, columns: Sequence[JoinedColumn], dialects: Sequence[str]
) -> None:
    """Replace the sources of a SELECT by a union of one join for each alternative."""
    select, tree = block.select, condition
    alternatives = [alternative.copy() for alternative in _branches(condition)]
    shown = [column.read() for column in columns] or [exp.alias_("1", "joined_row")]
    joins: list[exp.Select] = []
    for place, alternative in enumerate(alternatives):
        earlier = [_is_not_true(other, dialects) for other in alternatives[:place]]
        tree = tree.replace(exp.and_(alternative, *earlier))
        join = select.copy()
        for clause in CLAUSES.difference(JOINING):
            join.set(clause, None)
        join.set("expressions", [expression.copy() for expression in shown])
        joins.append(join)
    for column in columns:
        column.replace()
    union = exp.union(*joins, distinct=False, copy=False)
    select.set("from_", exp.From(this=union.subquery(JOINED, copy=False)))
    select.set("joins", None)
    select.set("where", None)


def _is_not_true(condition: exp.Expr, dialects: Sequence[str]) -> exp.Expr:
    """Return a condition for rows for which another condition is false or null."""
    if grammar_of(dialects) in IS_TRUE:
        return exp.Is(this=exp.paren(condition.copy()), expression=exp.true()).not_()
    number = exp.case().when(condition.copy(), exp.Literal.number(1)).else_(exp.Literal.number(0))
    return number.eq(0)
