"""Parses queries and writes them in the grammar of an engine's dialect."""

from __future__ import annotations

from functools import cache
from types import new_class
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.sql import parsed_script
from assay.workloads.scripts import TOKENIZERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.expressions import Expr, Query

# Maximum length of a part's description.
WORDS_MAX = 72
# Types with numeric affinity in SQLite for which the parser would write another type or a function.
NUMERIC_IN_SQLITE = (
    *("DECIMAL", "BOOLEAN", "BINARY", "VARBINARY"),
    *("DATE", "DATETIME", "TIME", "TIMESTAMP", "TIMESTAMPTZ"),
)


def grammar_of(dialects: Sequence[str]) -> str | None:
    """Return the grammar of the first dialect that has one; None means common SQL."""
    from sqlglot.dialects.dialect import Dialects

    names = [TOKENIZERS.get(dialect, dialect) for dialect in dialects]
    grammars = {dialect.value for dialect in Dialects}
    if "virtuoso" in names:
        grammars.add(_virtuoso())
    return next((name for name in names if name in grammars), None)


@cache
def _virtuoso() -> str:
    """Make a SQL grammar for Virtuoso, with `top` instead of `limit`."""
    from sqlglot import generator, tokens
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import TokenType

    keywords = {**tokens.Tokenizer.KEYWORDS, "TOP": TokenType.TOP}
    reading = type("Tokenizer", (tokens.Tokenizer,), {"KEYWORDS": keywords})
    writing = type("Generator", (generator.Generator,), {"LIMIT_IS_TOP": True})
    made = {"Tokenizer": reading, "Generator": writing}
    new_class("Virtuoso", (Dialect,), exec_body=lambda namespace: namespace.update(made))
    return "virtuoso"


def parsed(text: str, dialects: Sequence[str]) -> Query:
    """Return the parsed query of a text.

    Raises:
        UsageError: If the text is not exactly one query, or if it cannot be parsed.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in parsed_script(text, grammar_of(dialects)) if tree]
    except SqlglotError as error:
        first = str(error).splitlines()[0]
        raise UsageError(
            f"the query cannot be parsed as SQL ({first}), so it cannot be rewritten"
        ) from (error)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise UsageError("only a single SELECT query can be rewritten")
    return trees[0]


def written(tree: Expr, dialects: Sequence[str]) -> str:
    """Return the SQL text of a syntax tree, without comments."""
    return sql_of(tree, dialects, pretty=True)


def sql_of(tree: Expr, dialects: Sequence[str], *, pretty: bool = False) -> str:
    """Return the SQL text of a syntax tree on one line, or on several, without comments.

    A type of SQLite keeps its affinity: the parser would write `decimal` as `real`, for which 3 / 2
    is 1.5, and a cast to `date` as a call of the function `date`.
    """
    from sqlglot import exp

    grammar = grammar_of(dialects)
    if grammar == "sqlite":
        numeric = exp.DataType(this=exp.DataType.Type.USERDEFINED, kind="NUMERIC")
        kinds = {exp.DataType.Type[name] for name in NUMERIC_IN_SQLITE}
        tree = tree.transform(
            lambda node: (
                numeric.copy() if isinstance(node, exp.DataType) and node.this in kinds else node
            )
        )
    return tree.sql(dialect=grammar, pretty=pretty, comments=False)


def text_of(tree: Expr, dialects: Sequence[str]) -> str:
    """Return a part of a query as one line of text, truncated if long."""
    text = tree.sql(dialect=grammar_of(dialects), comments=False, normalize_functions=False)
    line = " ".join(_small(text).split())
    return line if len(line) <= WORDS_MAX else f"{line[: WORDS_MAX - 4]} ..."


def _small(text: str) -> str:
    """Return SQL text in lower case, except quoted parts."""
    pieces = text.split("'")
    return "'".join(piece if place % 2 else piece.lower() for place, piece in enumerate(pieces))


def common_type(text: str, dialects: Sequence[str]) -> str:
    """Return a column type of an engine as all dialects write it, in lower case."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        kind = exp.DataType.build(text, dialect=grammar_of(dialects)) if text else None
    except (SqlglotError, ValueError):
        kind = None  # The type of a user, for example.
    return text.lower() if kind is None else kind.sql().lower()


@cache
def types_of(
    scripts: tuple[str, ...], dialects: tuple[str, ...]
) -> Mapping[str, Mapping[str, str]]:
    """Return each table's columns with their declared types, by name."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    types_by_table: dict[str, dict[str, str]] = {}
    grammar = grammar_of(dialects)
    for script in scripts:
        try:
            trees = parsed_script(script, grammar)
        except SqlglotError:
            continue
        for tree in trees:
            if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
                columns = tree.this.find_all(exp.ColumnDef)
                types_by_table[tree.this.this.name.lower()] = {
                    column.name.lower(): column.kind.sql().lower()
                    if column.kind is not None
                    else ""
                    for column in columns
                }
    return types_by_table
