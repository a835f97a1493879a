"""Compares the columns that statements read with those that they name (column pruning).

Each engine defines what reading a column means: see docs/numbers/plans.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.plans.recorded import captured
from assay.model.sql import parsed_script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp
    from sqlglot.expressions import Expr

    from assay.model.plan import Plan
    from assay.record.reader import Run

SCANS = {"scan", "index scan", "bitmap scan"}
# A parameter such as `$1`, and quoted texts and names that may contain the same characters.
_VALUE = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)|\$\d+""")
_TYPE = re.compile(r"(?P<name>[a-z]+)(?:\((?P<size>\d+)(?:,\s*\d+)?\))?")
# Bytes of a value by its type. For texts and decimals the declared size determines the bytes.
WIDTHS = {
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "integer": 4,
    "bigint": 8,
    "float": 4,
    "real": 4,
    "double": 8,
    "boolean": 1,
    "date": 4,
    "timestamp": 8,
    "datetime": 8,
}
TEXTS = {"char", "varchar", "binary", "varbinary"}
DECIMALS = {"decimal", "numeric"}


@dataclass(frozen=True)
class TableColumns:
    """The columns of one table that one statement reads and names.

    Attributes:
        operation: Name of the operation.
        statement: Position of the statement in the operation, from 0.
        name: Name of the statement; None without a name.
        table: Name of the table.
        read: Columns that the engine reports as read; None if it does not report them.
        needed: Columns that the statement names.
        unneeded: Columns that are read and not named; empty if reads are not reported.
        unneeded_bytes: Maximum bytes of those columns in a row, by their declared types; None if a
            column has no declared width.
    """

    operation: str
    statement: int
    name: str | None
    table: str
    read: tuple[str, ...] | None
    needed: tuple[str, ...]
    unneeded: tuple[str, ...]
    unneeded_bytes: int | None


def table_columns(run: Run) -> tuple[TableColumns, ...]:
    """Return the columns of all tables in statements with a plan, in the order of plans.

    Left out are statements whose SQL dialect is not known, tables that the workload does not
    declare, and tables into which rows are only inserted.
    """
    capture = captured(run)
    return tuple(
        table
        for plans in capture.plans.values()
        for plan in plans
        for table in columns_of_plan(plan, capture.tables, capture.grammar)
    )


def columns_of_plan(
    plan: Plan, tables: Mapping[str, Mapping[str, str]], grammar: str | None
) -> tuple[TableColumns, ...]:
    """Return the columns that a plan reads and its statement names, by table.

    Args:
        plan: Plan of the statement, with its text.
        tables: Types of columns by table.
        grammar: Name of the SQL dialect in sqlglot; None for the syntax that all dialects share.
    """
    needed = None if plan.text is None else named_columns(plan.text, tables, grammar)
    if needed is None:
        return ()
    columns, aliases = needed
    columns_read: dict[str, dict[str, None] | None] = {}
    for node in plan.root.walk():
        # A data change that returns rows reports the columns that it reads in addition to its
        # scan.
        gives = node.operator == "modify" and node.columns is not None
        if node.object is not None and (gives or node.operator in SCANS):
            table = aliases.get(node.object.lower(), node.object.lower())
            if node.columns is not None and table in tables:
                earlier = columns_read.get(table) or {}
                columns_read[table] = earlier | dict.fromkeys(
                    column.lower() for column in node.columns
                )
            else:
                columns_read.setdefault(table, None)
    return tuple(
        _columns_of_table(
            plan, table, columns_read.get(table), columns.get(table, ()), tables[table]
        )
        for table in dict.fromkeys((*columns, *columns_read))
        if table in tables and (columns.get(table) or columns_read.get(table))
    )


def _columns_of_table(
    plan: Plan,
    table: str,
    read: Mapping[str, None] | None,
    needed: tuple[str, ...],
    types: Mapping[str, str],
) -> TableColumns:
    read_names = None if read is None else tuple(column for column in types if column in read)
    unneeded = tuple(column for column in read_names or () if column not in needed)
    widths = [width_bytes(types[column]) for column in unneeded]
    whole = None if None in widths else sum(width for width in widths if width is not None)
    return TableColumns(
        plan.operation, plan.statement, plan.name, table, read_names, needed, unneeded, whole
    )


def named_columns(
    text: str, tables: Mapping[str, Mapping[str, str]], grammar: str | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]] | None:
    """Return the columns that a statement names, by table, and the table of each alias.

    A column without a table's name counts for each table of the statement that has such a
    column. The result is None if the statement cannot be parsed.
    """
    from sqlglot import exp

    trees = parsed(text, grammar)
    if trees is None:
        return None
    aliases: dict[str, str] = {}
    for tree in trees:
        for table in tree.find_all(exp.Table):
            name = table.name.lower()
            if name in tables:
                aliases[table.alias_or_name.lower()] = name
    columns: dict[str, set[str]] = {table: set() for table in aliases.values()}
    for tree in trees:
        for column in tree.find_all(exp.Column):
            _note(column, columns, aliases, tables)
        for whole in _taken_whole(tree):
            if whole in columns:
                columns[whole] = set(tables[whole])
    ordered = {
        table: tuple(column for column in tables[table] if column in named)
        for table, named in columns.items()
    }
    return ordered, aliases


def parsed(text: str, grammar: str | None) -> list[Expr] | None:
    """Return the syntax trees of a statement's text; None if it cannot be parsed.

    Parameters such as `$1` become a number.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    plain = _VALUE.sub(lambda match: match[1] or "0", text)
    try:
        trees = [tree for tree in parsed_script(plain, _dialect(grammar)) if tree is not None]
    except SqlglotError:
        return None
    return None if any(isinstance(tree, exp.Command) for tree in trees) else trees


def _note(
    column: exp.Column,
    columns: dict[str, set[str]],
    aliases: Mapping[str, str],
    tables: Mapping[str, Mapping[str, str]],
) -> None:
    of = column.table.lower()
    own = [aliases[of]] if of in aliases else [] if of else list(columns)
    for table in own:
        if column.name == "*":
            columns[table] |= set(tables[table])
        elif column.name.lower() in tables[table]:
            columns[table].add(column.name.lower())


def _taken_whole(tree: Expr) -> set[str]:
    """Return the tables of queries whose select list contains a star without a table name."""
    from sqlglot import exp

    return {
        source.this.name.lower()
        for select in tree.find_all(exp.Select)
        if any(isinstance(expression, exp.Star) for expression in select.expressions)
        for source in select.find_all(exp.From, exp.Join)
        if isinstance(source.this, exp.Table) and source.parent_select is select
    }


def _dialect(grammar: str | None) -> str | None:
    from sqlglot.dialects.dialect import Dialects

    return grammar if grammar in {dialect.value for dialect in Dialects} else None


def width_bytes(declared: str) -> int | None:
    """Return the maximum width of a type's values in bytes; None if the type has no limit.

    A character counts as one byte, and a decimal as half a byte per digit.
    """
    match = _TYPE.match(declared.lower())
    if match is None:
        return None
    size = None if match["size"] is None else int(match["size"])
    if match["name"] in TEXTS and size is not None:
        return size
    if match["name"] in DECIMALS and size is not None:
        return (size + 1) // 2
    return WIDTHS.get(match["name"])
