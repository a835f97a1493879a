"""Base class of servers in which Assay makes tables only if it started them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Never

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from assay.engines.contract import Instance


class OwnTables:
    """Refuses to make schemas on running servers, with the reason.

    Attributes:
        no_tables: Reason why no tables are created there, and the remedy.
    """

    no_tables: ClassVar[str] = (
        "tables are made in clusters of ours only: leave --dsn out, or name a workload that asks"
        " the tables that are there"
    )

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name)

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name, mark)

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name, mark)

    def use_schema(self, instance: Instance, name: str) -> None:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name)

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Raise `EngineError`, because Assay makes no schema on a server that runs already."""
        self._refuse(instance, name)

    def _refuse(self, *_: object) -> Never:
        raise EngineError(self.no_tables)
