"""Rewrites a running total by a subquery or by a join of a table with itself as a window function.

A window has the rows that WHERE leaves. So a condition that leaves rows out of a total moves around
a derived table that computes the totals of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import RUNNING_TOTAL
from assay.workloads.rewriting.blocks import conditions_of, own
from assay.workloads.rewriting.earlier_rows import (
    WINDOWS,
    EarlierRows,
    Source,
    earlier_rows,
    totals_in,
)
from assay.workloads.rewriting.grammar import grammar_of, text_of
from assay.workloads.rewriting.pieces import Piece
from assay.workloads.rewriting.safe import is_plain, joining_block, plain_block
from assay.workloads.rewriting.stored import group_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

CLAUSES = {"with_", "distinct", "expressions", "from_", "where", "order", "limit", "offset"}
JOINED_CLAUSES = {"with_", "expressions", "from_", "joins", "where", "group", "order", "limit"}
INNER_CLAUSES = {"expressions", "from_", "where"}


@dataclass(frozen=True)
class RunningTotal:
    """An expression of totals that each row of a table has.

    Attributes:
        rows: The rows that are added up.
        place: Node of the query that the expression replaces.
        expression: The expression, with its aggregates.
        aggregates: Nodes of the expression that become window functions.
    """

    rows: EarlierRows
    place: exp.Expr
    expression: exp.Expr
    aggregates: Sequence[exp.AggFunc]


def running_total(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the running totals of a query as a part that window functions can replace.

    Raises:
        UsageError: If the query has none, or if a window function could have another value.
    """
    if grammar_of(dialects) not in WINDOWS:
        raise UsageError("running totals are rewritten for PostgreSQL, MySQL, SQLite and DuckDB")
    block = query.outermost
    distinct = block.select.args.get("distinct") if block is not None else None
    if distinct is not None and distinct.args.get("on"):
        raise UsageError("the query has `distinct on`, which may return any row of several")
    if block is not None and block.select.args.get("joins"):
        block = joining_block(query, {*JOINED_CLAUSES, "offset"}, dialects)
        totals = _joined_totals(query, block, dialects)
        conditions = [*totals[0].rows.filters]
    else:
        block = plain_block(query, CLAUSES, dialects)
        totals = _subquery_totals(query, block, dialects)
        conditions = conditions_of(block)
    _check_order(block, totals)
    is_whole = all(total.rows.keeps(each) for total in totals for each in conditions)
    columns = None if is_whole else _columns_read(query, block, totals)
    aggregates = [aggregate for total in totals for aggregate in total.aggregates]
    texts = ", ".join(dict.fromkeys(text_of(aggregate, dialects) for aggregate in aggregates))
    phrase = f"the running total {texts} of {totals[0].rows.outer.table.name}, now a window"
    return Piece(RUNNING_TOTAL, phrase, partial(_use_windows, block, totals, columns))


def _subquery_totals(query: Query, block: Block, dialects: Sequence[str]) -> list[RunningTotal]:
    """Return the totals that a SELECT of one table computes by subqueries.

    Raises:
        UsageError: If there is none. A subquery with something else stays as it is.
    """
    source = _only_source(block)
    nodes = [node for shown in block.select.expressions for node in own(shown)]
    if any(isinstance(node, (exp.AggFunc, exp.Window)) for node in nodes):
        raise UsageError("the query computes each row from several rows")
    totals: list[RunningTotal] = []
    reason = UsageError("the query has no subquery with a total in its columns")
    for node in nodes:
        if not isinstance(node, exp.Subquery):
            continue
        try:
            totals.append(_subquery_total(query, source, node, dialects))
        except UsageError as error:
            reason = error
    if not totals:
        raise reason
    return totals


