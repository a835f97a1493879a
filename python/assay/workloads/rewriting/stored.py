"""Finds what a query computes from single rows of a table, and reads stored columns instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from assay.model.errors import UsageError
from assay.model.sql import parsed_statement
from assay.workloads.rewriting.blocks import own
from assay.workloads.rewriting.grammar import grammar_of, sql_of, text_of
from assay.workloads.rewriting.stored_types import CASTS, DATES, PATTERNS, POSTGRES, column_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.workloads.rewriting.blocks import Block, Query

# Prefix of the columns in which they are stored.
COLUMN = "assay_stored"
# Expressions whose value one row does not decide alone.
OF_OTHER_ROWS = (exp.AggFunc, exp.Window, exp.Query)
# Functions with another value at each call, or at another time.
VOLATILE = (
    *(exp.Rand, exp.Randn, exp.Randstr, exp.Uuid, exp.NextValueFor),
    *(exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentTimestampLTZ),
    *(exp.CurrentDatetime, exp.Localtime, exp.Localtimestamp, exp.Systimestamp),
    *(exp.UtcDate, exp.UtcTime, exp.UtcTimestamp),
    *(exp.CurrentUser, exp.SessionUser, exp.CurrentRole, exp.CurrentSchema, exp.CurrentCatalog),
)
# Texts that stand for the present time.
NOW = {"now", "today", "tomorrow", "yesterday"}
# Functions with several arguments are operators such as `and`, too.
NO_FUNCTIONS = (exp.Connector, exp.Case, exp.If)
# Nodes that are null if one of their columns is null, and nodes without a value of their own.
STRICT = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.DataType, exp.DataTypeParam, exp.Var),
    *(exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
    *(*CASTS, *PATTERNS, exp.Lower, exp.Upper, exp.Substring, exp.Length, exp.Extract, exp.Abs),
    *(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONPath, exp.JSONPathKey, exp.JSONPathRoot),
    *(exp.JSONPathSubscript, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.StrToTime),
    *(exp.StrToDate, exp.Trim, exp.Left, exp.Right, exp.Replace, exp.RegexpReplace, exp.MD5),
)
# Clauses of a block with GROUP BY that are computed from its groups.
OF_GROUPS = ("expressions", "having", "order", "qualify")
# Expressions whose arguments are computed for each row of a group.
OF_ROWS = (exp.AggFunc, exp.Filter, exp.WithinGroup)
# Lists of keys within GROUP BY.
KEY_LISTS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Paren)
# Clauses in which a name may be that of a result column.
OF_RESULTS = ("group", "having", "order", "qualify")
# Column types whose values may be large.
LARGE = (*exp.DataType.TEXT_TYPES, *exp.DataType.STRUCT_TYPES)
# Column types for which functions of texts return another type: ranges, bytes, bits and arrays.
NO_TEXTS = re.compile(r"range|binary|bytea|blob|\bbit\b|\[|array", re.IGNORECASE)


@dataclass(frozen=True)
class StoredValue:
    """A computation from one row of a table, and a column that can hold its value.

    Attributes:
        table: Name of the table.
        column: Name of the column, which the table does not have yet. Equal computations of a table
            have equal names.
        type: Type of the column in the dialect's SQL; empty in SQLite for values of any type.
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
        column = exp.column(value.column, table=_qualifier(node))
        is_named = grammar_of(dialects) == POSTGRES and node.output_name
        shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        # In PostgreSQL, the result of a cast has the name of the column. In other dialects, this
        # name would hide the column from `order by`.
        node.replace(exp.alias_(column, node.output_name) if shown and is_named else column)
    return ()


def columns_left(query: Query, dialects: Sequence[str]) -> list[str]:
    """Return the columns that a query reads beside the computations that can be stored.

    Raises the errors of `stored_values`.
    """
    replaced = [node for _, node in _computations(query, dialects)]
    inside = {id(column) for node in replaced for column in node.find_all(exp.Column)}
    columns = [
        column
        for column in query.tree.find_all(exp.Column)
        if id(column) not in inside and not _only_names_result(query, column)
    ]
    return list(dict.fromkeys(column.name.lower() for column in columns))


