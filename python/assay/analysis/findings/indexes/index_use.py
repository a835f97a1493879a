"""Finds existing indexes that are not used, and why the optimiser cannot use them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.case import named_setting_advice
from assay.model.finding import Advice
from assay.model.units import seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Alternative, Index
    from assay.model.plan import PlanNode

# The change has to reduce a statement's time to this share; otherwise the chosen plan is right.
FASTER_MAX = 0.7
# If a scan removes a smaller share of rows, not using the index may be right.
HIDDEN_REMOVED_MIN = 0.95
_TEXT = re.compile(r"'(?:[^']|'')*'")
# A column in a condition, with or without its table's name.
_COLUMN = r"(?:\b\w+\.)?\"?\b{}\b\"?"
_LIKE = r"{}\)?(?:::\w+)?\s*(?:~~|\blike\b)\s*'[^%_']"
_COLLATED = re.compile(r"\bcollate\s+\"?([\w.]+)", re.IGNORECASE)
# Hints that forbid indexes, and hints that allow only certain indexes.
_HINT = re.compile(
    r"\b((?:ignore|use|force)\s+(?:index|key)|no_index)\s*(?:for\s+\w+(?:\s+by)?\s*)?"
    r"\(([^)]*)\)",
    re.IGNORECASE,
)
_NOT_INDEXED = re.compile(r"\bnot\s+indexed\b", re.IGNORECASE)
_TEXT_TYPES = ("char", "text")
# A comparison of a column with an unquoted number.
_NUMBER = r"{}\s*=\s*-?\d[\d.]*(?![\w'])"
# String literals, and qualifiers (database and table) before a column's name.
_TEXT_OR_QUALIFIER = re.compile(
    r"('(?:[^']|'')*')|(?:[`\"]?\b[A-Za-z_]\w*[`\"]?\.)+(?=[`\"]?[A-Za-z_])"
)
_PARAMETER = re.compile(r"[$][\w]+|[?]")
_CALL = re.compile(r"(?<![\w.])(\w+)\(")
_CAST = r"(?:\({0}\)|{0})::\"?\w+[\w ]*(?:\([\d,]+\))?"
# Keywords that can stand before a parenthesis without calling a function.
_NO_CALL = {"and", "or", "not", "in", "any", "all", "between", "filter", "case", "when"}


@dataclass(frozen=True)
class Unused:
    """An index that a scan does not use.

    Attributes:
        index: The index that the scan does not use.
        why: Reason why the scan does not use the index, as the end of a sentence.
        to_try: Change that makes the index usable again.
        at: Place of the evidence in the report.
        alternative: Plan without this obstacle, if it was captured.
        key: SQL key of an index that serves the condition; None if no index does.
    """

    index: Index
    why: str
    to_try: str
    at: str
    alternative: Alternative | None = None
    key: str | None = None


def unused_advice(case: Case, unused: Unused, gain_share: float) -> Advice | None:
    """Return the advice that makes an index usable, or creates one that serves the condition.

    The advice is a setting, a statement that makes the index usable again, or an index on an
    expression.
    """
    other = unused.alternative
    if other is not None and other.kind == "setting" and other.value is not None:
        return named_setting_advice(other.change, other.value, gain_share, by_plan=True)
    index = unused.index
    if not index.valid and index.mend is not None:
        return Advice(
            "index", index.table, {"statement": index.mend, "name": index.name}, gain_share
        )
    if unused.key is None or not case.advice.get("expressions"):
        return None
    schema = {} if index.schema is None else {"schema": index.schema}
    return Advice("index", index.table, {"expression": unused.key, **schema}, gain_share)


def unused_index(case: Case, scan: Timed) -> Unused | None:
    """Return the index that a full scan could have used, with the obstacle; None without one."""
    table, condition = scan.node.object, scan.node.condition
    if table is None or not condition or not case.indexes:
        return None
    others = [
        alternative
        for alternative in case.alternatives.get(scan.operation, ())
        if alternative.statement == scan.plan.statement
    ]
    for index in case.indexes_of(table, scan.node.schema):
        if _is_used_by_value(index, others):
            return None
        if index.predicate is None and _is_about(condition, index):
            unused = _reason(case, scan, index, others)
            if unused is not None:
                return unused
    return None


def _is_used_by_value(index: Index, others: Iterable[Alternative]) -> bool:
    """Return True if plans for known values use the index and are faster than the generic plan."""
    return any(
        other.kind == "custom" and index.name in other.indexes and _was_faster(other)
        for other in others
    )


def hidden_at_join(case: Case, join: Timed, scan: PlanNode) -> Unused | None:
    """Return the index of a scanned table that a join's condition makes unusable; else None.

    The index is unusable if the condition applies an expression to the table's column.
    """
    condition = join.node.condition or ""
    for index in case.indexes_of(scan.object, scan.schema):
        if not index.valid or index.predicate is not None:
            continue
        name = rf"\b{re.escape(index.table)}\.\"?{re.escape(_leading(index))}\b\"?"
        if re.search(name, condition):
            return _condition_reason(index, condition, _leading(index), join, name)
    return None


def _is_about(condition: str, index: Index) -> bool:
    """Return True if a condition contains the first column of the index."""
    column = _leading(index)
    return re.search(rf"\b{re.escape(column)}\b", _TEXT.sub("''", condition)) is not None


def _leading(index: Index) -> str:
    return index.columns[0].strip('"`') if index.columns else ""


def _reason(case: Case, scan: Timed, index: Index, others: Iterable[Alternative]) -> Unused | None:
    condition, column = scan.node.condition or "", _leading(index)
    if not index.valid:
        why = f"it is {index.state or 'not valid'}"
        to_try = index.mend or f"rebuild {index.name}"
        return Unused(index, why, to_try, f"catalogue:{index.table}")
    if hint := _hint(index, scan.plan.text or ""):
        why = f"the statement says so: {hint}"
        return Unused(index, why, "the statement without this hint", f"statement:{scan.operation}")
    using = [alternative for alternative in others if index.name in alternative.indexes]
    for other in using:
        if other.kind == "setting" and _is_faster(other):
            return _setting_reason(case, index, other)
    # The engine may read an index in full that does not serve the condition, which is no faster.
    if any(_was_faster(other) for other in using):
        return _estimate_reason(index, next(other for other in using if _was_faster(other)))
    if _removed(scan) < HIDDEN_REMOVED_MIN:
        return None
    return _condition_reason(index, condition, column, scan)


def _hint(index: Index, text: str) -> str | None:
    """Return the hint in a statement that keeps this index from being used; None without a hint."""
    for match in _HINT.finditer(text):
        names = set(re.findall(r"\w+", match[2].lower()))
        is_named = index.name.lower() in names
        if is_named == match[1].lower().startswith(("ignore", "no_index")):
            return " ".join(match[0].split())
    if _NOT_INDEXED.search(text):
        return "not indexed"
    return None


def _setting_reason(case: Case, index: Index, other: Alternative) -> Unused:
    changed = {setting.name: setting for setting in case.changed_settings or ()}
    setting = changed.get(other.change)
    value = setting.value if setting else "not its default"
    why = f"{other.change} is {value}{_times(other)}"
    to_try = f"set {other.change} = {other.value} (`--set {other.change}={other.value}`)"
    return Unused(index, why, to_try, f"setting:{other.change}", other)


def _estimate_reason(index: Index, other: Alternative) -> Unused:
    why = f"the optimiser takes it to be dearer, which it is not{_times(other)}"
    to_try = f"statistics of {index.table}, or planner costs as they are on this host"
    return Unused(index, why, to_try, f"catalogue:{index.table}", other)


def _condition_reason(
    index: Index, condition: str, column: str, scan: Timed, name: str | None = None
) -> Unused | None:
    """Return the index with the reason why a condition on its column cannot use it; else None.

    `name` is a pattern that matches the column, with its table if that is needed.
    """
    name, at = name or _COLUMN.format(re.escape(column)), f"plan:{scan.operation}"
    if re.search(_LIKE.format(name), condition, re.IGNORECASE):
        why = f"it is not ordered byte by byte, as a comparison of {column} with a prefix needs"
        to_try = (
            f"an index of {index.table} ({column}) that compares bytes (operator class"
            " text_pattern_ops, or collation C)"
        )
        # PostgreSQL's plans write `like` as `~~`.
        key = f"{column} text_pattern_ops" if "~~" in condition else None
        return Unused(index, why, to_try, at, key=key)
    # The copy has the same length as the condition, so that match positions are valid in both.
    bare = _TEXT.sub(lambda text: f"'{' ' * (len(text[0]) - 2)}'", condition)
    if collated := _COLLATED.search(bare):
        why = f"{column} is compared in collation {collated[1]}, in which the index is not ordered"
        to_try = (
            f"an index of {index.table} ({column} collate {collated[1]}), or the column itself in"
            f" collation {collated[1]}"
        )
        return Unused(index, why, to_try, at, key=f"{column} collate {collated[1]}")
    if (call := _called(bare, name)) is not None:
        called = condition[call]
        why = f"the condition calls a function of {column}: {called}"
        to_try = (
            f"compare {column} itself, or an index of {index.table} for the expression {called}"
        )
        return Unused(index, why, to_try, at, key=_key(called))
    if _is_text(index) and (number := re.search(_NUMBER.format(name), bare)):
        why = f"{column} is text and is compared with a number, {number[0].strip()}"
        to_try = f"compare {column} with text (a value in quotes, or a parameter of type text)"
        return Unused(index, why, to_try, at)
    if cast := re.search(_CAST.format(name), bare):
        converted = condition[slice(*cast.span())].strip()
        why = f"the condition converts {column}: {converted}"
        to_try = f"compare {column} with a value of its own type, so that {column} is not converted"
        return Unused(index, why, to_try, at, key=_key(converted))
    return None


def _key(expression: str) -> str | None:
    """Return an expression as an index key; None if it contains a value of each execution."""
    bare = _TEXT_OR_QUALIFIER.sub(lambda match: match[1] or "", expression)
    return None if _PARAMETER.search(_TEXT.sub("''", bare)) else f"({bare})"


def _is_text(index: Index) -> bool:
    """Return True if the index's first column is known to be text."""
    return bool(index.types) and any(word in index.types[0].lower() for word in _TEXT_TYPES)


