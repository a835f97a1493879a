"""Counts the partitions of which an engine plans a scan each, in one statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.model.plan import Plan

# With fewer partitions, planning the rest of the statement may take as long.
PLANNED_MIN = 30
APPENDS = ("append",)
SCANS = ("scan", "index scan", "bitmap scan")


@dataclass(frozen=True)
class Planned:
    """Partitions that a statement plans.

    Attributes:
        operation: Operation of the statement.
        count: Number of partitions.
        table: The partitioned table; None if it is not known.
        key: Columns of its partition key; empty if they are not known.
    """

    operation: str
    count: int
    table: str | None
    key: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the number of partitions, and the table if it is known, as text."""
        return f"{self.count} partitions" + (f" of {self.table}" if self.table else "")

    @property
    def evidence(self) -> Evidence:
        """Return the evidence of the partitions in the plan."""
        says = f"{self.operation}: its plan has a scan of each of {self.text}"
        return Evidence(says, f"plan:{self.operation}")

    @property
    def to_try(self) -> str:
        """Return the change that leaves fewer partitions to plan."""
        key = f" ({', '.join(self.key)})" if self.key else ""
        return (
            "use fewer, larger partitions, or add a condition on the partition key"
            f"{key} to the statement, so that fewer partitions are planned"
        )


def planned_partitions(case: Case, operations: Iterable[str]) -> dict[str, Planned]:
    """Return the statements of operations that plan many partitions, by operation."""
    planned = {}
    for name in operations:
        of_each = [(len(_partitions(plan)), plan) for plan in case.plans.get(name, ())]
        count, plan = max(of_each, key=lambda pair: pair[0], default=(0, None))
        tables = [] if plan is None else _tables(case, plan)
        if count >= PLANNED_MIN and tables:
            table = tables[0] if len(tables) == 1 else None
            key = (case.partition_keys or {}).get(table or "", ())
            planned[name] = Planned(name, count, table, key)
    return planned


def _partitions(plan: Plan) -> set[str]:
    """Return the tables below one operator that the engine put in the place of their parent.

    The statement does not name them. The set is empty if its text is not known.
    """
    if plan.text is None:
        return set()
    text = without_remarks(plan.text).lower()
    appended = [
        {node.object for child in above.children for node in child.walk() if node.operator in SCANS}
        for above in plan.root.walk()
        if above.native.lower().endswith(APPENDS)
    ]
    unnamed = [
        {name for name in names if name is not None and not _is_named(name, text)}
        for names in appended
    ]
    return max(unnamed, key=len, default=set())


def _is_named(table: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(table.lower())}(?!\w)", text) is not None


def _tables(case: Case, plan: Plan) -> list[str]:
    """Return the partitioned tables that a statement names."""
    text = without_remarks(plan.text).lower()
    return [table for table in case.partition_keys or {} if _is_named(table, text)]
