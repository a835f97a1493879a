"""Counts the rows that an observed statement's scan read and kept.

The counts belong to one scan if the statement has no other operator that reads or drops rows.
Engines count the examined rows, or the bytes read. If a statement reads about as many bytes as
the table has, it reads the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.analysis.findings.engine_facts import TableFacts
    from assay.analysis.observed.statements import Watched
    from assay.model.plan import Plan, PlanNode

# Operators that return the rows of their input.
PASSING = {"exchange", "limit", "modify", "projection", "result", "sort", "top-n"}
# A scan of a whole table may skip some blocks.
WHOLE_TABLE_SHARE_MIN = 0.9
KEPT = ("rows_changed", "rows")
READ = ("cache_hit_bytes", "cache_read_bytes")


@dataclass(frozen=True)
class Scanned:
    """Mean rows that a single-scan statement read and returned per execution.

    Attributes:
        examined: Rows that the scan read.
        kept: Rows that the statement returned or changed.
        says: Sentence on the source of the counts.
    """

    examined: float
    kept: float
    says: str


def only_scan(plan: Plan) -> PlanNode | None:
    """Return the full scan of a plan without other operators that drop rows; None otherwise."""
    nodes = [node for node in plan.root.walk() if node.operator not in PASSING]
    return nodes[0] if len(nodes) == 1 and nodes[0].is_full_scan else None


def scanned_rows(
    statements: Iterable[tuple[str, Watched]],
    plans: Mapping[str, tuple[Plan, ...]],
    tables: Mapping[str, TableFacts],
) -> dict[str, Scanned]:
    """Return rows read and kept of each statement that consists of one full scan."""
    made = {}
    for name, watched in statements:
        node = only_scan(plans[name][0]) if len(plans.get(name, ())) == 1 else None
        if node is not None and node.condition and watched.calls:
            counted = _counted(watched, watched.calls, tables.get(node.object or ""))
            if counted is not None:
                made[name] = counted
    return made


def _counted(watched: Watched, calls: float, facts: TableFacts | None) -> Scanned | None:
    kept = max(watched.counts.get(name, 0.0) for name in KEPT) / calls
    examined = watched.counts.get("rows_examined")
    if examined is not None:
        rows = examined / calls
        says = f"an execution examined {count_text(rows)} rows and gave {count_text(kept)}"
        return Scanned(rows, kept, f"{says}, by the server's count")
    read_bytes = sum(watched.counts.get(name, 0.0) for name in READ) / calls
    whole = None if facts is None else facts.estimated_rows or facts.rows
    own_bytes = None if facts is None else facts.bytes
    if whole is None or not own_bytes or read_bytes < WHOLE_TABLE_SHARE_MIN * own_bytes:
        return None
    return Scanned(
        whole,
        kept,
        f"an execution read {bytes_text(read_bytes)} and gave {count_text(kept)} rows, by the"
        f" server's count; the table has {bytes_text(own_bytes)}",
    )
