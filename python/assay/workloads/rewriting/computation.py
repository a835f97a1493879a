"""Rewrites a query to read equal rows and columns without computing from them.

Everything that selects rows stays: tables, joins, conditions, and their computations. Everything
computed from the selected rows is removed: groups, aggregates, arithmetic, order. Each needed
column is *touched* instead, by the cheapest function for which the engine must decode it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.workloads.rewriting.blocks import own, own_columns, shown_expressions
from assay.workloads.rewriting.grammar import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.rewriting.blocks import Block, Query

# Engines that answer `count(column)` from null counts, without reading the column.
COUNT_WITHOUT_READING = ("duckdb", "clickhouse")
# Mark of expressions that this file inserts in place of a computation.
TOUCH = "touch"
# Mark of columns whose values are only counted, so that they need not be read.
COUNTED = "counted"
GONE = ("group", "having", "order", "distinct", "windows", "qualify", "limit", "offset")


def touch(column: exp.Column, dialects: Sequence[str]) -> exp.AggFunc:
    """Return the cheapest aggregate that reads the same of a column as the query did."""
    counts = column.meta.get(COUNTED) or not any(
        dialect in COUNT_WITHOUT_READING for dialect in dialects
    )
    made = (exp.Count if counts else exp.AnyValue)(this=column.copy())
    made.meta[TOUCH] = True
    return made


def computes(query: Query) -> bool:
    """Return True if the query has a computation that can be removed."""
    block = query.outermost
    if block is None:
        return False
    limited = block.select.args.get("limit") and not block.select.args.get("order")
    return bool(own_columns(block, shown_expressions(block.select))) and not limited


def remove_computation(query: Query, dialects: Sequence[str]) -> tuple[str, ...]:
    """Remove a query's computation; return texts on computations that select rows.

    Raises:
        UsageError: If the computation of this kind of query cannot be removed.
    """
    block = query.outermost
    if block is None:
        raise UsageError(
            "computation cannot be removed from a set operation such as UNION, which has "
            "several query blocks"
        )
    if not computes(query):
        raise UsageError("the query contains no computation that could be removed")
    touched = _opened(query, block, dialects)
    named = [
        exp.alias_(aggregate, f"touched_{place}") for place, aggregate in enumerate(touched, 1)
    ]
    block.select.set("expressions", named)
    return _stays(query, dialects)


def _opened(query: Query, block: Block, dialects: Sequence[str]) -> list[exp.Expr]:
    """Return expressions that read a SELECT's inputs, and drop its computing clauses."""
    columns, selects = _needed(query, block)
    aggregates: list[exp.Expr] = [touch(column, dialects) for column in columns]
    aggregates += [_touching(query, query.block(select), dialects) for select in selects]
    for clause in GONE:
        block.select.set(clause, None)
    return aggregates or [exp.Count(this=exp.Star())]


def _needed(query: Query, block: Block) -> tuple[list[exp.Column], list[exp.Select]]:
    """Return the columns that a SELECT's computation needs, and the SELECTs within it.

    A source that only prepares the computation passes its own columns on.
    """
    shown = shown_expressions(block.select)
    _check_stars(block)
    inside = [
        node.unnest()
        for expression in shown
        for node in own(expression)
        if isinstance(node, exp.Query)
    ]
    selects = [node for node in inside if isinstance(node, exp.Select)]
    inner = {source: query.derived(block, source) for source in block.sources}
    opened = {
        name: derived_block
        for name, derived_block in inner.items()
        if derived_block and _may_open(query, block, name)
    }
    columns = [column for column in own_columns(block, shown) if block.holds(column) not in opened]
    for column in columns:
        column.meta[COUNTED] = _is_only_counted(column, shown)
    for name, derived in opened.items():
        below, selects_below = _needed(query, derived)
        columns += _handed_on(query, block, name, derived, below)
        selects += selects_below
    return columns, selects


def _handed_on(
    query: Query, block: Block, source: str, derived: Block, below: list[exp.Column]
) -> list[exp.Column]:
    """Make a derived table return its columns unchanged, and return their names."""
    chosen = _chosen_by(query, block, source)
    kept = [
        expression
        for expression in derived.select.expressions
        if expression.alias_or_name.lower() in chosen
    ]
    raw = [exp.alias_(column.copy(), f"raw_{place}") for place, column in enumerate(below, 1)]
    for clause in GONE:
        derived.select.set(clause, None)
    tree = block.sources[source]
    alias = tree.args.get("alias")
    if alias is not None:
        alias.set("columns", None)
    derived.select.set("expressions", [*kept, *raw] or [exp.alias_(exp.Literal.number(1), "raw_0")])
    handed_on = []
    for given, column in zip(raw, below, strict=True):
        handed_on.append(exp.column(given.alias, table=exp.to_identifier(tree.alias_or_name)))
        handed_on[-1].meta[COUNTED] = column.meta.get(COUNTED)
    return handed_on


def _is_only_counted(column: exp.Column, shown: Sequence[exp.Expr]) -> bool:
    """Return True if a SELECT only counts the values of a column."""
    named = [node for expression in shown for node in own(expression) if node == column]
    return all(isinstance(node.parent, exp.Count) for node in named)


def _may_open(query: Query, block: Block, source: str) -> bool:
    """Return True if removing a derived table's computation keeps its rows."""
    derived = query.derived(block, source)
    if derived is None or derived.select.args.get("limit"):
        return False
    chosen = _chosen_by(query, block, source)
    if derived.grouped:
        return not chosen and len(block.sources) == 1
    plain = {
        expression.alias_or_name.lower()
        for expression in derived.select.expressions
        if isinstance(expression.unalias(), exp.Column)
    }
    return chosen <= plain


def _chosen_by(query: Query, block: Block, source: str) -> set[str]:
    """Return the columns of a source that a SELECT's conditions use."""
    trees = [block.select.args.get("where"), *(block.select.args.get("joins") or [])]
    names = set()
    for tree in trees:
        for column in tree.find_all(exp.Column) if tree is not None else ():
            if query.owner(column) == (block, source):
                names.add(column.name.lower())
    return names


def _touching(query: Query, block: Block, dialects: Sequence[str]) -> exp.Expr:
    """Return a scalar subquery rewritten to read the same without computing."""
    outside = [
        column
        for column in block.select.find_all(exp.Column)
        if (owner := query.owner(column)) is not None and _is_above(owner[0], block)
    ]
    if outside:
        raise UsageError(
            f"computation cannot be removed: {text_of(outside[0], dialects)} is used in a "
            "subquery of the select list, which would then run once per row"
        )
    touched = _opened(query, block, dialects)
    block.select.set(
        "expressions", [exp.and_(*(aggregate.is_(exp.null()).not_() for aggregate in touched))]
    )
    return exp.Subquery(this=block.select)


def _is_above(candidate: Block, block: Block) -> bool:
    above = block.above
    while above is not None:
        if above is candidate:
            return True
        above = above.above
    return False


def _check_stars(block: Block) -> None:
    for expression in block.select.expressions:
        of_all = isinstance(expression, exp.Column) and isinstance(expression.this, exp.Star)
        if of_all or isinstance(expression, exp.Star):
            raise UsageError(
                "computation cannot be removed from a query that selects *: name its columns"
            )


def _stays(query: Query, dialects: Sequence[str]) -> tuple[str, ...]:
    """Return texts on what a rewritten query still computes."""
    computing = query.tree.find_all(exp.AggFunc, exp.Group, exp.Distinct, exp.Window)
    texts = [text_of(node, dialects) for node in computing if not node.meta.get(TOUCH)]
    return tuple(dict.fromkeys(texts))
