"""Finds `union` that looks for duplicates although its parts have hardly any.

`union` sorts or hashes all rows to remove duplicates. `union all` passes the rows on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "union-duplicates"
EFFECT_MIN = 0.05
# If more of the rows are duplicates, later operators and the client have less work without them.
DUPLICATE_SHARE_MAX = 0.1
ROWS_MIN = 1000
SET_OPERATION, AGGREGATE = "set operation", "aggregate"
# Operators between the removal of duplicates and the parts of the union.
BETWEEN = ("sort", "exchange", "projection")
# Operator that merges parts which are in order, so that duplicates are next to each other.
MERGED = "Merge Append"
# A parallel plan removes duplicates in each worker before it removes those of all workers.
PARTIAL = "Partial "
_UNION = re.compile(r"\bunion\b(?!\s+all\b)", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^']|'')*'|--[^\n]*")
TO_SETTLE = (
    "find out whether the parts can have a row in common: if they cannot, `union all` returns the "
    "same rows with any data"
)


@dataclass(frozen=True)
class _Union:
    """The removal of duplicates by one `union`.

    Attributes:
        top: Operator that removes the duplicates.
        rows: Rows of all parts together.
        kept: Rows without duplicates.
        operators: Operators that only the removal of duplicates needs.
        most: These, and scans that may be slower because of the union.
    """

    top: Timed
    rows: float
    kept: float
    operators: tuple[Timed, ...]
    most: tuple[Timed, ...]


def find(case: Case) -> list[Finding]:
    """Return a finding for each `union` that removes hardly any rows."""
    nodes = timed_nodes(case)
    unions = (_union(top, nodes) for top in nodes if _has_union(top))
    findings = [
        _finding(case, union)
        for union in unions
        if union is not None and union.rows >= ROWS_MIN
        if 1 - union.kept / union.rows <= DUPLICATE_SHARE_MAX
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _has_union(top: Timed) -> bool:
    return _UNION.search(_TEXT.sub("", top.plan.text or "")) is not None


def _union(top: Timed, nodes: Sequence[Timed]) -> _Union | None:
    """Return the removal of duplicates of which an operator is the highest; None for others."""
    node = top.node
    if node.operator == SET_OPERATION and node.removed_rows is not None and node.rows is not None:
        return _Union(top, node.rows + node.removed_rows, node.rows, (top,), (top,))
    if node.operator != AGGREGATE or node.native.startswith(PARTIAL):
        return None
    removing = [node]
    while len(node.children) == 1 and _is_between(node.children[0]):
        node = node.children[0]
        removing.append(node)
    parts = node.children[0] if len(node.children) == 1 else None
    rows = None if parts is None or parts.operator != SET_OPERATION else _rows_of_parts(parts)
    if rows is None or top.node.rows is None:
        return None
    sorts, ordered = _in_order(parts) if parts is not None else ([], [])
    return _Union(
        top,
        rows,
        top.node.rows,
        _timed(nodes, [*removing, *sorts]),
        _timed(nodes, [*removing, *sorts, *ordered]),
    )


def _timed(nodes: Sequence[Timed], operators: Sequence[PlanNode]) -> tuple[Timed, ...]:
    places = set(map(id, operators))
    return tuple(timed for timed in nodes if id(timed.node) in places)


def _in_order(parts: PlanNode) -> tuple[list[PlanNode], list[PlanNode]]:
    """Return operators that only put the parts of a union in order, and scans in an index's order.

    A scan of a whole index may be slower than one of the table, but the time of that is not known.
    """
    if parts.native != MERGED:
        return [], []
    sorts, ordered = [parts], []
    for child in parts.children:
        node = child
        while node.operator in BETWEEN and len(node.children) == 1:
            sorts.append(node)
            node = node.children[0]
        if node.operator == "index scan" and (node.condition is None or node.is_full_scan):
            ordered.append(node)
    return sorts, ordered


def _is_between(node: PlanNode) -> bool:
    is_partial = node.operator == AGGREGATE and node.native.startswith(PARTIAL)
    return is_partial or node.operator in BETWEEN


def _rows_of_parts(node: PlanNode) -> float | None:
    """Return the rows of all parts of a union; None if they were not counted."""
    if node.rows is not None:
        return node.rows
    if node.operator != SET_OPERATION:
        return None
    counts = [_rows_of_parts(child) for child in node.children]
    return None if None in counts else sum(count or 0.0 for count in counts)


def _finding(case: Case, union: _Union) -> Finding:
    fractions, operation = fraction_of(union.operators), union.top.operation
    effect, duplicates = case.of_run(fractions), union.rows - union.kept
    claim = (
        f"`union` in {operation} looks for duplicates in {count_text(union.rows)} rows and removes "
        f"{count_text(duplicates)} of them; this took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{union.top.node.native} returned {count_text(union.kept)} of "
            f"{count_text(union.rows)} rows",
            f"plan:{operation}",
        ),
        Evidence(
            "the statement, or a view that it uses, has a `union` without `all`",
            f"statement:{operation}",
        ),
    ]
    advice = Advice("union-all", operation, {}, effect)
    tries = case.try_words(METHOD, fractions, "measures it")
    to_try = f"write `union all` instead of `union`; {tries}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, case.of_run(fraction_of(union.most))))