def _called(condition: str, name: str) -> slice | None:
    """Return the position of a function call around a column; None if there is no call."""
    for match in _CALL.finditer(condition):
        call = slice(match.start(), end_of_call(condition, match.end()))
        if match[1].lower() not in _NO_CALL and re.search(name, condition[call]):
            return call
    return None


def end_of_call(text: str, begin: int) -> int:
    """Return the position of the closing parenthesis whose opening one is just before `begin`."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at + 1
    return len(text)


def _removed(scan: Timed) -> float:
    removed, kept = scan.node.removed_rows or 0.0, scan.node.rows or 0.0
    return removed / (removed + kept) if removed else 0.0


def _was_faster(other: Alternative) -> bool:
    return other.seconds is not None and _is_faster(other)


def _is_faster(other: Alternative) -> bool:
    """Return True if the changed plan is clearly faster, by its time, or else by its cost."""
    if other.seconds is not None and other.seconds_changed is not None:
        return other.seconds_changed <= FASTER_MAX * other.seconds
    if other.cost is None or other.cost_changed is None:
        return False
    return other.cost_changed <= FASTER_MAX * other.cost


def _times(other: Alternative) -> str:
    if other.seconds is None or other.seconds_changed is None:
        return ""
    return f": {seconds_text(other.seconds)}, with it {seconds_text(other.seconds_changed)}"
