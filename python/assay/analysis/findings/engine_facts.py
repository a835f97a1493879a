"""Facts that an engine reports on tables and settings, as findings read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.finding import Advice
from assay.model.units import size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.finding import AdviceKind
    from assay.model.plan import PlanNode


@dataclass(frozen=True)
class TableFacts:
    """The engine's facts of one table at the end of the measured part. Unknown facts are None.

    Attributes:
        rows: Live rows, by the engine's own count.
        dead_rows: Row versions that no transaction can see any more and that still occupy space.
        changed_rows: Rows inserted, changed or deleted since statistics were gathered.
        estimated_rows: Rows that the optimiser takes the table to have.
        bytes: Bytes on disk, without indexes.
        analyzed: Whether statistics were ever gathered.
    """

    rows: float | None = None
    dead_rows: float | None = None
    changed_rows: float | None = None
    estimated_rows: float | None = None
    bytes: float | None = None
    analyzed: bool | None = None


def known_table(tables: Mapping[str, TableFacts], node: PlanNode) -> str | None:
    """Return the table name under which the engine reports facts; None if it has none.

    A table that sessions do not find without its schema has the schema in its name.
    """
    if node.object is None:
        return None
    names = (f"{node.schema}.{node.object}", node.object)
    return next((name for name in names if name in tables), None)


def table_advice(kind: AdviceKind, name: str, node: PlanNode, gain: float) -> Advice:
    """Return advice about the table of a plan node, by its reported name."""
    if node.object is None or name == node.object:
        return Advice(kind, name, {}, gain)
    return Advice(kind, node.object, {"schema": node.schema or ""}, gain)


@dataclass(frozen=True)
class Setting:
    """A setting of the engine in a role that Assay knows.

    Attributes:
        role: Such as `work_memory`.
        name: Name of the setting in the engine.
        value: Value that the engine reports; None if it reports none.
        limits: For a memory setting, the consumer that it limits; None if the engine does not
            declare it.
        cheaper: The value with which commits wait less; None if the engine has none.
        but: Disadvantage of that value.
        alike: Other values with which commits wait no more than with the cheaper one.
    """

    role: str
    name: str
    value: str | None
    limits: str | None = None
    cheaper: str | None = None
    but: str | None = None
    alike: tuple[str, ...] = ()

    @property
    def bytes(self) -> int | None:
        """Return the value as bytes, in binary units; None if it is not a size."""
        return size_bytes(self.value)

    @property
    def is_of_each(self) -> bool:
        """True if the limit holds for each operator or sort, not for all together."""
        return self.limits is not None and self.limits.startswith("each ")

    @property
    def text(self) -> str:
        """Name and value as one text."""
        return f"{self.name} {self.value}" if self.value is not None else self.name
