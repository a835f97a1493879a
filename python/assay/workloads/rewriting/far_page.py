"""Rewrites a page far behind (`limit ... offset ...`) to find its keys first, and its rows by key.

The subquery that finds the keys reads only columns of the condition and of the order, which an
index may have. The order must be total, because several rows with the same order may be on any
page. So it must have all columns of a key that is never null.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import FAR_PAGE
from assay.workloads.rewriting.blocks import own
from assay.workloads.rewriting.grammar import grammar_of
from assay.workloads.rewriting.pieces import Piece
from assay.workloads.rewriting.safe import is_plain, plain_block
from assay.workloads.rewriting.sorted_types import is_sorted_as_compared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.rewriting.blocks import Block, Query

CLAUSES = {"with_", "expressions", "from_", "where", "order", "limit", "offset"}
# Name of the derived table, and of its columns.
PAGE, KEY = "page", "page_key"


def far_page(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the offset of a query as a part that a look-up of the page's keys can replace.

    Raises:
        UsageError: If the query has none, or if another page could be returned.
    """
    block = plain_block(query, CLAUSES, dialects)
    select = block.select
    if not isinstance(select.args.get("limit"), exp.Limit) or not select.args.get("offset"):
        raise UsageError("the query has no `limit` with an `offset`")
    trees = list(block.sources.values())
    if len(trees) != 1 or not is_plain(trees[0]) or not isinstance(trees[0], exp.Table):
        raise UsageError("the query reads something else than one table")
    _check_columns(block)
    order = _order_of_columns(query, block)
    columns = {key.this.name.lower() for key in order}
    key = _key_in(query, trees[0], columns, grammar_of(dialects))
    read = {column.name.lower() for column in select.find_all(exp.Column)}
    has_star = any(isinstance(node, exp.Star) for node in select.expressions)
    if not has_star and read <= columns:
        raise UsageError("the query reads no other columns than those of its order")
    phrase = f"the offset of {trees[0].name}, now a look-up by {', '.join(key)}"
    names = [_free_name(query, block, place) for place in range(len(key))]
    return Piece(
        FAR_PAGE, phrase, partial(_look_up, block, order, dict(zip(key, names, strict=True)))
    )


def _check_columns(block: Block) -> None:
    """Raise `UsageError` if a row of the result is not computed from one row of the table."""
    for shown in block.select.expressions:
        if any(isinstance(node, (exp.AggFunc, exp.Window)) for node in own(shown)):
            raise UsageError("the query computes each row from several rows")
        stars = [node for node in own(shown) if isinstance(node, exp.Star)]
        if any(any(star.args.values()) for star in stars):
            raise UsageError("the query returns all columns except for some: name them")


def _order_of_columns(query: Query, block: Block) -> list[exp.Ordered]:
    """Return the keys of ORDER BY, with columns instead of names of result columns.

    Raises:
        UsageError: If a key is not a column of the table.
    """
    order: list[exp.Ordered] = []
    for key in block.select.args["order"].expressions:
        column = _meant_by(block, key.this)
        owner = query.owner(column) if isinstance(column, exp.Column) else None
        if owner is None or owner[0] is not block:
            raise UsageError(f"`order by` has {key.this.sql()}, which is no column of the table")
        copied = key.copy()
        copied.set("this", column.copy())
        order.append(copied)
    return order


def _meant_by(block: Block, key: exp.Expr) -> exp.Expr:
    """Return the expression of a result column if a key of ORDER BY is its name, else the key.

    Raises:
        UsageError: If engines may differ about the name.
    """
    if not isinstance(key, exp.Column) or key.table:
        return key
    for shown in block.select.expressions:
        name = shown.args.get("alias") if isinstance(shown, exp.Alias) else None
        if name is None or name.name.lower() != key.name.lower():
            continue
        if name != key.this:
            raise UsageError(f"{key.sql()} and {name.sql()} may be the same name")
        result: exp.Expr = shown.unalias()
        return result
    return key


def _key_in(
    query: Query, table: exp.Table, columns: set[str], grammar: str | None
) -> tuple[str, ...]:
    """Return the columns of a declared key that is among the columns of an order.

    Raises:
        UsageError: If there is none, so that rows with the same order may be on any page.
    """
    declared = query.declared(table)
    keys = [key for key in declared.keys if declared.required.issuperset(key)]
    if not keys:
        raise UsageError(f"no key of {table.name} is declared whose columns are never null")
    for key in sorted(keys, key=len):
        is_sorted = all(is_sorted_as_compared(declared, name, grammar) for name in key)
        if columns.issuperset(key) and is_sorted:
            return key
    texts = " or ".join(f"({', '.join(key)})" for key in keys)
    raise UsageError(
        f"several rows may have the same place in the order: add the columns of a key, {texts}"
    )


def _free_name(query: Query, block: Block, place: int) -> str:
    """Return a name for a column of the derived table that no column has."""
    table = next(iter(block.sources.values()))
    taken = {column.name.lower() for column in query.tree.find_all(exp.Column)}
    taken |= set(query.declared(table)) if isinstance(table, exp.Table) else set()
    number = place + 1
    while (name := f"{KEY}_{number}" if number > 1 else KEY) in taken:
        number += 10
    return name


def _look_up(block: Block, order: Sequence[exp.Ordered], names: dict[str, str]) -> None:
    """Replace the condition, limit and offset of a SELECT by a join with the keys of its page."""
    select = block.select
    (table,) = block.sources.values()
    alias = table.args.get("alias")
    called = table.this if alias is None else alias.this
    by_name = {key.this.name.lower(): key.this.this for key in order}
    shown = [
        exp.alias_(exp.column(by_name[column].copy(), table=called.copy()), name)
        for column, name in names.items()
    ]
    keys = exp.Select(expressions=shown, from_=exp.From(this=table.copy()))
    for clause in ("where", "limit", "offset"):
        keys.set(clause, select.args.get(clause))
        select.set(clause, None)
    keys.set("order", exp.Order(expressions=list(order)))
    for star in [shown for shown in select.expressions if isinstance(shown, exp.Star)]:
        star.replace(exp.Column(this=exp.Star(), table=called.copy()))
    for hint in ("hints", "indexed"):
        table.set(hint, None)
    page = PAGE if called.name.lower() != PAGE else f"{PAGE}_2"
    found = [
        exp.column(by_name[column].copy(), table=called.copy()).eq(exp.column(name, table=page))
        for column, name in names.items()
    ]
    select.join(keys.subquery(page, copy=False), on=exp.and_(*found), copy=False)
