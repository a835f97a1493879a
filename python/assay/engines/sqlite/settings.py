"""SQLite's settings are pragmas: which there are, what they take, and what they are now.

SQLite takes an unknown pragma and a senseless value without a word, so both are looked at here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

CONF = Path(__file__).parent / "conf"
CASE_SENSITIVE_LIKE = "case_sensitive_like"
JOURNAL_MODE = "journal_mode"
# They are of the file, and a filled one has to be written anew for them.
OF_THE_FILE = ("page_size", "auto_vacuum")
SWITCH = ("off", "on")
SWITCH_WORDS = {"0": "off", "no": "off", "false": "off", "1": "on", "yes": "on", "true": "on"}


@dataclass(frozen=True)
class Pragma:
    """What one pragma takes: a whole number where it has no words.

    Attributes:
        words: By the number that SQLite tells; it takes numbers, too.
    """

    words: tuple[str, ...] = ()

    def canonical(self, value: str) -> str | None:
        """A value as it is recorded; None if the pragma does not take it."""
        word = value.strip().lower()
        if not self.words:
            return str(int(word)) if word.removeprefix("-").isdecimal() else None
        if self.words[: len(SWITCH)] == SWITCH:
            word = SWITCH_WORDS.get(word, word)
        if word.isdecimal() and int(word) < len(self.words):
            word = self.words[int(word)]
        return word if word in self.words else None

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        return f"one of {', '.join(self.words)}" if self.words else "a whole number"


NUMBER, BOOLEAN = Pragma(), Pragma(SWITCH)
PRAGMAS = {
    "analysis_limit": NUMBER,
    "auto_vacuum": Pragma(("none", "full", "incremental")),
    "automatic_index": BOOLEAN,
    "busy_timeout": NUMBER,
    "cache_size": NUMBER,
    CASE_SENSITIVE_LIKE: BOOLEAN,
    "cell_size_check": BOOLEAN,
    "checkpoint_fullfsync": BOOLEAN,
    "foreign_keys": BOOLEAN,
    "fullfsync": BOOLEAN,
    "hard_heap_limit": NUMBER,
    JOURNAL_MODE: Pragma(("delete", "persist", "off", "truncate", "memory", "wal")),
    "journal_size_limit": NUMBER,
    "max_page_count": NUMBER,
    "mmap_size": NUMBER,
    "page_size": NUMBER,
    "read_uncommitted": BOOLEAN,
    "recursive_triggers": BOOLEAN,
    "reverse_unordered_selects": BOOLEAN,
    "secure_delete": Pragma(("off", "on", "fast")),
    "soft_heap_limit": NUMBER,
    "synchronous": Pragma(("off", "normal", "full", "extra")),
    "temp_store": Pragma(("default", "file", "memory")),
    "threads": NUMBER,
    "trusted_schema": BOOLEAN,
    "wal_autocheckpoint": NUMBER,
}


def checked(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with their values as they are recorded.

    Raises:
        EngineError: If there is no such setting, or it does not take the value.
    """
    found = {}
    for name, value in settings.items():
        if name not in PRAGMAS:
            raise EngineError(f"SQLite has no setting {name!r}; {suggestion(name, [*PRAGMAS])}")
        canonical = PRAGMAS[name].canonical(value)
        if canonical is None:
            raise EngineError(
                f"SQLite refuses --set {name}={value}: it takes {PRAGMAS[name].takes}."
            )
        found[name] = canonical
    return found


def effective(connection: apsw.Connection) -> dict[str, str]:
    """Every setting as a connection has it."""
    told = {name: _told(connection, name) for name in PRAGMAS}
    return {name: value for name, value in told.items() if value is not None}


def apply(connection: apsw.Connection, settings: Mapping[str, str]) -> None:
    """Gives a connection its settings, which are `checked`; those of the file once it has them.

    Raises:
        EngineError: If SQLite has another value then.
    """
    _write_anew(connection, {name: settings[name] for name in OF_THE_FILE if name in settings})
    for name, value in settings.items():
        if name not in OF_THE_FILE:
            connection.pragma(name, value)
    for name, value in settings.items():
        told = _told(connection, name)
        if told != value:
            raise EngineError(
                f"SQLite does not take --set {name}={value}: it stays at {told}."
                " The value is out of range, or another setting rules it out."
            )


def _write_anew(connection: apsw.Connection, wanted: Mapping[str, str]) -> None:
    """The file with other pages than it has; a file without tables just takes them."""
    if all(_told(connection, name) == value for name, value in wanted.items()):
        return
    # Pages cannot change their size while there may be a log of them.
    connection.pragma(JOURNAL_MODE, "delete")
    for name, value in wanted.items():
        connection.pragma(name, value)
    connection.execute((CONF / "rewrite.sql").read_text(encoding="utf-8"))


def _told(connection: apsw.Connection, name: str) -> str | None:
    if name == CASE_SENSITIVE_LIKE:
        text = (CONF / "like_is_case_sensitive.sql").read_text(encoding="utf-8")
        told = connection.execute(text).get
    else:
        told = connection.pragma(name)
    return None if told is None else PRAGMAS[name].canonical(str(told))