def _subquery_total(
    query: Query, outer: Source, subquery: exp.Subquery, dialects: Sequence[str]
) -> RunningTotal:
    """Return the running total that a subquery computes. Raises `UsageError` for others."""
    select = subquery.unnest()
    if not isinstance(select, exp.Select) or len(select.expressions) != 1:
        raise UsageError("the subquery is not a single SELECT of one column")
    other = next((name for name, it in select.args.items() if it and name not in INNER_CLAUSES), "")
    if other:
        raise UsageError(f"a subquery with the clause `{other}` is not rewritten")
    block = query.block(select)
    inner = _only_source(block)
    rows = earlier_rows(query, outer, inner, conditions_of(block), dialects)
    if rows.filters:
        text = text_of(rows.filters[0], dialects)
        raise UsageError(f"{text} is a condition on the row that has the total")
    expression = select.expressions[0].unalias()
    aggregates = totals_in(rows, expression)
    if not aggregates or expression.find(exp.Query):
        raise UsageError("the subquery computes no total of its rows alone")
    rows.check(aggregates)
    return RunningTotal(rows, subquery, expression, aggregates)


def _only_source(block: Block) -> Source:
    """Return the only table that a SELECT reads. Raises `UsageError` if there are others."""
    tables = list(block.sources.items())
    if len(tables) != 1 or not isinstance(tables[0][1], exp.Table) or not is_plain(tables[0][1]):
        raise UsageError("the query, or its subquery, reads something else than one table")
    return Source(block, tables[0][0])


def _joined_totals(query: Query, block: Block, dialects: Sequence[str]) -> list[RunningTotal]:
    """Return the totals of a join of a table with itself, one group for each row of the table.

    Raises:
        UsageError: If a group may have several rows of the table, or none.
    """
    outer, inner = _grouped_sources(query, block)
    rows = earlier_rows(query, outer, inner, conditions_of(block), dialects)
    if rows.conditions:
        raise UsageError("a row without rows that fulfil a condition would be in the result")
    if rows.has_strict_order:
        raise UsageError("the first row, which has no earlier rows, would be in the result")
    order = block.select.args.get("order")
    if order is not None and order.find(exp.AggFunc):
        raise UsageError("`order by` has a total: write its name instead")
    totals: list[RunningTotal] = []
    for shown in block.select.expressions:
        if shown.find(exp.Query, exp.Window) or isinstance(shown, exp.Star):
            raise UsageError("the query returns more than columns and totals")
        totals += [
            RunningTotal(rows, aggregate, aggregate, [aggregate])
            for aggregate in totals_in(rows, shown)
        ]
    if not totals:
        raise UsageError("the query computes no total")
    rows.check([aggregate for total in totals for aggregate in total.aggregates])
    return totals


def _grouped_sources(query: Query, block: Block) -> tuple[Source, Source]:
    """Return the table whose rows have a total each, and the one whose rows are added up.

    Raises:
        UsageError: If the join is not one of two tables, grouped by a key of one.
    """
    group = block.select.args.get("group")
    sources = [Source(block, name) for name in block.sources]
    is_plain_group = group is not None and all(
        all(isinstance(key, (exp.Column, exp.Literal)) for key in part)
        if name == "expressions"
        else not part
        for name, part in group.args.items()
    )
    if group is None or not is_plain_group:
        raise UsageError("the query does not group its joined rows by a key of a table")
    if len(sources) != 2:  # noqa: PLR2004 - a table and itself
        raise UsageError("the query joins more than a table with itself")
    keys = group_keys(block, group)
    columns = [column for key in keys for column in key.find_all(exp.Column)]
    names = [key.name.lower() for key in keys if isinstance(key, exp.Column)]
    for outer, inner in (sources, sources[::-1]):
        is_of_outer = all(outer.owns(query, column) for column in columns)
        if is_of_outer and query.declared(outer.table).unique_in(names):
            return outer, inner
    raise UsageError("no column of `group by` is declared as a key of its table")


def _check_order(block: Block, totals: Sequence[RunningTotal]) -> None:
    """Raise `UsageError` if a name in ORDER BY may be that of a total without a name."""
    order = block.select.args.get("order")
    shown = block.select.expressions
    places = {id(total.place) for total in totals}
    is_named = not any(
        id(node) in places for one in shown if not isinstance(one, exp.Alias) for node in own(one)
    )
    if order is None or is_named:
        return
    names = {one.alias_or_name.lower() for one in shown if isinstance(one, (exp.Alias, exp.Column))}
    for key in order.expressions:
        column = key.this
        if isinstance(column, exp.Column) and not column.table and column.name.lower() not in names:
            raise UsageError(f"{column.sql()} may be the name of a total: write `as` and a name")


