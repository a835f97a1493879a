"""Finds existing indexes that a plan does not use, and why the optimiser cannot use them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import computed_index_advice, named_setting_advice
from assay.analysis.findings.indexes.conditions import (
    conjuncts,
    is_searchable,
    overlap_columns,
    reads_column,
    whole_part,
)
from assay.analysis.findings.indexes.prefix_index import prefix_key
from assay.analysis.findings.joins.unlike_types import Unlike, text_as_number, unlike_types
from assay.analysis.findings.plans.plan_time import counted_rows
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
OTHERS_REMOVE = "other conditions remove rows, too"
_TEXT = re.compile(r"'(?:[^']|'')*'")
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
# A column in a condition, with or without its table's name.
_COLUMN = r"(?:\b\w+\.)?\"?\b{}\b\"?"
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
# A conversion that MySQL and MariaDB add if compared columns differ in their character set.
_CHARACTER_SET = re.compile(r"convert\(.*\busing\s+\w+\s*\)", re.IGNORECASE | re.DOTALL)
# A conversion that MySQL adds if a text is compared with a number.
_AS_NUMBER = re.compile(r"cast\([^()]+ as double\)", re.IGNORECASE)
# The other side of a comparison, if it is a column, perhaps converted to a number.
_OTHER_COLUMN = r"(?:[`\"]?\w+[`\"]?\.)?[`\"]?(\w+)[`\"]?\.[`\"]?(\w+)[`\"]?"
_OTHER_SIDE = rf"(?:cast\()?{_OTHER_COLUMN}(?: as double\))?"
_EQUAL_AFTER = re.compile(rf"\s*=\s*{_OTHER_SIDE}(?![\w.(`\"])", re.IGNORECASE)
_EQUAL_BEFORE = re.compile(rf"(?<![\w.`\"]){_OTHER_SIDE}\s*=\s*$", re.IGNORECASE)
_CAST = r"(?:\({0}\)|{0})::\"?\w+[\w ]*(?:\([\d,]+\))?"
# An equality of two columns, which are not parts of longer expressions.
_EQUAL = re.compile(r"(?<![\w.+(])((?:\w+\.)?\w+)\s*=\s*((?:\w+\.)?\w+)(?![\w.(])")
ALIKE = (
    "compare the declared types and collations of both columns: an index serves the comparison "
    "only if they are alike, and if the statement compares the columns themselves (no unary +)"
)
# A comparison of a column with the result of a function call.
_VALUE_CALL = r"{}\s*(?:=|<=?|>=?)\s*\(*((?:\w+\.)?(\w+)\()"
# Functions whose value is the same throughout a statement.
SAME_IN_STATEMENT = frozenset(
    (
        *("current_database", "current_date", "current_schema", "current_setting", "current_user"),
        *("cast", "coalesce", "concat", "curdate", "current_timestamp", "date_trunc", "greatest"),
        *("least", "lower", "now", "nullif", "statement_timestamp", "to_date", "to_timestamp"),
        *("transaction_timestamp", "upper", "utc_date", "utc_timestamp"),
    )
)
# Keywords that can stand before a parenthesis without calling a function.
_NO_CALL = {"and", "or", "not", "in", "any", "all", "between", "filter", "case", "when"}


@dataclass(frozen=True)
class Unused:
    """An existing index that a scan does not use, and the reason.

    Attributes:
        index: The index that the scan does not use.
        why: Reason why the scan does not use the index, as the end of a sentence.
        to_try: Change that makes the index usable again.
        at: Place of the evidence in the report.
        alternative: Plan without this obstacle, if it was captured.
        key: SQL key of an index that serves the condition; None if no index does.
        hinted: Operation whose statement has a hint against the index; None without a hint.
        settle: Measurement that would show whether the index finds few rows; None if it is known.
        numbers_in: Operation that compares the column, which is text, with a number; None if it
            does not.
        alike: Column to declare as another one so that the index is usable, and this other one,
            each as `table.column`; None if they are not known.
        is_enough: Whether another index on the same column would stay unused, too.
    """

    index: Index
    why: str
    to_try: str
    at: str
    alternative: Alternative | None = None
    key: str | None = None
    hinted: str | None = None
    settle: str | None = None
    numbers_in: str | None = None
    alike: tuple[str, str] | None = None
    is_enough: bool = False


def unused_advice(case: Case, unused: Unused, operation: str, gain_share: float) -> Advice | None:
    """Return the advice to make an index usable, or to create one that serves the condition.

    The advice is a setting, the statement without a hint or with texts instead of numbers, a
    statement that makes the index usable again, another character set of the column, or an index
    on an expression, which may have to be stored in a column.
    """
    other = unused.alternative
    if other is not None and other.kind == "setting" and other.value is not None:
        return named_setting_advice(other.change, other.value, gain_share, by_plan=True)
    changed = _changed_advice(case, unused, gain_share)
    if changed is not None or unused.key is None:
        return changed
    index = unused.index
    return computed_index_advice(
        case.advice, operation, index.table, unused.key, index.schema, gain_share
    )


def _changed_advice(case: Case, unused: Unused, gain_share: float) -> Advice | None:
    """Return the advice to change the statement, the index or its column; None without one."""
    index = unused.index
    if unused.hinted is not None:
        return Advice("hint", unused.hinted, {}, gain_share)
    if unused.numbers_in is not None:
        return Advice("text-values", unused.numbers_in, {}, gain_share)
    if not index.valid and index.mend is not None:
        values = {"statement": index.mend, "name": index.name}
        return Advice("index", index.table, values, gain_share)
    if unused.alike is not None and case.can("alike-columns"):
        (table, _, column), like = unused.alike[0].partition("."), unused.alike[1]
        return Advice("alike-columns", table, {"columns": column, "like": like}, gain_share)
    return None


def unused_index(case: Case, scan: Timed) -> Unused | None:
    """Return the index that a full scan could have used, and why it did not; None without one."""
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
    """Return the index on a table that a join's condition makes unusable; None without one.

    The index is unusable if the condition applies an expression to the table's column.
    """
    condition = join.node.condition or ""
    for index in case.indexes_of(scan.object, scan.schema):
        if not index.valid or index.predicate is not None:
            continue
        name = rf"\b{re.escape(index.table)}\.\"?{re.escape(_leading(index))}\b\"?"
        if re.search(name, condition):
            return _condition_reason(case, index, condition, join, name)
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
        why = f"a hint in the statement prevents it: {hint}"
        at = f"statement:{scan.operation}"
        to_try = "remove this hint from the statement"
        return Unused(index, why, to_try, at, hinted=scan.operation)
    using = [alternative for alternative in others if index.name in alternative.indexes]
    for other in using:
        if other.kind == "setting" and _is_faster(other):
            return _setting_reason(case, index, other)
    # The engine may read an index in full that does not serve the condition, which is no faster.
    if any(_was_faster(other) for other in using):
        other = next(other for other in using if _was_faster(other))
        return _estimate_reason(index, other, overlap_columns(condition, index.table))
    if _removed(scan) < HIDDEN_REMOVED_MIN:
        return None
    unused = _condition_reason(case, index, condition, scan)
    return None if unused is None else _with_doubt(case, scan, unused, column)


def _with_doubt(case: Case, scan: Timed, unused: Unused, column: str) -> Unused | None:
    """Return the index with the doubt that other comparisons raise; None if no index would help.

    The rows that a scan removes may be those that another comparison removes. A comparison with a
    pattern that begins anywhere needs all rows, with or without a function. If the rows that the
    column's comparison keeps were counted, they decide.
    """
    condition = scan.node.condition or ""
    name = re.compile(rf"\b{re.escape(column)}\b")
    parts = conjuncts(condition)
    own = [part for part in parts if name.search(_TEXT.sub("''", part))]
    if not any(map(is_searchable, own)):
        return None
    others = [part for part in parts if part not in own and reads_column(part, unused.index.table)]
    if not others and not _EITHER.search(_TEXT.sub("''", condition)):
        return unused
    if unused.settle is not None:
        return unused
    counts = [counted_rows(case, scan, whole_part(part)) for part in own]
    if len(own) == 1 and counts[0] is not None:
        read = (scan.node.rows or 0.0) + (scan.node.removed_rows or 0.0)
        return unused if counts[0] <= (1 - HIDDEN_REMOVED_MIN) * read else None
    settle = f"measure how many rows the comparison of {column} alone keeps: {OTHERS_REMOVE}"
    return replace(unused, settle=settle)


def _hint(index: Index, text: str) -> str | None:
    """Return the hint in a statement that forbids this index; None without a hint."""
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


def _estimate_reason(index: Index, other: Alternative, spans: tuple[str, ...]) -> Unused:
    why = f"the optimiser wrongly estimates it to be more expensive{_times(other)}"
    if spans:
        # Statistics of two columns do not tell how many spans contain a value.
        to_try = (
            f"an index of the spans from {spans[0]} to {spans[1]} that searches by both bounds "
            "(such as GiST on a range type): an ordered index searches by one bound only"
        )
        return Unused(index, why, to_try, f"catalogue:{index.table}", other)
    to_try = (
        f"gather statistics of {index.table}, or set the planner's cost constants for this host"
    )
    return Unused(index, why, to_try, f"catalogue:{index.table}", other)


def _condition_reason(
    case: Case, index: Index, condition: str, scan: Timed, name: str | None = None
) -> Unused | None:
    """Return an index with the reason why a condition on its column cannot use it; else None.

    `name` is a pattern that matches the column, with its table if that is needed.
    """
    column, at = _leading(index), f"plan:{scan.operation}"
    name = name or _COLUMN.format(re.escape(column))
    # The copy has the same length as the condition, so that match positions are valid in both.
    bare = _TEXT.sub(lambda text: f"'{' ' * (len(text[0]) - 2)}'", condition)
    prefix = prefix_key(case, index, condition, name)
    if prefix is not None and not prefix.exists and _called(bare, name) is None:
        return Unused(index, prefix.why, prefix.to_try, at, key=prefix.key, settle=prefix.settle)
    if collated := _COLLATED.search(bare):
        why = (
            f"the statement compares {column} in collation {collated[1]}, and the index has "
            "another collation"
        )
        to_try = (
            f"an index of {index.table} ({column} collate {collated[1]}), or the column itself in"
            f" collation {collated[1]}"
        )
        return Unused(index, why, to_try, at, key=f"{column} collate {collated[1]}")
    if (call := _called(bare, name)) is not None:
        return _call_reason(index, column, condition, call, at)
    if _is_text(index) and (number := re.search(_NUMBER.format(name), bare)):
        why = f"{column} is text and is compared with a number, {number[0].strip()}"
        to_try = f"compare {column} with text (a value in quotes, or a parameter of type text)"
        return Unused(index, why, to_try, at, numbers_in=scan.operation)
    if cast := re.search(_CAST.format(name), bare):
        converted = condition[slice(*cast.span())].strip()
        why = f"the condition converts {column}: {converted}"
        to_try = f"compare {column} with a value of its own type, so that {column} is not converted"
        return Unused(index, why, to_try, at, key=_key(converted))
    return _called_value(index, condition, column, (bare, name), at) or _unlike_columns(
        case, index, bare.strip("() "), column, scan
    )


def _called_value(
    index: Index, condition: str, column: str, pattern: tuple[str, str], at: str
) -> Unused | None:
    """Return an index that is compared with a function call, which every row repeats.

    `pattern` has the condition with blank texts, and the pattern of the column in it.
    """
    call = value_call(*pattern, index.table)
    if call is None:
        return None
    called = condition[call]
    function = called.partition("(")[0]
    why = (
        f"{column} is compared with {called}, which is called for each row, as a volatile function "
        "is"
    )
    to_try = (
        f"declare {function} as stable (in MySQL: deterministic) if it returns the same value "
        f"throughout a statement, or compare {column} with `(select {called})`"
    )
    settle = f"declare {function} as stable and measure again"
    return Unused(index, why, to_try, at, settle=settle, is_enough=True)


def value_call(condition: str, name: str, table: str) -> slice | None:
    """Return the position of a function call that a column is compared with; None without one.

    The call reads no column of the table. Functions that are known to have the same value
    throughout a statement do not count: an index can be searched for their value.
    """
    for match in re.finditer(_VALUE_CALL.format(name), condition, re.IGNORECASE):
        call = slice(match.start(1), end_of_call(condition, match.end()))
        is_known = match[2].lower() in _NO_CALL | SAME_IN_STATEMENT
        arguments = condition[match.end() : call.stop - 1]
        if not is_known and not reads_column(arguments, table):
            return call
    return None


def _call_reason(index: Index, column: str, condition: str, call: slice, at: str) -> Unused:
    """Return an index on a column to which the condition applies a function."""
    called = condition[call]
    if _CHARACTER_SET.match(called):
        why = f"the condition converts the character set of {column}: {called}"
        like = _compared_column(condition, call, index.table)
        to_try = (
            f"give {column} the character set of {like or 'the column with which it is compared'}"
        )
        alike = None if like is None else (f"{index.table}.{column}", like)
        return Unused(index, why, to_try, at, alike=alike)
    if _AS_NUMBER.fullmatch(called) and (other := _compared_column(condition, call, index.table)):
        return _converted(index, text_as_number(f"{index.table}.{column}", other), at)
    why = f"the condition calls a function of {column}: {called}"
    to_try = f"compare {column} itself, or an index of {index.table} for the expression {called}"
    return Unused(index, why, to_try, at, key=_key(called))


def _compared_column(condition: str, call: slice, table: str) -> str | None:
    """Return the column, as `table.column`, that a condition compares with a call; None if none.

    A column of the same table has the same rows, so that its comparison is no look-up.
    """
    after = _EQUAL_AFTER.match(condition, call.stop)
    before = _EQUAL_BEFORE.search(condition[: call.start])
    found = after or before
    if found is None or found[1] == table:
        return None
    return f"{found[1]}.{found[2]}"


def _unlike_columns(
    case: Case, index: Index, condition: str, column: str, scan: Timed
) -> Unused | None:
    """Return an index that each loop of a join passes over for a whole scan; None without loops.

    An engine that looks rows up for each row of another table takes an index for it if it can. So
    the comparison converts the column, which conditions do not show.
    """
    own = {column, f"{index.table}.{column}"}
    others = [
        side
        for sides in _EQUAL.findall(condition)
        for side in sides
        if own & set(sides) and side not in own and "." in side
    ]
    if not others or _EITHER.search(condition) or (scan.node.loops or 1.0) <= 1.0:
        return None
    other, at = others[0], f"plan:{scan.operation}"
    if unlike := unlike_types(case, f"{index.table}.{column}", other, is_text=_is_text(index)):
        return _converted(index, unlike, at)
    why = f"{column} is compared with {other}, and the columns may differ in type or collation"
    to_try = f"give {column} and {other} the same type and collation, or convert {other}"
    return Unused(index, why, to_try, at, settle=ALIKE)


def _converted(index: Index, unlike: Unlike, at: str) -> Unused:
    return Unused(index, unlike.why, unlike.to_try, at, alike=unlike.alike)


def _key(expression: str) -> str | None:
    """Return an expression as the key of a possible index; None if it contains a parameter."""
    bare = _TEXT_OR_QUALIFIER.sub(lambda match: match[1] or "", expression)
    return None if _PARAMETER.search(_TEXT.sub("''", bare)) else f"({bare})"


def _is_text(index: Index) -> bool:
    """Return True if the index's first column is known to be text."""
    return bool(index.types) and any(word in index.types[0].lower() for word in _TEXT_TYPES)


def _called(condition: str, name: str) -> slice | None:
    """Return the position of a function call around a column in a condition; None without one."""
    for match in _CALL.finditer(condition):
        call = slice(match.start(), end_of_call(condition, match.end()))
        if match[1].lower() not in _NO_CALL and re.search(name, condition[call]):
            return call
    return None


def end_of_call(text: str, begin: int) -> int:
    """Return the position of the parenthesis that closes the one just before `begin`."""
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
    """Return True if the alternative plan is clearly faster by time, or else by cost."""
    if other.seconds is not None and other.seconds_changed is not None:
        return other.seconds_changed <= FASTER_MAX * other.seconds
    if other.cost is None or other.cost_changed is None:
        return False
    return other.cost_changed <= FASTER_MAX * other.cost


def _times(other: Alternative) -> str:
    if other.seconds is None or other.seconds_changed is None:
        return ""
    least = "more than " if other.cancelled else ""
    return f": {least}{seconds_text(other.seconds)}, with it {seconds_text(other.seconds_changed)}"
