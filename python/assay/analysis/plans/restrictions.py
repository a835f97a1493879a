"""Reads the columns that a scan's condition restricts, for statistics over several columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot.tokenizer_core import Token

COMPARISONS = {
    *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE),
    *(TokenType.LIKE, TokenType.ILIKE, TokenType.IN, TokenType.IS),
}
EQUAL = [TokenType.EQ]
NAMES = {TokenType.VAR, TokenType.IDENTIFIER}
ELEMENTS = {TokenType.ANY, TokenType.ALL, TokenType.SOME}
OPENING, CLOSING = TokenType.L_PAREN, TokenType.R_PAREN
# Plans join the conditions of a search and of a filter with this text; the filter has a prefix.
BETWEEN_CONDITIONS, FILTER = "; ", "filter "


@dataclass(frozen=True)
class Restriction:
    """One side of a comparison with constants.

    Attributes:
        column: Name of the column; None if an expression is compared.
        expression: SQL text of the expression, as the plan has it; None if a column is compared.
        is_equal: Whether it is compared for equality.
    """

    column: str | None = None
    expression: str | None = None
    is_equal: bool = False


def restrictions(condition: str, table: str) -> tuple[Restriction, ...]:
    """Return what a condition compares with constants, each once, in the order of the text.

    Left out are comparisons with another table's columns, alternatives (`or`), and text that is not
    SQL.

    Args:
        condition: Condition on the table's rows, as a plan has it.
        table: Name of the table. Its columns may have this name before them.
    """
    parts = (part.removeprefix(FILTER) for part in condition.split(BETWEEN_CONDITIONS))
    read = (
        _restriction(text, conjunct)
        for text in (_unqualified(part, table) for part in parts)
        for conjunct in _conjuncts(_tokens(text))
    )
    return tuple(dict.fromkeys(found for found in read if found is not None))


def _tokens(text: str) -> Sequence[Token]:
    try:
        return Dialect.get_or_raise(None).tokenize(text)
    except SqlglotError:
        return ()


def _unqualified(text: str, table: str) -> str:
    """Return a condition without the table's name before its columns."""
    tokens = _tokens(text)
    kept, begin = [], 0
    for token, following in pairwise(tokens):
        qualifies = token.token_type in NAMES and following.token_type == TokenType.DOT
        if qualifies and token.text.casefold() == table.casefold():
            kept.append(text[begin : token.start])
            begin = following.end + 1
    return "".join((*kept, text[begin:]))


def _conjuncts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    bare = _bare(tokens)
    parts = list(_split(bare, {TokenType.AND}))
    if len(parts) > 1:
        for part in parts:
            yield from _conjuncts(part)
    elif len(list(_split(bare, {TokenType.OR}))) == 1:
        yield bare


def _restriction(text: str, conjunct: Sequence[Token]) -> Restriction | None:
    sides = [_bare(side) for side in _split(conjunct, COMPARISONS)]
    with_columns = [side for side in sides if _names(side)]
    if len(with_columns) != 1:
        return None
    (side,) = with_columns
    # The elements of an array are compared, not a value of the row.
    if side[0].token_type in ELEMENTS:
        return None
    if side[0].token_type == TokenType.NOT:
        side = _bare(side[1:])
    if not _is_of_own_columns(side):
        return None
    is_equal = [token.token_type for token in conjunct if token.token_type in COMPARISONS] == EQUAL
    plain = _without_cast(side)
    if len(plain) == 1:
        return Restriction(plain[0].text, is_equal=is_equal)
    return Restriction(None, text[side[0].start : side[-1].end + 1], is_equal)


def _is_of_own_columns(side: Sequence[Token]) -> bool:
    """Return True for an expression of this table's columns.

    Plans qualify columns of other tables. Two names in a row are no SQL expression but the plan's
    name of a subquery.
    """
    kinds = [token.token_type for token in side]
    pairs = pairwise(kinds)
    return TokenType.DOT not in kinds and not any(set(pair) <= NAMES for pair in pairs)


def _names(side: Sequence[Token]) -> list[Token]:
    """Return the names in an expression that are neither functions, types nor parameters."""
    kinds = [None, *(token.token_type for token in side), None]
    return [
        token
        for token, earlier, later in zip(side, kinds, kinds[2:], strict=False)
        if token.token_type in NAMES
        and later != OPENING
        and earlier != TokenType.DCOLON
        and not token.text.startswith("$")
    ]


def _without_cast(side: Sequence[Token]) -> Sequence[Token]:
    """Return an expression without a cast of the whole."""
    casts = [place for place, token in enumerate(side) if token.token_type == TokenType.DCOLON]
    return _bare(side[: casts[0]]) if casts else side


def _bare(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens without parentheses around all of them."""
    while len(tokens) > 1 and tokens[0].token_type == OPENING and _closing(tokens) == len(tokens):
        tokens = tokens[1:-1]
    return tokens


def _closing(tokens: Sequence[Token]) -> int:
    """Return the number of tokens up to the end of the first parentheses."""
    depth = 0
    for number, token in enumerate(tokens, 1):
        depth += (token.token_type == OPENING) - (token.token_type == CLOSING)
        if depth == 0:
            return number
    return 0


def _split(tokens: Sequence[Token], at: set[TokenType]) -> Iterator[Sequence[Token]]:
    """Yield the parts of tokens between separators outside of parentheses."""
    depth, begin = 0, 0
    for place, token in enumerate(tokens):
        depth += (token.token_type == OPENING) - (token.token_type == CLOSING)
        if depth == 0 and token.token_type in at:
            yield tokens[begin:place]
            begin = place + 1
    yield tokens[begin:]
