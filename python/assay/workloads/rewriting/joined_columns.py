"""Finds the columns that a SELECT reads from its joins, which a derived table can return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.workloads.rewriting.blocks import own, shown_expressions
from assay.workloads.rewriting.safe import sources_in
from assay.workloads.rewriting.stored import group_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

# Name of the derived table.
JOINED = "joined"
# Identity of a column: its table, and its name.
Identity = tuple[str, str]


@dataclass(frozen=True)
class JoinedColumn:
    """A column that a SELECT reads from its joins.

    Attributes:
        name: Name of the column in the derived table.
        places: Places where the SELECT names the column.
    """

    name: exp.Identifier
    places: Sequence[exp.Column]

    def read(self) -> exp.Expr:
        """Return the column as an expression of the derived table."""
        return exp.alias_(self.places[0].copy(), self.name.copy())

    def replace(self) -> None:
        """Replace the column by that of the derived table, wherever the SELECT names it."""
        for column in self.places:
            read = exp.column(self.name.copy(), table=exp.to_identifier(JOINED))
            is_result = isinstance(column.parent, exp.Select)
            renamed = is_result and self.name.name != column.name
            column.replace(exp.alias_(read, column.this.copy()) if renamed else read)


def joined_columns(query: Query, block: Block) -> list[JoinedColumn]:
    """Return the columns that a SELECT reads from its joins, except for those of its conditions.

    Raises:
        UsageError: If a name may be that of a column or of a result, or if the result would not be
            that of the derived table.
    """
    select = block.select
    results = {item.alias_or_name.lower(): item.unalias() for item in select.expressions}
    places: dict[Identity, list[exp.Column]] = {}
    for tree in shown_expressions(select):
        for column in _columns_in(query, block, tree):
            if not _is_result(block, column, results):
                places.setdefault(_identity(query, block, column), []).append(column)
    _check_groups(query, block, results)
    taken: set[str] = set()
    return [JoinedColumn(_free_name(columns[0], taken), columns) for columns in places.values()]


def _columns_in(query: Query, block: Block, tree: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns that a part of a SELECT names itself."""
    for node in own(tree):
        if isinstance(node, exp.Query) and sources_in(query, block, node):
            raise UsageError("a subquery outside of the conditions reads the joined rows")
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            raise UsageError("the query returns all columns (`*`): name them")
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            yield node


def _is_result(block: Block, column: exp.Column, results: Mapping[str, exp.Expr]) -> bool:
    """Return True if a name is that of a result column, and False if it is a joined one.

    Raises:
        UsageError: If it may be either, which differs among engines.
    """
    name = column.name.lower()
    if column.table or name not in results:
        return False
    key = column.parent
    if isinstance(key, exp.Ordered) and key.parent is block.select.args.get("order"):
        return True
    result = results[name]
    if isinstance(result, exp.Column) and result.name.lower() == name:
        return False
    known = list(block.columns.values())
    if any(names is None or name in names for names in known):
        raise UsageError(f"{name} may be the name of a column or of a result")
    return True


def _identity(query: Query, block: Block, column: exp.Column) -> Identity:
    """Return the table and the name of a column, alike wherever it is named."""
    owner = query.owner(column)
    source = owner[1] if owner is not None and owner[0] is block else column.table.lower()
    return source, column.name if column.this.quoted else column.name.lower()


def _free_name(column: exp.Column, taken: set[str]) -> exp.Identifier:
    """Return the name of a column, with a number if another column has the name already."""
    name, number = column.name, 1
    while name.lower() in taken:
        number += 1
        name = f"{column.name}_{number}"
    taken.add(name.lower())
    return exp.to_identifier(name, quoted=column.this.quoted)


def _check_groups(query: Query, block: Block, results: Mapping[str, exp.Expr]) -> None:
    """Raise `UsageError` if a group has columns that only the key of its table decides.

    An engine does not know the keys of a derived table.
    """
    select = block.select
    group = select.args.get("group")
    parts = [
        *select.expressions,
        *filter(None, (select.args.get("having"), select.args.get("order"))),
    ]
    if group is None and not any(map(_has_aggregate, parts)):
        return
    keys = [] if group is None else group_keys(block, group)
    identities = {_identity(query, block, key) for key in keys if isinstance(key, exp.Column)}
    for node in _outside_groups(parts, keys):
        if _is_result(block, node, results) or _identity(query, block, node) in identities:
            continue
        raise UsageError(f"`group by` does not name {node.sql()}, which the query returns")


def _has_aggregate(tree: exp.Expr) -> bool:
    """Return True if a part of a SELECT computes a value from all rows of a group."""
    return any(
        isinstance(node, exp.AggFunc) and node.find_ancestor(exp.Window) is None
        for node in own(tree)
    )


def _outside_groups(parts: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    """Yield the columns of a grouped SELECT that are neither in aggregates nor in its keys."""
    for part in parts:
        nodes = part.walk(
            prune=lambda node: isinstance(node, (exp.AggFunc, exp.Query)) or node in keys
        )
        for node in nodes:
            if isinstance(node, exp.Column) and node not in keys:
                yield node
