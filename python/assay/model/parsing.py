"""Parses SQL without the parser's warnings on statements that it does not know."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot.expressions import Expr


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
