"""Analyses the SELECT blocks of a query: tables, owners of columns, and joins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.declared import DeclaredColumns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

# Clauses of a block that only define what is made of its rows.
SHOWN = ("expressions", "group", "having", "order", "distinct", "windows", "qualify")


@dataclass(eq=False)
class Block:
    """One SELECT of a query.

    Attributes:
        select: Syntax tree of the block.
        above: Enclosing block; None for the outermost.
        sources: Relations in its `from`, by their name in the block.
        columns: Columns of a source, in lower case; None if not known.
    """

    select: exp.Select
    above: Block | None
    sources: Mapping[str, exp.Expr] = field(default_factory=dict)
    columns: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def holds(self, column: exp.Column) -> str | None:
        """Return the source table of a column in this SELECT; None if unknown."""
        if column.table:
            name = column.table.lower()
            return name if name in self.sources else None
        name = column.name.lower()
        owners = [source for source, names in self.columns.items() if names and name in names]
        if len(owners) == 1:
            return owners[0]
        only = next(iter(self.columns)) if len(self.columns) == 1 else None
        return only if only is not None and self.columns[only] is None else None

    @property
    def grouped(self) -> bool:
        """Return True if each row of the SELECT combines several rows."""
        if self.select.args.get("group") or self.select.args.get("distinct"):
            return True
        return any(
            isinstance(node, exp.AggFunc) and node.find_ancestor(exp.Window) is None
            for expression in self.select.expressions
            for node in own(expression)
        )


class Query:
    """A query's syntax tree with its SELECT blocks.

    Args:
        tree: Syntax tree, which removals change in place.
        tables: Columns by table, as far as known.
    """

    def __init__(self, tree: exp.Query, tables: Mapping[str, Collection[str]]) -> None:
        self.tree = tree
        self._tables = {name.lower(): frozenset(columns) for name, columns in tables.items()}
        self._declared = {
            name.lower(): columns
            for name, columns in tables.items()
            if isinstance(columns, DeclaredColumns)
        }
        self.common = {
            common_table.alias.lower(): common_table.this for common_table in tree.find_all(exp.CTE)
        }
        self._blocks: dict[int, Block] = {}
        for select in tree.find_all(exp.Select, bfs=True):
            above = select.parent_select
            block = Block(
                select, self._blocks.get(id(above)) if above else None, sources_of(select)
            )
            block.columns = {name: self._columns(source) for name, source in block.sources.items()}
            self._blocks[id(select)] = block

    @property
    def outermost(self) -> Block | None:
        """Return the outermost SELECT of the query; None for a set operation."""
        tree = self.tree.unnest()
        return self._blocks[id(tree)] if isinstance(tree, exp.Select) else None

    @property
    def blocks(self) -> list[Block]:
        """Return all SELECT blocks of the query, each after its enclosing one."""
        return list(self._blocks.values())

    def block(self, select: exp.Expr) -> Block:
        """Return the block of a SELECT's syntax tree."""
        return self._blocks[id(select)]

    def declared(self, table: exp.Table) -> DeclaredColumns:
        """Return the declared columns of a table; empty if they are not known.

        They are not known for a table of another schema, and for a common table.
        """
        name = table.name.lower()
        is_other = bool(table.args.get("db")) or name in self.common
        return DeclaredColumns({}) if is_other else self._declared.get(name, DeclaredColumns({}))

    def derived(self, block: Block, source: str) -> Block | None:
        """Return the block of a derived table; None for a plain or shared table."""
        tree = block.sources[source]
        if isinstance(tree, exp.Subquery):
            inner = tree.unnest()
        elif (name := tree.name.lower()) in self.common and self._readers(name) == 1:
            inner = self.common[name].unnest()
        else:
            return None
        return self._blocks.get(id(inner))

    def shown(self) -> Iterator[Block]:
        """Yield the outermost SELECT and the derived tables that it reads."""
        waiting = [self.outermost] if self.outermost else []
        while waiting:
            block = waiting.pop(0)
            yield block
            derived_blocks = [self.derived(block, source) for source in block.sources]
            waiting += [
                derived_block for derived_block in derived_blocks if derived_block is not None
            ]

    def owner(self, column: exp.Column) -> tuple[Block, str] | None:
        """Return the SELECT block and source that own a column; None if not known."""
        select = column.parent_select
        block = self._blocks.get(id(select)) if select else None
        while block is not None:
            source = block.holds(column)
            if source is not None:
                return block, source
            # The column may be of a source whose columns are not known, such as a view.
            if not column.table and None in block.columns.values():
                return None
            block = block.above
        return None

    def refers(self, block: Block, tree: exp.Expr) -> set[str]:
        """Return the sources of a SELECT that a part of it names."""
        owners = [self.owner(column) for column in tree.find_all(exp.Column)]
        return {owner[1] for owner in owners if owner is not None and owner[0] is block}

    def connected(self, block: Block, conditions: Iterable[exp.Expr]) -> int:
        """Return the number of connected groups among a SELECT's sources."""
        pieces = [{source} for source in block.sources]
        for condition in conditions:
            names = self.refers(block, condition)
            touched = [piece for piece in pieces if piece & names]
            rest = [piece for piece in pieces if not piece & names]
            pieces = [*rest, set().union(*touched)] if touched else rest
        return len(pieces)

    def _columns(self, source: exp.Expr) -> frozenset[str] | None:
        if isinstance(source, exp.Table):
            name = source.name.lower()
            if name not in self.common:
                return self._tables.get(name)
            inner = self.common[name]
        else:
            inner = source.this
        if not isinstance(inner, exp.Query) or any(isinstance(o, exp.Star) for o in inner.selects):
            return None
        return frozenset(name.lower() for name in inner.named_selects)

    def _readers(self, name: str) -> int:
        return sum(table.name.lower() == name for table in self.tree.find_all(exp.Table))


