"""Words on a scan: the rows that it keeps, and the change of other rows that causes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.plan import KEY_TO, OF_TRIGGER
from assay.model.units import count_text

if TYPE_CHECKING:
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.plan import PlanNode


def rows_text(scan: PlanNode) -> str:
    """Return the number of rows that a scan keeps, marked if it is an estimate."""
    is_estimate = bool(scan.rows) and scan.rows_margin >= (scan.rows or 0.0)
    return f"an estimated {count_text(scan.rows)}" if is_estimate else count_text(scan.rows)


def scan_reason(scan: PlanNode) -> str:
    """Return the foreign key or trigger that causes a scan; empty for the statement's own scan."""
    if KEY_TO in scan.details:
        return f" for the foreign key to {scan.details[KEY_TO]}"
    return f" in trigger {scan.details[OF_TRIGGER]}" if OF_TRIGGER in scan.details else ""


def changed_rows_evidence(scan: Timed) -> list[Evidence]:
    """Return evidence that each changed row causes a scan; empty for the statement's own scan."""
    node, place = scan.node, f"plan:{scan.operation}"
    if KEY_TO in node.details:
        changed = node.details[KEY_TO]
        sentence = (
            f"a foreign key of {node.object} refers to {changed}: for each row of {changed} that "
            f"{scan.operation} deletes or whose key it changes, {node.object} is read in full"
        )
        return [Evidence(sentence, place)]
    if OF_TRIGGER in node.details:
        changed = scan.above[-1].object if scan.above else "the table"
        sentence = (
            f"trigger {node.details[OF_TRIGGER]} reads {node.object} in full for each row of "
            f"{changed} that {scan.operation} changes"
        )
        return [Evidence(sentence, place)]
    return []
