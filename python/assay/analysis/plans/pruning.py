"""Columns that statements read against those that they name: what projection pruning leaves.

What reading a column means is the engine's: see docs/methodology.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.plans.recorded import captured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp
    from sqlglot.expressions import Expr

    from assay.model.plan import Plan
    from assay.record.reader import Run

SCANS = {"scan", "index scan", "bitmap scan"}
# A place of a value, and what may look like one and is a text or a name.
_VALUE = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)|\$\d+""")
_TYPE = re.compile(r"(?P<name>[a-z]+)(?:\((?P<size>\d+)(?:,\s*\d+)?\))?")
# Bytes of a value, where its type says them; of texts and decimals the size does.
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
    """One table of one statement.

    Attributes:
        operation: The operation.
        statement: Which of its statements, from 0.
        name: What the statement is called; None: it has no name.
        table: The table.
        read: Columns that the engine says it reads; None: it does not say.
        needed: Columns that the statement names.
        unneeded: Those that are read and not named; empty where reading is not told.
        unneeded_bytes: How wide those may be in a row at most, by their declared types; None where
            one of them has no declared width.
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
    """Tables of all statements that a run has a plan of, in the order of plans.

    Statements whose grammar is not known, and tables that the workload does not declare or that
    rows are only put into, are left out.
    """
    told = captured(run)
    return tuple(
        one
        for plans in told.plans.values()
        for plan in plans
        for one in columns_of_plan(plan, told.tables, told.grammar)
    )


def columns_of_plan(
    plan: Plan, tables: Mapping[str, Mapping[str, str]], grammar: str | None
) -> tuple[TableColumns, ...]:
    """The tables of one statement: what its plan reads of them and what its text names.

    Args:
        plan: Its plan, with its text.
        tables: Types of columns by table.
        grammar: As sqlglot names it; None: what all dialects share.
    """
    needed = None if plan.text is None else named_columns(plan.text, tables, grammar)
    if needed is None:
        return ()
    columns, aliases = needed
    found: dict[str, dict[str, None] | None] = {}
    for node in plan.root.walk():
        # A change that gives rows back tells what it reads beyond the scan below it.
        gives = node.operator == "modify" and node.columns is not None
        if node.object is not None and (gives or node.operator in SCANS):
            table = aliases.get(node.object.lower(), node.object.lower())
            if node.columns is not None and table in tables:
                told = found.get(table) or {}
                found[table] = told | dict.fromkeys(one.lower() for one in node.columns)
            else:
                found.setdefault(table, None)
    return tuple(
        _told(plan, table, found.get(table), columns.get(table, ()), tables[table])
        for table in dict.fromkeys((*columns, *found))
        if table in tables and (columns.get(table) or found.get(table))
    )


def _told(
    plan: Plan,
    table: str,
    read: Mapping[str, None] | None,
    needed: tuple[str, ...],
    types: Mapping[str, str],
) -> TableColumns:
    known = None if read is None else tuple(one for one in types if one in read)
    unneeded = tuple(one for one in known or () if one not in needed)
    widths = [width_bytes(types[one]) for one in unneeded]
    whole = None if None in widths else sum(width for width in widths if width is not None)
    return TableColumns(
        plan.operation, plan.statement, plan.name, table, known, needed, unneeded, whole
    )


def named_columns(
    text: str, tables: Mapping[str, Mapping[str, str]], grammar: str | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]] | None:
    """Columns that a statement names, by table, and which table each of its aliases is.

    A column without a table's name is of each table of the statement that has one of that name.
    None: the grammar of the statement is not known.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    plain = _VALUE.sub(lambda found: found[1] or "0", text)
    try:
        trees = [tree for tree in sqlglot.parse(plain, read=_dialect(grammar)) if tree is not None]
    except SqlglotError:
        return None
    if any(isinstance(tree, exp.Command) for tree in trees):
        return None
    aliases: dict[str, str] = {}
    for tree in trees:
        for table in tree.find_all(exp.Table):
            name = table.name.lower()
            if name in tables:
                aliases[table.alias_or_name.lower()] = name
    found: dict[str, set[str]] = {table: set() for table in aliases.values()}
    for tree in trees:
        for column in tree.find_all(exp.Column):
            _note(column, found, aliases, tables)
        for whole in _taken_whole(tree):
            if whole in found:
                found[whole] = set(tables[whole])
    ordered = {
        table: tuple(one for one in tables[table] if one in named) for table, named in found.items()
    }
    return ordered, aliases


def _note(
    column: exp.Column,
    found: dict[str, set[str]],
    aliases: Mapping[str, str],
    tables: Mapping[str, Mapping[str, str]],
) -> None:
    of = column.table.lower()
    own = [aliases[of]] if of in aliases else [] if of else list(found)
    for table in own:
        if column.name == "*":
            found[table] |= set(tables[table])
        elif column.name.lower() in tables[table]:
            found[table].add(column.name.lower())


def _taken_whole(tree: Expr) -> set[str]:
    """Tables of queries that have a star alone among what they select."""
    from sqlglot import exp

    return {
        one.this.name.lower()
        for select in tree.find_all(exp.Select)
        if any(isinstance(one, exp.Star) for one in select.expressions)
        for one in select.find_all(exp.From, exp.Join)
        if isinstance(one.this, exp.Table) and one.parent_select is select
    }


def _dialect(grammar: str | None) -> str | None:
    from sqlglot.dialects.dialect import Dialects

    return grammar if grammar in {one.value for one in Dialects} else None


def width_bytes(declared: str) -> int | None:
    """How wide a value of a type may be at most; None where the type does not say it.

    A character is taken for one byte, and a decimal for half a byte a digit.
    """
    found = _TYPE.match(declared.lower())
    if found is None:
        return None
    size = None if found["size"] is None else int(found["size"])
    if found["name"] in TEXTS and size is not None:
        return size
    if found["name"] in DECIMALS and size is not None:
        return (size + 1) // 2
    return WIDTHS.get(found["name"])
