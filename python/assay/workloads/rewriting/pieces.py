"""Finds the parts of a query that can be removed, and how to remove each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import COMPUTATION
from assay.workloads.rewriting.blocks import (
    conditions_of,
    drop_condition,
    own,
    own_columns,
    shown_expressions,
)
from assay.workloads.rewriting.computation import computes, remove_computation, touch
from assay.workloads.rewriting.grammar import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

# Prefix of names of function calls: `function:fee`.
FUNCTION = "function"
# Prefix of a function call in a condition, with the share of rows that the condition keeps:
# `chosen:may_see:0.01`.
CHOSEN = "chosen"
HINTS = "hints"
# The removal of duplicates by `union`.
UNION = "union"
# Numbers that are compared with columns. In MySQL and MariaDB, a comparison with a number converts
# a text column, so that no index on the column serves the comparison.
NUMBERS = "numbers"
CONVERT_COLUMNS = {"mysql", "mariadb"}


@dataclass(frozen=True)
class Piece:
    """A part of a query that can be removed, such as a sort.

    Attributes:
        name: Unique name in the query.
        description: Text of the part in the query.
        remove: Removes the part from the tree, and returns what of it stays.
    """

    name: str
    description: str
    remove: Callable[[], tuple[str, ...] | None]


def pieces_of(query: Query, dialects: Sequence[str]) -> list[Piece]:
    """Return all removable parts of a query, the whole computation first."""
    pieces: list[Piece] = []
    if computes(query):
        remove = partial(remove_computation, query, dialects)
        phrase = "all that is made of the rows: groups, aggregates, arithmetic, order"
        pieces.append(Piece(COMPUTATION, phrase, remove))
    pieces += _hints(query, dialects)
    pieces += _unions(query)
    if CONVERT_COLUMNS.intersection(dialects):
        pieces += _numbers(query, dialects)
    block = query.outermost
    if block is not None:
        pieces += _clauses(block, dialects)
        pieces += _aggregates(block, dialects)
        pieces += _functions(block, dialects)
    pieces += _predicates(query, dialects)
    pieces += _joins(query, dialects)
    return pieces


def _hints(query: Query, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield all planner hints of a query as one removable part."""
    holders = [
        (node, key)
        for block in query.blocks
        for node in block.select.walk()
        for key in ("hint", "hints", "indexed")
        if node.args.get(key) not in (None, [])
    ]
    if holders:
        phrase = ", ".join(dict.fromkeys(_hint_text(node, key, dialects) for node, key in holders))
        yield Piece(HINTS, phrase, partial(_drop_hints, holders))


def _unions(query: Query) -> Iterator[Piece]:
    """Yield the removal of duplicates by all unions of a query as one removable part."""
    unions = [node for node in query.tree.find_all(exp.Union) if node.args.get("distinct")]
    if unions:
        yield Piece(UNION, "the removal of duplicates by union", partial(_keep_all, unions))


def _keep_all(unions: Sequence[exp.Union]) -> None:
    for union in unions:
        union.set("distinct", value=False)


