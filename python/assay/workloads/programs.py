"""Parses the SQL of a program's operation: named statements, registers and lists.

Each statement has a name, in a line `-- name: NAME` before it. `${register}` is a bound value. The
text between `$[` and `]` is repeated for each element of a list, joined by commas or by the text in
braces after it, as in `$[ i_id = ${i_id.#} ]{or}`; `${i_id.#}` is the element's own register.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.model.language import SPARQL, language_of
from assay.model.script import ScriptOperation
from assay.workloads import scripts, sparql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.script import ScriptStatement

NAME = re.compile(r"(?m)^[ \t]*--[ \t]*name:[ \t]*(.*?)[ \t]*$")
NAMED = re.compile(r"[\w-]+")
LIST = re.compile(r"\$\[([^\[\]]*)\](?:\{([^{}]*)\})?")
OPENS = "$["
ELEMENT = "#"
# Maximum number of elements in a list: the lines of an order of TPC-C.
ELEMENTS_MAX = 15


def registers_in(text: str) -> list[str]:
    """Return the registers (`${name}`) in a statement's text, in order."""
    return list(dict.fromkeys(match[1] for match in scripts.PLACEHOLDER.finditer(text)))


def operation(name: str, program: str, text: str, dialects: Sequence[str]) -> ScriptOperation:
    """Return an operation whose statements a program requests by name.

    A statement with lists becomes one statement for each length from 1 to 15.

    Raises:
        ValueError: If a statement has no name or a duplicate one, a list is not closed or nested,
            or a value cannot be bound at its position.
    """
    if language_of(dialects) == SPARQL:
        return sparql.program_operation(name, program, text)
    registers: dict[str, int] = {}

    def index_of(asked: str) -> int:
        if asked.endswith(ELEMENT):
            raise ValueError(
                f"the placeholder ${{{asked}}} belongs to a list element, but is outside of a "
                "list: $[ ... ]"
            )
        return registers.setdefault(asked, len(registers))

    made_statements: list[ScriptStatement] = []
    for own, statement in _named(text, dialects).items():
        try:
            for elements, written in _written(statement):
                (part,) = scripts.parts(written, dialects)
                made = scripts.bound(written, part, index_of)
                made_statements.append(replace(made, name=own, elements=elements))
        except ValueError as error:
            raise ValueError(f"{own}: {error}") from error
    return ScriptOperation(
        name, tuple(made_statements), program=program, registers=tuple(registers)
    )


def _named(text: str, dialects: Sequence[str]) -> dict[str, str]:
    """Return the statements of a program's operation by name."""
    # The mask makes a list one pair of parentheses of the same length for the tokenizer.
    masked = LIST.sub(lambda match: _masked(match[0]), text)
    statements_by_name: dict[str, str] = {}
    for part in scripts.parts(masked, dialects):
        first = part.tokens[0].start
        statement = text[first : part.end].strip()
        name = _name_in(text[part.begin : first], statement)
        if name in statements_by_name:
            raise ValueError(f"two statements of the file have the name {name}: rename one of them")
        statements_by_name[name] = statement
    if not statements_by_name:
        raise ValueError("the file contains no statement")
    named = [match[1] for match in NAME.finditer(text)]
    if stray := [name for name in named if name not in statements_by_name]:
        raise ValueError(f"no statement follows the name {stray[0]}")
    return statements_by_name


def _masked(list_text: str) -> str:
    inside = list_text[2 : list_text.index("]")]
    return f"( {inside})".ljust(len(list_text))


def _name_in(before: str, statement: str) -> str:
    names = [match[1] for match in NAME.finditer(before)]
    shown = " ".join(statement.split())[:40]
    if not names:
        raise ValueError(
            f"the statement {shown!r} has no name, which its program needs: write -- name: NAME "
            "on a line before the statement"
        )
    if len(names) > 1 or not NAMED.fullmatch(names[0]):
        raise ValueError(
            f"the statement {shown!r} needs one name of letters, digits, _ and -: {names}"
        )
    return names[0]


def _written(statement: str) -> list[tuple[int | None, str]]:
    """Return a statement for each length of its lists; once if it has no list."""
    if OPENS not in statement:
        return [(None, statement)]
    if OPENS in LIST.sub("", statement):
        raise ValueError("a list $[ ... ] is not closed, or contains a bracket")
    return [
        (elements, LIST.sub(_repeating(elements), statement))
        for elements in range(1, ELEMENTS_MAX + 1)
    ]


def _repeating(elements: int) -> Callable[[re.Match[str]], str]:
    def repeated(match: re.Match[str]) -> str:
        inside, joined = match[1].strip(), match[2]
        separator = ", " if joined is None else f" {joined.strip()} "
        element_end = f".{ELEMENT}}}"
        copies = [inside.replace(element_end, f".{number + 1}}}") for number in range(elements)]
        return separator.join(copies)

    return repeated
