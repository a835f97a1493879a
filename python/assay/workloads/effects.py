"""Decides from a statement's text whether the statement reads or writes.

`effects.toml` has the words of each kind. A user-defined function may hide a write, which only the
server can refuse.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.model.language import SPARQL, language_of
from assay.workloads.scripts import TOKENIZERS, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["reads", "unknown", "writes"]
Rollback = Literal["undone", "kept", "ends"]
# Kinds of effects in ascending order; the last one that occurs decides.
KINDS: tuple[Kind, ...] = ("reads", "unknown", "writes")
ROLLBACKS: tuple[Rollback, ...] = ("undone", "kept", "ends")

MYSQL = "mysql"
# MySQL's comments, and its comments that are executed.
MYSQL_TEXT = re.compile(
    r"""(?P<opaque> '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*` )
      | (?P<executed> /\*M?!\d* ) | (?P<comment> /\*.*?\*/ | --(?=\s|$)[^\n]* | \#[^\n]* )
      | (?P<minus> -- ) | (?P<end> \*/ )""",
    re.VERBOSE | re.DOTALL,
)
SQLITE_TEXT = re.compile(
    r"""(?P<opaque> '(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^]]*\] )
      | (?P<comment> /\*.*?(?:\*/|$) | --[^\n]* )""",
    re.VERBOSE | re.DOTALL,
)
SPARQL_TEXT = re.compile(r"<[^<>\s]*>|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|#[^\n]*")
SPARQL_UPDATE = re.compile(
    r"(?i)(?<![\w:?$])(insert\s+data|delete\s+data|delete\s+where|insert\s*\{|delete\s*\{|load|clear|drop"
    r"|create|add|move|copy|with)(?![\w:])"
)
EXECUTED = "explain analyze executes it"


@dataclass(frozen=True)
class Effect:
    """The effect of one statement: reading, writing or unknown.

    Attributes:
        kind: Kind of effect; `unknown` if the text does not show it.
        reason: Reason why the statement is not a plain query; empty means it only reads.
        rollback: Whether a rollback undoes the effect. `kept` remains without harm, such as a
            sequence number; `ends` the transaction, or escapes it, and remains for good.
        lasts: Reason why a rollback does not undo it, if that differs from `reason`.
        is_strange: Whether its first word is unknown, for example misspelt.
    """

    kind: Kind = "reads"
    reason: str = ""
    rollback: Rollback = "undone"
    is_strange: bool = False
    lasts: str = ""

    @property
    def why_it_lasts(self) -> str:
        """The reason why a rollback does not undo the effect; empty if it does."""
        return "" if self.rollback == "undone" else self.lasts or self.reason

    def worse(self, other: Effect) -> Effect:
        """Return the worse of two effects in each respect, with its reason."""
        first, second = sorted((self, other), key=lambda effect: -KINDS.index(effect.kind))
        lasting = max(self, other, key=lambda effect: ROLLBACKS.index(effect.rollback))
        return replace(
            first,
            reason=first.reason or second.reason,
            rollback=lasting.rollback,
            lasts=lasting.why_it_lasts,
        )


READS = Effect()
UNGUARDS = Effect("writes", "it lets the session write again", "ends")


@dataclass(frozen=True)
class _Facts:
    """The tables of `effects.toml`: effects of SQL words."""

    by_word: dict[str, Effect]
    functions: dict[str, Effect]
    sets: dict[str, frozenset[str]]
    commits: frozenset[str]


@cache
def _facts() -> _Facts:
    path = Path(__file__).with_suffix(".toml")
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))

    def effects(key: str, kind: Kind) -> dict[str, Effect]:
        return {
            name: Effect(kind, group["reason"], group.get("rollback", "undone"))
            for group in tables[key]
            for name in group["names"]
        }

    lists = {key: frozenset(names) for key, names in tables.items() if _is_texts(names)}
    by_word = effects("words", "writes") | effects("unknown", "unknown")
    return _Facts(
        by_word, effects("functions", "writes"), lists, frozenset(tables["commits"][MYSQL])
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def effect_of(text: str, dialects: Sequence[str]) -> Effect:
    """Return the effect of a statement as sent; several statements in one text are combined.

    Args:
        text: Text with or without `$1` for bound values.
        dialects: Dialects of the engine in its search order; empty for an unknown product.
    """
    if language_of(dialects) == SPARQL:
        return _sparql_effect(text)
    if not dialects:
        # For an unknown product, assume the worse effect of PostgreSQL and MySQL.
        return effect_of(text, ("postgresql",)).worse(effect_of(text, (MYSQL,)))
    try:
        pieces = parts(_plain(text, dialects), dialects)
    except ValueError as error:
        return Effect("unknown", f"it cannot be read: {error}", "ends", is_strange=True)
    effect = READS
    for piece in pieces:
        statement = _Statement([_Word.of(token) for token in piece.tokens], dialects)
        effect = effect.worse(statement.effect())
    return effect


def _plain(text: str, dialects: Sequence[str]) -> str:
    """Return the text without comments, if the tokenizer does not know this dialect's comments."""
    if MYSQL in map(_grammar, dialects):
        return MYSQL_TEXT.sub(_executed, text)
    if "sqlite" in dialects:
        return SQLITE_TEXT.sub(lambda match: match["opaque"] or " ", text)
    return text


def _executed(match: re.Match[str]) -> str:
    """Return the part of a MySQL comment that is executed, a literal, or two minus signs."""
    return match["opaque"] or (" - - " if match["minus"] else " ")


def _grammar(dialect: str) -> str:
    return MYSQL if dialect == "dolt" else TOKENIZERS.get(dialect, dialect)


def _sparql_effect(text: str) -> Effect:
    match = SPARQL_UPDATE.search(SPARQL_TEXT.sub(" ", text))
    if match is None:
        return READS
    word = match[1].split()[0].strip("{").lower()
    return Effect("writes", f"{word} changes statements of the graph", "ends")


@dataclass(frozen=True)
class _Word:
    """One token of a SQL statement."""

    text: str
    is_name: bool
    literal: str = ""

    @classmethod
    def of(cls, token: Any) -> _Word:  # noqa: ANN401 - sqlglot's tokens have no types
        kind = token.token_type.name
        if kind.endswith("STRING") or kind == "NUMBER":
            return cls("", is_name=False, literal=str(token.text).lower())
        text = str(token.text).lower()
        return cls(text, is_name=kind == "IDENTIFIER" or text.replace("_", "a").isalnum())


class _Statement:
    """The tokens of one statement, and the effects that follow from them."""

    def __init__(self, tokens: Sequence[_Word], dialects: Sequence[str]) -> None:
        self._words = tokens
        self._texts = [word.text for word in tokens]
        self._dialects = dialects
        self._facts = _facts()

    def effect(self) -> Effect:
        """Return the effect of a whole statement: that of the first word and of all later ones."""
        texts = self._texts
        at = next((place for place, text in enumerate(texts) if text != "("), None)
        if at is None:
            return READS
        first = texts[at]
        if (explained := self._explained(at)) is not None:
            return explained
        effect = self._of_first(first, at)
        if first == "prepare":
            return effect
        return effect.worse(self._within(at)).worse(self._ended(first))

    def _of_first(self, first: str, at: int) -> Effect:
        special = {
            "set": self._set,
            "begin": self._set,
            "start": self._set,
            "reset": self._reset,
            "copy": self._copy,
            "pragma": self._pragma,
            "load": self._load,
        }.get(first)
        if special is not None:
            return special(at)
        effect = self._facts.by_word.get(first)
        if effect is not None:
            return replace(effect, reason=f"{first} {effect.reason}")
        if first in self._facts.sets["reading"]:
            return READS
        return Effect("unknown", f"{first or 'it'} is no word of a query", "ends", is_strange=True)

    def _ended(self, first: str) -> Effect:
        """Return the effect of a transaction statement on a rollback."""
        texts = self._texts
        commits = MYSQL in map(_grammar, self._dialects)
        if first in self._facts.sets["steering"] and "to" not in texts:
            return Effect("reads", f"{first} begins or ends a transaction", "ends")
        commits_itself = (
            first in self._facts.commits or self._facts.by_word.get(first, READS).kind == "unknown"
        )
        if commits and (commits_itself or (first == "set" and "autocommit" in texts)):
            return Effect("reads", f"{first} commits, or may commit, what came before it", "ends")
        never = {"database", "tablespace", "system", "subscription", "concurrently"}
        if first in {"create", "drop", "alter"} and never.intersection(texts[:4]):
            return Effect("reads", f"{first} {texts[1]} cannot be rolled back", "ends")
        return READS

    def _explained(self, at: int) -> Effect | None:
        """Return the effect of EXPLAIN with a statement; None for other statements."""
        first = self._texts[at]
        if first not in {"explain", "analyze", "describe", "desc"}:
            return None
        place, options = at + 1, {first}
        if self._texts[place : place + 1] == ["("] and not self._is_statement(place + 1):
            place = self._closed(place)
            options |= set(self._texts[at:place])
        while place < len(self._texts) and not self._is_statement(place):
            options.add(self._texts[place])
            place += 1
        if place == len(self._texts) or self._texts[place] == "table":
            if first != "analyze":
                return READS
            # ANALYZE of statistics; MySQL commits implicitly before it.
            statistics = Effect("writes", "analyze writes statistics")
            return statistics.worse(self._ended(first))
        if not options & {"analyze", "analyse"}:
            return READS
        effect = _Statement(self._words[place:], self._dialects).effect()
        reason = f"{EXECUTED}: {effect.reason}" if effect.reason else ""
        return replace(effect, reason=reason)

    def _is_statement(self, place: int) -> bool:
        texts = self._texts
        while texts[place : place + 1] == ["("]:
            place += 1
        return place < len(texts) and texts[place] in self._facts.sets["explained"]

    def _closed(self, place: int) -> int:
        """Return the position after the bracket that closes the one at a position."""
        depth = 0
        for at in range(place, len(self._texts)):
            depth += {"(": 1, ")": -1}.get(self._texts[at], 0)
            if depth == 0:
                return at + 1
        return len(self._texts)

    def _within(self, begin: int) -> Effect:
        """Return the worst effect of anything after the statement's first word."""
        effect = READS
        for at in range(begin, len(self._words)):
            effect = effect.worse(self._called(at))
            if at > begin:
                effect = effect.worse(self._changing(at)).worse(self._locking(at))
        return effect.worse(self._into(begin))

    def _called(self, at: int) -> Effect:
        """Return the effect of a function call at a position in a statement."""
        if not self._words[at].is_name or self._texts[at + 1 : at + 2] != ["("]:
            return READS
        effect = self._facts.functions.get(self._texts[at])
        if effect is not None:
            return replace(effect, reason=f"{self._texts[at]}() {effect.reason}")
        named = {word.literal for word in self._words[at : at + 3]}
        if self._texts[at] == "set_config" and named & self._facts.sets["unguarding"]:
            return UNGUARDS
        return READS

    def _changing(self, at: int) -> Effect:
        """Return the effect of a statement within a query, such as in a common table expression."""
        text, before = self._texts[at], self._texts[at - 1]
        behind = self._words[at + 1 : at + 2]
        if text not in self._facts.sets["changing"] or before not in {"(", ")"}:
            return READS
        if not behind or not behind[0].is_name or behind[0].text in {"as", "over"}:
            return READS
        effect = self._facts.by_word[text]
        return replace(effect, reason=f"{text} within it {effect.reason}")

    def _locking(self, at: int) -> Effect:
        """Return the effect of a query that locks its rows, or uses a sequence."""
        here = self._texts[at : at + 3]
        if here[:2] == ["for", "update"] or here[:2] in (["for", "share"], ["for", "key"]):
            return Effect("writes", f"{' '.join(here[:2])} locks the rows that it reads")
        if here[:2] == ["for", "no"] or here == ["lock", "in", "share"]:
            return Effect("writes", f"{' '.join(here[:3])} locks the rows that it reads")
        if here == ["next", "value", "for"]:
            return Effect("writes", "next value for takes a number from a sequence", "kept")
        return READS

    def _into(self, begin: int) -> Effect:
        """Return the effect of a query that writes its rows to a table or a file."""
        if self._texts[begin] not in {"select", "with", "values", "table", "from"}:
            return READS
        for at, text in enumerate(self._texts[begin:], begin):
            behind = self._texts[at + 1 : at + 2]
            earlier = self._texts[at - 1 : at]
            if text != "into" or not behind or earlier[0] in self._facts.sets["changing"]:
                continue
            if behind[0] in {"outfile", "dumpfile"}:
                return Effect("writes", f"into {behind[0]} writes a file of the server", "ends")
            if behind[0] != "@":
                return Effect("writes", "select into makes a table")
        return READS

    def _set(self, at: int) -> Effect:
        """Return the effect of a statement that changes settings or the transaction mode."""
        texts = self._texts
        pairs = list(pairwise(texts))
        if ("read", "write") in pairs or self._facts.sets["unguarding"].intersection(texts):
            return UNGUARDS
        second = texts[at + 1] if at + 1 < len(texts) else ""
        servers = {"global", "persist", "persist_only", "password"}
        if texts[at] == "set" and (second in servers or _of_server(texts)):
            return Effect("writes", f"set {second} changes the server", "ends")
        return READS

    def _reset(self, at: int) -> Effect:
        """Return the effect of RESET, which on MySQL deletes logs and positions."""
        if MYSQL in map(_grammar, self._dialects) and "query" not in self._texts[at + 1 : at + 2]:
            return Effect("writes", "reset changes the server", "ends")
        return READS

    def _copy(self, at: int) -> Effect:
        """Return the effect of COPY: rows to or from a table, a file or a program."""
        place = at + 1
        while place < len(self._texts) and self._texts[place] not in {"from", "to"}:
            place = self._closed(place) if self._texts[place] == "(" else place + 1
        if self._texts[place : place + 1] == ["from"]:
            return Effect("writes", "copy adds rows")
        target = self._texts[place + 1 : place + 2]
        if target == ["program"]:
            reason = "copy to program runs a program on the server's host"
            return Effect("writes", reason, "ends")
        if target == ["stdout"]:
            return READS
        return Effect("writes", "copy writes a file of the server", "ends")

    def _pragma(self, at: int) -> Effect:
        """Return the effect of a SQLite pragma, with or without a value."""
        texts = [text for text in self._texts[at + 1 :] if text]
        # A schema may precede the pragma's name.
        name = next(iter(texts[2:] if texts[1:2] == ["."] else texts), "")
        valued = "=" in texts or "(" in texts
        sets = self._facts.sets
        if name in sets["unguarding"] and valued:
            return UNGUARDS
        if name in sets["writing_pragmas"] or (valued and name not in sets["harmless_pragmas"]):
            return Effect("writes", f"pragma {name} changes the file", "ends")
        return READS

    def _load(self, at: int) -> Effect:
        """Return the effect of LOAD: rows from a file, or code of a library."""
        if self._texts[at + 1 : at + 2] in (["data"], ["xml"]):
            return Effect("writes", "load data adds rows")
        return Effect("writes", "load brings code into the server", "ends")


def _of_server(texts: Sequence[str]) -> bool:
    """Return True if a statement sets a server variable, such as by `@@global.`."""
    pairs = set(pairwise(texts))
    return bool(pairs & {("@@", scope) for scope in ("global", "persist", "persist_only")})
