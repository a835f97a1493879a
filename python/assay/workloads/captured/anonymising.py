"""Replaces constants by random ones of the same type and length, consistently.

The result still shows a value's type, length, positions of digits and marks, and frequency. A
number becomes a smaller one with as many digits, which fits its type and, for dense keys, its
table. All dates are shifted by the same number of days. The mapping of values is drawn from a key
that is deleted afterwards.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import secrets
import string
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.model.captured import Constant, Value

# Quoted keywords of SQL, which reveal nothing about the data.
UNITS = "microsecond millisecond second minute hour day week month quarter year decade epoch"
PUBLIC = {"true", "false", "t", "f", "utc", "isodow", "dow", "doy", "isoyear", *UNITS.split()}
INTERVAL = re.compile(rf"[+-]?\s*\d+\s*(?:{'|'.join(UNITS.split())})s?", re.IGNORECASE)
DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?=$|[ T])")
TIMED = re.compile(r"[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[+-]\d\d(?::?\d\d)?|Z)?$")
QUOTED = re.compile(r"(0x|(?:\w|U&)?['\"]|\$\w*\$)(.*?)(['\"]|\$\w*\$|)", re.DOTALL)
HEXADECIMAL = re.compile(r"[0-9a-f-]{32,36}|\\x[0-9a-f]*", re.IGNORECASE)
DIGITS = re.compile(r"\d+")
DAYS_MOVED_MAX = 3_000
TRIES = 20


class Anonymiser:
    """Replaces the constants of one capture by random ones."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)
        self._days = self._random("days").randint(1, DAYS_MOVED_MAX)
        self._texts: dict[str, str] = {}

    def constant(self, constant: Constant) -> Constant:
        """Return a constant with another value of the same form; NULL stays NULL."""
        return replace(constant, value=self.value(constant.value, constant.kind))

    def value(self, value: Value | Decimal, kind: str) -> Value | Decimal:
        """Return another value of the same kind and form."""
        if isinstance(value, Decimal):
            return self._decimal(value)
        if isinstance(value, int):
            return self._signed(value)
        if value is None:
            return None
        return self._hexadecimal(value, 0) if kind == "binary" else self.text(value)

    def quoted(self, source: str) -> str:
        """Return the replacement of a quoted text that stays in a statement."""
        match = QUOTED.fullmatch(source)
        if match is None:
            return source
        before, inside, after = match.groups()
        if before.lower() == "b'":
            source_of_bits = self._random(inside)
            made = "".join(source_of_bits.choice("01") for _ in inside)
        elif before.lower() in ("x'", "0x"):
            made = self._hexadecimal(inside, 0)
        else:
            made = self.text(inside)
        return f"{before}{made}{after}"

    def text(self, value: str) -> str:
        """Return another random text of the same length and form."""
        if value not in self._texts:
            self._texts[value] = self._new_text(value)
        return self._texts[value]

    def _new_text(self, value: str) -> str:
        if value.lower() in PUBLIC or INTERVAL.fullmatch(value.strip()):
            return value
        day = DAY.match(value)
        if day and (day.end() == len(value) or TIMED.fullmatch(value[day.end() :])):
            return self._moved(value, day)
        if value[:1] in ("{", "["):
            try:
                return json.dumps(self._document(json.loads(value)), ensure_ascii=False)
            except ValueError:
                pass
        if HEXADECIMAL.fullmatch(value):
            return self._hexadecimal(value, 2 if value.startswith("\\x") else 0)
        for attempt in range(TRIES):
            made = self._lettered(value, attempt)
            if made != value:
                return made
        return value

    def _random(self, value: str, attempt: int = 0) -> random.Random:
        seed = f"{attempt}:{value}".encode("utf-8", "surrogateescape")
        digest = hashlib.blake2b(seed, key=self._key).digest()
        return random.Random(digest)  # noqa: S311 - it is seeded with a keyed digest

    def _lettered(self, value: str, attempt: int) -> str:
        source = self._random(value, attempt)

        def letter(old: str) -> str:
            if not old.isalpha():
                return old
            return source.choice(
                string.ascii_uppercase if old.isupper() else string.ascii_lowercase
            )

        def number(match: re.Match[str]) -> str:
            return _smaller(match[0], source)

        return "".join(map(letter, DIGITS.sub(number, value)))

    def _signed(self, value: int) -> int:
        digits = str(abs(value))
        made = int(_smaller(digits, self._random(digits)))
        return -made if value < 0 else made

    def _decimal(self, value: Decimal) -> Decimal:
        old = f"{value:f}"
        return Decimal(self._lettered(old, 0))

    def _hexadecimal(self, value: str, kept: int) -> str:
        source = self._random(value)
        made = (source.choice("0123456789abcdef") if old.isalnum() else old for old in value[kept:])
        return value[:kept] + "".join(made)

    def _moved(self, value: str, day: re.Match[str]) -> str:
        try:
            moved = date(*map(int, day.groups())) - timedelta(days=self._days)
        except (ValueError, OverflowError):
            return self._lettered(value, 0)
        return moved.isoformat() + value[day.end() :]

    def _document(self, value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
        if isinstance(value, dict):
            return {self.text(key): self._document(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._document(inner) for inner in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool) or value is None:
            return value
        return self._signed(value) if isinstance(value, int) else float(self.text(repr(value)))


def _smaller(digits: str, source: random.Random) -> str:
    """Return a smaller random number with as many digits, if there is one."""
    if len(digits) == 1:
        return source.choice([other for other in "123456789" if other != digits])
    zeros = len(digits) - len(digits.lstrip("0"))
    if zeros:
        rest = digits[zeros:]
        return "0" * zeros + (_smaller(rest, source) if rest else "")
    least, value = 10 ** (len(digits) - 1), int(digits)
    return str(source.randint(least, value - 1) if value > least else value + source.randint(1, 9))