def _only_names_result(query: Query, column: exp.Column) -> bool:
    """Return True if a name in an order or in groups is that of a result, and of no column."""
    select = column.parent_select
    if not isinstance(select, exp.Select):
        return False
    block = query.block(select)
    known = {name for columns in block.columns.values() for name in columns or ()}
    is_outside = _clause(block, column) in OF_RESULTS and column.name.lower() not in known
    return is_outside and _names_result(block, column)


def is_large(type_text: str) -> bool:
    """Return True if values of a column type may be large, such as texts and documents."""
    try:
        kind = exp.DataType.build(type_text).this
    except ValueError:
        return True
    return kind in LARGE or kind not in {*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES}


def computes(value: StoredValue, expression: str, dialects: Sequence[str]) -> bool:
    """Return True if a stored value is that of an expression, which may be spelled otherwise."""
    from sqlglot.errors import SqlglotError

    grammar = grammar_of(dialects)
    try:
        trees = [parsed_statement(text, grammar) for text in (value.expression, expression)]
    except SqlglotError:
        return False
    one, other = (sql_of(_plain(tree), dialects).lower() for tree in trees)
    return one == other


def _plain(tree: exp.Expr) -> exp.Expr:
    """Return an expression without outer parentheses, and without quotes around names.

    A function `date` with one argument becomes the cast that MariaDB shows in plans.
    """
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", value=False)
    return tree.unnest().transform(
        lambda node: (
            exp.cast(node.this, "date")
            if isinstance(node, DATES) and len([part for part in node.args.values() if part]) == 1
            else node
        )
    )


def no_text_in(value: StoredValue, types: Mapping[str, str]) -> str | None:
    """Return a column of a stored text whose functions return another type; None without one.

    In PostgreSQL, `lower` of a range is its bound, and `substring` of bytes is bytes.

    Args:
        value: The value and its expression.
        types: Types of the table's columns.
    """
    if value.type.lower() != "text":
        return None
    names: list[str] = re.findall(r"\w+", value.expression)
    return next((name for name in names if NO_TEXTS.search(types.get(name.lower(), ""))), None)


def _computations(query: Query, dialects: Sequence[str]) -> Iterator[tuple[StoredValue, exp.Expr]]:
    """Yield each computation that can be stored, with its place in the syntax tree."""
    if any(isinstance(node, exp.Star) for node in _shown(query)):
        raise UsageError("a query for all columns (`*`) returns other rows with one more column")
    annotate_types(query.tree, dialect=grammar_of(dialects))
    is_any = False
    for block in query.blocks:
        parts = chain.from_iterable(map(own, block.select.iter_expressions()))
        for node in _outermost(parts):
            if _is_of_groups(block, node, dialects):
                continue
            table = _table(query, node, dialects)
            type_text = column_type(node, dialects)
            if table is None or type_text is None or _varies(block, node):
                raise UsageError(
                    f"the value of {text_of(node, dialects)} cannot be stored in a column"
                )
            is_any = True
            text = sql_of(_bare(node), dialects)
            # A column belongs to its computation, whichever other ones a query has.
            mark = sha256("\0".join((table, type_text, text)).encode()).hexdigest()[:8]
            yield StoredValue(table, f"{COLUMN}_{mark}", type_text, text), node
    if not is_any:
        raise UsageError("the query computes nothing from single rows by a function")


def _is_of_groups(block: Block, node: exp.Expr, dialects: Sequence[str]) -> bool:
    """Return True if a node is computed once per group, from columns that groups have in common.

    Raises:
        UsageError: If it is computed from groups in another way, so that no column can replace it.
    """
    group = block.select.args.get("group")
    if group is None or _clause(block, node) not in OF_GROUPS or node.find_ancestor(*OF_ROWS):
        return False
    keys = group_keys(block, group)
    inside = {id(inner) for key in keys for inner in key.walk()}
    if id(node) in inside or any(node == key for key in keys):
        return False
    columns = list(node.find_all(exp.Column))
    if all(any(column == key for key in keys) for column in columns):
        return True
    raise UsageError(
        f"the value of {text_of(node, dialects)} is computed from groups, so it cannot be stored"
    )


