"""Interfaces for checking a user's statements: preparing them, and preventing writes.

The protocols of this module complete `assay.engines.contract`. Without these protocols, the effect
of a statement is known only from its text, and a wrong name is found at its first execution.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from assay.engines.contract import Address, Instance
    from assay.model.declared import DeclaredColumns

# Kind of missing or forbidden object that a refused statement names; `other` is anything else.
RefusalKind = Literal["table", "column", "function", "schema", "permission", "syntax", "other"]


@runtime_checkable
class ReadsOnly(Protocol):
    """Interface of servers whose connections can refuse every write."""

    @property
    def reads_only_by(self) -> str:
        """Return the name of the means that makes sessions read only, such as a setting."""
        ...

    def read_only(self, address: Address) -> Address:
        """Return the server address with read-only connections."""
        ...


@runtime_checkable
class ReadsOnlyByTransaction(Protocol):
    """Interface of servers whose connections may not keep settings, as behind a pooler."""

    def read_only_transaction(self, instance: Instance) -> str | None:
        """Return the statement that begins a transaction that refuses writes.

        The result is None if the instance's connections refuse writes themselves, or may write.
        """
        ...


@runtime_checkable
class OpensFiles(Protocol):
    """Interface of embedded engines that can open a user's database file."""

    @property
    def reads_only_by(self) -> str:
        """Return the name of the means that opens a file read only."""
        ...

    def file(self, dsn: str) -> Path:
        """Return the database file that a user's DSN (data source name) refers to.

        Raises `EngineError` if the file does not exist.
        """
        ...


@runtime_checkable
class ChangesFiles(Protocol):
    """Interface of engines that can exactly revert a change of a user's database file."""

    def exact_undo(self, instance: Instance, make: str, undo: str) -> str:
        """Return the SQL that reverts a change and restores the file's current state.

        Args:
            instance: Instance with the file, opened for reading.
            make: Statements that make the change.
            undo: Statements that users are shown to revert it.

        Raises:
            EngineError: If the change cannot be made, for example because the index exists already.
        """
        ...


def named_file(dsn: str, scheme: str) -> Path:
    """Return the file of `scheme:PATH` or `scheme:///PATH`.

    Raises `EngineError` if the file does not exist.
    """
    path = Path(dsn.removeprefix(f"{scheme}:").removeprefix("//")).expanduser().absolute()
    if not path.is_file():
        raise EngineError(
            f"--dsn {dsn}: the file {path} does not exist: write {scheme}:FILE or {scheme}:///FILE"
        )
    return path


@runtime_checkable
class TellsDialects(Protocol):
    """Interface of engines whose SQL dialect depends on the product behind the address."""

    def dialects_at(self, dsn: str) -> tuple[str, ...]:
        """Return the SQL dialects of the product behind an address, its own first."""
        ...


@dataclass(frozen=True)
class Trial:
    """A statement to prepare on a server without executing it.

    Attributes:
        text: Statement with `$1`, `$2`, ... for its values.
        values: One set of its values; None if they are not known before execution.
    """

    text: str
    values: tuple[object, ...] | None


@dataclass(frozen=True)
class Refusal:
    """The reason why the server refuses to prepare a statement.

    Attributes:
        kind: Kind of error.
        message: The server's message in one line, without the product's name.
        name: The wrong name, as the server quotes it; None means the message quotes no name.
        position: Position in the text, from 0; None if not reported.
        grant: Statement that grants the missing permission.
    """

    kind: RefusalKind
    message: str
    name: str | None = None
    position: int | None = None
    grant: str | None = None


@dataclass(frozen=True)
class Tried:
    """The result of preparing one statement: a refusal, or the cost estimate.

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
    """A table or view that the connection may access.

    Attributes:
        schema: Schema of the table; empty if it has none.
        name: Name of the table.
        columns: Names of its columns in order.
        visible: Whether its name is found without the schema.
    """

    schema: str
    name: str
    columns: tuple[str, ...]
    visible: bool = True


@runtime_checkable
class TriesStatements(Protocol):
    """Interface of engines that can prepare statements without executing them."""

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Prepare the statements of each operation, and estimate their cost if that is cheap.

        Only session settings between the statements are executed, and then undone. Raises
        `EngineError` if the connection is lost.
        """
        ...

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return the tables with their columns, to suggest similar names in errors.

        Raises `EngineError`.
        """
        ...


@runtime_checkable
class ReadsDeclarations(Protocol):
    """Interface of engines whose catalogue has types, not-null columns and keys of tables."""

    def declared_tables(
        self, instance: Instance, names: Collection[str]
    ) -> Mapping[str, DeclaredColumns]:
        """Return tables and views that are found without a schema, by name in lower case.

        A key is one that the engine ensures for all rows at any time: not deferrable, not of some
        rows only, and not of expressions or beginnings of columns. Tables whose names differ only
        in case are left out.

        Args:
            instance: Instance with the tables.
            names: Names in lower case of the tables to return, as far as they exist.

        Raises:
            EngineError: If the catalogue cannot be read.
        """
        ...


@runtime_checkable
class TellsPooler(Protocol):
    """Interface of servers that may be behind a pooler, such as PgBouncer."""

    def is_pooled(self, instance: Instance) -> bool:
        """Return True if a pooler accepts the connection and forwards statements."""
        ...
