"""Facts that an engine reports on tables and settings, for findings."""

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
    """The facts that an engine reports about a table after the measured part; None if not reported.

    Attributes:
        rows: Number of live rows, by the engine's own count.
        dead_rows: Number of row versions that no transaction can see any more and that still occupy
            space.
        changed_rows: Number of rows inserted, changed or deleted since statistics were gathered.
        estimated_rows: Number of rows in the table by the optimiser's estimate.
        bytes: Size of the table on disk, without indexes.
        analyzed: Whether statistics were ever gathered.
        alterable: Whether the run's role may create an index on the table.
        visible_share: Share of its pages of which the engine knows that every transaction sees all
            their rows, so that an index can serve a query alone.
    """

    rows: float | None = None
    dead_rows: float | None = None
    changed_rows: float | None = None
    estimated_rows: float | None = None
    bytes: float | None = None
    analyzed: bool | None = None
    alterable: bool | None = None
    visible_share: float | None = None


def known_table(tables: Mapping[str, TableFacts], node: PlanNode) -> str | None:
    """Return the name of a node's table as the engine's table facts have it; None if not reported.

    The name includes the schema if the table is not on the sessions' search path.
    """
    if node.object is None:
        return None
    names = (f"{node.schema}.{node.object}", node.object)
    return next((name for name in names if name in tables), None)


def table_advice(kind: AdviceKind, name: str, node: PlanNode, gain: float) -> Advice:
    """Return advice about the table of a plan node, with its schema if needed."""
    if node.object is None or name == node.object:
        return Advice(kind, name, {}, gain)
    return Advice(kind, node.object, {"schema": node.schema or ""}, gain)


@dataclass(frozen=True)
class Setting:
    """A setting of the engine with a known role, such as the memory of a sort.

    Attributes:
        role: Role of the setting, such as `work_memory`.
        name: Name of the setting in the engine.
        value: Value that the engine reports; None if it reports none.
        limits: For a memory setting, the consumer that it limits; None if the engine does not
            declare it.
        cheaper: Value with which commits wait less; None if the engine has none.
        but: Disadvantage of the cheaper value.
        alike: Other values with which commits wait no more than with the cheaper one.
        passed_by: For a cache, data that the engine reads without it; None if there are none.
    """

    role: str
    name: str
    value: str | None
    limits: str | None = None
    cheaper: str | None = None
    but: str | None = None
    alike: tuple[str, ...] = ()
    passed_by: str | None = None

    @property
    def bytes(self) -> int | None:
        """Return the value as bytes, in binary units; None if it is not a size."""
        return size_bytes(self.value)

    @property
    def is_of_each(self) -> bool:
        """True if the setting limits each operator separately, not all of them together."""
        return self.limits is not None and self.limits.startswith("each ")

    @property
    def text(self) -> str:
        """Return the setting's name and value as text."""
        return f"{self.name} {self.value}" if self.value is not None else self.name
