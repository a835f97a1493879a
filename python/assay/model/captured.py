"""Types for statements that a server's clients sent, and their constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from decimal import Decimal

Value = int | str | None
# Kinds of constants: `binary` is hexadecimal text; an `unknown` constant has no value.
ConstantKind = Literal["integer", "decimal", "text", "binary", "null", "unknown"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a statement, or the value of one of its bound parameters.

    Attributes:
        kind: Kind of the constant.
        value: The value itself; bytes are hexadecimal text.
        source: Text of the constant in the statement; None means the value of a bound parameter.
        cast: Type name in front of the constant, as in `date '2024-01-01'`.
    """

    kind: ConstantKind
    value: Value | Decimal
    source: str | None = None
    cast: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedStatement:
    """A statement in a server's log.

    Attributes:
        time_ns: Start of the statement, from an origin that all statements of the log share.
        session: Session that sent the statement.
        text: Statement, or several that were sent in one message.
        values: Values of `$1`, `$2`, ... as text; None stands for NULL.
        took_ns: Duration; None if the log does not have it.
        failed: Whether the statement failed.
        database: Name of the database; empty if the log does not have it.
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
        form: Kind of log, as a title for readers.
        statements: Statements of each session, in the order of sending.
        left_out: Number of entries without a repeatable statement, by reason.
        cautions: Facts that this kind of log does not have.
    """

    form: str
    statements: list[LoggedStatement]
    left_out: Counter[str]
    cautions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class CountedStatement:
    """A statement in a server's statement counters.

    Attributes:
        text: Statement with `$1`, `$2`, ... in place of constants; empty if the server has no text.
        calls: Number of executions.
        samples: Some of its executions as they were sent, with their constants.
    """

    text: str
    calls: int
    samples: tuple[str, ...]


# Mark in Assay's own statements of a capture, to tell them from the clients'.
OWN = "/* assay capture */"


@dataclass(frozen=True)
class Counted:
    """The growth of a server's statement counters during some seconds.

    Attributes:
        form: Source of the counters, as a title for readers.
        statements: Statements that were executed.
        seconds: Length of the observation.
        sessions: Number of sessions that executed statements.
    """

    form: str
    statements: list[CountedStatement]
    seconds: float
    sessions: int


class Grammar(Protocol):
    """The syntax of constants in an engine's statements.

    Attributes:
        dialect: Name of its dialect.
        implicit_transactions: Whether a session can be in a transaction that no statement began.
    """

    dialect: str
    implicit_transactions: bool

    def constant(self, token: str, source: str) -> Constant | None:
        """Read a constant from its source; None if it stays in the statement's text.

        Args:
            token: The tokenizer's name of the constant, such as `NUMBER` or `STRING`.
            source: Text of the constant in the statement, with its sign or character set.
        """
        ...

    def placeholder(self, name: str, constants: Sequence[Constant]) -> str:
        """Return the placeholder for a bound value in place of some constants."""
        ...
