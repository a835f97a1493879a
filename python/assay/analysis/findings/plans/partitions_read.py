"""Finds statements that search many partitions and find rows in few of them.

Without a condition on the partition key, the engine has to search each partition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "partitions-read"
EFFECT_MIN = 0.05
# Statements that combine a few tables on purpose are not about partitions.
PARTS_MIN = 8
# If more of them have rows, the partition key would save little.
EMPTY_SHARE_MIN = 0.75
APPENDS = ("append",)
SCANS = ("scan", "index scan", "bitmap scan")
TO_SETTLE = "find out whether the statement's author knows the partition key of the rows"


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that finds no row in most of its partitions."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, append, parts, nodes)
        for append in nodes
        if append.node.native.lower().endswith(APPENDS)
        and len(parts := _parts(append.node)) >= PARTS_MIN
        and len(_empty(parts)) >= EMPTY_SHARE_MIN * len(parts)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _parts(append: PlanNode) -> list[PlanNode]:
    """Return the scans of an append that were executed and searched for the same condition."""
    scans = [node for node in append.children if node.operator in SCANS and node.loops]
    return [scan for scan in scans if _condition(scan)]


def _condition(scan: PlanNode) -> str | None:
    """Return the condition of a scan; of a bitmap scan, also that of its bitmap."""
    return next((node.condition for node in scan.walk() if node.condition), None)


def _empty(parts: Sequence[PlanNode]) -> list[PlanNode]:
    return [part for part in parts if part.rows == 0]


def _finding(
    case: Case, append: Timed, parts: Sequence[PlanNode], nodes: Sequence[Timed]
) -> Finding:
    empty, operation = _empty(parts), append.operation
    below = {id(node) for part in empty for node in part.walk()}
    fractions = fraction_of(timed for timed in nodes if id(timed.node) in below)
    effect = case.of_run(fractions)
    names = ", ".join(filter(None, (part.object for part in parts[:2])))
    claim = (
        f"{operation} searches {len(parts)} partitions ({names}, ...) and finds no row in "
        f"{len(empty)} of them; searching these took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{append.node.native} of {len(parts)} scans, each for {_condition(parts[0])}",
            f"plan:{operation}",
        )
    ]
    to_try = (
        "add a condition on the partition key to the statement, so that the engine skips the "
        "other partitions"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, case.of_run({operation: case.computing(operation)})))
