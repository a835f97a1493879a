"""Compares the declared types of two columns that a join compares with each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

_NUMBER_TYPE = re.compile(
    r"(?:tiny|small|medium|big)?int|integer|serial|decimal|numeric", re.IGNORECASE
)
_TEXT_TYPE = re.compile(r"char|text|clob", re.IGNORECASE)


@dataclass(frozen=True)
class Unlike:
    """A text column that a join compares with a number, so that no index on it can be used.

    Attributes:
        why: Reason why an index on the text column is not used, as the end of a sentence.
        to_try: Change that makes the types alike.
        alike: Column to declare as another one, and this other one, each as `table.column`.
    """

    why: str
    to_try: str
    alike: tuple[str, str]


def unlike_types(case: Case, own: str, other: str, *, is_text: bool = False) -> Unlike | None:
    """Return the difference of a text column and a number; None if the types are not known.

    Args:
        case: The run.
        own: Column with an index, as `table.column`.
        other: Column with which a join compares it.
        is_text: Whether the first column is known to be text, whatever its table declares.
    """
    is_text = is_text or _TEXT_TYPE.search(_declared(case, own)) is not None
    if not is_text or _NUMBER_TYPE.match(_declared(case, other)) is None:
        return None
    return number_as_text(own, other) if _is_key(case, other) else text_as_number(own, other)


def text_as_number(own: str, other: str) -> Unlike:
    """Return the difference of a text and a number, which is to be declared as the text."""
    why = f"{own} is text, {other} is a number, and both are converted to be compared"
    return Unlike(why, f"declare {other} as {own}", (other, own))


def number_as_text(own: str, other: str) -> Unlike:
    """Return the difference of a text and a number, which other tables refer to as a number."""
    why = f"{own} is text, {other} is a number, and the text is converted to be compared"
    to_try = f"declare {own} as {other} if it has only numbers, or compare it with {other} as text"
    return Unlike(why, to_try, (own, other))


def _declared(case: Case, column: str) -> str:
    table, _, name = column.lower().rpartition(".")
    return case.column_types.get(table, {}).get(name, "")


def _is_key(case: Case, column: str) -> bool:
    """Return True if a column, as `table.column`, alone is unique by an index."""
    table, _, name = column.rpartition(".")
    return any(
        index.unique and [part.strip('"`').lower() for part in index.columns] == [name.lower()]
        for index in case.indexes_of(table, None)
    )
