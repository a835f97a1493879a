"""Splits the text of a SPARQL operation into requests, and finds the positions of values.

A file is one request: updates within it are separated by `;`. For a program that requests several
by name, a line `# name: NAME` precedes each request. Values are written into the text, because the
protocol has no parameters: within `<...>` as an IRI, within quotes as text, and elsewhere in their
own form, such as a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.script import ScriptOperation, ScriptStatement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.script import Draw

PLACEHOLDER = re.compile(r"\$\{([\w-]+)\}")
NAME = re.compile(r"(?m)^[ \t]*#[ \t]*name:[ \t]*([\w-]+)[ \t]*\n")
COMMENT_LINE = re.compile(r"(?m)^[ \t]*#[^\n]*\n?")


def statements(text: str) -> list[str]:
    """Return the single request of a text, without comment lines.

    Raises `ValueError` if there is none.
    """
    bare = COMMENT_LINE.sub("", text).strip()
    if not bare:
        raise ValueError("the file contains no query")
    return [bare]


def operation(name: str, text: str, draws: Sequence[Draw]) -> ScriptOperation:
    """Return a SPARQL operation whose `${name}` parameters are drawn at each execution.

    Raises:
        ValueError: If the text has no query, or a name without a draw.
    """
    indices = {draw.name: index for index, draw in enumerate(draws)}

    def index_of(asked: str) -> int:
        if asked not in indices:
            raise ValueError(f"the text uses ${{{asked}}}, which no rule of workload.toml defines")
        return indices[asked]

    (bare,) = statements(text)
    return ScriptOperation(name, (_written(bare, index_of),), tuple(draws))


def program_operation(name: str, program: str, text: str) -> ScriptOperation:
    """Return a SPARQL operation whose requests a program selects by name.

    Raises:
        ValueError: If the text has no query, or two have the same name.
    """
    registers: dict[str, int] = {}

    def index_of(asked: str) -> int:
        return registers.setdefault(asked, len(registers))

    before, *named = NAME.split(text)
    pieces = dict(zip(named[::2], named[1::2], strict=True)) or {"query": before}
    if len(pieces) < len(named[::2]):
        raise ValueError("two queries of the file have the same name: rename one of them")
    requests = []
    for own, piece in pieces.items():
        (bare,) = statements(piece)
        made = _written(bare, index_of)
        requests.append(ScriptStatement(made.text, made.values, own))
    return ScriptOperation(name, tuple(requests), program=program, registers=tuple(registers))


def _written(text: str, index_of: Callable[[str], int]) -> ScriptStatement:
    """Return a SPARQL request with `${1}`, `${2}`, ... for its placeholders."""
    numbers: dict[int, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${{{numbers.setdefault(index_of(match[1]), len(numbers) + 1)}}}"

    return ScriptStatement(PLACEHOLDER.sub(number, text), tuple(numbers))
