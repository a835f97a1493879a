"""Generates join orders of a query's tables, and rewrites the query to a given order.

The search uses no statistics but the graph of join conditions. Every generated order joins tables
with a common condition, as far as any order does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.sql import parsed_script, parsed_statement
from assay.workloads.scripts import TOKENIZERS

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlglot import exp

# A table by its name in the query, or a join of two orders.
Order = str | tuple["Order", "Order"]
FEWEST = 3


@dataclass(frozen=True)
class JoinBlock:
    """The tables that one SELECT of a query joins.

    Attributes:
        tables: Table by its name in the query, in the order of the text; empty for a subquery.
        edges: Pairs of them with a common condition.
    """

    tables: Mapping[str, str]
    edges: frozenset[frozenset[str]]

    def are_joined(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Return True if a condition joins a table on the left to one on the right."""
        rights = set(right)
        return any(frozenset((a, b)) in self.edges for a in left for b in rights)


def columns_of(scripts: Iterable[str], dialects: Sequence[str] = ()) -> dict[str, frozenset[str]]:
    """Return the columns of each table that scripts create."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    columns: dict[str, frozenset[str]] = {}
    for script in scripts:
        try:
            statements = parsed_script(script, _dialect(dialects))
        except SqlglotError:
            continue
        for created in statements:
            if isinstance(created, exp.Create) and isinstance(created.this, exp.Schema):
                names = (column.name.lower() for column in created.this.find_all(exp.ColumnDef))
                columns[created.this.this.name.lower()] = frozenset(names)
    return columns


def largest_block(
    sql: str, dialects: Sequence[str], columns: Mapping[str, frozenset[str]]
) -> JoinBlock | None:
    """Return the SELECT of a query that joins the most tables; None with fewer than three.

    Args:
        sql: One statement.
        dialects: Search order of dialects, the engine's own first.
        columns: Column names by table, in lower case.

    Raises:
        ValueError: If the statement cannot be parsed.
    """
    select = _largest(_parsed(sql, dialects))
    if select is None:
        return None
    relations = _relations(select)
    tables = {name: _table(relation) for name, relation in relations.items()}
    owners = _owners(relations, columns)
    conditions = list(_conditions(select))
    block = JoinBlock(tables, frozenset(_equal(conditions, owners)))
    if not _is_connected(block):
        every = {edge for condition in conditions for edge in _edges(condition, owners)}
        block = JoinBlock(tables, frozenset(every))
    return block


def ordered(sql: str, dialects: Sequence[str], order: Order, join: str) -> str:
    """Return a query with its largest SELECT joined in a given order.

    Args:
        sql: One statement with such a block.
        dialects: The argument of `largest_block`.
        order: Order of all its tables, each once.
        join: Keyword between two tables: `inner`, `cross` or `straight_join`.
    """
    from sqlglot import exp

    parsed = _parsed(sql, dialects)
    select = _largest(parsed)
    assert select is not None  # noqa: S101 - callers have its block
    relations = _relations(select)
    conditions = [condition.copy() for condition in _conditions(select)]
    first, *joins = _joins(order, relations, join)
    select.set(_from_key(select), exp.From(this=first))
    select.set("joins", joins)
    select.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    return parsed.sql(dialect=_dialect(dialects), pretty=True)


def leaves(order: Order) -> list[str]:
    """Return the tables of a join order, from left to right."""
    if isinstance(order, str):
        return [order]
    return [name for side in order for name in leaves(side)]


def order_text(order: Order) -> str:
    """Return a join order as text: `((nation, supplier), (part, lineitem))`."""
    if isinstance(order, str):
        return order
    return f"({order_text(order[0])}, {order_text(order[1])})"


def left_deep(names: Sequence[str]) -> Order:
    """Return the left-deep join order of the given tables."""
    order: Order = names[0]
    for name in names[1:]:
        order = (order, name)
    return order


def drawn_left_deep(block: JoinBlock, source: random.Random) -> Order:
    """Return a random left-deep join order, without cross products if possible."""
    left = list(block.tables)
    names = [left.pop(source.randrange(len(left)))]
    while left:
        near = [name for name in left if block.are_joined(names, [name])] or left
        chosen = source.choice(near)
        left.remove(chosen)
        names.append(chosen)
    return left_deep(names)


def neighbours(block: JoinBlock, order: Order) -> list[Order]:
    """Return join orders one rotation away: from `(a, b), c` to `a, (b, c)`.

    Orders that join tables without a common condition are omitted. The side of a table in a join is
    ignored here.
    """
    rotations: dict[frozenset[object] | str, Order] = {}
    for rotation in _rotated(block, order):
        rotations.setdefault(_unordered(rotation), rotation)
    rotations.pop(_unordered(order), None)
    return list(rotations.values())


def swapped(block: JoinBlock, names: Sequence[str]) -> list[Order]:
    """Return left-deep join orders in which two adjacent tables are exchanged."""
    orders = []
    for at in range(len(names) - 1):
        other = [*names]
        other[at], other[at + 1] = other[at + 1], other[at]
        if all(block.are_joined(other[:n], [other[n]]) for n in range(1, len(other))):
            orders.append(left_deep(other))
    return orders


def _rotated(block: JoinBlock, order: Order) -> Iterator[Order]:
    if isinstance(order, str):
        return
    first, second = order
    for left, right in ((first, second), (second, first)):
        if not isinstance(left, str):
            inner, outer = left
            for kept, moved in ((inner, outer), (outer, inner)):
                if block.are_joined(leaves(moved), leaves(right)):
                    yield (kept, (moved, right))
    yield from ((changed, second) for changed in _rotated(block, first))
    yield from ((first, changed) for changed in _rotated(block, second))


def _unordered(order: Order) -> frozenset[object] | str:
    return order if isinstance(order, str) else frozenset(map(_unordered, order))


def _dialect(dialects: Sequence[str]) -> str:
    from sqlglot.dialects.dialect import Dialects

    grammars = {dialect.value for dialect in Dialects}
    names = [TOKENIZERS.get(name, name) for name in dialects]
    return next((name for name in names if name in grammars), "postgres")


def _parsed(sql: str, dialects: Sequence[str]) -> exp.Expr:
    from sqlglot.errors import SqlglotError

    try:
        return parsed_statement(sql, _dialect(dialects))
    except SqlglotError as error:
        raise ValueError(
            f"the join order cannot be parsed: {' '.join(str(error).split())}"
        ) from error


def _largest(parsed: exp.Expr) -> exp.Select | None:
    """Return the SELECT with most tables, the first of several; None without a SELECT."""
    from sqlglot import exp

    counted = [(len(_relations(select)), select) for select in parsed.find_all(exp.Select)]
    most = max((count for count, _ in counted), default=0)
    return (
        next((select for count, select in counted if count == most), None)
        if most >= FEWEST
        else None
    )


def _relations(select: exp.Select) -> dict[str, exp.Expr]:
    """Return the tables and subqueries that a SELECT joins, by name."""
    from sqlglot import exp

    source = select.args.get(_from_key(select))
    if source is None:
        return {}
    relations: dict[str, exp.Expr] = {}
    joins = select.args.get("joins") or []
    if any(_is_fixed(join) for join in joins) or select.args.get("laterals"):
        return {}
    for relation in (source.this, *(join.this for join in joins)):
        if (
            not isinstance(relation, exp.Table | exp.Subquery)
            or relation.alias_or_name in relations
        ):
            return {}
        if relation.args.get("joins") or relation.args.get("laterals"):
            return {}
        relations[relation.alias_or_name] = relation
    return relations


def _is_fixed(join: exp.Join) -> bool:
    """Return True if a join is more than a product with conditions."""
    fixed = ("side", "using", "method", "match_condition")
    return any(join.args.get(key) for key in fixed) or join.kind not in ("", "INNER", "CROSS")


def _from_key(select: exp.Select) -> str:
    return "from_" if "from_" in select.arg_types else "from"


def _table(relation: exp.Expr) -> str:
    from sqlglot import exp

    return relation.name.lower() if isinstance(relation, exp.Table) else ""


def _owners(
    relations: Mapping[str, exp.Expr], columns: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    """Return the table of each column whose name is unique among the tables."""
    from sqlglot import exp

    names_by_column: dict[str, list[str]] = {}
    for name, relation in relations.items():
        own = (
            [column.lower() for column in relation.named_selects]
            if isinstance(relation, exp.Subquery)
            else columns.get(_table(relation), frozenset())
        )
        for column in own:
            names_by_column.setdefault(column, []).append(name)
    return {column: names[0] for column, names in names_by_column.items() if len(names) == 1} | {
        f"{name}.": name for name in relations
    }


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions that all rows of a SELECT fulfil: parts of WHERE and ON."""
    where = select.args.get("where")
    trees = [where.this] if where is not None else []
    trees += [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on")]
    for tree in trees:
        yield from tree.flatten() if tree.key == "and" else [tree]


def _equal(conditions: Iterable[exp.Expr], owners: Mapping[str, str]) -> set[frozenset[str]]:
    """Return pairs of joined tables that equality conditions connect."""
    from sqlglot import exp

    classes: list[set[tuple[str, str]]] = []
    for condition in conditions:
        plain = condition.unnest()
        if not isinstance(plain, exp.EQ):
            continue
        sides = [side for side in (plain.this, plain.expression) if isinstance(side, exp.Column)]
        owned = {(owner, side.name.lower()) for side in sides if (owner := _owner(side, owners))}
        if len(owned) > 1:
            touched = [column_class for column_class in classes if column_class & owned]
            classes = [column_class for column_class in classes if not column_class & owned]
            classes.append(owned.union(*touched))
    return {
        frozenset((left, right))
        for equal in classes
        for left, _ in equal
        for right, _ in equal
        if left != right
    }


def _owner(column: exp.Column, owners: Mapping[str, str]) -> str | None:
    return owners.get(f"{column.table}." if column.table else column.name.lower())


def _edges(condition: exp.Expr, owners: Mapping[str, str]) -> set[frozenset[str]]:
    """Return pairs of tables that a condition names, without its subqueries."""
    from sqlglot import exp

    if condition.find(exp.Select):
        return set()
    columns = condition.find_all(exp.Column)
    named = {owner for column in columns if (owner := _owner(column, owners))}
    return {frozenset((a, b)) for a in named for b in named if a != b}


def _is_connected(block: JoinBlock) -> bool:
    left = list(block.tables)
    seen = [left.pop(0)]
    while near := [name for name in left if block.are_joined(seen, [name])]:
        seen += near
        left = [name for name in left if name not in near]
    return not left


def _joins(order: Order, relations: Mapping[str, exp.Expr], join: str) -> list[exp.Expr]:
    """Return the first table of a join order, and the joins to it."""
    from sqlglot import exp

    if isinstance(order, str):
        return [relations[order].copy()]
    left, right = order
    if isinstance(right, str):
        joined: exp.Expr = relations[right].copy()
    else:
        first, *others = _joins(right, relations, join)
        first.set("joins", others)
        joined = exp.Paren(this=first)
    return [*_joins(left, relations, join), exp.Join(this=joined, kind=join.upper())]
