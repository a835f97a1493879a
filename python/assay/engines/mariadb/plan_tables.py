"""Reads one table's access in a MariaDB plan: method, rows and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.model.plan import PlanNode

PAGE_BYTES = 16_384
MS_PER_S = 1000
PERCENT = 100.0
# Access types without an index, with the prefix `hash_` if a hash join reads the table.
SCANS = {"ALL", "hash_ALL"}
# The table's single row is a constant for later steps, so execution does not count it.
READ_WHILE_PLANNING = {"const", "system"}
TOLD_ELSEWHERE = {
    "table_name",
    "key",
    "attached_condition",
    "index_condition",
    "rows",
    "r_rows",
    "r_loops",
    "filtered",
    "r_filtered",
    "r_table_time_ms",
    "r_other_time_ms",
    "r_total_time_ms",
}


@dataclass(frozen=True)
class Table:
    """One table's access in a MariaDB plan."""

    facts: dict[str, Any]

    @property
    def loops(self) -> float | None:
        """The number of times that the table is read; None if unknown."""
        loops: float | None = self.facts.get("r_loops")
        if loops is None and self.facts.get("r_rows") is not None:
            return 1.0  # The target table of a change is read once.
        return None if self.facts.get("access_type") in READ_WHILE_PLANNING else loops

    @property
    def rows(self) -> float | None:
        """The number of rows that passed the table's condition, over all reads."""
        read = self.rows_read
        # Averages and shares are printed with ten digits, so their product is rounded to whole
        # rows.
        return None if read is None else float(round(read * _share(self.facts, "r_filtered")))

    @property
    def rows_read(self) -> float | None:
        """The number of rows read from the table, over all reads."""
        average = self.facts.get("r_rows")
        if average is None or self.loops is None:
            return None
        return float(round(average * self.loops))

    @property
    def estimated(self) -> float | None:
        """The estimated number of rows in one read of the table."""
        rows = self.facts.get("rows")
        return None if rows is None else rows * _share(self.facts, "filtered")


@dataclass(frozen=True)
class Prefix:
    """The joined rows of the first tables of a MariaDB join."""

    estimated: float | None
    rows: float | None = None

    def joined(self, table: Table, buffered: dict[str, Any] | None) -> Prefix:
        """Return the joined rows after one more table of a MariaDB join."""
        both_estimated = self.estimated is not None and table.estimated is not None
        estimated = (self.estimated or 0.0) * (table.estimated or 0.0) if both_estimated else None
        rows = table.rows
        if buffered is not None:
            # One read of the table serves all rows in the join buffer; each buffered row is a loop.
            rows = buffered.get("r_effective_rows")
            if rows is not None:
                loops = buffered.get("r_loops") or table.loops or 1.0
                rows = float(round(rows * loops * _share(buffered, "r_filtered")))
        return Prefix(estimated, rows)


def _share(facts: dict[str, Any], key: str) -> float:
    """Return a share of rows from a plan, 0 to 1; 1 if the plan has none."""
    percent: float | None = facts.get(key)
    return 1.0 if percent is None else percent / PERCENT


def seconds_of(facts: dict[str, Any]) -> float | None:
    """Return the seconds of a plan step including all steps below it."""
    total: float | None = facts.get("r_total_time_ms")
    return None if total is None else total / MS_PER_S


def scan(table: Table, loops: float, *, cut_short: bool) -> PlanNode:
    """Return a table's access as a plan operator.

    `loops` is the expected number of loops, for a plan that does not report it.
    """
    facts = table.facts
    rows, read = table.rows, table.rows_read
    expected = table.estimated
    times = table.loops if table.loops is not None else loops
    return PlanNode(
        operator="scan" if facts.get("access_type") in SCANS else "index scan",
        native=str(facts.get("access_type", "table")),
        object=facts.get("table_name"),
        index=facts.get("key"),
        condition=_condition(facts),
        estimated_rows=None if expected is None else expected * max(1.0, times),
        rows=rows,
        loops=table.loops,
        seconds=_own_seconds(facts),
        cut_short=cut_short or "first_match" in facts,
        removed_rows=None if rows is None or read is None else read - rows,
        read_bytes=_pages(facts, "pages_read_count"),
        cached_bytes=_cached(facts),
        details=_details(facts),
    )


def _own_seconds(facts: dict[str, Any]) -> float | None:
    parts = [facts[key] for key in ("r_table_time_ms", "r_other_time_ms") if key in facts]
    return sum(parts) / MS_PER_S if parts else seconds_of(facts)


def comparing_seconds(buffered: dict[str, Any]) -> float | None:
    """Return the seconds of reading and comparing rows in MariaDB's join buffer."""
    parts = [buffered[key] for key in ("r_unpack_time_ms", "r_other_time_ms") if key in buffered]
    return sum(parts) / MS_PER_S if parts else None


def _pages(facts: dict[str, Any], counter: str) -> int | None:
    """Return the bytes of pages in a plan's counter; 0 if there is none."""
    stats = facts.get("r_engine_stats")
    return None if not stats else int(stats.get(counter, 0)) * PAGE_BYTES


def _cached(facts: dict[str, Any]) -> int | None:
    accessed, read = _pages(facts, "pages_accessed"), _pages(facts, "pages_read_count")
    return None if accessed is None or read is None else max(0, accessed - read)


def _condition(facts: dict[str, Any]) -> str | None:
    parts = []
    if "ref" in facts:
        pairs = zip(facts.get("used_key_parts", ()), facts["ref"], strict=False)
        parts.append(" and ".join(f"{key} = {value}" for key, value in pairs))
    if "index_condition" in facts:
        parts.append(str(facts["index_condition"]))
    if "attached_condition" in facts:
        parts.append(f"filter {facts['attached_condition']}")
    return "; ".join(parts) or None


def _details(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in facts.items()
        if key not in TOLD_ELSEWHERE and not isinstance(value, (dict, list))
    }
