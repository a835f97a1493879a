"""Parses SQL to find what it reads and whether it writes, without an engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assay.model.sql import parsed_script, parsed_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlglot.expressions import Expr

FIRST, LAST = "first", "last"
CUTS = re.compile(r"(?i)\b(limit|offset|fetch|top)\b")
LIMIT = re.compile(r"(?i)\blimit\s+(\d+)\s*;?\s*\Z")

# Functions with another value at each execution, some of them without parentheses.
CHANGING = re.compile(
    r"(?i)\b(?:random|rand|randomblob|newid|uuid|uuidv\d|gen_random_uuid|uuid_generate_v\d\w*|now"
    r"|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|sysdate|getdate|today"
    r"|unix_timestamp|nextval|txid_current|pg_current_xact_id)\s*\("
    r"|\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b|'now'"
)
IGNORED = re.compile(r"--[^\n]*|/\*.*?\*/|'(?!now')(?:[^']|'')*'", re.DOTALL)

# Schemas that every database has.
SYSTEM_SCHEMAS = (
    "information_schema",
    "mysql",
    "performance_schema",
    "pg_catalog",
    "sys",
    "system",
)
OF_THE_SYSTEM = ("dual", "duckdb_", "pg_", "pragma_", "sqlite_")


@dataclass(frozen=True)
class Reads:
    """The tables that a SQL text reads and changes.

    Attributes:
        tables: Names, in lower case, of everything in the position of a table.
        changes: Whether the text is, or may be, more than a query.
    """

    tables: frozenset[str]
    changes: bool


def reads(text: str, dialect: str | None = None) -> Reads | None:
    """Return the tables and columns that a text reads; None if it cannot be parsed.

    Args:
        text: Text of one or more statements.
        dialect: Name of the dialect in sqlglot; None means the grammar that all dialects share.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in parsed_script(text, dialect) if tree is not None]
    except SqlglotError:
        return None
    changing = (exp.DML, exp.DDL, exp.Command, exp.Drop, exp.Alter, exp.Into, exp.Lock)
    queries = all(isinstance(tree, exp.Query | exp.Values) for tree in trees)
    inside = any(
        isinstance(node, changing) and not isinstance(node, exp.Query)
        for tree in trees
        for node in tree.walk()
    )
    tables = {table.name.lower() for tree in trees for table in tree.find_all(exp.Table)}
    return Reads(frozenset(tables), changes=not queries or inside)


def tables_named(text: str, dialect: str | None = None) -> frozenset[str]:
    """Return names, in lower case, of tables that a text needs and does not create itself.

    Common table expressions, functions, files and system tables are omitted. The result is empty if
    its grammar is not known.

    Args:
        text: Text of one or more statements.
        dialect: Name of the dialect in sqlglot; None means the grammar that all dialects share.
    """
    return frozenset(name for name, _ in _named(text, dialect))


def tables_without_schema(texts: Iterable[str], dialect: str | None = None) -> frozenset[str]:
    """Return the tables of `tables_named` that no text names with a schema.

    Args:
        texts: Texts of statements.
        dialect: Name of the dialect in sqlglot; None means the grammar that all dialects share.
    """
    named = frozenset(pair for text in texts for pair in _named(text, dialect))
    return frozenset(name for name, _ in named) - {name for name, schema in named if schema}


@cache
def _named(text: str, dialect: str | None) -> frozenset[tuple[str, str]]:
    """Return the name of each table that a text needs, with its schema or an empty text."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in parsed_script(text, dialect) if tree is not None]
    except SqlglotError:
        return frozenset()
    own = {cte.alias.lower() for tree in trees for cte in tree.find_all(exp.CTE)}
    tables = [table for tree in trees for table in tree.find_all(exp.Table)]
    return frozenset(
        (table.name.lower(), table.db.lower())
        for table in tables
        if isinstance(table.this, exp.Identifier)
        and not table.catalog
        and table.db.lower() not in SYSTEM_SCHEMAS
        and not table.name.lower().startswith(OF_THE_SYSTEM)
        and table.name.replace("_", "a").replace("$", "a").isalnum()
        and table.name.lower() not in own
    )


def ordered_by(text: str, columns: Sequence[str], dialect: str | None = None) -> list[str]:
    """Return the result's columns by which its rows are ordered, most significant first.

    The list ends before a sort key that the result does not contain. Rows with equal listed columns
    may come in any observable order.

    Args:
        text: One query.
        columns: Names of the result's columns.
        dialect: Name of the dialect in sqlglot.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = parsed_statement(text, dialect)
    except SqlglotError:
        return []
    order = tree.args.get("order")
    shown = tree.selects if isinstance(tree, exp.Query) else []
    names = [name.lower() for name in columns]
    ordering: list[str] = []
    for ordered in order.expressions if order is not None else []:
        place = _place(ordered.this, names, shown if len(shown) == len(names) else [])
        if place is None:
            break
        ordering.append(columns[place])
    return ordering


def cut_ends(text: str, rows: int, dialect: str | None = None) -> list[str]:
    """Return the ends where a query cuts rows: `first` by an offset, `last` by a limit.

    Args:
        text: One query.
        rows: Number of returned rows. A limit above it had no effect.
        dialect: Name of the dialect in sqlglot.
    """
    from sqlglot.errors import SqlglotError

    try:
        tree = parsed_statement(text, dialect)
    except SqlglotError:
        return [FIRST, LAST] if CUTS.search(text) else []
    ends = [FIRST] if tree.args.get("offset") is not None else []
    limit = tree.args.get("limit")
    if limit is None:
        return ends
    most = limit.args.get("expression") or limit.args.get("count")
    is_reached = most is None or not most.is_int or int(most.name) <= rows
    return [*ends, LAST] if is_reached else ends


def why_unrepeatable(text: str, rows: int, dialect: str | None = None) -> str | None:
    """Return why a query's rows may differ between executions; None without a reason.

    Args:
        text: One query.
        rows: Number of returned rows. A limit above it had no effect.
        dialect: Name of the dialect in sqlglot.
    """
    from sqlglot.errors import SqlglotError

    match = CHANGING.search(IGNORED.sub(" ", text))
    if match is not None:
        name = match[0].rstrip("( \n\t").lower()
        called = f"{name}()" if match[0].endswith("(") else name
        return f"{called} gives another value at each execution"
    try:
        tree = parsed_statement(text, dialect)
    except SqlglotError:
        return None
    if tree.args.get("order") is None and cut_ends(text, rows, dialect):
        return "it has a limit without an order"
    return None


def _place(key: Expr, names: Sequence[str], shown: Sequence[Expr]) -> int | None:
    """Return the number of the result column that a sort key names; None if none."""
    from sqlglot import exp

    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.this) - 1
        return place if place < len(names) else None
    if isinstance(key, exp.Column) and key.name.lower() in names:
        return names.index(key.name.lower())
    return next((place for place, column in enumerate(shown) if column.unalias() == key), None)


def with_one_more_row(text: str) -> tuple[str, int] | None:
    """Return a text with its final limit raised by one row, and the limit; None without a limit."""
    match = LIMIT.search(text)
    if match is None:
        return None
    rows = int(match[1])
    return f"{text[: match.start(1)]}{rows + 1}", rows
