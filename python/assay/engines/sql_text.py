"""SQL of files as far as engines read it: where statements end, and where values go.

What products differ in is what may hold a semicolon or a `$1` that is none: their comments, and
what is opaque, such as texts and names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FIELD = re.compile(r"\{(\w+)\}")


def with_fields(text: str, parts: Mapping[str, str]) -> str:
    """SQL of a file with what belongs into each `{field}` of it, as it is."""
    return _FIELD.sub(lambda match: parts[match[1]], text)


class SqlText:
    """The rules by which one product's SQL is read.

    Args:
        comment: Patterns of its comments, as a verbose regular expression.
        opaque: Patterns of its texts, quoted names and the like.
    """

    def __init__(self, comment: str, opaque: str) -> None:
        self._token = re.compile(
            rf"(?P<end> ; ) | (?P<comment> {comment} ) | (?P<opaque> {opaque} )"
            r" | (?P<value> \$(?P<number>\d+) )",
            re.VERBOSE | re.DOTALL,
        )

    def split(self, sql: str) -> list[str]:
        """The statements of a file, without comments and the semicolons between them."""
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
        """A statement cut where values go: texts, and between them which value, from 0."""
        texts: list[str | int] = []
        at = 0
        for token in self._token.finditer(text):
            if token["value"]:
                texts += [text[at : token.start()], int(token["number"]) - 1]
                at = token.end()
        return [*texts, text[at:]]

    def written(self, text: str, place: Callable[[int], str]) -> str:
        """A statement with what `place` writes for each of its values, from 0."""
        parts = self.pieces(text)
        return "".join(part if isinstance(part, str) else place(part) for part in parts)
