"""Describes the earlier rows of a table that a running total adds up, and writes it as a window.

A window is ordered also by rows whose key is null, but no comparison holds for them. So columns
that may be null are excluded, unless the table declares that they are not null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.workloads.rewriting.grammar import grammar_of, text_of
from assay.workloads.rewriting.sorted_types import MYSQL, is_exact, is_sorted_as_compared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.model.declared import DeclaredColumns
    from assay.workloads.rewriting.blocks import Block, Query

# Grammars whose engines compare and sort values alike, and have the frames that are written here.
WINDOWS = {"postgres", MYSQL, "sqlite", "duckdb"}
# Comparisons of the inner column with the outer one: the same with both sides exchanged.
MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}
DESCENDING, STRICT = (exp.GT, exp.GTE), (exp.LT, exp.GT)
TOTALS = (exp.Sum, exp.Count, exp.Min, exp.Max, exp.Avg)
# Options of an aggregate, and what its argument must not contain.
OPTIONS = (exp.Filter, exp.Window, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
NOT_OF_ROW = (exp.AggFunc, exp.Query, exp.Window, exp.Distinct, exp.Order, exp.Star, exp.Limit)
# Conditions that hold for all of several equal values, or for none.
OF_VALUES = (
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Between, exp.In, exp.Is, exp.Null, exp.Literal, exp.Neg, exp.Column, exp.Identifier),
)


@dataclass(frozen=True)
class Source:
    """A table that a SELECT reads, with its name there."""

    block: Block
    name: str

    @property
    def table(self) -> exp.Table:
        """Return the syntax tree of the table."""
        tree = self.block.sources[self.name]
        if not isinstance(tree, exp.Table):
            raise UsageError("a running total of a derived table is not rewritten")
        return tree

    @property
    def identifier(self) -> exp.Identifier:
        """Return the name by which the SELECT calls the table."""
        alias = self.table.args.get("alias")
        named: exp.Identifier = self.table.this if alias is None else alias.this
        return named.copy()

    def owns(self, query: Query, column: exp.Column) -> bool:
        """Return True if a column is one of this table.

        Raises:
            UsageError: If the table of the column is not known.
        """
        owner = query.owner(column)
        if owner is None:
            raise UsageError(
                f"the table of the column {column.sql()} is not known: write it before the column"
            )
        return owner[0] is self.block and owner[1] == self.name


@dataclass(frozen=True)
class EarlierRows:
    """The rows of a table that are before each of its rows in an order.

    Attributes:
        query: The query.
        outer: The table of which each row has a total.
        inner: The same table, of which rows are added up.
        comparison: Comparison of the inner key with the outer one.
        key: Column of the order, as the outer table's.
        groups: Columns that are equal in both rows.
        conditions: Further conditions on the rows that are added up, as the outer table's.
        filters: Conditions on the outer table alone.
        grammar: SQL grammar of the engine.
    """

    query: Query
    outer: Source
    inner: Source
    comparison: type[exp.Expr]
    key: exp.Column
    groups: Sequence[exp.Column]
    conditions: Sequence[exp.Expr]
    filters: Sequence[exp.Expr]
    grammar: str | None

    @property
    def declared(self) -> DeclaredColumns:
        """Return the declared columns of the table; empty if they are not known."""
        return self.query.declared(self.outer.table)

    @property
    def nullable(self) -> list[exp.Column]:
        """Return the compared columns that may be null."""
        required = self.declared.required
        return [column for column in self.compared if column.name.lower() not in required]

    @property
    def compared(self) -> list[exp.Column]:
        """Return the columns that are compared with those of the other rows."""
        return [self.key, *self.groups]

    def window(self, total: exp.AggFunc) -> exp.Expr:
        """Return a window function with the value of an aggregate of the earlier rows."""
        key, nullable = self.key, self.nullable
        guards = [_is_known(key)] if key in nullable else []
        rows = self._of_rows(total, [*guards, *(condition.copy() for condition in self.conditions)])
        window: exp.Expr = exp.Window(
            this=rows,
            partition_by=[column.copy() for column in self.groups],
            order=exp.Order(expressions=[_ordered(key, self.comparison, self.grammar)]),
            spec=self._frame(),
        )
        if nullable:
            known = exp.and_(*map(_is_known, nullable))
            case = exp.case().when(known, window)
            window = case.else_(exp.Literal.number(0)) if isinstance(total, exp.Count) else case
        return window

    def _of_rows(self, total: exp.AggFunc, conditions: Sequence[exp.Expr]) -> exp.Expr:
        """Return an aggregate of those rows of the outer table that fulfil conditions."""
        made = of_outer(self, total)
        if not conditions:
            return made
        if self.grammar != MYSQL:
            return exp.Filter(this=made, expression=exp.Where(this=exp.and_(*conditions)))
        value = exp.Literal.number(1) if isinstance(made.this, exp.Star) else made.this.copy()
        made.set("this", exp.case().when(exp.and_(*conditions), value))
        return made

    def _frame(self) -> exp.WindowSpec:
        is_strict = self.has_strict_order
        kind = "RANGE" if not is_strict else "ROWS" if self.has_no_ties else "GROUPS"
        return exp.WindowSpec(
            kind=kind,
            start="UNBOUNDED",
            start_side="PRECEDING",
            end=exp.Literal.number(1) if is_strict else "CURRENT ROW",
            end_side="PRECEDING" if is_strict else None,
        )

    @property
    def has_strict_order(self) -> bool:
        """Return True if rows with the same key are not added up."""
        return self.comparison in STRICT

    @property
    def has_no_ties(self) -> bool:
        """Return True if no two rows of a group have the same key."""
        return self.declared.unique_in([column.name.lower() for column in self.compared])

    def keeps(self, condition: exp.Expr) -> bool:
        """Return True if totals stay the same without rows that do not fulfil a condition.

        The condition must be one of those on the rows that are added up, or choose whole groups.
        """
        columns = list(condition.find_all(exp.Column))
        if condition.find(exp.Query) or not all(
            self.outer.owns(self.query, column) for column in columns
        ):
            return False
        if any(of_outer(self, condition) == other for other in self.conditions):
            return True
        groups = {_identity(column): column for column in self.groups}
        chosen = [groups.get(_identity(column)) for column in columns]
        is_of_values = all(isinstance(node, OF_VALUES) for node in condition.walk())
        return is_of_values and all(
            column is not None and (self.grammar != MYSQL or is_exact(self.declared, column.name))
            for column in chosen
        )

    def check(self, totals: Iterable[exp.AggFunc]) -> None:
        """Raise `UsageError` if a window function could have another value than an aggregate."""
        if self.grammar != MYSQL:
            return
        for column in self.compared:
            if not is_sorted_as_compared(self.declared, column.name, self.grammar):
                raise UsageError(
                    f"the type of {column.sql()} is not known as one that is sorted as it is"
                    " compared"
                )
        if self.has_strict_order and not self.has_no_ties:
            raise UsageError(
                f"several rows may have the same {self.key.sql()}, and this engine has no frame"
                " that ends before all of them"
            )
        for total in totals:
            is_guarded = self.conditions or self.key in self.nullable
            if is_guarded and isinstance(total, (exp.Min, exp.Max)):
                argument = of_outer(self, total).this
                if not isinstance(argument, exp.Column) or not is_exact(
                    self.declared, argument.name
                ):
                    raise UsageError(f"{total.sql()} may have another type if rows are left out")


def earlier_rows(
    query: Query,
    outer: Source,
    inner: Source,
    conditions: Iterable[exp.Expr],
    dialects: Sequence[str],
) -> EarlierRows:
    """Return the rows that are before each row of the same table, by the conditions of both.

    Raises:
        UsageError: If the tables differ, or a condition is none of a running total.
    """
    _check_same_table(query, outer, inner)
    keys: list[tuple[type[exp.Expr], exp.Column]] = []
    groups: dict[str, exp.Column] = {}
    own: list[exp.Expr] = []
    filters: list[exp.Expr] = []
    for condition in conditions:
        tree = condition.unnest()
        if tree.find(exp.Query):
            raise UsageError(f"the condition {text_of(tree, dialects)} has a subquery")
        columns = list(tree.find_all(exp.Column))
        if all(inner.owns(query, column) for column in columns):
            own.append(tree)
        elif all(outer.owns(query, column) for column in columns):
            filters.append(tree)
        else:
            comparison, column = _compared(query, outer, inner, tree, dialects)
            if comparison is exp.EQ:
                groups[_identity(column)] = column
            else:
                keys.append((comparison, column))
    if len(keys) != 1:
        raise UsageError(
            "the rows are not those before a row by one column, such as `b.day <= a.day`"
        )
    grammar = grammar_of(dialects)
    ((operator, key),) = keys
    listed = list(groups.values())
    rows = EarlierRows(query, outer, inner, operator, key, listed, [], filters, grammar)
    conditions_of_outer = [of_outer(rows, condition) for condition in own]
    return EarlierRows(
        query, outer, inner, operator, key, listed, conditions_of_outer, filters, grammar
    )


def totals_in(rows: EarlierRows, tree: exp.Expr) -> list[exp.AggFunc]:
    """Return the aggregates of earlier rows in an expression.

    Raises:
        UsageError: If one cannot be a window function, or if a column of those rows is outside.
    """
    totals = list(tree.find_all(exp.AggFunc, bfs=False))
    inside: set[int] = set()
    for total in totals:
        argument, is_total = total.this, isinstance(total, TOTALS)
        is_all = isinstance(total, exp.Count) and isinstance(argument, exp.Star)
        nodes = [] if is_all or argument is None else list(argument.walk())
        if not is_total or total.args.get("expressions") or isinstance(total.parent, OPTIONS):
            raise UsageError(f"{total.sql()} is not written as a window function")
        if any(isinstance(node, NOT_OF_ROW) for node in nodes):
            raise UsageError(f"{total.sql()} is not written as a window function")
        columns = [node for node in nodes if isinstance(node, exp.Column)]
        if not all(rows.inner.owns(rows.query, column) for column in columns):
            raise UsageError(f"{total.sql()} has columns of the row that has the total")
        inside.update(map(id, columns))
    for column in tree.find_all(exp.Column):
        if id(column) not in inside and not rows.outer.owns(rows.query, column):
            raise UsageError(f"{column.sql()} is a column of a single row that is added up")
    return totals


def of_outer(rows: EarlierRows, tree: exp.Expr) -> exp.Expr:
    """Return a copy of an expression with the columns of both tables as those of the outer one."""
    made = tree.copy()
    for column in made.find_all(exp.Column):
        for qualifier in ("db", "catalog"):
            column.set(qualifier, None)
        column.set("table", rows.outer.identifier)
    return made


def _check_same_table(query: Query, outer: Source, inner: Source) -> None:
    """Raise `UsageError` if two sources are not known to be the same table."""
    tables = [outer.table.copy(), inner.table.copy()]
    for table in tables:
        table.set("alias", None)
    if tables[0].sql() != tables[1].sql() or outer.table.name.lower() in query.common:
        raise UsageError(
            f"the rows of {outer.table.name} have a total of {inner.table.name}, and not of the"
            " same table"
        )


def _compared(
    query: Query, outer: Source, inner: Source, tree: exp.Expr, dialects: Sequence[str]
) -> tuple[type[exp.Expr], exp.Column]:
    """Return the comparison of a column with the same one of the row that has the total."""
    left, right = tree.args.get("this"), tree.args.get("expression")
    reason = f"the condition {text_of(tree, dialects)} is none of a running total"
    if type(tree) not in MIRRORED:
        raise UsageError(reason)
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        raise UsageError(reason)
    is_inner_first = inner.owns(query, left) and outer.owns(query, right)
    is_outer_first = outer.owns(query, left) and inner.owns(query, right)
    if _identity(left) != _identity(right) or not (is_inner_first or is_outer_first):
        raise UsageError(reason)
    column = exp.column(left.this.copy(), table=outer.identifier)
    return (type(tree) if is_inner_first else MIRRORED[type(tree)]), column


def _identity(column: exp.Column) -> str:
    return column.name if column.this.quoted else column.name.lower()


def _is_known(column: exp.Column) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.null()).not_()


def _ordered(key: exp.Column, comparison: type[exp.Expr], grammar: str | None) -> exp.Expr:
    """Return a key of ORDER BY, with nulls where the engine puts them by default."""
    direction = " desc" if comparison in DESCENDING else ""
    order = exp.Select().order_by(f"k{direction}", dialect=grammar).args["order"]
    ordered: exp.Expr = order.expressions[0]
    ordered.set("this", key.copy())
    return ordered
