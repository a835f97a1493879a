"""SQL statements from templates, texts without remarks, and syntax trees.

In templates, names are quoted, and values are written as string literals.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.expressions import Expr

# `$table_text` is the table's name as a string, for queries of a catalogue. `$in_schema` is the
# schema with a dot, or empty. `$using` is the clause of an index's access method, or empty.
# `$setting` and `$value` describe a setting; `$column`, `$type` and `$expression` a column that
# stores a computed value; `$column_text` a column by its name as a string, and `$like_table_text`
# and `$like_column_text` the column whose declaration it gets.
PLACEHOLDERS = frozenset(
    {
        *("name", "table", "table_text", "columns", "in_schema", "using", "setting", "existing"),
        "where",
        *("value", "column", "type", "expression"),
        *("column_text", "like_table_text", "like_column_text"),
    }
)
# Shortest limit of a name's length among known engines.
NAME_LETTERS_MAX = 63
_DIRECTION = re.compile(r"(?: desc)?(?: nulls (?:first|last))?$")
_REMARK = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def without_remarks(text: str | None) -> str:
    """Return a statement's text with a space in the place of each remark; empty for None."""
    return _REMARK.sub(" ", text or "")


def quoted(name: str, quote: str = '"') -> str:
    """Return a quoted name for SQL, with any characters."""
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


def statement_of(  # noqa: PLR0913 - each fills a placeholder
    template: str,
    table: str,
    columns: Sequence[str],
    *,
    expression: str | None = None,
    method: str | None = None,
    predicate: str | None = None,
    schema: str | None = None,
    existing: str = "",
    quote: str = '"',
) -> str:
    """Return a template's SQL with a table's names filled in.

    Args:
        template: Text with `$table`, `$table_text`, `$columns`, `$using`, `$where`, `$in_schema`,
            `$existing`, and `$name` of an index that Assay makes.
        table: Name of the table without a schema.
        columns: Columns of an index, followed by `desc` or `nulls first` in another direction;
            empty means the statement concerns the whole table.
        expression: SQL expression of an index, instead of columns.
        method: Access method of an index, such as `gin`; None means the engine's default.
        predicate: Condition of the rows in a partial index; None means all rows.
        schema: Schema of the table; None means that sessions find the table without a schema.
        existing: Name of an existing trigger or index, if the statement concerns one.
        quote: Quote character for names.
    """
    parts = columns if expression is None else re.findall(r"\w+", expression)
    using = "" if method is None else f" using {method}"
    if method is not None and len(parts) == 1:
        # No operator class tells it from an index of the engine's default method.
        parts = [*parts, method]
    if predicate is not None:
        parts = [*parts, "partial"]
    name = _index_name(table, parts)
    in_schema = "" if schema is None else f"{quoted(schema, quote)}."
    return Template(template).safe_substitute(
        name=quoted(name, quote),
        table=f"{in_schema}{quoted(table, quote)}",
        table_text=_text(table),
        in_schema=in_schema,
        using=using,
        where="" if predicate is None else f" where {predicate}",
        existing=quoted(existing, quote),
        columns=expression or ", ".join(_key(column, quote) for column in columns),
    )


def _key(column: str, quote: str) -> str:
    """Return a column of an index with its name quoted, and its direction behind it."""
    direction = _DIRECTION.search(column)
    end = len(column) if direction is None else direction.start()
    return quoted(column[:end], quote) + column[end:]


def _index_name(table: str, parts: Sequence[str]) -> str:
    """Return a name that no index of other columns has, and that no engine cuts.

    Without a mark, column `id` of `order_items` and column `items_id` of `order` would have the
    same name, as would two columns `a` and `b`, and one column `a_b`.
    """
    name = "_".join(("assay", table, *parts)).replace(" ", "_")
    if (
        len(parts) == 1
        and "_" not in table
        and " " not in parts[0]
        and len(name) <= NAME_LETTERS_MAX
    ):
        return name
    mark = sha256("\0".join((table, *parts)).encode()).hexdigest()[:8]
    return f"{name[: NAME_LETTERS_MAX - len(mark) - 1]}_{mark}"


def setting_statement(template: str, name: str, value: str) -> str:
    """Return a template's SQL with a setting's name and value filled in.

    Args:
        template: Text with `$setting` and `$value`.
        name: Name of the setting.
        value: Value in the engine's form. A string is quoted.
    """
    written = value if value.isdecimal() else _text(value)
    return Template(template).safe_substitute(setting=name, value=written)


def column_statement(
    template: str, table: str, column: str, type_text: str, expression: str, quote: str = '"'
) -> str:
    """Return a template's SQL that adds a column with a computed value.

    Args:
        template: Text with `$table`, `$column`, `$type` and `$expression`.
        table: Name of the table without a schema.
        column: Name of the new column.
        type_text: Type of the column, as SQL.
        expression: Expression of the other columns that is the value, as SQL.
        quote: Quote character for names.
    """
    return Template(template).safe_substitute(
        table=quoted(table, quote),
        column=quoted(column, quote),
        type=type_text,
        expression=expression,
    )


def alike_statement(
    template: str, column: tuple[str, str], like: tuple[str, str], quote: str = '"'
) -> str:
    """Return a template's SQL that declares a column as another one.

    Args:
        template: Text with `$table`, `$table_text`, `$column`, `$column_text`, `$like_table_text`
            and `$like_column_text`.
        column: Table and name of the column.
        like: Table and name of the column whose declaration it gets.
        quote: Quote character for names.
    """
    return Template(template).safe_substitute(
        table=quoted(column[0], quote),
        table_text=_text(column[0]),
        column=quoted(column[1], quote),
        column_text=_text(column[1]),
        like_table_text=_text(like[0]),
        like_column_text=_text(like[1]),
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def parsed_script(script: str, grammar: str | None) -> list[Expr | None]:
    """Return the statements of a script as syntax trees.

    A statement that the parser does not know is a command, without a warning.

    Args:
        script: Text of one or more statements.
        grammar: Name of the dialect in sqlglot; None means the grammar that all dialects share.

    Raises:
        SqlglotError: If the text is not valid SQL.
    """
    import sqlglot

    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return list(sqlglot.parse(script, read=grammar))
    finally:
        logger.setLevel(level)


def parsed_statement(text: str, grammar: str | None) -> Expr:
    """Return the first statement or expression of a text as a syntax tree.

    Args:
        text: Text of the statement.
        grammar: Name of the dialect in sqlglot; None means the grammar that all dialects share.

    Raises:
        SqlglotError: If the text is not valid SQL, or if it has no statement.
    """
    from sqlglot.errors import ParseError

    first = next(iter(parsed_script(text, grammar)), None)
    if first is None:
        raise ParseError(f"No expression was parsed from {text!r}")
    return first
