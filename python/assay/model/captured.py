"""Statements that a server's clients sent, and the constants in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from decimal import Decimal

Value = int | str | None
# `binary` is hexadecimal text; of what is `unknown` there is no value.
ConstantKind = Literal["integer", "decimal", "text", "binary", "null", "unknown"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a statement, or the value of one of its bound parameters.

    Attributes:
        kind: Of which kind it is.
        value: The value itself; bytes are hexadecimal text.
        source: How the statement writes it; None: it is the value of a bound parameter.
        cast: The type that the statement names in front of it, as in `date '2024-01-01'`.
    """

    kind: ConstantKind
    value: Value | Decimal
    source: str | None = None
    cast: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedStatement:
    """A statement of a server's log.

    Attributes:
        time_ns: When it began, from an origin that the log's statements share.
        session: The session that sent it.
        text: The statement, or several that were sent at once.
        values: Values of `$1`, `$2`, ... as text; None among them is NULL.
        took_ns: How long it took; None where the log does not tell.
        failed: Whether it failed.
        database: Where it was carried out; empty where the log does not tell.
    """

    time_ns: int
    session: str
    text: str
    values: tuple[str | None, ...] = ()
    took_ns: int | None = None
    failed: bool = False
    database: str = ""


@dataclass(frozen=True)
class ReadLog:
    """The result of reading a server's log.

    Attributes:
        form: What kind of log it is, for people.
        statements: Statements of each session in the order in which it sent them.
        left_out: Entries that tell of no statement that can be repeated: how many, by reason.
        cautions: What this kind of log does not tell.
    """

    form: str
    statements: list[LoggedStatement]
    left_out: Counter[str]
    cautions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class CountedStatement:
    """A statement of a server's counters.

    Attributes:
        text: With `$1`, `$2`, ... in the places of constants; empty: the server tells none.
        calls: How often it was executed.
        samples: Executions of it as they were sent, some of all.
    """

    text: str
    calls: int
    samples: tuple[str, ...]


# In the text of each statement by which Assay looks: what clients did has none.
OWN = "/* assay capture */"


@dataclass(frozen=True)
class Counted:
    """The growth of a server's counters during some seconds.

    Attributes:
        form: Where they are from, for people.
        statements: Statements that were executed.
        seconds: How long it was looked.
        sessions: Sessions that were seen at it.
    """

    form: str
    statements: list[CountedStatement]
    seconds: float
    sessions: int


class Grammar(Protocol):
    """The way in which an engine's statements write constants.

    Attributes:
        dialect: The name of its dialect.
        implicit_transactions: Whether sessions can be in transactions that no statement began.
    """

    dialect: str
    implicit_transactions: bool

    def constant(self, token: str, source: str) -> Constant | None:
        """Read a constant from its source; None: it is left in the text as it stands.

        Args:
            token: The tokenizer's name of it, such as `NUMBER` or `STRING`.
            source: How the statement writes it, with its sign or character set.
        """
        ...

    def placeholder(self, name: str, constants: Sequence[Constant]) -> str:
        """Return what stands in a text for a value that is bound in the place of these."""
        ...
