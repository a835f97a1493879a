"""Decides from a statement's text whether the statement reads or writes.

`effects.toml` has the words of each kind. A user-defined function may hide a write, which only the
server can refuse.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.model.language import SPARQL, language_of
from assay.workloads.effect_facts import (
    MYSQL,
    READS,
    SPARK,
    SQLITE,
    Effect,
    Word,
    effect_facts,
    grammars,
)
from assay.workloads.scripts import parts
from assay.workloads.setting_effects import (
    pragma_effect,
    reset_effect,
    set_config_effect,
    set_effect,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
STRANGE = "is no word of a query"


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
        statement = _Statement([Word.of(token) for token in piece.tokens], dialects)
        effect = effect.worse(statement.effect())
    return effect


def _plain(text: str, dialects: Sequence[str]) -> str:
    """Return the text without comments, if the tokenizer does not know this dialect's comments."""
    if MYSQL in grammars(dialects):
        return MYSQL_TEXT.sub(_executed, text)
    if SQLITE in dialects:
        return SQLITE_TEXT.sub(lambda match: match["opaque"] or " ", text)
    return text


def _executed(match: re.Match[str]) -> str:
    """Return the part of a MySQL comment that is executed, a literal, or two minus signs."""
    return match["opaque"] or (" - - " if match["minus"] else " ")


def _sparql_effect(text: str) -> Effect:
    match = SPARQL_UPDATE.search(SPARQL_TEXT.sub(" ", text))
    if match is None:
        return READS
    word = match[1].split()[0].strip("{").lower()
    return Effect("writes", f"{word} changes statements of the graph", "ends")


