"""Splits the text of an operation into statements, and finds where values are bound."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from assay.model.language import SPARQL, language_of
from assay.model.script import ScriptOperation, ScriptStatement
from assay.workloads import sparql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot.tokenizer_core import Token
    from sqlglot.tokens import Tokenizer

    from assay.model.script import Draw

# Matches `${name}`; for programs also `${name.3}`, and `${name.#}` within a list.
PLACEHOLDER = re.compile(r"\$\{([\w-]+(?:\.(?:\d+|#))?)\}")
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
FIRST_WORD = re.compile(r"(\w+)")
TABLE = re.compile(r"\b(?:from|into|update)\s+(\w+)", re.IGNORECASE)
# PostgreSQL's protocol counts the values of a statement in 16 bits.
VALUES_MAX = 65_535
# Assay's names of dialects that differ from the tokenizer's.
TOKENIZERS = {"postgresql": "postgres", "mariadb": "mysql"}
WORD = "VAR"


@dataclass(frozen=True)
class ScriptPart:
    """The position of one statement within a text.

    Attributes:
        begin: Position where it begins.
        end: Position where it ends, before its semicolon.
        tokens: Its tokens, with positions in the whole text.
    """

    begin: int
    end: int
    tokens: Sequence[Token]


def brief(number: int, text: str) -> str:
    """Return a short name for an unnamed statement: number, first word and table."""
    bare = COMMENT.sub("", text)
    matches = [FIRST_WORD.search(bare), TABLE.search(bare)]
    return " ".join([str(number), *(match[1].lower() for match in matches if match)])


def statements(text: str, dialects: Sequence[str]) -> list[str]:
    """Return the statements of a text unchanged, without their semicolons.

    Raises:
        ValueError: If the text has no statement, or a quote or comment is not closed.
    """
    if language_of(dialects) == SPARQL:
        return sparql.statements(text)
    statement_texts = [text[part.begin : part.end].strip() for part in parts(text, dialects)]
    if not statement_texts:
        raise ValueError("the file contains no statement")
    return statement_texts


def operation(
    name: str, text: str, draws: Sequence[Draw], dialects: Sequence[str]
) -> ScriptOperation:
    """Return an operation whose `${name}` parameters are drawn at each execution.

    Raises:
        ValueError: If the text has no statement, a name without a draw, or a value that cannot be
            bound at its position.
    """
    if language_of(dialects) == SPARQL:
        return sparql.operation(name, text, draws)
    indices = {draw.name: index for index, draw in enumerate(draws)}

    def index_of(asked: str) -> int:
        if asked not in indices:
            raise ValueError(f"the text uses ${{{asked}}}, which no rule of workload.toml defines")
        return indices[asked]

    bound_statements = tuple(
        bound(text[part.begin : part.end], part, index_of) for part in parts(text, dialects)
    )
    if not bound_statements:
        raise ValueError("the file contains no statement")
    return ScriptOperation(name, bound_statements, tuple(draws))


def parts(text: str, dialects: Sequence[str]) -> tuple[ScriptPart, ...]:
    """Return the positions of the statements in a text, without empty ones.

    Raises:
        ValueError: If a quote or comment is not closed.
    """
    return _parts(text, tuple(dialects))


# A study parses the same texts in each of its runs.
@lru_cache(maxsize=1024)
def _parts(text: str, dialects: tuple[str, ...]) -> tuple[ScriptPart, ...]:
    from sqlglot.errors import TokenError

    # The mask has the placeholder's length and is one word in every dialect, so that positions
    # stay.
    masked = PLACEHOLDER.sub(lambda match: "q" * len(match[0]), text)
    try:
        tokens = _tokenizer(dialects).tokenize(masked)
    except TokenError as error:
        raise ValueError(f"a quote or comment in the file is not closed ({error})") from error
    script_parts: list[ScriptPart] = []
    begin, inside = 0, []
    for token in tokens:
        if token.token_type.name != "SEMICOLON":
            inside.append(token)
            continue
        if inside:
            script_parts.append(ScriptPart(begin, token.start, inside))
        begin, inside = token.end + 1, []
    return (*script_parts, ScriptPart(begin, len(text), inside)) if inside else tuple(script_parts)


def _tokenizer(dialects: Sequence[str]) -> Tokenizer:
    """Return the SQL tokenizer of the first known dialect, by default PostgreSQL's."""
    from sqlglot.dialects.dialect import Dialect, Dialects

    grammars = {dialect.value for dialect in Dialects}
    names = [TOKENIZERS.get(dialect, dialect) for dialect in dialects]
    name = next((name for name in names if name in grammars), "postgres")
    made: Tokenizer = _wordwise(name)(dialect=Dialect.get_or_raise(name))
    return made


@cache
def _wordwise(name: str) -> type[Tokenizer]:
    """Return a dialect's tokenizer, changed to tokenize the statement after EXECUTE."""
    from sqlglot.dialects.dialect import Dialect

    dialect = Dialect.get_or_raise(name)
    return type("Wordwise", (dialect.tokenizer_class,), {"COMMANDS": set()})


def bound(text: str, part: ScriptPart, index_of: Callable[[str], int]) -> ScriptStatement:
    """Return one statement with `$1`, `$2`, ... for its placeholders.

    Args:
        text: Text from the part's begin to its end.
        part: Position of the statement.
        index_of: Returns the index of a value by name.

    Raises:
        ValueError: If a value cannot be bound at its position, or if there are too many.
    """
    begin, tokens = part.begin, part.tokens
    starts = [token.start for token in tokens]
    numbers: dict[int, int] = {}

    def bind(match: re.Match[str]) -> str:
        start, end = begin + match.start(), begin + match.end() - 1
        token = tokens[bisect_right(starts, end) - 1]
        if not token.start <= end <= token.end:
            return match[0]
        if (token.start, token.end) != (start, end):
            raise ValueError(_not_bindable(match, quoted=token.token_type.name != WORD))
        return f"${numbers.setdefault(index_of(match[1]), len(numbers) + 1)}"

    made = PLACEHOLDER.sub(bind, text).strip()
    if len(numbers) > VALUES_MAX:
        raise ValueError(
            f"a statement has {len(numbers)} parameter values, and the maximum is {VALUES_MAX}"
        )
    return ScriptStatement(made, tuple(numbers))


def _not_bindable(placeholder: re.Match[str], *, quoted: bool) -> str:
    if quoted:
        return (
            f"{placeholder[0]} stands inside quotes, and a value that is drawn at each execution"
            " is bound, not written: leave the quotes out, or join texts as in"
            f" 'a' || {placeholder[0]}"
        )
    return (
        f"{placeholder[0]} is part of a word, and a bound value cannot be: set it off with blanks,"
        f" or make {placeholder[1]} one of [constants]"
    )
