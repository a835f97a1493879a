"""Finds the columns whose values the temporary table of a grouping statement stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp
    from sqlglot.expressions import Expr


def grouped_columns(
    text: str, tables: Mapping[str, Mapping[str, str]], grammar: str | None
) -> tuple[tuple[str, str], ...]:
    """Return table and name of the plain columns that a statement groups, or selects of a group.

    Columns within an expression are left out, because the table stores the expression's value, as
    are columns whose table is not certain. The result is empty if the statement cannot be parsed.

    Args:
        text: The statement's text.
        tables: Declared types of columns, by table, with names in lower case.
        grammar: SQL dialect of the statement, by its name in sqlglot.
    """
    from sqlglot import exp

    found = (
        column
        for tree in parsed(text, grammar) or ()
        for select in tree.find_all(exp.Select)
        for expression in _stored(select)
        if (column := _column(expression, select, tables)) is not None
    )
    return tuple(dict.fromkeys(found))


def _stored(select: exp.Select) -> Iterator[Expr]:
    """Yield the expressions whose values a table of the groups of a select has."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None and select.args.get("distinct") is None:
        return
    named = {each.alias: each.this for each in select.expressions if isinstance(each, exp.Alias)}
    for key in () if group is None else group.expressions:
        yield named.get(key.name, key) if isinstance(key, exp.Column) and not key.table else key
    for selected in select.expressions:
        yield selected.unalias()


def _column(
    expression: Expr, select: exp.Select, tables: Mapping[str, Mapping[str, str]]
) -> tuple[str, str] | None:
    from sqlglot import exp

    # The smallest and the largest value of a column have its type.
    if isinstance(expression, exp.Min | exp.Max):
        expression = expression.this
    if not isinstance(expression, exp.Column):
        return None
    sources = [
        source.this
        for source in select.find_all(exp.From, exp.Join)
        if source.parent_select is select
    ]
    known = {
        source.alias_or_name.lower(): source.name.lower()
        for source in sources
        if isinstance(source, exp.Table) and source.name.lower() in tables
    }
    qualifier, name = expression.table.lower(), expression.name.lower()
    if not qualifier and len(known) < len(sources):
        return None
    own = [known[qualifier]] if qualifier in known else [] if qualifier else list(known.values())
    holders = {table for table in own if name in tables[table]}
    return (holders.pop(), name) if len(holders) == 1 else None