def _columns_read(query: Query, block: Block, totals: Sequence[RunningTotal]) -> list[exp.Column]:
    """Return the columns of the table that the query reads, except for those of its totals.

    Raises:
        UsageError: If not all columns are named, or if the table of one is not known.
    """
    outer = totals[0].rows.outer
    stars = (node for shown in block.select.expressions for node in own(shown))
    if any(isinstance(node, exp.Star) for node in stars if not isinstance(node.parent, exp.Count)):
        raise UsageError("the query returns all columns (`*`): name them")
    left = [column for column in _columns_left(block, totals) if outer.owns(query, column)]
    if any(column.args.get("db") for column in left):
        raise UsageError("a column has the schema of its table: write the table's name alone")
    columns: dict[str, exp.Column] = {}
    # Rows for which no comparison holds are not in the result of a join.
    excluded = totals[0].rows.nullable if block.select.args.get("joins") else []
    for column in [*left, *excluded]:
        name = column.this
        read = exp.column(name.copy(), table=outer.identifier)
        columns.setdefault(name.name if name.quoted else name.name.lower(), read)
    return list(columns.values())


def _columns_left(block: Block, totals: Sequence[RunningTotal]) -> Iterator[exp.Column]:
    """Yield the columns that a SELECT names outside of its totals."""
    order = block.select.args.get("order")
    results = {shown.alias.lower() for shown in block.select.expressions}
    gone = {id(node) for total in totals for node in total.place.walk()}
    gone -= {id(node) for total in totals for node in total.expression.walk()}
    gone |= {
        id(node) for total in totals for aggregate in total.aggregates for node in aggregate.walk()
    }
    trees: list[exp.Expr] = [block.select]
    if block.select.args.get("joins"):
        trees = [*block.select.expressions, *totals[0].rows.filters, *([order] if order else [])]
    for tree in trees:
        for column in tree.find_all(exp.Column):
            key = column.parent
            is_key = isinstance(key, exp.Ordered) and key.parent is order
            is_result = is_key and not column.table and column.name.lower() in results
            if id(column) not in gone and not is_result:
                yield column


def _use_windows(
    block: Block, totals: Sequence[RunningTotal], columns: Sequence[exp.Column] | None
) -> None:
    """Replace the totals by window functions, or by columns of a derived table that has them.

    Args:
        block: The SELECT.
        totals: Its totals.
        columns: Other columns of the derived table; None if the SELECT needs none.
    """
    select, rows = block.select, totals[0].rows
    windows: dict[str, exp.Expr] = {}
    taken = {column.name.lower() for column in columns or ()}
    for total in totals:
        expression = total.expression
        if total.place is not expression:
            is_one = isinstance(expression, exp.AggFunc)
            total.place.replace(expression if is_one else exp.paren(expression, copy=False))
        for aggregate in total.aggregates:
            window = total.rows.window(aggregate)
            if columns is not None:
                name = _free_name(taken)
                windows[name] = window
                window = exp.column(name, table=rows.outer.identifier)
            aggregate.replace(window)
    if select.args.get("joins"):
        _leave_outer(block, rows)
    if columns is not None:
        shown = [*columns, *(exp.alias_(window, name) for name, window in windows.items())]
        inner = exp.Select(expressions=shown, from_=exp.From(this=rows.outer.table.copy()))
        derived = inner.subquery(rows.outer.identifier, copy=False)
        select.set("from_", exp.From(this=derived))


def _leave_outer(block: Block, rows: EarlierRows) -> None:
    """Leave the table whose rows have totals, without rows for which no comparison holds."""
    select = block.select
    known = [exp.Is(this=column.copy(), expression=exp.null()).not_() for column in rows.nullable]
    conditions = [*(condition.copy() for condition in rows.filters), *known]
    select.set("from_", exp.From(this=rows.outer.table.copy()))
    select.set("joins", None)
    select.set("group", None)
    select.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)


def _free_name(taken: set[str]) -> str:
    """Return a name for a total that no column has, and add it to the names."""
    number, name = 1, "running_total"
    while name in taken:
        number += 1
        name = f"running_total_{number}"
    taken.add(name)
    return name
