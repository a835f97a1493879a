"""Interfaces of engines that hold data: loading, keys, and SQL before the timed part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Instance, Tell


class ArrowStream(Protocol):
    """Interface of objects that provide rows as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow C stream capsule."""
        ...


@runtime_checkable
class BulkLoads(Protocol):
    """Interface of engines that can load tables."""

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run statements of a workload's schema.

        Raises `EngineError` with the failed statement.
        """
        ...

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Append all rows to a table in the engine's fastest way."""
        ...

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table."""
        ...

    def finish_load(self, instance: Instance) -> None:
        """Make the loaded data durable and known to the optimiser."""
        ...


@runtime_checkable
class LoadsTriples(Protocol):
    """Interface of engines that can load RDF triples into one graph."""

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Add all triples of a stream in the engine's fastest way.

        The stream has one column of texts. Each row is a line of N-Triples with its line end, so
        that a batch in memory equals a file. Raises `EngineError`.
        """
        ...

    def count_triples(self, instance: Instance) -> int:
        """Return the number of distinct triples in Oxigraph."""
        ...

    def finish_triples(self, instance: Instance) -> None:
        """Make the loaded triples durable and known to the optimiser."""
        ...


@runtime_checkable
class TellsIfItLoads(Protocol):
    """Interface of running servers that may allow queries only, without loading."""

    def loads(self, instance: Instance) -> bool:
        """Return True if data can be loaded; otherwise existing data are queried."""
        ...


@runtime_checkable
class LoadsTablesTogether(Protocol):
    """Interface of engines into which several tables can be loaded at once."""

    def tables_at_once(self, streams: int) -> int:
        """Return the best number of tables to load at once with this many connections."""
        ...


@runtime_checkable
class LoadSettings(Protocol):
    """Interface of engines whose server loads faster with special settings."""

    def load_settings(self) -> Mapping[str, str]:
        """Return the settings for a server that only loads data."""
        ...


@runtime_checkable
class HasKeys(Protocol):
    """Interface of engines whose keys and indexes are made after loading."""

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Run the statements that create keys or indexes, on several connections."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """Interface of engines that can run SQL on loaded data before the timed part."""

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements one by one before the timed part.

        Raises `EngineError` with the failed statement.
        """
        ...

    def settle(self, instance: Instance) -> None:
        """Flush changes to disk, so that nothing is written while queries are timed.

        Statistics and dead rows stay as the statements left them.
        """
        ...
