"""Tells which index serves a comparison with the beginning of a text (`like 'abc%'`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.existing_index import has_key

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index

# A column that is compared with a pattern whose beginning is fixed.
_PREFIX = (
    r"{}\)?(?:::\w+)?\s*"
    r"(?:(?:~~|\blike\b)\s*'(?P<like>[^%_'])|\bglob\b\s*'(?P<glob>[^*?\['])).*?'"
)
# Operator classes and collations of an index whose texts are in byte order.
_BYTE_ORDER = re.compile(r"\b(?:\w+_pattern_ops|c|posix|ucs_basic)\b", re.IGNORECASE)
# A number's first character: an index serves such a pattern only if the column is text.
_OF_NUMBER = re.compile(r"[-\d]")
TEXT_COLUMN = (
    "look up the declared type of {column}: an index serves a pattern that begins with a digit only"
    " if the column is text"
)


@dataclass(frozen=True)
class PrefixKey:
    """The index that a comparison with a prefix needs.

    Attributes:
        key: SQL key of the index, with its collation or operator class.
        why: Reason why other indexes on the column do not serve, as the end of a sentence.
        to_try: Change to make.
        settle: Question that decides whether the index serves; None if there is none.
        exists: Whether the table has such an index.
    """

    key: str
    why: str
    to_try: str
    settle: str | None
    exists: bool


def prefix_key(case: Case, index: Index, condition: str, name: str) -> PrefixKey | None:
    """Return the index for a prefix in a condition; None without a prefix.

    The result is None, too, if the engine's usual index serves a prefix.

    Args:
        case: The run.
        index: Existing index that begins with the column.
        condition: Condition of a scan.
        name: Pattern that matches the column in the condition.
    """
    template, folded = case.advice.get("prefix_key"), case.advice.get("ignoring_case")
    match = re.search(_PREFIX.format(name), condition, re.IGNORECASE)
    if template is None or match is None:
        return None
    column = index.columns[0].strip('"`')
    table, why = index.table, f"a comparison of {column} with a prefix needs"
    setting, value = (folded["setting"], folded["value"]) if folded else ("", "")
    if folded and match["like"] and case.settings.get(setting, value).lower() == value:
        key = folded["prefix_key"].replace("$column", column)
        why = f"`like` ignores case ({setting} is {value}), and the index does not"
        to_try = (
            f"an index of {table} ({key}), which ignores case, too; or, if case matters, "
            f"{folded['instead'].replace('$column', column)}"
        )
    else:
        key = template.replace("$column", column)
        why = f"the index is not in byte order, which {why}"
        to_try = f"an index of {table} ({key}), which is in byte order"
    first = match["like"] or match["glob"]
    settle = TEXT_COLUMN.format(column=column) if folded and _OF_NUMBER.match(first) else None
    exists = any(_serves(other, key) for other in case.indexes_of(table, index.schema))
    return PrefixKey(key, why, to_try, settle, exists)


def _serves(index: Index, key: str) -> bool:
    """Return True if a full index begins with the key, or with its column in byte order."""
    if not index.valid or index.predicate is not None or not index.columns:
        return False
    column = index.columns[0].strip('"`').lower()
    is_of_column = re.match(rf"{re.escape(column)}\b", key.lower()) is not None
    in_byte_order = _BYTE_ORDER.search(index.collation or "") is not None
    return has_key(index, 0, key) or (is_of_column and in_byte_order)
