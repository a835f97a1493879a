"""Reduces a statement to its form without constants, to recognise its executions.

Most statements in a log differ from an earlier one only in their constants. A pattern finds these,
and they are parsed like the first one of their form. Texts that could mislead the pattern are
parsed completely.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.model.captured import Constant
from assay.workloads import scripts
from assay.workloads.captured.reading import read_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.captured import Grammar
    from assay.workloads.captured.reading import Place, ReadStatement

NUMBER = r"(?<![\w.$])\d+(?:\.\d+)?(?![\w.])"
LITERALS = {
    "mysql": re.compile(rf"'(?:[^'\\]|\\.|'')*'|{NUMBER}", re.DOTALL),
    "postgresql": re.compile(rf"'(?:[^']|'')*'|{NUMBER}"),
}
# Comments, other quotes and escapes, in which a quote does not begin a text.
MISLEADING = {
    "mysql": re.compile(r"--|/\*|#|[\"`]"),
    "postgresql": re.compile(r"--|/\*|[\"\\]|\$(?!\d)"),
}
FORMS_MAX = 20_000
NO_VALUES = "the log contains no parameter values of the statement"


@dataclass(frozen=True, slots=True)
class Stated:
    """One captured statement as pieces of text and its constants.

    Attributes:
        pieces: Text around the constants, one piece more than constants.
        constants: Its constants in order.
        word: First word, in lower case.
        second: Second word, in lower case; empty if there is none.
    """

    pieces: tuple[str, ...]
    constants: tuple[Constant, ...]
    word: str
    second: str

    @property
    def is_whole(self) -> bool:
        """Return True if nothing in the statement's text looks like a parameter."""
        return not any(scripts.PLACEHOLDER.search(piece) for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class _Form:
    """The parsed form of a statement's text without its constants.

    Attributes:
        statements: Parsed statements.
        values: For each place of each statement: number of the literal, its offset before the
            literal, and the preceding constant; or the constant itself, if it is no literal.
    """

    statements: list[ReadStatement]
    values: list[list[tuple[int, int, int] | None]]


class Shapes:
    """Parses captured SQL statements; those that differ in literals only are parsed once."""

    def __init__(self, grammar: Grammar, blank: Callable[[str], str] | None = None) -> None:
        """Create a parser for the statements of one log.

        Args:
            grammar: Rules for writing constants.
            blank: Replaces a quoted text that stays in the statement.
        """
        self._grammar, self._blank = grammar, blank
        self._literals = LITERALS[grammar.dialect]
        self._misleading = MISLEADING[grammar.dialect]
        # Literals that stay in the text, by form. Parsed statements by form and by these literals.
        self._staying: dict[str, tuple[int, ...]] = {}
        self._forms: dict[tuple[str, ...], _Form] = {}

    def stated(self, text: str, values: Sequence[str | None] | None) -> list[Stated]:
        """Return the statements of a text that was sent in one message.

        Args:
            text: Text as it was sent.
            values: Values of `$1`, `$2`, ...; None if none are known.

        Raises:
            ValueError: If the text cannot be parsed, or values of parameters are missing.
        """
        if self._misleading.search(text):
            return self._read(text, values)
        spans = [match.span() for match in self._literals.finditer(text)]
        form = _form_of(text, spans)
        staying = self._staying.get(form)
        if staying is not None:
            form_of_text = self._forms.get(
                (form, *(text[slice(*spans[place])] for place in staying))
            )
            made = None if form_of_text is None else self._again(form_of_text, text, spans, values)
            if made is not None:
                return made
        return self._read(text, values, spans, form)

    def _read(
        self,
        text: str,
        values: Sequence[str | None] | None,
        spans: list[tuple[int, int]] | None = None,
        form: str = "",
    ) -> list[Stated]:
        statements = read_statements(text, self._grammar, self._blank)
        if spans is not None:
            self._keep(text, spans, form, statements)
        return [
            Stated(
                statement.pieces,
                tuple(self._constant(text, place, values) for place in statement.places),
                statement.word,
                statement.second,
            )
            for statement in statements
        ]

    def _keep(
        self, text: str, spans: list[tuple[int, int]], form: str, statements: list[ReadStatement]
    ) -> None:
        if len(self._forms) >= FORMS_MAX or not all(
            statement.is_regular for statement in statements
        ):
            return
        by_end = {end: place for place, (_, end) in enumerate(spans)}
        values: list[list[tuple[int, int, int] | None]] = []
        used: set[int] = set()
        for statement in statements:
            values.append([])
            for place in statement.places:
                number = by_end.get(place.end)
                if number is None:
                    values[-1].append(None)
                    continue
                used.add(number)
                begin = spans[number][0]
                values[-1].append((number, begin - place.begin, begin - place.source_from))
        staying = tuple(number for number in range(len(spans)) if number not in used)
        if self._staying.setdefault(form, staying) == staying:
            sources = (text[slice(*spans[number])] for number in staying)
            self._forms[(form, *sources)] = _Form(statements, values)

    def _again(
        self,
        form: _Form,
        text: str,
        spans: list[tuple[int, int]],
        values: Sequence[str | None] | None,
    ) -> list[Stated] | None:
        """Return statements by an already parsed form; None if a constant is of another kind."""
        made = []
        for statement, places in zip(form.statements, form.values, strict=True):
            constants = []
            for place, moved in zip(statement.places, places, strict=True):
                if moved is None:
                    here = place
                    if not place.number:
                        return None
                else:
                    number, before, source_before = moved
                    begin, end = spans[number]
                    here = replace(
                        place, begin=begin - before, end=end, source_from=begin - source_before
                    )
                constant = self._constant_or_none(text, here, values)
                if constant is None:
                    return None
                constants.append(constant)
            made.append(
                Stated(statement.pieces, tuple(constants), statement.word, statement.second)
            )
        return made

    def _constant(self, text: str, place: Place, values: Sequence[str | None] | None) -> Constant:
        constant = self._constant_or_none(text, place, values)
        assert constant is not None  # noqa: S101 - it was read before
        return constant

    def _constant_or_none(
        self, text: str, place: Place, values: Sequence[str | None] | None
    ) -> Constant | None:
        if place.number:
            return _bound(place.number, values)
        constant = self._grammar.constant(place.kind, text[place.source_from : place.end])
        if constant is None or place.cast is None:
            return constant
        return replace(constant, cast=place.cast, source=text[place.begin : place.end])


def _form_of(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text of a statement with each literal replaced by a mark."""
    pieces, at = [], 0
    for begin, end in spans:
        pieces += [text[at:begin], "''" if text[begin] == "'" else "0"]
        at = end
    return "\0".join([*pieces, text[at:]])


def _bound(number: int, values: Sequence[str | None] | None) -> Constant:
    if values is None:
        return Constant("unknown", None)
    if number > len(values):
        raise ValueError(NO_VALUES)
    value = values[number - 1]
    return Constant("null" if value is None else "text", value)
