"""Decides whether a statement that changes settings, or begins a transaction, also writes.

A setting has an effect if it names a file that the server writes, lets a read-only session write,
or changes how the server reads the texts of later statements.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from assay.workloads.effect_facts import (
    DUCKDB,
    MYSQL,
    READS,
    UNGUARDS,
    Effect,
    effect_facts,
    grammars,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.effect_facts import Word

SERVER_SCOPES = {"global", "persist", "persist_only", "password"}
OF_SERVERS = {("default", "role"), ("resource", "group")}
SESSION_SCOPES = {"session", "local", "global", "@@", "."}
# Words of an assignment of one value, such as `@@session.name = value`.
PLAIN_WORDS_MAX = 6
REREADS = "changes how the server reads the texts of later statements"


def set_effect(words: Sequence[Word], dialects: Sequence[str]) -> Effect:
    """Return the effect of SET, BEGIN or START, whose first word is the first of `words`."""
    facts, texts = effect_facts(), [word.text for word in words]
    if ("read", "write") in pairwise(texts) or facts.sets["unguarding"].intersection(texts):
        return UNGUARDS
    if texts[0] != "set":
        return _beginning(texts)
    effect = READS
    for assignment in _assignments(words[1:]):
        effect = effect.worse(_assigned(assignment, dialects))
    return effect


def reset_effect(words: Sequence[Word], dialects: Sequence[str]) -> Effect:
    """Return the effect of RESET, which on MySQL deletes logs and positions."""
    texts = [word.text for word in words]
    if effect_facts().sets["unguarding"].intersection(texts):
        return UNGUARDS
    if MYSQL in grammars(dialects) and "query" not in texts[1:2]:
        return Effect("writes", "reset changes the server", "ends")
    return _of_duckdb(words[1:]) if DUCKDB in dialects else READS


def pragma_effect(words: Sequence[Word], dialects: Sequence[str]) -> Effect:
    """Return the effect of a pragma of SQLite or DuckDB, with or without a value."""
    # SQLite takes a text in quotes as a name, too.
    texts = [text for word in words[1:] if (text := word.text or word.literal)]
    # A schema may precede the pragma's name.
    name = next(iter(texts[2:] if texts[1:2] == ["."] else texts), "")
    valued = any(word.text in {"=", "("} for word in words)
    sets = effect_facts().sets
    if name in sets["unguarding"] and valued:
        return UNGUARDS
    harmless = sets["harmless_pragmas"]
    if DUCKDB in dialects:
        harmless |= sets["harmless_settings"]
    if name in sets["writing_pragmas"] or (valued and name not in harmless):
        return Effect("writes", f"pragma {name} changes the file", "ends")
    return READS


def set_config_effect(arguments: Sequence[Word]) -> Effect:
    """Return the effect of PostgreSQL's `set_config` with the words between its brackets."""
    first = arguments[0] if arguments else None
    if first is None or not first.is_plain or [word.text for word in arguments[1:2]] != [","]:
        return Effect("unknown", "set_config() changes a setting that is not named here", "ends")
    sets = effect_facts().sets
    if first.literal in sets["unguarding"]:
        return UNGUARDS
    if first.literal in sets["rereading"] | sets["encoding_settings"]:
        return Effect("unknown", f"set_config() of {first.literal} {REREADS}", "ends")
    return READS


def _beginning(texts: Sequence[str]) -> Effect:
    """Return the effect of BEGIN or START; with other words than a transaction's they do more."""
    modes = effect_facts().sets["transaction_words"]
    for text, behind in pairwise((*texts[1:], "")):
        if text not in modes or (text == "not" and behind != "deferrable"):
            return Effect("unknown", f"{texts[0]} {text} begins more than a transaction", "ends")
    return READS


def _assignments(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of each assignment of a SET statement, which commas separate."""
    made: list[list[Word]] = [[]]
    depth = 0
    for word in words:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word.text, 0)
        if word.text == "," and depth == 0:
            made.append([])
        else:
            made[-1].append(word)
    return made


def _assigned(words: Sequence[Word], dialects: Sequence[str]) -> Effect:
    """Return the effect of one assignment, without the word SET."""
    texts = [word.text for word in words]
    if DUCKDB in dialects:
        return _of_duckdb(words)
    scope = "".join(texts[:2] if texts[:1] == ["@@"] else texts[:1])
    if scope.strip("@") in SERVER_SCOPES or tuple(texts[:2]) in OF_SERVERS:
        return Effect("writes", f"set {scope} changes the server", "ends")
    name = next((text for text in texts if text not in SESSION_SCOPES), "")
    if MYSQL in grammars(dialects) and name in effect_facts().sets["file_settings"]:
        return Effect("writes", f"set {name} has the server write a file", "ends")
    return _rereading(words)


def _rereading(words: Sequence[Word]) -> Effect:
    """Return the effect of an assignment on the texts of later statements."""
    sets, texts = effect_facts().sets, [word.text for word in words]
    values = {word.text or word.literal for word in words}
    for name in texts:
        is_on = name == "standard_conforming_strings" and values & {"on", "true"}
        if name in sets["rereading"] and not is_on:
            return Effect("unknown", f"set {name} {REREADS}", "ends")
    if "sql_mode" in texts and not _is_harmless_mode(words):
        return Effect("unknown", f"set sql_mode to this value {REREADS}", "ends")
    encoding = sets["encoding_settings"].intersection(texts)
    if encoding and (len(words) > PLAIN_WORDS_MAX or values & sets["encodings_with_quotes"]):
        return Effect("unknown", f"set {min(encoding)} {REREADS}", "ends")
    return READS


def _is_harmless_mode(words: Sequence[Word]) -> bool:
    """Return True if MySQL's mode keeps the meaning of quotes and backslashes."""
    sets = effect_facts().sets
    for word in words:
        if word.text:
            if word.text not in sets["mode_words"] | SESSION_SCOPES | sets["harmless_modes"]:
                return False
        elif not word.is_plain or not set(word.literal.split(",")) <= sets["harmless_modes"]:
            return False
    return True


def _of_duckdb(words: Sequence[Word]) -> Effect:
    """Return the effect of one assignment on DuckDB, where a setting may name a file to write."""
    texts = [word.text for word in words]
    if texts[:1] == ["variable"]:
        return READS
    name = next((text for text in texts if text not in SESSION_SCOPES), "")
    if name in effect_facts().sets["harmless_settings"]:
        return READS
    reason = f"set {name} may name a file to write, or allow later statements more"
    return Effect("unknown", reason, "ends")
