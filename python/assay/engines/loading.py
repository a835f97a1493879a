"""The abilities of engines that hold data: loading, keys, and changes before the timed part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Instance, Tell


class ArrowStream(Protocol):
    """Anything that hands out rows by the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, in a capsule."""
        ...


@runtime_checkable
class BulkLoads(Protocol):
    """Engines that hold tables."""

    def run_script(self, instance: Instance, sql: str) -> None:
        """Runs statements of a workload's schema. Raises `EngineError` with the statement."""
        ...

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Appends all rows to a table by the product's fastest way, on `streams` connections."""
        ...

    def count(self, instance: Instance, table: str) -> int:
        """Rows of a table."""
        ...

    def finish_load(self, instance: Instance) -> None:
        """Make the loaded data durable and known to the optimiser."""
        ...


@runtime_checkable
class LoadsTriples(Protocol):
    """Engines that hold RDF, in one graph of ours that is the default of what is asked."""

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Adds all statements of a stream by the product's fastest way.

        The stream has one column of texts: a row is a line of N-Triples with the end of its line,
        so that the values of a batch stand in memory as a file has them. Raises `EngineError`.
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
    """Servers that run already and may be asked as they are, because nothing can be loaded."""

    def loads(self, instance: Instance) -> bool:
        """Return True if data can be loaded; otherwise existing data are queried."""
        ...


@runtime_checkable
class LoadsTablesTogether(Protocol):
    """Engines whose `load` and `count` may be called by several threads, each with its table."""

    def tables_at_once(self, streams: int) -> int:
        """Return how many tables are best loaded together with `streams` streams."""
        ...


@runtime_checkable
class LoadSettings(Protocol):
    """Engines whose server loads faster with other settings than it is measured with."""

    def load_settings(self) -> Mapping[str, str]:
        """Settings of a server that only loads; what it loaded is as durable as any other."""
        ...


@runtime_checkable
class HasKeys(Protocol):
    """Engines that want keys and indexes, made after the data."""

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Runs the statements of a keys or indexes file, on up to `streams` connections."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """Engines whose loaded data can be changed by SQL before anything is timed."""

    def prepare(self, instance: Instance, sql: str) -> None:
        """Runs statements one by one. Raises `EngineError` with the statement at fault."""
        ...

    def settle(self, instance: Instance) -> None:
        """Writes out what was changed, so that it is not written while queries are timed.

        Nothing else is done: statistics and dead rows stay as the statements left them.
        """
        ...