def group_keys(block: Block, group: exp.Group) -> list[exp.Expr]:
    """Return the expressions of GROUP BY, with those that it names by place or by alias."""
    shown = block.select.expressions
    if group.args.get("all"):
        return [each.unalias() for each in shown if each.find(exp.AggFunc) is None]
    keys: list[exp.Expr] = []
    waiting = list(group.iter_expressions())
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, KEY_LISTS):
            waiting += part.iter_expressions()
        else:
            keys.append(part)
    places = [int(key.name) for key in keys if isinstance(key, exp.Literal) and key.is_int]
    aliases = {each.alias: each.unalias() for each in shown if isinstance(each, exp.Alias)}
    names = [key.name for key in keys if isinstance(key, exp.Column) and not key.table]
    keys += [shown[place - 1].unalias() for place in places if 1 <= place <= len(shown)]
    return keys + [aliases[name] for name in names if name in aliases]


def _clause(block: Block, node: exp.Expr) -> str | None:
    """Return the name of the clause of a SELECT that contains a node."""
    while node.parent is not None and node.parent is not block.select:
        node = node.parent
    return node.arg_key


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


def _table(query: Query, node: exp.Expr, dialects: Sequence[str]) -> str | None:
    """Return the only table whose columns a node uses, as the catalogue has its name.

    The result is None if there are several tables, or none, or if the value would differ where an
    outer join finds no row of the table.
    """
    from sqlglot.dialects.dialect import Dialect

    owners = {query.owner(column) for column in node.find_all(exp.Column)}
    if len(owners) != 1 or (owner := owners.pop()) is None:
        return None
    block, source = owner
    tree = block.sources[source]
    # A table function stands in the place of a name, too.
    if not isinstance(tree, exp.Table) or not isinstance(tree.this, exp.Identifier):
        return None
    if tree.db or tree.name.lower() in query.common:
        return None
    if _may_lack_rows(block, source) and not all(isinstance(each, STRICT) for each in node.walk()):
        return None
    dialect = Dialect.get_or_raise(grammar_of(dialects))
    return str(dialect.normalize_identifier(tree.this.copy()).name)


def _may_lack_rows(block: Block, source: str) -> bool:
    """Return True if an outer join may have nulls in place of a source's row."""
    sides = {
        join.this.alias_or_name.lower(): join.side.lower()
        for join in block.select.args.get("joins") or []
    }
    names = list(block.sources)
    later = names[names.index(source) + 1 :]
    if sides.get(source) in ("left", "full"):
        return True
    return any(sides.get(name) in ("right", "full") for name in later)


def _varies(block: Block, node: exp.Expr) -> bool:
    """Return True if a node's value depends on more than the row, or on more than the text says."""
    if node.find(*VOLATILE, exp.Anonymous, exp.Placeholder, exp.Parameter, exp.Collate) is not None:
        return True
    literals = list(node.find_all(exp.Literal))
    # Parameters of a text stand in it as large numbers while it is parsed.
    if any(has_parameter(literal) or literal.name.lower() in NOW for literal in literals):
        return True
    return _clause(block, node) in OF_RESULTS and _names_result(block, node)


def _names_result(block: Block, node: exp.Expr) -> bool:
    """Return True if a column of a node may be a result column of the same name."""
    made = {
        expression.alias.lower()
        for expression in block.select.expressions
        if isinstance(expression, exp.Alias) and not isinstance(expression.this, exp.Column)
    }
    columns = node.find_all(exp.Column)
    return any(not column.table and column.name.lower() in made for column in columns)


def has_parameter(literal: exp.Literal) -> bool:
    """Return True if a number in a literal stands for a parameter of the text."""
    from assay.workloads.rewriting.parameters import FIRST

    return any(int(number) >= FIRST for number in re.findall(r"\d+", literal.name))


def _bare(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node whose columns have no table before them."""
    copy = node.copy()
    for column in copy.find_all(exp.Column):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
    return copy


def _qualifier(node: exp.Expr) -> exp.Identifier | None:
    """Return the name of the source before the columns of a node; None without one."""
    names = (column.args.get("table") for column in node.find_all(exp.Column))
    return next((name.copy() for name in names if name is not None), None)
