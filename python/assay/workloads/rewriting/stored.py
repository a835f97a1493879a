"""Finds what a query computes from single rows of a table, and reads stored columns instead."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from assay.model.errors import UsageError
from assay.workloads.rewriting.blocks import own
from assay.workloads.rewriting.grammar import grammar_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.workloads.rewriting.blocks import Query

# Prefix of the columns in which they are stored.
COLUMN = "assay_stored"
CASTS = (exp.Cast, exp.TryCast)
PATTERNS = (exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.RegexpILike)
# Expressions whose value one row does not decide alone.
OF_OTHER_ROWS = (exp.AggFunc, exp.Window, exp.Query)
# Functions with another value at each call, or at another time.
VOLATILE = (
    *(exp.Rand, exp.Uuid, exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp),
    *(exp.CurrentDatetime, exp.CurrentUser),
)
# Functions with several arguments are operators such as `and`, too.
NO_FUNCTIONS = (exp.Connector, exp.Case, exp.If)
# Column types that hold each value of the types of an expression.
WIDE = {
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, "bigint"),
    **dict.fromkeys(exp.DataType.TEXT_TYPES, "text"),
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.DOUBLE: "double",
}
# Column types whose values may be large.
LARGE = (*exp.DataType.TEXT_TYPES, *exp.DataType.STRUCT_TYPES)
# Dialects in which a temporary table with a text column differs from one with a short text.
SHORT_TEXTS = {"mysql", "mariadb"}


@dataclass(frozen=True)
class StoredValue:
    """A computation from one row of a table, and a column that can hold its value.

    Attributes:
        table: Name of the table.
        column: Name of the column, which the table does not have yet.
        type: Type of the column in the dialect's SQL.
        expression: The computation in the dialect's SQL, with columns of the table alone.
    """

    table: str
    column: str
    type: str
    expression: str


def stored_values(query: Query, dialects: Sequence[str]) -> list[StoredValue]:
    """Return the values of a query that columns could hold, each computation once.

    Raises:
        UsageError: If the query computes nothing from single rows, or something that cannot be
            stored: an unknown function, a function of several tables or of a parameter.
    """
    return list(dict.fromkeys(value for value, _ in _computations(query, dialects)))


def read_stored(query: Query, dialects: Sequence[str]) -> tuple[str, ...]:
    """Replace the computations of a query by columns that hold their values.

    Raises the errors of `stored_values`.
    """
    for value, node in list(_computations(query, dialects)):
        # The name of a result column stays the same.
        column = exp.column(value.column, table=_qualifier(node))
        shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        node.replace(exp.alias_(column, node.output_name) if shown and node.output_name else column)
    return ()


def columns_left(query: Query, dialects: Sequence[str]) -> list[str]:
    """Return the columns that a query reads beside the computations that can be stored.

    Raises the errors of `stored_values`.
    """
    replaced = [node for _, node in _computations(query, dialects)]
    inside = {id(column) for node in replaced for column in node.find_all(exp.Column)}
    columns = [column for column in query.tree.find_all(exp.Column) if id(column) not in inside]
    return list(dict.fromkeys(column.name.lower() for column in columns))


def is_large(type_text: str) -> bool:
    """Return True if values of a column type may be large, such as texts and documents."""
    try:
        kind = exp.DataType.build(type_text).this
    except ValueError:
        return True
    return kind in LARGE or kind not in {*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES}


def _computations(query: Query, dialects: Sequence[str]) -> Iterator[tuple[StoredValue, exp.Expr]]:
    """Yield each computation that can be stored, with its place in the syntax tree."""
    if any(isinstance(node, exp.Star) for node in _shown(query)):
        raise UsageError("a query for all columns (`*`) returns other rows with one more column")
    annotate_types(query.tree, dialect=grammar_of(dialects))
    columns: dict[tuple[str, str], str] = {}
    for block in query.blocks:
        parts = chain.from_iterable(map(own, block.select.iter_expressions()))
        for node in _outermost(parts):
            table = _table(query, node)
            type_text = _column_type(node, dialects)
            if table is None or type_text is None or _varies(node):
                raise UsageError(
                    f"the value of {text_of(node, dialects)} cannot be stored in a column"
                )
            text = _bare(node).sql(dialect=grammar_of(dialects), comments=False)
            column = columns.setdefault((table, text), f"{COLUMN}_{len(columns) + 1}")
            yield StoredValue(table, column, type_text, text), node
    if not columns:
        raise UsageError("the query computes nothing from single rows by a function")


def _shown(query: Query) -> Iterator[exp.Expr]:
    for block in query.blocks:
        for expression in block.select.expressions:
            yield expression
            if isinstance(expression, exp.Column):
                yield expression.this


def _outermost(nodes: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield function calls with columns that are within no other such call."""
    taken: set[int] = set()
    for node in nodes:
        if id(node) in taken or not _is_call(node):
            continue
        taken.update(id(inner) for inner in node.walk())
        yield node


def _is_call(node: exp.Expr) -> bool:
    """Return True if a node computes a value from columns of a row by a function or a pattern."""
    if isinstance(node, (*OF_OTHER_ROWS, *NO_FUNCTIONS)):
        return False
    if not isinstance(node, (exp.Func, *CASTS, *PATTERNS)):
        return False
    return node.find(exp.Column) is not None and node.find(*OF_OTHER_ROWS) is None


def _table(query: Query, node: exp.Expr) -> str | None:
    """Return the only table whose columns a node uses; None if there are several, or none."""
    owners = {query.owner(column) for column in node.find_all(exp.Column)}
    if len(owners) != 1 or (owner := owners.pop()) is None:
        return None
    block, source = owner
    tree = block.sources[source]
    # A table function stands in the place of a name, too.
    is_named = isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier)
    return tree.name if is_named and tree.name.lower() not in query.common else None


def _column_type(node: exp.Expr, dialects: Sequence[str]) -> str | None:
    """Return a column type that holds each value of a node; None if none is known."""
    if isinstance(node, CASTS):
        kind = node.args["to"]
        is_text = kind.this in exp.DataType.TEXT_TYPES
    elif (wide := _wide_type(node)) is not None:
        kind, is_text = exp.DataType.build(wide), wide == "text"
    else:
        return None
    if is_text and SHORT_TEXTS.intersection(dialects):
        return None
    return str(kind.sql(dialect=grammar_of(dialects)))


def _wide_type(node: exp.Expr) -> str | None:
    """Return a column type that holds each value of a function's type; None if none is known."""
    if isinstance(node, PATTERNS):
        return "boolean"
    # A value out of a document is a text, but the parser gives it no type.
    if isinstance(node, exp.JSONExtractScalar):
        return "text"
    return None if node.type is None else WIDE.get(node.type.this)


def _varies(node: exp.Expr) -> bool:
    """Return True if a node's value depends on more than the row."""
    if node.find(*VOLATILE, exp.Anonymous, exp.Placeholder, exp.Parameter) is not None:
        return True
    # Parameters of a text stand in it as large numbers while it is parsed.
    return any(is_parameter(literal) for literal in node.find_all(exp.Literal))


def is_parameter(literal: exp.Literal) -> bool:
    """Return True if a number stands for a parameter of the text."""
    from assay.workloads.rewriting.parameters import FIRST

    return bool(literal.name.isdecimal() and int(literal.name) >= FIRST)


def _bare(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node whose columns have no table before them."""
    copy = node.copy()
    for column in copy.find_all(exp.Column):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
    return copy


def _qualifier(node: exp.Expr) -> str | None:
    """Return the name of the source before the columns of a node; None without one."""
    column = node.find(exp.Column)
    return column.table or None if column is not None else None