def sources_of(select: exp.Select) -> dict[str, exp.Expr]:
    """Return the sources that a SELECT reads, by their name there."""
    clause = select.args.get("from_")
    trees = [clause.this] if clause is not None else []
    trees += [join.this for join in select.args.get("joins") or []]
    return {tree.alias_or_name.lower(): tree for tree in trees}


def conditions_of(block: Block) -> list[exp.Expr]:
    """Return the separate conditions in a SELECT's WHERE and ON clauses."""
    clause = block.select.args.get("where")
    conditions = [] if clause is None else _each(clause.this)
    for join in block.select.args.get("joins") or []:
        conditions += _each(join.args["on"]) if join.args.get("on") else []
    return conditions


def _each(condition: exp.Expr) -> list[exp.Expr]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def own(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the syntax nodes of a SELECT's part, without nested SELECTs."""
    return tree.walk(prune=lambda node: isinstance(node, exp.Query))


def shown_expressions(select: exp.Select) -> list[exp.Expr]:
    """Return the expressions that a SELECT computes from the rows that it reads."""
    expressions: list[exp.Expr] = []
    for clause in SHOWN:
        part = select.args.get(clause)
        expressions += part if isinstance(part, list) else [part] if part is not None else []
    return expressions


def own_columns(block: Block, trees: Iterable[exp.Expr]) -> list[exp.Column]:
    """Return the distinct source columns that parts of a SELECT name."""
    made = {
        expression.alias.lower()
        for expression in block.select.expressions
        if isinstance(expression, exp.Alias)
    }
    columns: dict[str, exp.Column] = {}
    for tree in trees:
        for node in own(tree):
            if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
                continue
            names_made = not node.table and node.name.lower() in made
            if names_made and node.find_ancestor(exp.Order, exp.Having, exp.Group):
                continue
            columns.setdefault(node.sql().lower(), node)
    return list(columns.values())


def drop_condition(condition: exp.Expr) -> None:
    """Remove one condition from WHERE or ON; an empty clause is removed too."""
    above = condition.parent
    if isinstance(above, exp.And):
        other = above.right if above.left is condition else above.left
        above.replace(other.pop())
    elif isinstance(above, exp.Paren):
        drop_condition(above)
    elif isinstance(above, exp.Join):
        above.set("on", exp.true())
    elif above is not None:
        above.pop()
