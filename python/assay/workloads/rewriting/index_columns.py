"""Lists the columns of a query by which an index could find its rows, or have them in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.workloads.rewriting.blocks import conditions_of, own

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

EQUALITIES = (exp.EQ, exp.In, exp.Is)
RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Like)
COLUMNS_MAX = 4


@dataclass(frozen=True)
class IndexColumns:
    """Columns of an index that a query could use.

    Attributes:
        table: Name of the table.
        columns: Names of the columns, in the order of the index.
        searched: The first columns, which find or order rows; the others are only read.
    """

    table: str
    columns: tuple[str, ...]
    searched: tuple[str, ...]


@dataclass
class _Compared:
    """The columns of one table that a SELECT compares.

    Attributes:
        equal, ranged: Columns that are compared with values.
        joined: Columns that are compared with those of other tables.
        single: Columns of alternatives (`or`), which need an index each.
        ordered: Columns that order or group the rows.
    """

    equal: list[str] = field(default_factory=list)
    ranged: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    single: list[str] = field(default_factory=list)
    ordered: list[tuple[str, ...]] = field(default_factory=list)

    def indexes(self) -> Iterator[tuple[str, ...]]:
        """Yield the columns of each index, the most selective one first."""
        equal = tuple(dict.fromkeys(self.equal))
        if equal or self.ranged:
            yield (*equal, *self.ranged[:1])
        for column in self.joined:
            yield (column, *equal)
        for column in self.single:
            yield (column,)
        for columns in self.ordered:
            yield (*equal, *columns)


def index_columns(query: Query) -> list[IndexColumns]:
    """Return the indexes that a query could use, without repetitions.

    Only columns of tables whose columns are known count. An index has at most four columns. If the
    SELECT reads no others of the table, the index has all of them, so that it suffices.
    """
    found: dict[IndexColumns, None] = {}
    for block in query.blocks:
        read = _read_columns(query, block)
        for source, compared in _compared(query, block).items():
            table = block.sources[source]
            for columns in compared.indexes():
                names = tuple(dict.fromkeys(columns))[:COLUMNS_MAX]
                whole = tuple(dict.fromkeys((*names, *read.get(source, ()))))
                suffices = len(whole) <= COLUMNS_MAX
                found[IndexColumns(table.name, whole if suffices else names, names)] = None
    return list(found)


def _read_columns(query: Query, block: Block) -> dict[str, list[str]]:
    """Return the columns that a SELECT reads, by source."""
    by_source: dict[str, list[str]] = {}
    for node in _own_nodes(block.select):
        if (column := _column(query, block, node)) is not None:
            by_source.setdefault(column[0], []).append(column[1])
    return by_source


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the syntax nodes of a SELECT without those of nested ones."""
    return select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not select)


def _compared(query: Query, block: Block) -> dict[str, _Compared]:
    by_source = {
        source: _Compared()
        for source, tree in block.sources.items()
        if isinstance(tree, exp.Table) and query.declared(tree)
    }
    for condition in conditions_of(block):
        for node in own(condition):
            if isinstance(node, (*EQUALITIES, *RANGES)):
                _add(query, block, by_source, node)
    for clause in ("order", "group"):
        keys = _keys(query, block, block.select.args.get(clause))
        if keys is not None and keys[0] in by_source:
            by_source[keys[0]].ordered.append(keys[1])
    return by_source


def _add(query: Query, block: Block, by_source: dict[str, _Compared], node: exp.Expr) -> None:
    """Add the columns of a comparison to those of their tables."""
    sides = [node.this, node.expression] if isinstance(node, exp.Binary) else [node.this]
    columns = [_column(query, block, side) for side in sides]
    for place, column in enumerate(columns):
        if column is None or column[0] not in by_source:
            continue
        source, name = column
        compared = by_source[source]
        others = [side for number, side in enumerate(sides) if number != place]
        is_joined = any(other.find(exp.Column) for other in others)
        if is_joined or node.args.get("query") is not None:
            compared.joined.append(name)
        elif node.find_ancestor(exp.Or) is not None:
            compared.single.append(name)
        elif isinstance(node, EQUALITIES):
            compared.equal.append(name)
        else:
            compared.ranged.append(name)


def _column(query: Query, block: Block, tree: exp.Expr) -> tuple[str, str] | None:
    """Return the source and the name of a column of a SELECT; None for anything else."""
    if not isinstance(tree, exp.Column):
        return None
    owner = query.owner(tree)
    return (owner[1], tree.name) if owner is not None and owner[0] is block else None


def _keys(
    query: Query, block: Block, clause: exp.Expr | None
) -> tuple[str, tuple[str, ...]] | None:
    """Return the source and the columns of an order or of groups, if all are of one source."""
    if clause is None:
        return None
    trees: Sequence[exp.Expr] = [
        key.this if isinstance(key, exp.Ordered) else key for key in clause.expressions
    ]
    columns = [_column(query, block, tree) for tree in trees]
    sources = {column[0] for column in columns if column is not None}
    if None in columns or len(sources) != 1:
        return None
    return sources.pop(), tuple(column[1] for column in columns if column is not None)
