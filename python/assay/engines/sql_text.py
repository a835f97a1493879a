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
# Statements whose body may be a block of statements, which ends with the word `end`.
_HAS_BODY = re.compile(
    r"\s*(?:create|alter)\b[^(]*?\b(?:function|procedure|trigger|event|package)\b", re.IGNORECASE
)


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
            r" | (?P<value> \$(?P<number>\d+) ) | (?P<inner> \bend\s+(?:if|loop|while|repeat)\b )"
            r" | (?P<closed> \bend(?:\s+case)?\b ) | (?P<opened> \b(?:begin|case)\b )",
            re.VERBOSE | re.DOTALL | re.IGNORECASE,
        )

    def split(self, sql: str) -> list[str]:
        """Return the statements of a file, without comments and separating semicolons.

        A trigger or routine is one statement, also if its body is a block with semicolons.
        """
        statements, statement, at, depth = [], "", 0, 0
        for token in self._token.finditer(sql):
            is_end = token["end"] is not None and depth == 0
            kept = " " if token["comment"] else "" if is_end else token[0]
            statement += sql[at : token.start()] + kept
            at = token.end()
            if (token["opened"] or token["closed"]) and _HAS_BODY.match(statement):
                depth = max(0, depth + (1 if token["opened"] else -1))
            if is_end:
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