def _numbers(query: Query, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield all numbers that a query compares with columns as one part, which texts replace."""
    numbers = [
        (comparison, value)
        for comparison in query.tree.find_all(exp.EQ, exp.NullSafeEQ, exp.In)
        if isinstance(comparison.this, exp.Column)
        for value in [*comparison.expressions, comparison.args.get("expression")]
        if isinstance(value, exp.Literal) and value.is_number
    ]
    if numbers:
        comparisons = dict.fromkeys(text_of(comparison, dialects) for comparison, _ in numbers)
        phrase = f"numbers instead of texts in {', '.join(comparisons)}"
        yield Piece(NUMBERS, phrase, partial(_as_texts, [value for _, value in numbers]))


def _as_texts(numbers: Sequence[exp.Literal]) -> None:
    for number in numbers:
        # A parameter of the text stands for a number, too, and its value is not known here.
        number.replace(exp.cast(number.copy(), exp.DataType.Type.CHAR))


def _hint_text(node: exp.Expr, key: str, dialects: Sequence[str]) -> str:
    value = node.args[key]
    if key == "indexed":
        return f"indexed by {text_of(value, dialects)}" if value else "not indexed"
    hints = value if isinstance(value, list) else [value]
    return " ".join(text_of(hint, dialects) for hint in hints)


def _drop_hints(holders: Sequence[tuple[exp.Expr, str]]) -> None:
    for node, key in holders:
        node.set(key, None)


def _clauses(block: Block, dialects: Sequence[str]) -> Iterator[Piece]:
    select = block.select
    order, limit = select.args.get("order"), select.args.get("limit")
    if order is not None:
        # Without its order, a limit would stop reading early, unless rows are grouped before.
        phrase, both = text_of(order, dialects), False
        if limit is not None and not block.grouped:
            phrase, both = f"{phrase}, and {text_of(limit, dialects)}", True
        yield Piece(
            "sort", phrase, partial(_drop, select, ("order", "limit") if both else ("order",))
        )
    if limit is not None:
        yield Piece("limit", text_of(limit, dialects), partial(_drop, select, ("limit",)))
    having = select.args.get("having")
    if having is not None:
        yield Piece("having", text_of(having, dialects), partial(_drop, select, ("having",)))
    distinct = [
        node for expression in select.expressions for node in own(expression) if _is_distinct(node)
    ]
    if distinct or select.args.get("distinct") is not None:
        phrase = ", ".join(text_of(node, dialects) for node in distinct) or "distinct rows"
        yield Piece("distinct", phrase, partial(_not_distinct, select))
    group = select.args.get("group")
    if group is not None and _is_plain(group):
        phrase = text_of(group, dialects) + (", and what is said of groups" if having else "")
        yield Piece("group", phrase, partial(_ungroup, block, dialects))


def _drop(select: exp.Select, clauses: Sequence[str]) -> None:
    for clause in clauses:
        select.set(clause, None)


def _is_distinct(node: exp.Expr) -> bool:
    return isinstance(node, exp.Distinct) and isinstance(node.parent, exp.AggFunc)


def _not_distinct(select: exp.Select) -> None:
    select.set("distinct", None)
    for expression in select.expressions:
        for node in list(own(expression)):
            if _is_distinct(node):
                node.replace(node.expressions[0].pop())


def _is_plain(group: exp.Group) -> bool:
    special = ("rollup", "cube", "grouping_sets", "all")
    return bool(group.expressions) and not any(group.args.get(name) for name in special)


def _ungroup(block: Block, dialects: Sequence[str]) -> None:
    """Remove a GROUP BY, but still read its columns."""
    select = block.select
    keys = own_columns(
        block, [expression for expression in select.expressions if not _aggregates_in(expression)]
    )
    kept = [expression for expression in select.expressions if _aggregates_in(expression)]
    for clause in ("group", "order", "limit", "having"):
        select.set(clause, None)
    select.set("expressions", [*kept, *_touches(keys, dialects)])


def _touches(columns: Sequence[exp.Column], dialects: Sequence[str]) -> list[exp.Expr]:
    return [
        exp.alias_(touch(column, dialects), f"touched_{place}")
        for place, column in enumerate(columns, 1)
    ]


def _aggregates_in(tree: exp.Expr) -> bool:
    return any(isinstance(node, exp.AggFunc) for node in own(tree))


def _aggregates(block: Block, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield each expression with aggregates as a removable part, and all together."""
    aggregates = [
        expression for expression in block.select.expressions if _aggregates_in(expression)
    ]
    if len(aggregates) > 1:
        phrase = f"{len(aggregates)} aggregates"
        yield Piece("aggregate", phrase, partial(_drop_aggregates, block, aggregates, dialects))
    for number, aggregate in enumerate(aggregates, 1):
        if own_columns(block, [aggregate]) or len(block.select.expressions) > 1:
            name = f"aggregate:{number}" if len(aggregates) > 1 else "aggregate"
            remove = partial(_drop_aggregates, block, [aggregate], dialects)
            yield Piece(name, text_of(aggregate.unalias(), dialects), remove)


def _drop_aggregates(block: Block, dropped: Sequence[exp.Expr], dialects: Sequence[str]) -> None:
    """Remove some aggregates, but still read their columns."""
    kept = [
        expression
        for expression in block.select.expressions
        if all(expression is not gone for gone in dropped)
    ]
    there = {column.sql().lower() for column in own_columns(block, kept)}
    needed = [column for column in own_columns(block, dropped) if column.sql().lower() not in there]
    _forget(block, dropped)
    shown = [*kept, *_touches(needed, dialects)]
    block.select.set("expressions", shown or [exp.alias_(exp.Count(this=exp.Star()), "rows_read")])


def _functions(block: Block, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield calls of unknown functions as removable parts of a query."""
    calls: dict[str, exp.Anonymous] = {}
    for call in _calls(block):
        if own_columns(block, [call]):
            calls.setdefault(call.name.lower(), call)
    for name, call in calls.items():
        remove = partial(_drop_calls, block, name)
        yield Piece(f"{FUNCTION}:{name}", text_of(call, dialects), remove)


def _calls(block: Block) -> list[exp.Anonymous]:
    return [
        node
        for expression in shown_expressions(block.select)
        for node in own(expression)
        if isinstance(node, exp.Anonymous)
    ]


def _drop_calls(block: Block, name: str) -> None:
    """Replace each call of a function by a number."""
    for call in _calls(block):
        if call.name.lower() != name:
            continue
        clause = call.find_ancestor(exp.Group, exp.Order)
        key = None if clause is None else _key_of(clause, call)
        if clause is None or key is None:
            call.replace(exp.Literal.number(1))
            continue
        key.pop()
        if not clause.expressions:
            clause.pop()


def chosen_piece(query: Query, name: str, dialects: Sequence[str]) -> Piece:
    """Return conditions with a function as a part, for which a random choice of rows can stand.

    Args:
        query: The query.
        name: Name of the part, with the function and the share of rows that the choice keeps.
        dialects: Dialects of the engine in order of preference.

    Raises:
        UsageError: If no condition of the query calls the function.
    """
    _, function, share = name.split(":")
    conditions = [
        condition
        for block in query.blocks
        for condition in conditions_of(block)
        if any(
            isinstance(node, exp.Anonymous) and node.name.lower() == function
            for node in own(condition)
        )
    ]
    if not conditions:
        raise UsageError(f"no condition of the query calls {function}")
    phrase = ", ".join(text_of(condition, dialects) for condition in conditions)
    return Piece(name, phrase, partial(_choose_at_random, conditions, share))


def _choose_at_random(conditions: Sequence[exp.Expr], share: str) -> None:
    for condition in conditions:
        condition.replace(exp.LT(this=exp.Rand(), expression=exp.Literal.number(share)))


def _key_of(clause: exp.Expr, call: exp.Expr) -> exp.Expr | None:
    """Return the GROUP BY or ORDER BY key that is exactly a call; None without one."""
    keys: list[exp.Expr] = clause.expressions
    for key in keys:
        if call in (key, key.this if isinstance(key, exp.Ordered) else None):
            return key
    return None


def _forget(block: Block, dropped: Sequence[exp.Expr]) -> None:
    """Remove dropped expressions from ORDER BY."""
    order = block.select.args.get("order")
    if order is None:
        return
    names = {expression.alias_or_name.lower() for expression in dropped}
    texts = {expression.unalias().sql() for expression in dropped}
    kept = [
        key
        for key in order.expressions
        if key.this.sql() not in texts and not _names(key.this, names)
    ]
    if kept:
        order.set("expressions", kept)
    else:
        block.select.set("order", None)


def _names(tree: exp.Expr, names: set[str]) -> bool:
    return any(
        isinstance(node, exp.Column) and not node.table and node.name.lower() in names
        for node in own(tree)
    )


def _predicates(query: Query, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield conditions whose removal makes no cross product, as removable parts."""
    number = 0
    for block in query.blocks:
        conditions = conditions_of(block)
        for condition in conditions:
            others = [other for other in conditions if other is not condition]
            if _is_join(query, condition) or (
                query.connected(block, others) > query.connected(block, conditions)
            ):
                continue
            number += 1
            remove = partial(drop_condition, condition)
            yield Piece(f"predicate:{number}", text_of(condition, dialects), remove)


def _is_join(query: Query, condition: exp.Expr) -> bool:
    """Return True if a condition compares two columns for equality."""
    tree = condition.unnest()
    if isinstance(tree, exp.Or):
        return all(_is_join(query, branch) for branch in tree.flatten())
    if isinstance(tree, exp.And):
        return any(_is_join(query, branch) for branch in tree.flatten())
    return (
        isinstance(tree, exp.EQ)
        and isinstance(tree.left, exp.Column)
        and isinstance(tree.right, exp.Column)
    )


def _joins(query: Query, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield the tables of a query that can be removed with their joins."""
    names: dict[str, int] = {}
    for block in query.shown():
        for source, tree in block.sources.items():
            if not _may_leave(query, block, source):
                continue
            names[source] = names.get(source, 0) + 1
            name = f"join:{source}" if names[source] == 1 else f"join:{source}:{names[source]}"
            remove = partial(_leave, query, block, source, dialects)
            yield Piece(name, f"{text_of(tree, dialects)}, and what is said of it", remove)


def _may_leave(query: Query, block: Block, source: str) -> bool:
    conditions = conditions_of(block)
    if len(block.sources) == 1 or any(names is None for names in block.columns.values()):
        return False
    kept = [condition for condition in conditions if source not in query.refers(block, condition)]
    # Without its conditions, the removed source is one more connected group.
    if query.connected(block, kept) != query.connected(block, conditions) + 1:
        return False
    shown = shown_expressions(block.select)
    if block is query.outermost:
        having = block.select.args.get("having")
        return having is None or source not in query.refers(block, having)
    return all(source not in query.refers(block, expression) for expression in shown)


def _leave(query: Query, block: Block, source: str, dialects: Sequence[str]) -> None:
    """Remove a table from a query, with its conditions and result columns."""
    for condition in conditions_of(block):
        if source in query.refers(block, condition):
            drop_condition(condition)
    if block is query.outermost:
        _show_without(query, block, source, dialects)
    _drop_source(block, source)


def _show_without(query: Query, block: Block, source: str, dialects: Sequence[str]) -> None:
    select = block.select
    dropped = [
        expression for expression in select.expressions if source in query.refers(block, expression)
    ]
    kept = [
        expression
        for expression in select.expressions
        if all(expression is not gone for gone in dropped)
    ]
    there = {column.sql().lower() for column in own_columns(block, kept)}
    others = [
        column
        for column in own_columns(
            block, [expression for expression in dropped if _aggregates_in(expression)]
        )
        if block.holds(column) != source and column.sql().lower() not in there
    ]
    _forget(block, dropped)
    for clause in ("group", "order"):
        tree = select.args.get(clause)
        if tree is None:
            continue
        left = [
            expression
            for expression in tree.expressions
            if source not in query.refers(block, expression)
        ]
        tree.set("expressions", left)
        if not left:
            select.set(clause, None)
    shown = [*kept, *_touches(others, dialects)]
    select.set("expressions", shown or [exp.alias_(exp.Count(this=exp.Star()), "rows_read")])


def _drop_source(block: Block, source: str) -> None:
    select = block.select
    joins = select.args.get("joins") or []
    clause = select.args["from_"]
    if clause.this.alias_or_name.lower() == source:
        first, *rest = joins
        clause.set("this", first.this)
        for condition in _conditions_on(first):
            select.where(condition, copy=False)
        select.set("joins", rest)
    else:
        select.set("joins", [join for join in joins if join.this.alias_or_name.lower() != source])


def _conditions_on(join: exp.Join) -> list[exp.Expr]:
    on = join.args.get("on")
    return [] if on is None or isinstance(on, exp.Boolean) else [on]
