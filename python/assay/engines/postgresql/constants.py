"""Parses constants in PostgreSQL's statements, and keeps their meaning when bound."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from assay.model.captured import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

INTEGER = re.compile(r"-?\s*\d+")
DECIMAL = re.compile(r"-?\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
INT4_MAX, INT8_MAX = 2**31 - 1, 2**63 - 1
# See "String Constants with C-Style Escapes" of PostgreSQL's manual.
CODE = r"x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3}|."
ESCAPED = re.compile(rf"\\({CODE})|''", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class PostgresConstants:
    """The grammar of constants in PostgreSQL's SQL; implements `Grammar`."""

    dialect = "postgresql"
    implicit_transactions = False

    def constant(self, token: str, source: str) -> Constant | None:
        """Parse a number, or a text in any form except `U&'...'`; bit constants are kept."""
        match token:
            case "NUMBER":
                return number(source, INT8_MAX)
            case "STRING":
                return Constant("text", source[1:-1].replace("''", "'"), source)
            case "BYTE_STRING":
                return _escaped(source)
            case "HEREDOC_STRING":
                tag = source.index("$", 1) + 1
                return Constant("text", source[tag:-tag], source)
            case "NULL":
                return Constant("null", None, source)
        return None

    def placeholder(self, name: str, constants: Sequence[Constant]) -> str:
        """Return a placeholder for a constant, cast if its type requires that."""
        cast = next((constant.cast for constant in constants if constant.cast), None)
        if cast is not None:
            return f"cast(${{{name}}} as {cast})"
        kinds = {constant.kind for constant in constants if constant.source is not None}
        kinds -= {"null"}
        if kinds == {"integer"}:
            largest = max(abs(int(constant.value or 0)) for constant in constants)
            return f"${{{name}}}::{'int' if largest <= INT4_MAX else 'bigint'}"
        return (
            f"${{{name}}}::numeric" if kinds and kinds <= {"integer", "decimal"} else f"${{{name}}}"
        )


def number(source: str, most: int) -> Constant | None:
    """Parse a number; None if it is not written in decimal digits."""
    plain = "".join(source.split())
    if INTEGER.fullmatch(source) and abs(int(plain)) <= most:
        return Constant("integer", int(plain), source)
    return Constant("decimal", Decimal(plain), source) if DECIMAL.fullmatch(source) else None


def _escaped(source: str) -> Constant | None:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code is None:
            return "'"
        if code[0] in "xuU" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0].isdigit() else ESCAPES.get(code, code)

    return Constant("text", ESCAPED.sub(plain, source[2:-1]), source)
