"""Parses a captured statement: constants that become values, and the text between.

A constant becomes a value where a bound value has the same meaning: after an operator, a comma or a
parenthesis. Elsewhere it stays in the statement: numbers of `order by`, arguments of types, keys of
documents. Comments are removed, because they often identify the request; hints stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.workloads import scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlglot.tokenizer_core import Token

    from assay.model.captured import Grammar
    from assay.workloads.scripts import ScriptPart

CONSTANTS = {"NUMBER", "STRING", "NATIONAL_STRING", "BYTE_STRING", "HEREDOC_STRING", "HEX_STRING"}
CONSTANTS |= {"NULL"}
QUOTED = CONSTANTS - {"NUMBER", "NULL"} | {"UNICODE_STRING", "BIT_STRING"}
# Tokens that an operand follows.
OPERATORS = {"EQ", "NEQ", "LT", "GT", "LTE", "GTE", "NULLSAFE_EQ", "PLUS", "DASH", "STAR", "SLASH"}
OPERATORS |= {"MOD", "DIV", "DPIPE", "AMP", "PIPE", "CARET", "TILDE", "LIKE", "ILIKE", "RLIKE"}
OPERATORS |= {"IRLIKE", "SIMILAR_TO", "BETWEEN", "AND", "OR", "NOT", "AT_GT", "LT_AT", "DAMP"}
OPERATORS |= {"COMMA", "L_PAREN"}
OPERANDS_AFTER = OPERATORS | {"LIMIT", "OFFSET", "SELECT", "CASE", "WHEN", "THEN", "ELSE", "WHERE"}
OPERANDS_AFTER |= {"RETURNING", "VALUES", "DISTINCT", "HAVING", "ON"}
# After these tokens NULL is a value; elsewhere it is part of `is null` or similar.
NULL_AFTER = {"EQ", "COMMA", "L_PAREN", "SELECT", "THEN", "ELSE"}
TYPED = {"DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME", "DATETIME"}
ORDERING = {"ORDER_BY", "GROUP_BY"}
HINT = re.compile(r"/\*[+!].*?\*/", re.DOTALL)
WORD_END = re.compile(r"[\w\"'`)\]]")


@dataclass(frozen=True, slots=True)
class Place:
    """A constant of a captured statement that becomes a value.

    Attributes:
        begin, end: Its position in the text, including its sign, character set or type.
        kind: The tokenizer's name of the constant; empty for a parameter.
        source_from: Position where the constant itself begins.
        cast: Type in front of the constant.
        number: Number of the parameter, from 1; 0 if it is no parameter.
    """

    begin: int
    end: int
    kind: str
    source_from: int
    cast: str | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """One parsed statement of a captured text.

    Attributes:
        pieces: Text around the places, one piece more than places.
        places: Positions of values.
        word, second: First two words of the statement, in lower case; empty if there is no second
            one.
        is_regular: Whether all constants were parsed, so that another text of the same form is
            parsed alike.
    """

    pieces: tuple[str, ...]
    places: tuple[Place, ...]
    word: str
    second: str
    is_regular: bool


def read_statements(
    text: str, grammar: Grammar, blank: Callable[[str], str] | None
) -> list[ReadStatement]:
    """Return the statements of a text that was sent in one message.

    Args:
        text: Text as it was sent.
        grammar: Rules for writing constants.
        blank: Replaces a quoted text that stays in the statement.

    Raises:
        ValueError: If the text cannot be parsed.
    """
    parts = scripts.parts(text, [grammar.dialect])
    return [_Reading(text, part, grammar, blank).statement() for part in parts]


class _Reading:
    """Parses one captured SQL statement."""

    def __init__(
        self,
        text: str,
        part: ScriptPart,
        grammar: Grammar,
        blank: Callable[[str], str] | None,
    ) -> None:
        self._text, self._tokens = text, part.tokens
        self._kinds = [token.token_type.name for token in part.tokens]
        self._grammar, self._blank = grammar, blank
        self._is_regular = True
        self._starts = [token.start for token in part.tokens]
        self._ends = [token.end for token in part.tokens]
        self._in_hint_until = -1

    def statement(self) -> ReadStatement:
        places = tuple(self._places())
        at, pieces = self._tokens[0].start, []
        for place in places:
            pieces.append(self._between(at, place.begin))
            at = place.end
        pieces.append(self._between(at, self._tokens[-1].end + 1))
        first_words = [self._source(token).lower() for token in self._tokens[:2]]
        second = first_words[1] if first_words[1:] else ""
        return ReadStatement(tuple(pieces), places, first_words[0], second, self._is_regular)

    def _source(self, token: Token) -> str:
        return self._text[token.start : token.end + 1]

    def _between(self, begin: int, end: int) -> str:
        """Return the text between two positions of a statement, without comments."""
        made, at = [], begin
        first = bisect_left(self._ends, begin)
        for token in self._tokens[first : bisect_left(self._starts, end)]:
            shown = self._text[max(at, token.start) : token.end + 1]
            if self._blank is not None and token.token_type.name in QUOTED:
                shown = self._blank(shown)
            made += [self._gap(at, token.start), shown]
            at = token.end + 1
        return "".join([*made, self._gap(at, end)])

    def _gap(self, begin: int, end: int) -> str:
        gap = self._text[begin:end]
        if not gap or gap.isspace():
            return gap
        return " ".join(["", *HINT.findall(gap), ""]) if begin < end else ""

    def _places(self) -> Iterator[Place]:
        """Yield the constants of a statement that become values."""
        ordering: list[bool] = [False]
        types: list[bool] = [False]
        for place, kind in enumerate(self._kinds):
            token = self._tokens[place]
            if kind == "HINT":
                closed = self._text.find("*/", token.start)
                self._in_hint_until = len(self._text) if closed < 0 else closed
            elif kind == "L_PAREN":
                ordering.append(False)
                types.append(self._opens_type(place))
            elif kind == "R_PAREN" and len(ordering) > 1:
                ordering.pop()
                types.pop()
            elif kind in ORDERING:
                ordering[-1] = True
            elif kind in {"LIMIT", "OFFSET", "FETCH", "HAVING", "UNION", "FOR"}:
                ordering[-1] = False
            elif token.start > self._in_hint_until and not types[-1]:
                made = self._place(place, in_order=ordering[-1])
                if made is not None:
                    yield made

    def _opens_type(self, place: int) -> bool:
        """Return True if a parenthesis belongs to a type, as in `::numeric(10, 2)`."""
        return place > 1 and self._kinds[place - 2] in {"DCOLON", "ALIAS"}

    def _kind(self, place: int) -> str:
        return self._kinds[place] if 0 <= place < len(self._kinds) else ""

    def _place(self, place: int, *, in_order: bool) -> Place | None:
        kind, token = self._kinds[place], self._tokens[place]
        begin, end, before = token.start, token.end + 1, place - 1
        if kind == "NUMBER" and self._kind(before) == "PARAMETER":
            return self._parameter(place)
        if kind not in CONSTANTS or self._kind(place + 1) in {"STRING", "DOT"}:
            return None
        if kind == "NULL" and self._kind(before) not in NULL_AFTER:
            return None
        cast = None
        if self._kind(before) == "INTRODUCER":
            begin, before = self._tokens[before].start, before - 1
        elif kind == "STRING" and self._kind(before) in TYPED:
            cast = self._source(self._tokens[before]).lower()
            begin, before = self._tokens[before].start, before - 1
        elif kind == "NUMBER":
            begin, before = self._signed(place)
        if not self._is_operand(before, kind, in_order=in_order):
            return None
        source_from = token.start if cast else begin
        if self._grammar.constant(kind, self._text[source_from:end]) is None:
            self._is_regular = False
            return None
        return Place(begin, end, kind, source_from, cast)

    def _is_operand(self, before: int, kind: str, *, in_order: bool) -> bool:
        named = self._kind(before)
        if named == "INTERVAL":
            return self._grammar.dialect == "mysql"
        if in_order and kind == "NUMBER" and named in {"COMMA", *ORDERING}:
            return False
        return named in OPERANDS_AFTER

    def _parameter(self, place: int) -> Place:
        if self._kind(place - 2) in {"INTERVAL", *TYPED}:
            raise ValueError("a value stands where SQL allows no bound parameter")
        number = int(self._source(self._tokens[place]))
        begin, end = self._tokens[place - 1].start, self._tokens[place].end + 1
        return Place(begin, end, "", begin, number=number)

    def _signed(self, place: int) -> tuple[int, int]:
        """Return the position at which a signed number begins, and the token before it."""
        begin, before = self._tokens[place].start, place - 1
        if self._kind(before) == "DOT":
            point = self._tokens[before].start
            if point + 1 != begin or (point and WORD_END.match(self._text[point - 1])):
                return begin, before
            begin, before = point, before - 1
        if self._kind(before) == "DASH" and self._kind(before - 1) in OPERANDS_AFTER:
            begin, before = self._tokens[before].start, before - 1
        return begin, before
