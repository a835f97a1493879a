"""Contracts of engines that hold data: loading, keys, and changes before the timed part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Instance, Tell


class ArrowStream(Protocol):
    """Any object that provides rows by the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream in a capsule."""
        ...


@runtime_checkable
class BulkLoads(Protocol):
    """The contract of engines that hold tables."""

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run statements of a workload's schema.

        Raises `EngineError` with the failed statement.
        """
        ...

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Append all rows to a table in the product's fastest way, on `streams` connections."""
        ...

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table."""
        ...

    def finish_load(self, instance: Instance) -> None:
        """Make the loaded data durable and known to the optimiser."""
        ...


@runtime_checkable
class LoadsTriples(Protocol):
    """The contract of engines that hold RDF in one graph of Assay, the default graph of queries."""

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Add all triples of a stream in the product's fastest way.

        The stream has one column of texts. Each row is a line of N-Triples with its line end, so
        that a batch in memory equals a file. Raises `EngineError`.
        """
        ...

    def count_triples(self, instance: Instance) -> int:
        """Return the number of distinct triples."""
        ...

    def finish_triples(self, instance: Instance) -> None:
        """Make the loaded triples durable and known to the optimiser."""
        ...


@runtime_checkable
class TellsIfItLoads(Protocol):
    """The contract of running servers that may allow queries only, without loading."""

    def loads(self, instance: Instance) -> bool:
        """Return True if data can be loaded; otherwise existing data are queried."""
        ...


@runtime_checkable
class LoadsTablesTogether(Protocol):
    """The contract of engines whose `load` and `count` several threads may call, one table each."""

    def tables_at_once(self, streams: int) -> int:
        """Return the best number of tables to load at once with `streams` streams."""
        ...


@runtime_checkable
class LoadSettings(Protocol):
    """The contract of engines whose server loads faster with settings other than the measured."""

    def load_settings(self) -> Mapping[str, str]:
        """Return settings for a server that only loads; its loaded data are as durable as usual."""
        ...


@runtime_checkable
class HasKeys(Protocol):
    """The contract of engines whose keys and indexes are made after loading."""

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Run the statements of a keys or indexes file, on up to `streams` connections."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """The contract of engines whose loaded data can be changed by SQL before the timed part."""

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run statements one by one.

        Raises `EngineError` with the failed statement.
        """
        ...

    def settle(self, instance: Instance) -> None:
        """Flush changes to disk, so that they are not written while queries are timed.

        Statistics and dead rows stay as the statements left them.
        """
        ...
