"""Reads from a grouped statement whether its result needs each pair of joined rows.

Sums, counts, minima and maxima of one table can be computed by the join's key before the join.
Groups by columns of both tables, values that are computed from columns of both, and medians cannot.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.join_index import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NOT_SQL = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r"'(?:[^']|'')*'")
_QUOTES = re.compile(r'[`"]')
_GROUP_BY = re.compile(
    r"\bgroup\s+by\b(.*?)(?=\b(?:having|order\s+by|limit|union|window|qualify|fetch)\b|[)]|;|$)",
    re.IGNORECASE | re.DOTALL,
)
_AGGREGATE = re.compile(r"\b(?:sum|count|avg|min|max|total)\s*\(", re.IGNORECASE)
_WINDOW = re.compile(r"\bover\s*(?:\(|\w)", re.IGNORECASE)
# Aggregates of all values, which cannot be put together from aggregates of groups.
_OF_ALL_VALUES = re.compile(
    r"\b(?:median|mode|quantile\w*|percentile\w*|approx_quantile|corr|covar_\w+|regr_\w+)\s*\(",
    re.IGNORECASE,
)
_DISTINCT_VALUES = re.compile(r"\(\s*distinct\b", re.IGNORECASE)
_DISTINCT_ROWS = re.compile(r"\bselect\s+distinct\b", re.IGNORECASE)
_CROSS = re.compile(r"\bcross\s+join\b", re.IGNORECASE)
_COLUMN = re.compile(r"\b([a-z_]\w*)\.([a-z_]\w*)")
_EQUAL = re.compile(r"(?<![\w.])((?:[a-z_]\w*\.)?[a-z_]\w*)\s*=\s*((?:[a-z_]\w*\.)?[a-z_]\w*)")
_USING = re.compile(r"\busing\s*\(\s*(\w+)\s*\)")
# A parent and two children that are joined by the same key.
SHARED_BY_MIN = 3


def plain(text: str | None) -> str:
    """Return a statement in lower case, without comments, quotes of names, and values of texts."""
    return _QUOTES.sub("", _TEXT.sub("''", _NOT_SQL.sub(" ", text or ""))).lower()


def is_grouped(statement: str) -> bool:
    """Return True if a plain statement has aggregates and no window functions."""
    has_aggregates = _GROUP_BY.search(statement) or _AGGREGATE.search(statement)
    return has_aggregates is not None and _WINDOW.search(statement) is None


def is_deliberate(statement: str) -> bool:
    """Return True if a plain statement asks for all pairs of rows by `cross join`."""
    return _CROSS.search(statement) is not None


def has_distinct_values(statement: str) -> bool:
    """Return True if a plain statement has an aggregate such as `count(distinct ...)`."""
    return _DISTINCT_VALUES.search(statement) is not None


def computes_by_pairs(statement: str, sides: Sequence[set[str]]) -> bool:
    """Return True if a plain statement aggregates a value of columns of both sides of a join.

    Args:
        statement: The statement.
        sides: Names of the tables of each input of the join.
    """
    if _OF_ALL_VALUES.search(statement) or _DISTINCT_ROWS.search(statement):
        return True
    values = (_columns(value) for value in _aggregated(statement))
    return any(_are_of_both(statement, columns, sides) for columns in values)


def needs_pairs(statement: str, sides: Sequence[set[str]]) -> bool:
    """Return True if the groups of a plain statement need each pair of rows of a join's two sides.

    Groups by columns of both sides are such groups. Distinct values can be counted before the join
    if three tables share its key, as a parent and its children, or if the key is a group's.
    """
    if computes_by_pairs(statement, sides):
        return True
    keys = _keys(statement)
    if _are_of_both(statement, keys, sides):
        return True
    if not has_distinct_values(statement):
        return False
    names = {f"{alias}.{column}" for alias, column in keys}
    return not any(
        len(_aliases(equal)) >= SHARED_BY_MIN or names & equal
        for equal in _equal_columns(statement)
    )


def group_tables(statement: str) -> set[str]:
    """Return the tables of the columns by which a plain statement groups its rows.

    A column without the name of its table counts as a table of its own.
    """
    listed = [key.strip() for keys in _GROUP_BY.findall(statement) for key in keys.split(",")]
    return {table_of(key.partition(".")[0], statement) for key in listed}


def _keys(statement: str) -> list[tuple[str, str]]:
    return [column for groups in _GROUP_BY.findall(statement) for column in _columns(groups)]


def _columns(text: str) -> list[tuple[str, str]]:
    """Return the columns that a text names with their table: alias and column."""
    return _COLUMN.findall(text)


def _aggregated(statement: str) -> Iterator[str]:
    """Yield the arguments of aggregates."""
    for match in _AGGREGATE.finditer(statement):
        depth, at = 1, match.end()
        while at < len(statement) and depth:
            depth += {"(": 1, ")": -1}.get(statement[at], 0)
            at += 1
        yield statement[match.end() : at - 1]


def _are_of_both(
    statement: str, columns: Iterable[tuple[str, str]], sides: Sequence[set[str]]
) -> bool:
    """Return True if columns of two aliases belong to different sides of a join."""
    aliases = {alias for alias, _ in columns}
    tables = {alias: {alias, table_of(alias, statement)} for alias in aliases}
    left, right = ({alias for alias in aliases if tables[alias] & side} for side in sides)
    return any(one != other for one in left for other in right)


def _aliases(equal: Iterable[str]) -> set[str]:
    """Return the tables of columns; a column without a table's name is of its own table."""
    return {name.partition(".")[0] for name in equal}


def _equal_columns(statement: str) -> list[set[str]]:
    """Return the sets of columns that a statement compares with each other for equality."""
    pairs = [set(pair) for pair in _EQUAL.findall(statement)]
    used = _USING.findall(statement)
    pairs += [
        {f"{name}_{number}.{name}" for number in range(used.count(name) + 1)} for name in used
    ]
    sets: list[set[str]] = []
    for pair in pairs:
        joined = [known for known in sets if known & pair]
        sets = [known for known in sets if not known & pair]
        sets.append(pair.union(*joined))
    return sets
