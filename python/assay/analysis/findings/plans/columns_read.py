"""Finds columns that a scan reads although neither the statement nor the result needs them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import Timed, timed_nodes
from assay.model.finding import Evidence
from assay.model.sql import without_remarks
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "columns-read"
# One or two unneeded columns cost less than the variation between passes.
EFFECT_MIN = 0.05
# An operator carries the columns of a scan while this share of the scan's rows reaches it.
CARRIED_SHARE = 0.5
# Name of every InnoDB primary key.
CLUSTERED = "PRIMARY"
_WORD = re.compile(r"\w+")


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation that reads unneeded columns."""
    nodes = timed_nodes(case)
    wasteful: dict[str, list[Timed]] = {}
    for timed in nodes:
        if unneeded(case, timed):
            wasteful.setdefault(timed.operation, []).append(timed)
    findings = [_finding(case, scans, nodes) for scans in wasteful.values()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def unneeded(case: Case, scan: Timed) -> tuple[str, ...]:
    """Return the columns that a scan reads and nothing needs; empty if not known.

    If the statement does not name the table, a view does, and the view names the needed columns.
    """
    columns, table = scan.node.columns, scan.node.object
    text, result = case.statements.get(scan.operation), case.results.get(scan.operation)
    if not columns or table is None or text is None or result is None:
        return ()
    named = {word.lower() for word in _WORD.findall(without_remarks(text))}
    if table.lower() not in named:
        return ()
    needed = named | {name.lower() for name in result} | _clustered(case, scan)
    return tuple(column for column in columns if column.lower() not in needed)


def _clustered(case: Case, scan: Timed) -> set[str]:
    """Return the columns of the clustered key, which are read with every row of the table."""
    return {
        column.lower()
        for index in case.indexes_of(scan.node.object, scan.node.schema)
        if index.name == CLUSTERED
        for column in index.columns
    }


def _finding(case: Case, scans: Sequence[Timed], nodes: Sequence[Timed]) -> Finding:
    operation = scans[0].operation
    fraction = sum(_carried(scan, nodes) * _share(case, scan) for scan in scans)
    fractions = {operation: min(1.0, fraction)}
    most = max(scans, key=lambda scan: _share(case, scan))
    columns, names = most.node.columns or (), unneeded(case, most)
    claim = (
        f"{operation} reads {len(columns)} columns of {most.node.object} and uses "
        f"{len(columns) - len(names)}; the unused columns take "
        f"{percent_text(fractions[operation])} of its time, if all columns are equally wide"
    )
    evidence = [
        Evidence(
            f"unused columns of {scan.node.object}: {names_text(unneeded(case, scan))}",
            f"plan:{operation}",
        )
        for scan in scans
    ]
    to_try = "select only the needed columns instead of whole rows"
    return (
        case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
        .without_interval()
        .of("computing")
    )


def _share(case: Case, scan: Timed) -> float:
    """Return the share of a scan's columns that no operator needs."""
    return len(unneeded(case, scan)) / len(scan.node.columns or ("",))


def _carried(scan: Timed, nodes: Sequence[Timed]) -> float:
    """Return the time share of a scan and of the operators above it that carry its columns."""
    fractions = {id(timed.node): timed.fraction or 0.0 for timed in nodes}
    fraction, below = fractions[id(scan.node)], scan.node
    for above in reversed(scan.above):
        if (below.rows or 0.0) < CARRIED_SHARE * (scan.node.rows or 0.0):
            break
        fraction, below = fraction + fractions[id(above)], above
    return fraction
