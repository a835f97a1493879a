"""Columns that a scan reads and that nothing above it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.plan_time import Timed, fraction_of, timed_nodes
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "columns-read"
# A column or two of many cost less than times differ from pass to pass.
EFFECT_MIN = 0.05
# What decides which columns leave it; below one of these nothing else is needed.
DECIDING = ("projection", "aggregate")
# Where columns go by their place it is not known which they are.
_BY_PLACE = re.compile(r"#\d")
_WORD = re.compile(r"[A-Za-z_]\w*")


def find(case: Case) -> list[Finding]:
    """One finding an operation; silent where the engine does not tell columns by name."""
    wasteful: dict[str, list[Timed]] = {}
    for timed in timed_nodes(case):
        if unneeded(timed):
            wasteful.setdefault(timed.operation, []).append(timed)
    found = [_told(case, scans) for scans in wasteful.values()]
    return [finding for finding in found if finding.effect_share >= EFFECT_MIN]


def unneeded(timed: Timed) -> tuple[str, ...]:
    """Columns that a scan reads and that no operator above it names; empty where that is open."""
    columns = timed.node.columns
    if not columns:
        return ()
    words = _words(timed.node.condition)
    for above in reversed(timed.above):
        if above.condition is None or _BY_PLACE.search(above.condition):
            return ()
        words |= _words(above.condition)
        if _decides(above):
            return tuple(column for column in columns if column.lower() not in words)
    return ()


def _decides(node: PlanNode) -> bool:
    return node.operator in DECIDING


def _words(condition: str | None) -> set[str]:
    return {word.lower() for word in _WORD.findall(condition or "")}


def _told(case: Case, scans: list[Timed]) -> Finding:
    operation = scans[0].operation
    fractions = {operation: 0.0}
    for scan in scans:
        of_columns = len(unneeded(scan)) / len(scan.node.columns or ("",))
        fractions[operation] += fraction_of([scan])[operation] * of_columns
    most = max(scans, key=lambda scan: len(unneeded(scan)))
    names = unneeded(most)
    claim = (
        f"{operation} reads {len(most.node.columns or ())} columns of {most.node.object} and needs"
        f" {len(most.node.columns or ()) - len(names)}; the others are"
        f" {percent_text(fractions[operation])} of its time, if all are as wide"
    )
    evidence = [
        Evidence(
            f"not needed of {scan.node.object}: {', '.join(unneeded(scan))}", f"plan:{operation}"
        )
        for scan in scans
    ]
    to_try = "name the columns that are needed instead of `*`, or look why they are not left out"
    return [case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)][0]
