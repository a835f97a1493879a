"""SQL as JDBC takes it: one statement at a time, `?` where a value goes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.script import Script

# What may hold a semicolon or a `$1` that is none: texts, names, comments.
_TOKEN = re.compile(
    r"""
      (?P<end> ; )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<opaque> '(?:[^']|'')*' | "(?:[^"]|"")*" )
    | (?P<value> \$(?P<number>\d+) )
    """,
    re.VERBOSE | re.DOTALL,
)


def split(sql: str) -> list[str]:
    """The statements of a file, without comments and the semicolons between them."""
    statements, statement, at = [], "", 0
    for token in _TOKEN.finditer(sql):
        kept = " " if token["comment"] else "" if token["end"] else token[0]
        statement += sql[at : token.start()] + kept
        at = token.end()
        if token["end"]:
            statements.append(statement.strip())
            statement = ""
    statements.append((statement + sql[at:]).strip())
    return [text for text in statements if text]


def marked(text: str) -> tuple[str, list[int]]:
    """A statement with `?` for each `$1`, `$2`, ...; and which value goes where, from 0."""
    made, order, at = "", list[int](), 0
    for token in _TOKEN.finditer(text):
        if token["value"]:
            made += text[at : token.start()] + "?"
            order.append(int(token["number"]) - 1)
            at = token.end()
    return made + text[at:], order


def bound(text: str, values: Sequence[object]) -> tuple[str, list[object]]:
    """The same with the values themselves, as `Link.ask` takes them."""
    made, order = marked(text)
    return made, [values[place] for place in order]


def marked_script(script: Script) -> Script:
    """The script with `?` for values, as the driver's sessions take it."""
    operations = []
    for operation in script.operations:
        statements = []
        for one in operation.statements:
            text, order = marked(one.text)
            values = tuple(one.values[place] for place in order)
            statements.append(replace(one, text=text, values=values))
        operations.append(replace(operation, statements=tuple(statements)))
    return replace(script, operations=tuple(operations))
