"""Parses constants in MySQL's and MariaDB's statements, and keeps their meaning when bound."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from assay.model.captured import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

INTEGER = re.compile(r"-?\s*\d+")
DECIMAL = re.compile(r"-?\s*(?:\d+\.?\d*|\.\d+)")
FLOAT = re.compile(rf"{DECIMAL.pattern}[eE][+-]?\d+")
INT8_MAX = 2**63 - 1
# A character set before a text: `_utf8mb4'...'`.
INTRODUCED = re.compile(r"_(\w+)\s*")
BINARY = "binary"
# See "String Literals" of MySQL's manual; `\%` and `\_` are kept, because `like` reads them.
ESCAPED = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


class MysqlConstants:
    """The grammar of constants in MySQL's SQL; implements `assay.model.captured.Grammar`."""

    dialect = "mysql"
    implicit_transactions = True

    def constant(self, token: str, source: str) -> Constant | None:
        """Parse a number, text or binary constant; bit constants are kept in the statement."""
        match token:
            case "NUMBER":
                return _number(source)
            case "STRING" | "NATIONAL_STRING":
                return _text(source)
            case "HEX_STRING":
                digits = source[2:-1] if source[-1] == "'" else source[2:]
                return Constant("binary", digits.rjust(len(digits) + len(digits) % 2, "0"), source)
            case "NULL":
                return Constant("null", None, source)
        return None

    def placeholder(self, name: str, constants: Sequence[Constant]) -> str:
        """Return a placeholder for a constant, cast if its type requires that."""
        cast = next((constant.cast for constant in constants if constant.cast), None)
        if cast is not None:
            return f"cast(${{{name}}} as {'datetime(6)' if cast == 'timestamp' else cast})"
        kinds = {constant.kind for constant in constants} - {"null"}
        return f"unhex(${{{name}}})" if kinds == {BINARY} else f"${{{name}}}"


def _number(source: str) -> Constant | None:
    plain = "".join(source.split())
    if INTEGER.fullmatch(source) and abs(int(plain)) <= INT8_MAX:
        return Constant("integer", int(plain), source)
    if FLOAT.fullmatch(source):
        return Constant("decimal", Decimal(plain), source, "double")
    return Constant("decimal", Decimal(plain), source) if DECIMAL.fullmatch(source) else None


def _text(source: str) -> Constant | None:
    introduced = INTRODUCED.match(source)
    quoted = source[introduced.end() if introduced else 0 :]
    quoted = quoted[1:] if quoted[0] in "nN" else quoted
    quote, inside = quoted[0], quoted[1:-1]

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code is None:
            return match[0][0] if match[0][0] == quote else match[0]
        return match[0] if code in "%_" else ESCAPES.get(code, code)

    value = ESCAPED.sub(plain, inside)
    if introduced and introduced[1].lower() == BINARY:
        raw = value.encode("utf-8", "surrogateescape")
        return Constant("binary", raw.hex(), source)
    return Constant("text", value, source)
