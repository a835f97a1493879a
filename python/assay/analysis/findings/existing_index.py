"""Finds an existing index that equals an advised one, which would then change nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.finding import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.catalogue import Index
    from assay.model.finding import Advice

# Access method of an index without a named method.
DEFAULT_METHOD = "btree"
# Collation of columns without a declared one, in SQLite.
DEFAULT_COLLATION = "binary"
# A key of an index: a column or an expression, then its collation or operator class.
_KEY = re.compile(
    r"(?P<what>.+?)(?:\s+collate\s+\"?(?P<collation>\w+)\"?|\s+(?P<class>\w+_ops))?"
    r"(?P<direction>(?:\s+(?:asc|desc))?(?:\s+nulls\s+(?:first|last))?)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = re.compile(r"[\"`\s]")
# Each direction in which an index is read backwards.
BACKWARDS = {
    "asc": "desc",
    "desc": "asc",
    "asc nulls first": "desc nulls last",
    "desc nulls last": "asc nulls first",
}


def against_existing(
    advice: Advice | None, indexes: Mapping[str, Sequence[Index]]
) -> tuple[Evidence, ...]:
    """Return the evidence against a finding that advises one of the existing indexes.

    Args:
        advice: Advice of the finding.
        indexes: Existing indexes by table.
    """
    if advice is None or advice.kind != "index" or {"statement", "predicate"} & set(advice.values):
        return ()
    schema = advice.values.get("schema")
    return tuple(
        Evidence(f"the index {index.text} exists already", f"catalogue:{table}", contradicts=True)
        for table in advice.tables
        for index in indexes.get(table, ())
        if None in (schema, index.schema) or schema == index.schema
        if is_equal(index, _keys(advice), advice.values.get("method"))
    )


def is_equal(index: Index, keys: Sequence[str], method: str | None = None) -> bool:
    """Return True if a full index has exactly these keys, forwards or backwards.

    Args:
        index: The existing index.
        keys: Columns or expressions in SQL, each with its collation, class and direction.
        method: Access method; None means the engine's default.
    """
    if not index.valid or index.predicate is not None or len(index.columns) != len(keys):
        return False
    if not keys or index.method not in (None, method or DEFAULT_METHOD):
        return False
    return all(has_key(index, at, key) for at, key in enumerate(keys)) and has_directions(
        index, [direction_of(key) for key in keys]
    )


def has_key(index: Index, at: int, key: str) -> bool:
    """Return True if the key at a position of an index is this one, in any direction.

    A key without a collation has the collation of its column.
    """
    match = _KEY.fullmatch(key.strip())
    if match is None or _bare(match["what"]) != _bare(index.columns[at]):
        return False
    word = match["collation"] or match["class"]
    if word is None:
        return index.collation is None
    own = index.collations[at] if at < len(index.collations) else None
    known = (index.collation or DEFAULT_COLLATION).lower().split()
    return own == word.lower() if own is not None else word.lower() in known


def has_directions(index: Index, wanted: Sequence[str], begin: int = 0) -> bool:
    """Return True if an index returns its columns in these directions, forwards or backwards.

    Args:
        index: The existing index. Columns are ascending if their directions were not reported.
        wanted: Directions of columns, such as `asc` or `desc nulls last`.
        begin: Position of the first of these columns in the index.
    """
    reported = index.directions or ("asc",) * len(index.columns)
    own = list(reported[begin : begin + len(wanted)])
    return own in (list(wanted), [BACKWARDS.get(direction, "") for direction in wanted])


def direction_of(key: str) -> str:
    """Return the direction of a sort key or index key, such as `asc` or `desc nulls last`."""
    match = _KEY.fullmatch(key.strip())
    words = " ".join(match["direction"].lower().split()) if match else ""
    return words if words.startswith(("asc", "desc")) else f"asc {words}".strip()


def _keys(advice: Advice) -> list[str]:
    """Return the keys of an advised index; an expression is one key."""
    if (expression := advice.values.get("expression")) is not None:
        return [expression]
    return [key.strip() for key in advice.values.get("columns", "").split(",") if key.strip()]


def _bare(text: str) -> str:
    """Return a column or expression without quotes, spaces and outer parentheses."""
    text = _QUOTES.sub("", text).lower()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
