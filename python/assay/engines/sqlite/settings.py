"""Checks SQLite's settings (pragmas): names, allowed values, current values.

SQLite silently accepts unknown pragmas and invalid values, so this module checks both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.units import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

CONF = Path(__file__).parent / "conf"
CASE_SENSITIVE_LIKE = "case_sensitive_like"
JOURNAL_MODE = "journal_mode"
# These settings belong to the file; changing them requires rewriting a filled file.
OF_THE_FILE = ("page_size", "auto_vacuum")
SWITCH = ("off", "on")
SIZES = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE = re.compile(rf"(\d+) ?({'|'.join(SIZES)})")
SWITCH_WORDS = {"0": "off", "no": "off", "false": "off", "1": "on", "yes": "on", "true": "on"}


@dataclass(frozen=True)
class Pragma:
    """The values that one SQLite pragma accepts.

    Attributes:
        choices: Keywords by the number that SQLite reports; numbers are also accepted.
        bytes_each: Bytes of one unit of a size, which may then be written with a unit.
    """

    choices: tuple[str, ...] = ()
    bytes_each: int | None = None

    def canonical(self, value: str) -> str | None:
        """Return a pragma's value in its recorded form; None if it is not accepted."""
        word = value.strip().lower()
        if not self.choices:
            return self._number(word)
        if self.choices[: len(SWITCH)] == SWITCH:
            word = SWITCH_WORDS.get(word, word)
        number = whole_number(word)
        if number is not None and number < len(self.choices):
            word = self.choices[number]
        return word if word in self.choices else None

    def _number(self, word: str) -> str | None:
        number = whole_number(word.removeprefix("-"))
        if number is not None:
            return str(-number if word.startswith("-") else number)
        size = _SIZE.fullmatch(word)
        count = None if size is None else whole_number(size[1])
        if size is None or count is None or self.bytes_each is None:
            return None
        return str(count * SIZES[size[2]] // self.bytes_each)

    @property
    def takes(self) -> str:
        """Return text on the values that a pragma accepts."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return "a whole number" + (" or a size such as 64MiB" if self.bytes_each else "")


NUMBER, BOOLEAN, BYTES = Pragma(), Pragma(SWITCH), Pragma(bytes_each=1)
# Negative values are in KiB, positive values in pages.
PAGES_OR_SIZE = Pragma(bytes_each=-1024)
PRAGMAS = {
    "analysis_limit": NUMBER,
    "auto_vacuum": Pragma(("none", "full", "incremental")),
    "automatic_index": BOOLEAN,
    "busy_timeout": NUMBER,
    "cache_size": PAGES_OR_SIZE,
    CASE_SENSITIVE_LIKE: BOOLEAN,
    "cell_size_check": BOOLEAN,
    "checkpoint_fullfsync": BOOLEAN,
    "foreign_keys": BOOLEAN,
    "fullfsync": BOOLEAN,
    "hard_heap_limit": BYTES,
    JOURNAL_MODE: Pragma(("delete", "persist", "off", "truncate", "memory", "wal")),
    "journal_size_limit": BYTES,
    "max_page_count": NUMBER,
    "mmap_size": BYTES,
    "page_size": NUMBER,
    "read_uncommitted": BOOLEAN,
    "recursive_triggers": BOOLEAN,
    "reverse_unordered_selects": BOOLEAN,
    "secure_delete": Pragma(("off", "on", "fast")),
    "soft_heap_limit": BYTES,
    "synchronous": Pragma(("off", "normal", "full", "extra")),
    "temp_store": Pragma(("default", "file", "memory")),
    "threads": NUMBER,
    "trusted_schema": BOOLEAN,
    "wal_autocheckpoint": NUMBER,
}


def checked(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with their values in recorded form.

    Raises:
        EngineError: If the setting does not exist, or does not accept the value.
    """
    canonical_settings = {}
    for name, value in settings.items():
        if name not in PRAGMAS:
            raise EngineError(f"SQLite has no setting {name!r}; {suggestion(name, [*PRAGMAS])}")
        canonical = PRAGMAS[name].canonical(value)
        if canonical is None:
            raise EngineError(
                f"SQLite rejects --set {name}={value}: the setting accepts {PRAGMAS[name].takes}."
            )
        canonical_settings[name] = canonical
    return canonical_settings


def effective(connection: apsw.Connection) -> dict[str, str]:
    """Return the value of every setting of a SQLite connection."""
    settings = {name: _effective_value(connection, name) for name in PRAGMAS}
    return {name: value for name, value in settings.items() if value is not None}


def apply(connection: apsw.Connection, settings: Mapping[str, str]) -> None:
    """Apply checked settings to a SQLite connection.

    Raises:
        EngineError: If SQLite reports another value afterwards.
    """
    _write_anew(connection, {name: settings[name] for name in OF_THE_FILE if name in settings})
    for name, value in settings.items():
        if name not in OF_THE_FILE:
            connection.pragma(name, value)
    for name, value in settings.items():
        effective_value = _effective_value(connection, name)
        if effective_value != value:
            raise EngineError(
                f"SQLite ignores --set {name}={value}: the setting stays at {effective_value}. "
                "The value is out of range, or another setting prevents it."
            )


def _write_anew(connection: apsw.Connection, wanted: Mapping[str, str]) -> None:
    """Rewrite the SQLite file with other page settings, which only empty files accept directly."""
    if all(_effective_value(connection, name) == value for name, value in wanted.items()):
        return
    # The page size cannot change while there may be a write-ahead log.
    connection.pragma(JOURNAL_MODE, "delete")
    for name, value in wanted.items():
        connection.pragma(name, value)
    connection.execute((CONF / "rewrite.sql").read_text(encoding="utf-8"))


def _effective_value(connection: apsw.Connection, name: str) -> str | None:
    if name == CASE_SENSITIVE_LIKE:
        text = (CONF / "like_is_case_sensitive.sql").read_text(encoding="utf-8")
        pragma_value = connection.execute(text).get
    else:
        pragma_value = connection.pragma(name)
    return None if pragma_value is None else PRAGMAS[name].canonical(str(pragma_value))
