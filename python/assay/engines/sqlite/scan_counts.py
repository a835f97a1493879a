"""Adds rows and times of full table scans to a plan of SQLite.

SQLite does not time operators, but it counts the steps of a statement's program. A scan's share of
the time is the share of steps that only remove rows, which is a lower bound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.plan import PlanNode

STEPS, SCAN_STEPS = "vm_step", "fullscan_step"
# Rows that a Bloom filter removed before they were looked up, and rows that it let pass.
FILTERED, PASSED = "filter_hit", "filter_miss"
BLOOM_FILTER = "bloom filter"


def with_scans(
    root: PlanNode,
    scans: Sequence[Mapping[str, Any]],
    counted: Mapping[str, float],
    execution_s: float,
) -> PlanNode:
    """Return a SQLite plan with counts of its full scans.

    Args:
        root: Root of the tree.
        scans: Results of `counted_scans`.
        counted: SQLite's counters for the statement.
        execution_s: Seconds of execution of the statement.
    """
    places = Counter(node.object for node in root.walk() if node.operator == "scan")
    counts = Counter(scan["table"] for scan in scans)
    joined = [scan for scan in scans if scan["joined"]]
    others = sum(scan["read"] for scan in scans if not scan["joined"])
    facts_by_table = {}
    for scan in scans:
        table, read = scan["table"], scan["read"]
        if places[table] != 1 or counts[table] != 1 or not counted.get(STEPS):
            continue
        if scan["joined"]:
            # With several inner scans, the rows of each are unknown.
            if len(joined) > 1:
                continue
            read = max(counted.get(SCAN_STEPS, 0.0) - others, read)
        facts_by_table[table] = scan_facts(scan, read, counted[STEPS], execution_s)
    return _replaced(root, facts_by_table)


def scan_facts(
    scan: Mapping[str, Any], read: float, steps: float, execution_s: float
) -> dict[str, Any]:
    """Return the facts of a plan's scan that read a number of rows in all its loops."""
    of_time = 1.0 if scan["steps"] is None else min(1.0, read * scan["steps"] / steps)
    kept = read * scan["kept"] / scan["read"] if scan["read"] else 0.0
    return {
        "condition": scan["condition"],
        "rows": kept,
        # With another table's values, the rows kept are an average.
        "rows_margin": kept if scan["joined"] else 0.0,
        "removed_rows": read - kept,
        "loops": read / scan["read"] if scan["read"] else None,
        "seconds": execution_s * of_time,
    }


def _replaced(node: PlanNode, facts_by_table: Mapping[str, Mapping[str, Any]]) -> PlanNode:
    children = tuple(_replaced(child, facts_by_table) for child in node.children)
    facts = facts_by_table.get(node.object or "", {}) if node.operator == "scan" else {}
    return replace(node, children=children, **facts)


def with_bloom_filter(
    root: PlanNode, scans: Sequence[Mapping[str, Any]], counted: Mapping[str, float]
) -> PlanNode:
    """Return a SQLite plan with the rows of a loop that a Bloom filter shortens.

    The filter contains the keys of the inner table's rows that fulfil the inner table's own
    condition, so that rows of the outer table without one are not looked up. With several filters,
    the rows of each are unknown.
    """
    removed, passed = counted.get(FILTERED, 0.0), counted.get(PASSED, 0.0)
    with_filter = [node for node in root.walk() if BLOOM_FILTER in node.details]
    conditions = [scan for scan in scans if scan["kept"] < scan["read"]]
    if len(with_filter) != 1 or not removed:
        return root
    if [scan["table"] for scan in conditions] != [with_filter[0].object]:
        return root
    return _with_filtered_rows(root, removed, passed)


def _with_filtered_rows(node: PlanNode, removed: float, passed: float) -> PlanNode:
    children = tuple(_with_filtered_rows(child, removed, passed) for child in node.children)
    if node.operator == "nested loop" and BLOOM_FILTER in children[1].details:
        outer, inner = children
        if outer.operator == "scan" and outer.condition is None and outer.rows is None:
            read = removed + passed
            # Some rows pass although they have no match.
            found: dict[str, Any] = {"rows": passed, "rows_margin": passed}
            outer = replace(outer, rows=read, removed_rows=0.0, loops=1.0)
            inner = replace(inner, loops=read, removed_rows=removed, **found)
            return replace(node, children=(outer, inner), **found)
    return replace(node, children=children)
