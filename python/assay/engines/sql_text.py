"""Parses SQL files: ends of statements, and positions of values.

Products differ in the parts that may contain a semicolon or `$1` with another meaning: comments,
and opaque tokens such as texts and names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FIELD = re.compile(r"\{(\w+)\}")


def with_fields(text: str, parts: Mapping[str, str]) -> str:
    """Return the SQL of a file with each `{field}` replaced by its text, unquoted."""
    return _FIELD.sub(lambda match: parts[match[1]], text)


class SqlText:
    """The syntax of one product's SQL that is needed to split it into statements.

    Args:
        comment: Patterns of its comments, as a verbose regular expression.
        opaque: Patterns of its texts, quoted names and similar tokens.
    """

    def __init__(self, comment: str, opaque: str) -> None:
        self._token = re.compile(
            rf"(?P<end> ; ) | (?P<comment> {comment} ) | (?P<opaque> {opaque} )"
            r" | (?P<value> \$(?P<number>\d+) )",
            re.VERBOSE | re.DOTALL,
        )

    def split(self, sql: str) -> list[str]:
        """Return the statements of a file, without comments and separating semicolons."""
        statements, statement, at = [], "", 0
        for token in self._token.finditer(sql):
            kept = " " if token["comment"] else "" if token["end"] else token[0]
            statement += sql[at : token.start()] + kept
            at = token.end()
            if token["end"]:
                statements.append(statement.strip())
                statement = ""
        statements.append((statement + sql[at:]).strip())
        return [text for text in statements if text]

    def pieces(self, text: str) -> list[str | int]:
        """Return a statement split into texts and the indexes of its values."""
        texts: list[str | int] = []
        at = 0
        for token in self._token.finditer(text):
            if token["value"]:
                texts += [text[at : token.start()], int(token["number"]) - 1]
                at = token.end()
        return [*texts, text[at:]]

    def written(self, text: str, place: Callable[[int], str]) -> str:
        """Return a statement with other text in place of each value."""
        parts = self.pieces(text)
        return "".join(part if isinstance(part, str) else place(part) for part in parts)
