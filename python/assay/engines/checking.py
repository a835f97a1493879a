"""Contracts for checking foreign statements: keep them from writing, and try them.

Both are protocols that complete `assay.engines.contract`. Without them, the effect of a statement
is known only from its text, and a wrong name only from its first execution.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.contract import Address, Instance

# What a refused statement names that is not there or not allowed; `other` is anything else.
RefusalKind = Literal["table", "column", "function", "schema", "permission", "syntax", "other"]


@runtime_checkable
class ReadsOnly(Protocol):
    """The contract of servers whose connections can refuse every write."""

    @property
    def reads_only_by(self) -> str:
        """The means by which sessions are read only, for people, such as a setting."""
        ...

    def read_only(self, address: Address) -> Address:
        """Return the address whose connections read only, those for administration among them."""
        ...


@runtime_checkable
class ReadsOnlyByTransaction(Protocol):
    """Servers that may be reached by connections that keep no setting, as behind a pooler."""

    def read_only_transaction(self, instance: Instance) -> str | None:
        """Return the statement that begins a transaction that refuses writes.

        The result is None if the instance's connections refuse writes by themselves, or may write.
        """
        ...


@runtime_checkable
class OpensFiles(Protocol):
    """The contract of embedded engines that open a user's database file, see `Place.file`."""

    @property
    def reads_only_by(self) -> str:
        """The means by which a file is opened read only, for readers."""
        ...

    def file(self, dsn: str) -> Path:
        """Return the file that a DSN names. Raises `EngineError` if it does not exist."""
        ...


@runtime_checkable
class ChangesFiles(Protocol):
    """Engines that open files (`OpensFiles`) and can revert a change of one exactly."""

    def exact_undo(self, instance: Instance, make: str, undo: str) -> str:
        """Return the statements that take a change back, as the file is before it.

        Args:
            instance: Instance with the file, opened for reading.
            make: Statements of the change.
            undo: The statements that people are shown for it.

        Raises:
            EngineError: If the change cannot be made, such as an index that is there already.
        """
        ...


def named_file(dsn: str, scheme: str) -> Path:
    """Return the file of `scheme:PATH` or `scheme:///PATH`. Raises `EngineError`: none is there."""
    path = Path(dsn.removeprefix(f"{scheme}:").removeprefix("//")).expanduser().absolute()
    if not path.is_file():
        raise EngineError(
            f"--dsn {dsn}: there is no file {path}: write it as {scheme}:FILE or {scheme}:///FILE"
        )
    return path


@runtime_checkable
class TellsDialects(Protocol):
    """Engines whose SQL dialect depends on the product behind the address."""

    def dialects_at(self, dsn: str) -> tuple[str, ...]:
        """Dialects of the product, the own one first; empty if the product is not known."""
        ...


@dataclass(frozen=True)
class Trial:
    """A statement that is to be prepared.

    Attributes:
        text: Statement with `$1`, `$2`, ... for its values.
        values: One draw of its values; None if they are not known before execution.
    """

    text: str
    values: tuple[object, ...] | None


@dataclass(frozen=True)
class Refusal:
    """The reason why the server does not prepare a statement.

    Attributes:
        kind: Kind of error.
        message: The server's message in one line, without the product's name.
        name: The wrong name, as the server quotes it. None means it quotes none.
        position: Position in the text, from 0; None if not reported.
        grant: The statement that grants the missing permission.
    """

    kind: RefusalKind
    message: str
    name: str | None = None
    position: int | None = None
    grant: str | None = None


@dataclass(frozen=True)
class Tried:
    """The result of trying one statement.

    Attributes:
        refusal: Reason why it cannot be executed; None if no reason is known beforehand.
        untried: Reason why it was not tried; None if it was tried.
        cost: The optimiser's cost estimate, in the engine's own unit; None if it reports none.
        rows: Number of rows that it expects to return; None if not reported.
    """

    refusal: Refusal | None = None
    untried: str | None = None
    cost: float | None = None
    rows: float | None = None


@dataclass(frozen=True)
class KnownTable:
    """A table or view that the connection may look up.

    Attributes:
        schema: Schema of the table; empty if it has none.
        name: Its name.
        columns: Its columns in order.
        visible: Whether its name alone finds it.
    """

    schema: str
    name: str
    columns: tuple[str, ...]
    visible: bool = True


@runtime_checkable
class TriesStatements(Protocol):
    """Engines that prepare statements without executing them."""

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Prepare the statements of each operation, and estimate their cost if that is cheap.

        Nothing is executed but settings of the session between them, which are undone. Raises
        `EngineError` if the connection is lost.
        """
        ...

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Tables with their columns, for the nearest name. Raises `EngineError`."""
        ...


@runtime_checkable
class TellsPooler(Protocol):
    """Servers in front of which a pooler may stand, such as PgBouncer."""

    def is_pooled(self, instance: Instance) -> bool:
        """Return whether another program takes the connection and passes statements on."""
        ...
