"""Reads the condition of a scan: its parts, and the columns that an index can search by."""

from __future__ import annotations

import re

_TEXT = re.compile(r"'(?:[^']|'')*'")
# Separator between the search condition of an index and the filter on its rows.
_AND = re.compile(r"\band\b|;", re.IGNORECASE)
# The bounds of one comparison, up to the AND between them.
_BETWEEN = re.compile(r"(\bbetween\b[^()]*?\b)and\b", re.IGNORECASE)
# The result of a subquery that is executed for a row.
_SUBQUERY = re.compile(r"\bSubPlan\b|<in_optimizer>|<exists>|\bsubquery\s*#", re.IGNORECASE)
# A text after its first character, which alone decides whether an index serves a pattern.
_FIRST = re.compile(r"'([^']|'')(?:[^']|'')*'")
_COLLATED = re.compile(r"\bcollate\b", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
_CAST_NAME = re.compile(r"\(([\w.\"]+)\)::[\w ]+(?:\[\])?")
_CAST = re.compile(r"::[\w ]+(?:\(\d+(?:,\d+)?\))?(?:\[\])?")
_COMPARED = re.compile(
    r"[\s(]*(?:filter\b|optional:)?[\s(]*([A-Za-z_][\w.]*)\s*"
    r"(<=>|(?:<=|>=|=|<|>)(?![<>@&|*~#^%]|->)|\bin\b|\bbetween\b|\bis null\b)(.*)",
    re.IGNORECASE | re.DOTALL,
)
# Texts that stand for a value instead of a literal: a parameter, an expression that is computed
# once, and keywords around several values.
_VALUE = re.compile(
    r"<cache>\(.*|\$\d+|\(InitPlan \d+\)\.col\d+|\b(?:any|array|const|true|false)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
# A value that MySQL computes once for each row of another table, before the column.
_CACHED_FIRST = re.compile(r"(<cache>\([^()]*\))\s*(<=>|=)\s*([A-Za-z_][\w.]*)")
EQUAL = ("=", "<=>", "in", "is null")
# A comparison that excludes a value, or a negated truth value.
_EXCLUDED = re.compile(
    r"\s*(?:filter\b)?[\s(]*(?:([A-Za-z_][\w.]*)\)?\s*(?:<>|!=)\s*(?:''|[-\d.]+|true|false)"
    r"|not\s+\(?([A-Za-z_][\w.]*))[\s)]*",
    re.IGNORECASE,
)
_FILTER = re.compile(r"^\s*filter\b", re.IGNORECASE)
# Operators by which an index finds rows, and patterns and negations that need every row.
_SEARCHED = re.compile(r"=|<|>|~~|\b(?:in|between|like|glob|is null)\b", re.IGNORECASE)
_UNSEARCHED = re.compile(
    r"<>|!|\bnot\b|(?:~~\*?|\bi?like\b)\s*\(?'[%_]|\bglob\b\s*\(?'[*?\[]", re.IGNORECASE
)


def indexable(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the columns of a condition that an index can search by, equality first.

    Only one range condition is useful. Conditions inside functions, in OR, or between columns of
    one row cannot use an index.
    """
    equal, ranges = _compared(condition, table)
    first_range = [column for column in ranges if column not in equal][:1]
    return (*equal, *first_range)


def first_columns(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the columns with which an index for a condition can begin.

    An index that begins with a range reads all rows of the range, whatever its other columns are.
    So columns that are compared for equality come first.
    """
    return equal_columns(condition, table) or indexable(condition, table)


def equal_columns(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the columns that a condition compares with a value for equality."""
    return _compared(condition, table)[0]


def _compared(condition: str | None, table: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that a condition compares for equality, and those with a range."""
    text = _TEXT.sub("''", condition or "")
    if _EITHER.search(text):
        return (), []
    equal: list[str] = []
    ranges: list[str] = []
    for comparison in _AND.split(_CACHED_FIRST.sub(r"\3 \2 \1", text)):
        # An index in the column's own collation does not serve a comparison in another collation.
        if _COLLATED.search(comparison):
            continue
        match = _COMPARED.match(_CAST.sub("", _CAST_NAME.sub(r"\1", comparison)))
        if match is not None and _belongs_to(match[1], table) and not _has_column(match[3], table):
            column = match[1].rpartition(".")[2]
            (equal if match[2].lower() in EQUAL else ranges).append(column)
    return tuple(dict.fromkeys(equal)), ranges


def overlap_columns(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the two columns of a condition that asks for spans around a value; empty otherwise.

    One column has a lower bound and the other one an upper bound (`begins <= 5 and ends >= 5`).
    """
    bounds: dict[str, str] = {}
    for part in conjuncts(condition):
        match = _COMPARED.match(_CAST.sub("", _CAST_NAME.sub(r"\1", _TEXT.sub("''", part))))
        if match is None or match[2][0] not in "<>" or len(searched := indexable(part, table)) != 1:
            return ()
        bounds[searched[0]] = bounds.get(searched[0], "") + match[2][0]
    return tuple(bounds) if sorted(bounds.values()) == ["<", ">"] else ()


def conjuncts(condition: str | None) -> tuple[str, ...]:
    """Return the comparisons that AND joins in a condition; comparisons joined by OR are one."""
    text = condition or ""
    bare = _TEXT.sub(lambda quoted: f"'{' ' * (len(quoted[0]) - 2)}'", text)
    bare = _BETWEEN.sub(lambda bounds: bounds[1] + "   ", bare)
    ends = [(match.start(), match.end()) for match in _AND.finditer(bare)]
    begins = [0, *(end for _, end in ends)]
    parts = [text[at:end] for at, (end, _) in zip(begins, [*ends, (len(text), 0)], strict=True)]
    return tuple(part for part in parts if part.strip(" ()"))


def served_part(condition: str | None, table: str) -> str | None:
    """Return the part of a condition by which an index on its `indexable` columns finds rows.

    None if the index serves the whole condition, or nothing of it.
    """
    columns = set(indexable(condition, table))
    parts = conjuncts(condition)
    served = [part for part in parts if _is_served(part, table, columns)]
    if not served or len(served) == len(parts):
        return None
    return " and ".join(map(whole_part, served))


def _is_served(part: str, table: str, columns: set[str]) -> bool:
    searched = set(indexable(part, table))
    return bool(searched) and searched <= columns


def excluded_column(condition: str | None, table: str) -> str | None:
    """Return the column of a condition that only excludes a value, such as `state <> 'done'`.

    None if the condition compares something else, or more than that.
    """
    match = _EXCLUDED.fullmatch(_CAST.sub("", _TEXT.sub("''", condition or "")))
    if match is None or not _belongs_to(name := match[1] or match[2], table):
        return None
    return name.rpartition(".")[2]


def single_parts(condition: str | None, table: str) -> tuple[str, ...]:
    """Return each comparison with a table's column; empty for a condition of one comparison."""
    parts = conjuncts(condition)
    if len(parts) < 2:  # noqa: PLR2004 - one comparison is the whole condition
        return ()
    return tuple(whole_part(part) for part in parts if reads_column(part, table))


def whole_part(part: str) -> str:
    """Return a comparison without the parentheses and words of the condition around it."""
    text = _FILTER.sub("", part).strip()
    surplus = text.count("(") - text.count(")")
    while surplus > 0 and text.startswith("("):
        text, surplus = text[1:].strip(), surplus - 1
    while surplus < 0 and text.endswith(")"):
        text, surplus = text[:-1].strip(), surplus + 1
    return text


def has_subquery(condition: str | None) -> bool:
    """Return True if a condition compares the result of a subquery, which no index contains."""
    return _SUBQUERY.search(_TEXT.sub("''", condition or "")) is not None


def is_searchable(comparison: str) -> bool:
    """Return True if an index on the compared expression would find the rows of a comparison."""
    if _UNSEARCHED.search(_FIRST.sub(r"'\1'", comparison)):
        return False
    return _SEARCHED.search(_TEXT.sub("''", comparison)) is not None


def reads_column(comparison: str, table: str) -> bool:
    """Return True if a comparison reads a column of the table."""
    return _has_column(_CAST.sub("", _TEXT.sub("''", comparison)), table)


def _belongs_to(name: str, table: str) -> bool:
    """Return True if a column belongs to a table. Plans may number tables, such as `orders_1`."""
    prefix = name.rpartition(".")[0]
    return prefix in ("", table) or re.fullmatch(rf"{re.escape(table)}_\d+", prefix) is not None


def _has_column(text: str, table: str) -> bool:
    """Return True if one side of a comparison contains columns of a given table."""
    return any(_belongs_to(name, table) for name in _NAME.findall(_VALUE.sub("", text)))
