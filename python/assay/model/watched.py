"""Types for an observed server: statement texts, and sessions that execute them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

# Key of statements that this role may not see.
HIDDEN_KEY = "hidden"
SHOWN_LENGTH = 48
FINGERPRINT_LENGTH = 200
# Servers truncate texts; statements that agree in this many characters count as one.
CANONICAL_LENGTH = 500
# Matches constants of a statement: texts, numbers outside names, and lists of them.
_CONSTANT = re.compile(r"'(?:[^']|'')*'|(?<![\w$.@])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b", re.IGNORECASE)
# Words that a server may also replace as constants; `extract(epoch from ...)` contains a text.
_WORD_CONSTANT = re.compile(r"\$\d+|\b(?:null|true|false|epoch)\b")
_NO_NAME = re.compile(r"\W+")
_NO_LETTER = re.compile(r"[^a-z_]+")
_PLACES = re.compile(r"\(\s*(?:\?|\$\d+)(?:\s*,\s*(?:\?|\$\d+|\.\.\.))+\s*\)")
_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
# Matches a statement up to the first quote that is not closed.
_CLOSED = re.compile(r"(?:[^'\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][\w$]*")
# Matches the table of a statement after these words, by the statement's first word.
_TABLE = r"[\s(]+(?:only\s+|ignore\s+|into\s+)*([\w\"`.$]+)"
_TABLE_AFTER = {
    "update": re.compile(rf"\bupdate{_TABLE}", re.IGNORECASE),
    "insert": re.compile(rf"\binto{_TABLE}", re.IGNORECASE),
    "replace": re.compile(rf"\breplace{_TABLE}", re.IGNORECASE),
    "truncate": re.compile(rf"\btruncate(?:\s+table)?{_TABLE}", re.IGNORECASE),
}
# A function call after `from` is not a table: `extract(epoch from now())`.
_FROM = re.compile(rf"\bfrom{_TABLE}(?![\w\"`.$]*\s*\()", re.IGNORECASE)


@dataclass(frozen=True)
class SessionLook:
    """A sample of a session, or of its worker, that executed a statement.

    Attributes that are not known are None.

    Attributes:
        session: The engine's id of the session.
        statement: Key of the statement; None if it belongs to another database.
        leader: Session that a worker works for.
        tid: The thread that serves the session.
        application: Application name of its client.
        database: Its database.
        wait_kind, wait_event: Wait event and its class, in the engine's terms.
        seconds: Time since the statement began.
    """

    session: int
    statement: str | None
    leader: int | None = None
    tid: int | None = None
    application: str | None = None
    database: str | None = None
    wait_kind: str | None = None
    wait_event: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class StatementText:
    """The text of an observed statement.

    Attributes:
        text: Statement with placeholders for constants, as the server stores it.
        example: Statement as a client sent it, with its constants; None if its full text was not
            seen.
    """

    text: str
    example: str | None = None


def without_constants(text: str) -> str:
    """Return a statement in one line, with `?` for its constants and without its comments."""
    plain = " ".join(_COMMENT.sub(" ", text).split()).rstrip("; ")
    return _PLACES.sub("(?, ...)", _CONSTANT.sub("?", plain))


def statement_key(normalised: str) -> str:
    """Return a short key of a statement without its constants."""
    return blake2b(normalised.lower().encode(), digest_size=8).hexdigest()


def says_something(text: str | None) -> bool:
    """Return True if a statement's text contains SQL."""
    return text is not None and _WORD.search(_COMMENT.sub(" ", text)) is not None


def statement_name(text: str) -> str:
    """Return a statement name that fits a command line, such as `update-accounts`."""
    plain = _COMMENT.sub(" ", text).strip()
    match = _WORD.search(plain)
    if match is None:
        return "statement"
    verb = match[0].lower()
    match_of_table = _TABLE_AFTER.get(verb, _FROM).search(plain)
    table = (
        ""
        if match_of_table is None
        else match_of_table[1].strip('"`').rpartition(".")[2].strip('"`')
    )
    kept = "".join(char if char.isalnum() or char == "_" else "-" for char in table)
    return (f"{verb}-{kept}" if kept else verb)[:SHOWN_LENGTH].rstrip("-")


def statement_names(texts: dict[str, str]) -> dict[str, str]:
    """Return a name for each key; repeated names get a number."""
    names: dict[str, str] = {}
    seen: dict[str, int] = {}
    for key, text in texts.items():
        name = statement_name(text)
        seen[name] = seen.get(name, 0) + 1
        names[key] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return names


def without_open_text(text: str) -> str:
    """Return a truncated statement without its comments and the constant that has no end."""
    plain = _COMMENT.sub(" ", text)
    match = _CLOSED.match(plain)
    return plain if match is None else match[0]


def canonical(text: str) -> str:
    """Return a statement's letters and digits without constants, whatever its layout."""
    plain = _CONSTANT.sub("", _COMMENT.sub(" ", text)).lower()
    letters = _NO_NAME.sub("", _WORD_CONSTANT.sub("", plain))
    # Servers of MySQL's family store one word as the other.
    return letters.replace("database", "schema")[:CANONICAL_LENGTH]


def fingerprint(text: str) -> str:
    """Return the letters of a statement's beginning, without constants and layout."""
    plain = _CONSTANT.sub("", _COMMENT.sub(" ", text)).lower()
    return _NO_LETTER.sub("", _WORD_CONSTANT.sub("", plain))[:FINGERPRINT_LENGTH]
