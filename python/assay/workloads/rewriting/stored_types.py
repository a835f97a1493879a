"""Decides the type of a column that stores a computed value, for each dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from assay.workloads.rewriting.grammar import grammar_of, sql_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CASTS = (exp.Cast, exp.TryCast)
PATTERNS = (exp.Escape, exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.RegexpILike)
# Functions with an integer in each dialect that has them.
INTEGERS = (
    *(exp.Length, exp.StrPosition, exp.Unicode, exp.Levenshtein, exp.DateDiff, exp.TimestampDiff),
    *(exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfMonth, exp.DayOfWeek),
    *(exp.DayOfYear, exp.Hour, exp.Minute),
)
# Fields of a time that are integers, unlike a second with its fraction.
INTEGER_FIELDS = {
    *("century", "decade", "year", "quarter", "month", "week", "day", "hour", "minute"),
    *("dow", "doy", "isodow", "isoyear"),
}
# Functions with a floating-point number, except for PostgreSQL's numeric arguments.
FLOATS = (exp.Sqrt, exp.Cbrt, exp.Exp, exp.Ln, exp.Log, exp.Pow, exp.Sin, exp.Cos, exp.Tan)
TIMESTAMPS = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ)
TRUNCATED = (exp.DateTrunc, exp.TimestampTrunc)
DATES = (exp.Date, exp.TsOrDsToDate, exp.LastDay)
# Functions with a text, to which the parser gives no type.
TEXTS = (
    *(exp.Left, exp.Right, exp.Pad, exp.Replace, exp.SplitPart, exp.Hex),
    *(exp.RegexpExtract, exp.RegexpReplace, exp.JSONExtractScalar),
)
# Directives of a time's format with which the value has a zone, or more digits than usual.
ZONED = ("%z", "%n", "%g")
BYTES = (exp.DataType.Type.BINARY, exp.DataType.Type.VARBINARY, exp.DataType.Type.BLOB)
# Dialects in which a temporary table with a text column differs from one with a short text.
SHORT_TEXTS = {"mysql", "mariadb"}
# Greatest length of such a short text that an index and a temporary table in memory may have.
SHORT_MAX = 255
DATE_LETTERS = len("2024-12-31")
# Functions with an argument that is the greatest length of their text.
CUT = (exp.Substring, exp.Left, exp.Right, exp.Pad)
POSTGRES, DUCKDB, SQLITE = "postgres", "duckdb", "sqlite"


def column_type(node: exp.Expr, dialects: Sequence[str]) -> str | None:
    """Return the SQL of a column type that holds each value of a node; None if none is known.

    The type is empty for a column of SQLite that keeps each value as it is.

    Args:
        node: Cast, pattern or function, with types annotated.
        dialects: Dialects of the engine in order of preference.
    """
    if isinstance(node, CASTS):
        kind = node.args["to"]
        is_text = kind.this in (*exp.DataType.TEXT_TYPES, *BYTES)
        name = sql_of(kind, dialects)
    elif grammar_of(dialects) == SQLITE:
        # A declared type would convert values, and the other side of comparisons.
        return "" if node.find(exp.Anonymous) is None else None
    elif (wide := _wide_type(node, grammar_of(dialects))) is not None:
        is_text = wide == "text"
        name = sql_of(exp.DataType.build(wide), dialects)
    else:
        return None
    return _short_text(node) if is_text and SHORT_TEXTS.intersection(dialects) else name


def _short_text(node: exp.Expr) -> str | None:
    """Return the type of a text with a known greatest length; None for others."""
    letters = _letters_max(node)
    return None if letters is None or not 0 < letters <= SHORT_MAX else f"varchar({letters})"


def _letters_max(node: exp.Expr) -> int | None:
    """Return the greatest number of letters of a value as text; None if it is not known."""
    if isinstance(node, exp.Literal):
        return len(node.name)
    if isinstance(node, DATES):
        return DATE_LETTERS
    if isinstance(node, exp.Concat):
        lengths = [_letters_max(part) for part in node.expressions]
        return None if None in lengths else sum(length or 0 for length in lengths)
    if isinstance(node, CUT):
        length = node.args.get("length") or node.args.get("expression")
        return int(length.name) if isinstance(length, exp.Literal) and length.is_int else None
    return None


def _wide_type(node: exp.Expr, grammar: str | None) -> str | None:
    """Return a column type that holds each value of a function; None if none is known."""
    kind = None if node.type is None else node.type.this
    name: str | None = None
    if isinstance(node, PATTERNS) or kind == exp.DataType.Type.BOOLEAN:
        name = "boolean"
    elif isinstance(node, INTEGERS):
        name = "bigint"
    elif isinstance(node, FLOATS):
        name = None if grammar == POSTGRES else "double"
    elif isinstance(node, DATES):
        # In PostgreSQL and MySQL; a second argument is of other dialects.
        name = "date" if len([part for part in node.args.values() if part]) == 1 else None
    elif isinstance(node, (exp.Extract, exp.StrToDate, exp.StrToTime, *TRUNCATED)):
        name = _type_of_time(node, grammar)
    elif isinstance(node, TEXTS) or kind in exp.DataType.TEXT_TYPES:
        name = "text"
    return name


def _type_of_time(node: exp.Expr, grammar: str | None) -> str | None:
    """Return a column type that holds each field of a time, or each time out of a text."""
    if isinstance(node, TRUNCATED):
        return "timestamp" if _is_timestamp(node.this, grammar) else None
    if isinstance(node, exp.StrToDate):
        return "date" if grammar == POSTGRES else None
    if isinstance(node, exp.StrToTime):
        written = node.args["format"].sql().lower()
        is_plain = grammar == DUCKDB and not any(directive in written for directive in ZONED)
        return "timestamp" if is_plain else None
    if grammar == POSTGRES:
        return "decimal"
    return "bigint" if node.name.lower() in INTEGER_FIELDS else None


def _is_timestamp(node: exp.Expr, grammar: str | None) -> bool:
    """Return True for a value that is certainly a time without a zone."""
    if isinstance(node, CASTS):
        kind = node.args["to"]
        is_date = grammar == DUCKDB and kind.this == exp.DataType.Type.DATE
        return not kind.expressions and (kind.this in TIMESTAMPS or is_date)
    return isinstance(node, exp.StrToTime) and _type_of_time(node, grammar) == "timestamp"
