"""Finds table statistics older than the table's changes that led to a wrong, costly estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.analysis.findings.operation_shares import names_text, product
from assay.analysis.findings.plans.estimates import Hurt, hurts
from assay.analysis.findings.plans.temporary_statistics import is_temporary
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import TableFacts
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "stale-statistics"
# A smaller share of the run's time does not justify gathering statistics.
EFFECT_MIN = 0.02
# Changed rows explain an estimate if they are at least half of the rows that were not expected.
# Joins may have multiplied the other half.
EXPLAINED_SHARE = 0.5
# The optimiser's row count is wrong if it differs from the real one by this factor.
SIZE_FACTOR = 2.0
# Repeated executions of one plan differ less than this.
FASTER_MAX = 0.8


def find(case: Case) -> list[Finding]:
    """Return a finding for each table whose outdated statistics caused a costly estimate."""
    by_table: dict[str, list[tuple[Hurt, PlanNode]]] = {}
    for hurt in hurts(case):
        stale = changed_since(case, hurt)
        if stale is not None:
            by_table.setdefault(stale[0], []).append((hurt, stale[1]))
    findings = [
        _finding(case, table, scans[0][1], [hurt for hurt, _ in scans])
        for table, scans in by_table.items()
    ]
    findings += _gathering_findings(case)
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _gathering_findings(case: Case) -> list[Finding]:
    """Return findings of operations that were faster after statistics were gathered."""
    findings = []
    for operation, others in case.alternatives.items():
        faster = [
            alternative
            for alternative in others
            if alternative.kind == "statistics" and _is_faster(alternative)
        ]
        findings += [_faster(case, operation, alternative) for alternative in faster]
    return findings


def _is_faster(other: Alternative) -> bool:
    if not other.seconds or other.seconds_changed is None:
        return False
    return other.seconds_changed <= FASTER_MAX * other.seconds


def _faster(case: Case, operation: str, other: Alternative) -> Finding:
    saved = 1 - (other.seconds_changed or 0.0) / (other.seconds or 1.0)
    nodes = [
        node
        for plan in case.plans.get(operation, ())
        if plan.statement == other.statement
        for node in plan.root.walk()
    ]
    tables = dict.fromkeys(node.object for node in nodes if node.object is not None)
    of = f" of {names_text(list(tables))}" if tables else ""
    fractions = {operation: saved * case.computing(operation)}
    times = f"{seconds_text(other.seconds)}, and {seconds_text(other.seconds_changed)}"
    claim = (
        f"Statistics{of} are missing or out of date: {operation} took {times} after gathering "
        f"them, with another plan, a loss of {percent_text(case.of_run(fractions))} of the time"
    )
    chosen = next((plan.line for plan in case.plans.get(operation, ())), "a plan")
    evidence = [
        Evidence(f"{operation}: {times} after gathering statistics", f"clock:{operation}"),
        Evidence(f"{chosen} became {other.summary}", f"plan:{operation}"),
    ]
    advice, to_try = None, "gather statistics (analyze)"
    if tables and case.can("statistics"):
        several = {"tables": ", ".join(tables)} if len(tables) > 1 else {}
        advice = Advice("statistics", next(iter(tables)), several, case.of_run(fractions))
        to_try = case.try_words(METHOD, fractions, f"gathers statistics{of}")
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    effect = finding.effect_share
    return finding.without_interval().of("computing", saved=(0.0, effect))


def changed_since(case: Case, hurt: Hurt) -> tuple[str, PlanNode] | None:
    """Return the table whose outdated statistics explain a wrong estimate, and its scan."""
    node = hurt.origin.node
    unexpected = (node.rows or 0.0) - (node.estimated_rows or 0.0)
    scans = [(known_table(case.tables, scan), scan) for scan in node.walk()]
    explaining = [
        (name, scan)
        for name, scan in scans
        if name is not None and _is_stale(case.tables[name], unexpected)
        # Statistics that are gathered once are not those of a table that each execution creates.
        if not is_temporary(case, hurt.origin.operation, scan.object)
    ]
    return max(
        explaining,
        key=lambda named_scan: (case.tables[named_scan[0]].changed_rows or 0.0, named_scan[0]),
        default=None,
    )


def _is_stale(facts: TableFacts, unexpected: float) -> bool:
    if facts.analyzed is False:
        return True
    if facts.changed_rows is not None and facts.changed_rows >= EXPLAINED_SHARE * unexpected:
        return True
    if facts.rows is None or facts.estimated_rows is None:
        return False
    return facts.rows >= SIZE_FACTOR * max(facts.estimated_rows, 1.0)


def _finding(case: Case, table: str, scan: PlanNode, table_hurts: Sequence[Hurt]) -> Finding:
    facts = case.tables[table]
    fractions = {hurt.origin.operation: hurt.fraction for hurt in table_hurts}
    names = case.largest_first(fractions)
    first = next(hurt for hurt in table_hurts if hurt.origin.operation == names[0])
    claim = (
        f"{_age(table, facts)}; {_missed(first.origin.node)} in {names[0]}, and the operators "
        f"chosen for that estimate took {percent_text(case.of_run(fractions))} of the time"
    )
    advice, to_try = None, f"gather statistics of {table}"
    if case.can("statistics"):
        excess = {hurt.origin.operation: hurt.excess for hurt in table_hurts}
        gain = case.of_run(product(fractions, excess))
        advice = table_advice("statistics", table, scan, gain)
        to_try = case.try_words(METHOD, fractions, f"gathers statistics of {table}")
    evidence = [
        Evidence(
            f"{hurt.origin.operation}: {_missed(hurt.origin.node)}", f"plan:{hurt.origin.operation}"
        )
        for hurt in table_hurts
    ]
    return (
        case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)
        .without_interval()
        .of("computing", saved=(0.0, case.of_run(fractions)))
    )


def _age(table: str, facts: TableFacts) -> str:
    if facts.analyzed is False:
        return f"Table {table} has no statistics"
    changed = f"{count_text(facts.changed_rows)} rows"
    of_rows = f" of {count_text(facts.rows)}" if facts.rows is not None else ""
    return f"{changed}{of_rows} of {table} changed since its statistics were gathered"


def _missed(node: PlanNode) -> str:
    expected = max(1.0, node.estimated_rows or 1.0)
    return f"{count_text(node.rows)} rows came where {count_text(expected)} were estimated"
