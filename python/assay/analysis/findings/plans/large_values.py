"""Large values that the engine stores out of line, and fetches and decompresses in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "large-values"
# Counter of fetched pieces of large values.
PIECES = "large_value_pieces"
PER_EXECUTION_MIN = 100.0
# An operator that takes longer per row does more than pass the row on.
ROW_S_MIN = 2e-6
EFFECT_MIN = 0.05
SCANS = ("scan", "index scan", "bitmap scan")


def find(case: Case) -> list[Finding]:
    """Return the time of operators that unpack large values, by the time they take per row."""
    pieces = case.total(PIECES)
    executions = sum(op.passes for op in case.operations)
    if not pieces or not executions or pieces / executions < PER_EXECUTION_MIN:
        return []
    nodes = [timed for timed in timed_nodes(case) if (_row_seconds(timed) or 0.0) >= ROW_S_MIN]
    fractions = fraction_of(nodes)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    first = max(nodes, key=lambda timed: timed.fraction or 0.0)
    tables = sorted({node.object for node in first.node.walk() if node.object is not None})
    claim = (
        f"Large values: {count_text(pieces / executions)} pieces of them were fetched by each"
        f" execution; {first.node.native} of {first.operation} took"
        f" {seconds_text(_row_seconds(first))} for each row of {', '.join(tables)},"
        f" {percent_text(effect)} of the time together"
    )
    evidence = [
        Evidence(f"{count_text(pieces)} pieces of large values", f"counter:{PIECES}"),
        *(
            Evidence(
                f"{timed.node.native} of {timed.operation}: {seconds_text(_row_seconds(timed))}"
                " a row",
                f"plan:{timed.operation}",
            )
            for timed in nodes
        ),
    ]
    to_try = (
        "keep the columns that are asked for apart from the large ones, or name none of the large"
        " ones"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return [finding.without_interval().of("computing", saved=(0.0, effect))]


def _row_seconds(timed: Timed) -> float | None:
    """Return an operator's seconds per row; None if it was not timed."""
    if timed.node.seconds is None:
        return None
    read = (timed.node.rows or 0.0) + (timed.node.removed_rows or 0.0)
    taken = sum(child.rows or 0.0 for child in timed.node.children) or read
    return timed.node.seconds / taken if taken else None
