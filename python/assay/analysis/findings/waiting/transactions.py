"""Reads what the statements of an operation do in its transaction: begin, read, change and lock."""

from __future__ import annotations

import re

from assay.model.sql import without_remarks

WRITES = {"insert", "update", "delete", "replace", "merge"}
READS = {"select", "with", "values", "table"}
# First words of statements that begin and end a transaction, or a part of one.
BOUNDS = {"begin", "start", "commit", "end", "rollback", "savepoint", "release"}
# Parts of a text that may contain a semicolon: comments, strings, quoted names, quoted bodies.
_OPAQUE = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
    | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | (?P<mark>\$\w*\$).*?(?P=mark)""",
    re.DOTALL | re.VERBOSE,
)
_FIRST_WORD = re.compile(r"\s*\(*\s*(\w+)")
# A transaction that takes the lock for writing before its first statement.
_AT_ONCE = re.compile(r"begin\s+(?:immediate|exclusive)\b", re.IGNORECASE)
# A query may change rows in a part of it.
_CHANGES = re.compile(r"\b(?:insert|update|delete|merge)\b|\breplace\s+into\b", re.IGNORECASE)
# A query may ask for a lock: of rows, or by a number or a name.
_LOCKS = re.compile(
    r"\bfor\s+(?:key\s+)?share\b|\block\s+in\s+share\s+mode\b|\bget_lock\s*\("
    r"|\bpg_(?:try_)?advisory_\w*lock",
    re.IGNORECASE,
)


def statements_in(text: str) -> list[str]:
    """Return the statements of a text without comments, with `x` for strings and quoted names."""
    plain = _OPAQUE.sub(lambda match: " " if match["comment"] else " x ", text)
    return [part.strip() for part in plain.split(";") if part.strip()]


def first_word(statement: str) -> str:
    """Return the first word of a statement in lower case; empty without one."""
    match = _FIRST_WORD.match(without_remarks(statement))
    return match[1].lower() if match else ""


def is_plain_read(statement: str | None) -> bool:
    """Return True if a statement is a query that changes no row and asks for no lock."""
    text = without_remarks(statement)
    return first_word(text) in READS and not _CHANGES.search(text) and not _LOCKS.search(text)


def only_reads(text: str) -> bool:
    """Return True if the statements of an operation are plain queries, in a transaction or not."""
    statements = [part for part in statements_in(text) if first_word(part) not in BOUNDS]
    return bool(statements) and all(is_plain_read(statement) for statement in statements)


def locking_begin(text: str) -> str | None:
    """Return the statement that begins an operation's transaction with the lock for writing."""
    for statement in statements_in(text):
        if match := _AT_ONCE.match(statement):
            return " ".join(match[0].lower().split())
    return None
