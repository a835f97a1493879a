"""Reads which access method an index needs, if the default one does not serve a comparison.

An ordered index finds values that are equal to a value, or between two values. It does not find the
arrays, documents or texts that contain a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.model.sql import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.plan import PlanNode

_TEXT = re.compile(r"'(?:[^']|'')*'")
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
_FILTER = re.compile(r"^(?:filter\b)?\s*", re.IGNORECASE)
# An operator of symbols between its two sides. A negated operator begins with `!`.
_OPERATOR = re.compile(r"\s([@?&|~<>*]+)\s")
# A text literal with its type, and a number.
_VALUE = re.compile(r"('(?:[^']|'')*')::((?:\w|[ .\"])+(?:\[\])?)\)*\s*")
_NUMBER = re.compile(r"-?\d+\)*\s*")
_NUMBER_TYPE = "integer"
_NAME = re.compile(r"\w+")
ORDERED = "btree"
# A text column of another text type than `text` is converted without a change of its value.
_TO_TEXT = re.compile(r"\(([\w.\"]+)\)::text")
# A value that is compared with the elements of an array column.
_ELEMENT = re.compile(r"\(*('(?:[^']|'')*')::\w[\w ]* = ANY \((?:\w+\.)?(\w+)\)+\s*")


@dataclass(frozen=True)
class MethodIndex:
    """An index of another access method than the default one, which serves a condition.

    Attributes:
        key: Key of the index in SQL, with its operator class if that is not the default.
        method: Access method.
        operator: Operator of the condition.
        operator_class: Operator class; None means the default of the column's type.
        lacks: Extension that the database needs for it and does not have; None if it has all.
        doubt: Reason why the index may read other rows, too; None if it does not.
    """

    key: str
    method: str
    operator: str
    operator_class: str | None = None
    lacks: str | None = None
    doubt: str | None = None

    @property
    def kind(self) -> str:
        """Return the kind of index that does not serve the condition, as a noun."""
        is_ordered = self.method == ORDERED
        return "an index in the collation of the column" if is_ordered else "a btree index"

    @property
    def text(self) -> str:
        """Return the access method and the key as the end of `create index`."""
        return f"using {self.method} ({self.key})"


def method_index(case: Case, node: PlanNode) -> MethodIndex | None:
    """Return the index that serves the only comparison of a scan's condition; else None.

    The result is None, too, if an index of the table begins with the same key and may serve it.
    """
    parts = conjuncts(node.condition)
    searches: Sequence[Mapping[str, Any]] = case.advice.get("searches", ())
    if len(parts) != 1 or not searches or _EITHER.search(_TEXT.sub("''", parts[0])):
        return None
    compared = _compared(parts[0], node.object or "")
    if compared is None:
        return None
    key, operator, literal, kind = compared
    for search in searches:
        fits = operator in search["operators"] and re.fullmatch(search["values"], kind)
        if fits and re.search(search.get("literal", ""), literal):
            return _unless_exists(case, node, _index(case, search, key, operator))
    return None


def array_elements(node: PlanNode) -> list[tuple[str, str]]:
    """Return array columns with the literals that their elements are compared with.

    Empty if the scan's condition has other parts, too.
    """
    parts = [part.strip() for part in conjuncts(_FILTER.sub("", node.condition or ""))]
    matches = [_ELEMENT.fullmatch(part) for part in parts]
    return [] if None in matches else [(match[2], match[1]) for match in matches if match]


def _compared(part: str, table: str) -> tuple[str, str, str, str] | None:
    """Return key, operator, value and the value's type of a comparison with a literal."""
    text = _FILTER.sub("", part).strip()
    bare = _TEXT.sub(lambda literal: f"'{'x' * (len(literal[0]) - 2)}'", text)
    matches = list(_OPERATOR.finditer(bare))
    if len(matches) != 1:
        return None
    (match,) = matches
    right = text[match.end() :]
    if (value := _VALUE.fullmatch(right)) is not None:
        literal, kind = value[1][1:-1], value[2].strip()
    elif _NUMBER.fullmatch(right):
        literal, kind = right, _NUMBER_TYPE
    else:
        return None
    key = _key(text[: match.start()], table)
    return None if key is None else (key, match[1], literal, kind)


def _key(side: str, table: str) -> str | None:
    """Return one side of a comparison as a key of an index: a quoted column or an expression."""
    left = side.strip()
    while left.startswith("(") and left.count("(") > left.count(")"):
        left = left[1:].strip()
    left = re.sub(rf"\b{re.escape(table)}(?:_\d+)?\.", "", _TO_TEXT.sub(r"\1", left))
    if "$" in _TEXT.sub("", left) or "." in _TEXT.sub("", left):
        return None
    if _NAME.fullmatch(left.strip('"')):
        return quoted(left.strip('"'))
    return f"({left})" if _NAME.search(_TEXT.sub("", left)) else None


def _index(case: Case, search: Mapping[str, Any], key: str, operator: str) -> MethodIndex:
    operator_class, extension = search.get("operator_class"), search.get("extension")
    whole = key if operator_class is None else f"{key} {operator_class}"
    lacks = extension if extension and not case.extensions.get(extension) else None
    return MethodIndex(
        whole, search["method"], operator, operator_class, lacks, search.get("doubt")
    )


def _unless_exists(case: Case, node: PlanNode, wanted: MethodIndex) -> MethodIndex | None:
    """Return the wanted index; None if the table has one like it, which the plan does not use."""
    indexes = case.indexes_of(node.object, node.schema)
    is_there = any(_is_alike(index, wanted) for index in indexes if index.predicate is None)
    return None if is_there else wanted


def _is_alike(index: Index, wanted: MethodIndex) -> bool:
    """Return True if an index has the wanted method and key, and a class that may serve it."""
    if index.method != wanted.method or not index.columns:
        return False
    key = wanted.key.removesuffix(wanted.operator_class or "").strip()
    first = re.sub(r"\s", "", index.columns[0].strip('"'))
    serves = index.collation is None or wanted.operator_class in index.collation.split()
    return serves and first.strip("()") == re.sub(r"\s", "", key.strip('"')).strip("()")