class _Statement:
    """The tokens of one statement, and the effects that follow from them."""

    def __init__(self, tokens: Sequence[Word], dialects: Sequence[str]) -> None:
        self._words = tokens
        self._texts = [word.text for word in tokens]
        self._dialects = dialects
        self._facts = effect_facts()

    def effect(self) -> Effect:
        """Return the effect of a whole statement: that of the first word and of all later ones."""
        return self._told().worse(self._escaped())

    def _told(self) -> Effect:
        texts = self._texts
        at = next((place for place, text in enumerate(texts) if text != "("), None)
        if at is None:
            return READS
        first = texts[at]
        if texts[at : at + 2] == ["set", "statement"] and MYSQL in grammars(self._dialects):
            return self._set_for(at)
        if (explained := self._explained(at)) is not None:
            return explained
        effect = self._of_first(first, at)
        if first == "prepare":
            return effect
        return effect.worse(self._within(at)).worse(self._ended(first))

    def _escaped(self) -> Effect:
        """Return the effect of a name like U&"d\\0061t", whose escapes are not read."""
        for u, ampersand, name in zip(self._words, self._words[1:], self._words[2:], strict=False):
            adjacent = u.span[1] + 1 == ampersand.span[0] == name.span[0] - 1
            if (u.text, ampersand.text) == ("u", "&") and name.is_quoted and adjacent:
                reason = f'U&"{name.text}" may be the name of anything: write it without escapes'
                return Effect("unknown", reason, "ends")
        return READS

    def _set_for(self, at: int) -> Effect:
        """Return the effect of MariaDB's SET STATEMENT, which executes the statement after FOR."""
        place = at
        while place < len(self._texts) and self._texts[place] != "for":
            place = self._closed(place) if self._texts[place] == "(" else place + 1
        settings = set_effect([self._words[at], *self._words[at + 2 : place]], self._dialects)
        if place == len(self._texts):
            return settings.worse(Effect("unknown", "set statement has no statement", "ends"))
        return settings.worse(_Statement(self._words[place + 1 :], self._dialects).effect())

    def _of_first(self, first: str, at: int) -> Effect:
        of_settings = {
            "set": set_effect,
            "begin": set_effect,
            "start": set_effect,
            "reset": reset_effect,
            "pragma": pragma_effect,
        }
        if first in of_settings:
            return of_settings[first](self._words[at:], self._dialects)
        if first in {"copy", "load"}:
            return self._copy(at) if first == "copy" else self._load(at)
        if first in {"commit", "rollback"} and self._texts[at + 1 : at + 2] == ["prepared"]:
            return Effect("writes", f"{first} prepared ends a transaction of others", "ends")
        effect = self._facts.by_word.get(first)
        if effect is not None:
            return replace(effect, reason=f"{first} {effect.reason}")
        if first in self._facts.sets["reading"]:
            return READS
        return Effect("unknown", f"{first or 'it'} {STRANGE}", "ends", is_strange=True)

    def _ended(self, first: str) -> Effect:
        """Return the effect of a transaction statement on a rollback."""
        texts = self._texts
        commits = MYSQL in grammars(self._dialects)
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
        pragma = place + 2 if self._texts[place : place + 2] == ["query", "plan"] else place
        if self._texts[pragma : pragma + 1] == ["pragma"]:
            # SQLite executes most pragmas while it parses them, also after EXPLAIN.
            return pragma_effect(self._words[pragma:], self._dialects)
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
            return self._planned(place)
        effect = _Statement(self._words[place:], self._dialects).effect()
        reason = f"{EXECUTED}: {effect.reason}" if effect.reason else ""
        return replace(effect, reason=reason)

    def _planned(self, begin: int) -> Effect:
        """Return the effect of planning: a server may call functions of constants for a plan."""
        effect = READS
        for at in range(begin, len(self._words)):
            if (called := self._called(at)).rollback == "ends":
                effect = effect.worse(called)
        return effect

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
                effect = effect.worse(self._of_dialect(at))
        return effect.worse(self._into(begin))

    def _called(self, at: int) -> Effect:
        """Return the effect of a function call at a position in a statement."""
        if not self._words[at].is_name or self._texts[at + 1 : at + 2] != ["("]:
            return READS
        effect = self._facts.functions.get(self._texts[at])
        if effect is not None:
            return replace(effect, reason=f"{self._texts[at]}() {effect.reason}")
        arguments = self._words[at + 2 : self._closed(at + 1) - 1]
        if self._texts[at] == "set_config":
            return set_config_effect(arguments)
        if any(self._texts[at] in self._facts.executing.get(name, ()) for name in self._dialects):
            return self._executed(self._texts[at], arguments)
        return READS

    def _executed(self, name: str, arguments: Sequence[Word]) -> Effect:
        """Return the effect of a function that executes its texts as statements."""
        unread = Effect("unknown", f"{name}() executes a text that is not read", "ends")
        effect = READS
        for word, behind in zip(arguments, (*arguments[1:], Word(",", is_name=False)), strict=True):
            is_label = word.is_name and behind.text in {"=>", ":="}
            if word.text and not is_label and word.text not in self._facts.sets["constants"]:
                return unread
            if word.text or not word.is_plain:
                effect = effect if word.text or word.literal.isdigit() else effect.worse(unread)
                continue
            told = effect_of(word.literal, self._dialects)
            if not told.is_strange or not told.reason.endswith(STRANGE):
                effect = effect.worse(
                    replace(told, reason=told.reason and f"{name}(): {told.reason}")
                )
        return effect

    def _of_dialect(self, at: int) -> Effect:
        """Return the effect of a program in a query of Spark, or of a pragma in one of SQLite."""
        word, behind = self._words[at], self._words[at + 1 : at + 2]
        if SPARK in self._dialects and word.text == "using" and behind and behind[0].literal:
            return Effect("writes", "transform runs a program on the server's host", "ends")
        pragma = (word.text or word.literal).removeprefix("pragma_")
        is_pragma = (word.text or word.literal) != pragma
        if SQLITE in self._dialects and is_pragma and pragma in self._facts.sets["writing_pragmas"]:
            return Effect("writes", f"pragma_{pragma} changes the file", "ends")
        return READS

    def _changing(self, at: int) -> Effect:
        """Return the effect of a statement within a query, such as in a common table expression."""
        text, before = self._texts[at], self._texts[at - 1]
        behind = self._words[at + 1 : at + 2]
        # Spark inserts into several tables after the query's FROM.
        if text == "insert" and behind and behind[0].text in {"into", "overwrite"}:
            return Effect("writes", "insert within it adds rows")
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

    def _load(self, at: int) -> Effect:
        """Return the effect of LOAD: rows from a file, or code of a library."""
        if self._texts[at + 1 : at + 2] in (["data"], ["xml"]):
            return Effect("writes", "load data adds rows")
        return Effect("writes", "load brings code into the server", "ends")
