"""Adds scans that triggers and foreign keys cause to a plan of SQLite.

Each changed row of the statement causes one scan of them. SQLite's plan shows the scan that checks
a foreign key among the statement's own loops, and no scan of a trigger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.bytecode import FOREIGN_KEY
from assay.engines.sqlite.scan_counts import STEPS, scan_facts
from assay.model.plan import KEY_TO, OF_TRIGGER, PlanNode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def is_called(scan: Mapping[str, Any]) -> bool:
    """Return True if a trigger or a foreign key causes a scan."""
    return scan.get("cause") is not None


def with_key_scan(root: PlanNode, document: Mapping[str, Any]) -> PlanNode:
    """Return a SQLite plan with counts of the scans for foreign keys to the changed table.

    A table is left out if its scans in the plan cannot be distinguished.
    """
    scans = [scan for scan in document.get("scans", ()) if scan.get("cause") == FOREIGN_KEY]
    for scan in scans:
        table = scan["table"]
        nodes = [node for node in root.walk() if (node.operator, node.object) == ("scan", table)]
        if len(nodes) == 1 and [other["table"] for other in scans].count(table) == 1:
            facts = _facts(scan, document)
            details = nodes[0].details | {KEY_TO: document["changes"]["table"]}
            root = _replaced(root, nodes[0], facts | {"details": details} if facts else {})
    return root


def trigger_scans(document: Mapping[str, Any]) -> list[PlanNode]:
    """Return the scans by triggers as plan operators."""
    scans: Sequence[Mapping[str, Any]] = document.get("scans", ())
    by_triggers = [scan for scan in scans if is_called(scan) and scan["cause"] != FOREIGN_KEY]
    return [
        PlanNode("scan", "SCAN", scan["table"], details={OF_TRIGGER: scan["cause"]}, **facts)
        for scan in by_triggers
        if (facts := _facts(scan, document))
    ]


def _facts(scan: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return counts of a scan for each changed row; empty if the statement took fewer steps."""
    read = scan["read"] * (document.get("changed") or 0)
    steps = document["counted"].get(STEPS) or 0
    if not read or read * scan["steps"] > steps:
        return {}
    return scan_facts(scan, read, steps, document["execution_s"])


def _replaced(node: PlanNode, old: PlanNode, facts: Mapping[str, Any]) -> PlanNode:
    if node is old:
        return replace(node, **facts)
    return replace(node, children=tuple(_replaced(child, old, facts) for child in node.children))
