"""Finds full scans for a few rows although an index exists, and why it is not used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_words
from assay.analysis.findings.indexes.index_use import (
    Unused,
    hidden_at_join,
    unused_advice,
    unused_index,
)
from assay.analysis.findings.indexes.join_index import (
    join_fraction,
    joined_rows,
    rows_read,
    wasteful_joins,
)
from assay.analysis.findings.joins.unlike_columns import (
    driven_joins,
    unlike_index,
    with_columns_alike,
)
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import Timed, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "unused-index"
EFFECT_MIN = 0.05
# An index finds rows one by one, which pays off if few rows are kept.
REMOVED_SHARE_MIN = 0.9
READ_ROWS_MIN = 100
# In a trial of a shorter statement, planning and the round trip hide a part of the saving.
TRIAL_S_MIN = 5e-3


@dataclass(frozen=True)
class _Join:
    """A join, the operator that reads the table below it, and the table's index without use."""

    join: Timed
    read: PlanNode
    unused: Unused

    @property
    def operation(self) -> str:
        return self.join.operation


def find(case: Case) -> list[Finding]:
    """Return a finding for each index that full scans do not use."""
    joined = _hidden_at_joins(case)
    by_index: dict[str, list[tuple[Timed, Unused]]] = {}
    for scan in timed_nodes(case):
        if scan.node.is_full_scan and removed_share(scan) >= REMOVED_SHARE_MIN:
            unused = unused_index(case, scan)
            if unused is not None and (scan.operation, unused.index.name) not in joined:
                by_index.setdefault(unused.index.name, []).append((scan, unused))
    findings = [_finding(case, scans) for scans in by_index.values()]
    by_reason: dict[tuple[str, str], list[_Join]] = {}
    for found in joined.values():
        by_reason.setdefault((found.unused.index.name, found.unused.why), []).append(found)
    nodes = timed_nodes(case)
    findings += [_join_finding(case, joins, nodes) for joins in by_reason.values()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _hidden_at_joins(case: Case) -> dict[tuple[str, str], _Join]:
    """Return joins that read many rows because a condition hides an index, by that index."""
    nodes = timed_nodes(case)
    joins: dict[tuple[str, str], _Join] = {}
    for join, scan in wasteful_joins(case, nodes):
        unused = hidden_at_join(case, join, scan)
        if unused is None or unused.settle is not None:
            unused = unlike_index(case, join, scan) or unused
        if unused is not None:
            joins.setdefault((join.operation, unused.index.name), _Join(join, scan, unused))
    for join, read, unused in driven_joins(case, nodes):
        joins.setdefault((join.operation, unused.index.name), _Join(join, read, unused))
    return joins


def _join_finding(case: Case, joins: Sequence[_Join], nodes: Sequence[Timed]) -> Finding:
    """Return the finding of an index that joins do not use for one reason."""
    fractions = {
        found.operation: join_fraction(case, found.join, nodes, found.read) for found in joins
    }
    effect, names = case.of_run(fractions), case.largest_first(fractions)
    largest = next(found for found in joins if found.operation == names[0])
    unused, node = largest.unused, largest.join.node
    index = unused.index
    claim = (
        f"Index {index.text} is not used for a join of {names_text(names)}: {unused.why}. Reading "
        f"{count_text(rows_read(largest.read))} rows of {index.table} to find "
        f"{count_text(joined_rows(node))} took {percent_text(effect)} of the time"
    )
    evidence = [Evidence(f"{index.table} has the index {index.text}", f"catalogue:{index.table}")]
    evidence += [
        Evidence(
            f"{found.join.node.native} of {found.operation} joins by {_compared(found)}",
            f"plan:{found.operation}",
        )
        for found in joins
    ]
    return _of(case, unused, claim, fractions, evidence)


def _compared(found: _Join) -> str | None:
    """Return the condition of a join; the columns that it compares if its plan has none."""
    return found.join.node.condition or " = ".join(found.unused.alike or ()) or None


def _of(
    case: Case,
    unused: Unused,
    claim: str,
    fractions: Mapping[str, float],
    evidence: Sequence[Evidence],
) -> Finding:
    """Return a finding of an unused index, with the change that makes it usable."""
    effect = case.of_run(fractions)
    operation, to_try = case.largest_first(fractions)[0], unused.to_try
    advice = unused_advice(case, unused, operation, effect)
    if advice is not None:
        does = "tries it"
        if advice.kind == "alike-columns":
            advice = with_columns_alike(case, advice)
        if unused.key is not None and advice.kind == "stored-values":
            does = index_words(advice, unused.key)
        to_try += f"; {case.try_words(METHOD, fractions, does)}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=unused.settle)
    return finding.of(COMPUTING, saved=(0.0, effect))


def removed_share(scan: Timed) -> float:
    """Return the share of read rows that a scan's filter removed; 0 for small scans."""
    removed, kept = scan.node.removed_rows or 0.0, scan.node.rows or 0.0
    return removed / (removed + kept) if removed + kept >= READ_ROWS_MIN else 0.0


def _most(case: Case, scan: Timed, unused: Unused) -> float:
    """Return the largest share of an operation's time that the index saves, as a trial showed."""
    other = unused.alternative
    if other is None or other.seconds is None or other.seconds_changed is None:
        return 1.0
    if other.seconds < TRIAL_S_MIN:
        return 1.0
    return case.computing(scan.operation) * max(0.0, 1 - other.seconds_changed / other.seconds)


def _finding(case: Case, scans: list[tuple[Timed, Unused]]) -> Finding:
    wasted: dict[str, float] = {}
    for scan, other in scans:
        part = min((scan.fraction or 0.0) * removed_share(scan), _most(case, scan, other))
        wasted[scan.operation] = wasted.get(scan.operation, 0.0) + part
    first, unused = max(scans, key=lambda pair: pair[0].fraction or 0.0)
    index, node = unused.index, first.node
    read = (node.rows or 0.0) + (node.removed_rows or 0.0)
    index_text = index.text
    claim = (
        f"Index {index_text} is not used in {first.operation}: {unused.why}. Reading"
        f" {count_text(read)} rows for {count_text(node.rows)} took"
        f" {percent_text(case.of_run(wasted))} of the time"
    )
    evidence = [
        Evidence(f"{index.table} has the index {index_text}", f"catalogue:{index.table}"),
        Evidence(
            f"{node.native} of {first.operation} removed {percent_text(removed_share(first))} of"
            f" the rows it read, by {node.condition}",
            f"plan:{first.operation}",
        ),
        Evidence(f"index {index.name} is not used: {unused.why}", unused.at),
    ]
    return _of(case, unused, claim, wasted, evidence)
