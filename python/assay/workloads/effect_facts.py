"""Effects of SQL statements, and the tables of words, functions and settings that have effects.

The tables are in `effects.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.workloads.scripts import TOKENIZERS

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["reads", "unknown", "writes"]
Rollback = Literal["undone", "kept", "ends"]
# Kinds of effects in ascending order; the last one that occurs decides.
KINDS: tuple[Kind, ...] = ("reads", "unknown", "writes")
ROLLBACKS: tuple[Rollback, ...] = ("undone", "kept", "ends")

MYSQL, DUCKDB, SQLITE, SPARK = "mysql", "duckdb", "sqlite", "spark"


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
class EffectFacts:
    """The tables of `effects.toml`: effects of SQL words.

    Attributes:
        by_word: Effect of each first word that does not only read.
        functions: Effect of each function that does not only read.
        sets: All lists of names, by their key.
        executing: Functions that execute a text, by dialect.
        commits: First words that commit an open transaction on MySQL.
    """

    by_word: dict[str, Effect]
    functions: dict[str, Effect]
    sets: dict[str, frozenset[str]]
    executing: dict[str, list[str]]
    commits: frozenset[str]


@cache
def effect_facts() -> EffectFacts:
    """Return the tables of `effects.toml`."""
    path = Path(__file__).with_name("effects.toml")
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))

    def effects(key: str, kind: Kind) -> dict[str, Effect]:
        return {
            name: Effect(kind, group["reason"], group.get("rollback", "undone"))
            for group in tables[key]
            for name in group["names"]
        }

    lists = {key: frozenset(names) for key, names in tables.items() if _is_texts(names)}
    by_word = effects("words", "writes") | effects("unknown", "unknown")
    functions = effects("functions", "writes") | effects("unknown_functions", "unknown")
    commits = frozenset(tables["commits"][MYSQL])
    return EffectFacts(by_word, functions, lists, tables["executing"], commits)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


@dataclass(frozen=True)
class Word:
    """One token of a SQL statement, in lower case.

    Attributes:
        text: Its text; empty for a literal.
        is_name: Whether it is a word or an identifier.
        literal: Text or number of a literal; empty for other tokens.
        is_plain: Whether it is a text literal without a prefix and without escapes, which every
            server reads as it stands here.
        is_quoted: Whether it is a quoted identifier.
        span: Positions of its first and last character.
    """

    text: str
    is_name: bool
    literal: str = ""
    is_plain: bool = False
    is_quoted: bool = False
    span: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, token: Any) -> Word:  # noqa: ANN401 - sqlglot's tokens have no types
        """Return the word of a token of sqlglot."""
        kind, text, span = token.token_type.name, str(token.text).lower(), (token.start, token.end)
        if kind.endswith("STRING") or kind == "NUMBER":
            is_plain = kind in {"STRING", "HEREDOC_STRING"} and "\\" not in text
            return cls("", is_name=False, literal=text, is_plain=is_plain, span=span)
        is_quoted = kind == "IDENTIFIER"
        is_name = is_quoted or text.replace("_", "a").isalnum()
        return cls(text, is_name=is_name, is_quoted=is_quoted, span=span)


def grammars(dialects: Sequence[str]) -> set[str]:
    """Return the names of the grammars in which statements of these dialects are read."""
    return {MYSQL if name == "dolt" else TOKENIZERS.get(name, name) for name in dialects}
