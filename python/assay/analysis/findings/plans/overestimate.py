"""Finds a row estimate that was far too large and led to a slow plan for many rows.

A plan for many rows looks reasonable, because full scans, sorts and hashes are right for many rows.
So an overestimate is reported only if the same statement was clearly faster with another plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.analysis.findings.lacking_histogram import histogram
from assay.analysis.findings.plans.estimates import reader_of
from assay.analysis.findings.plans.lacking_statistics import (
    effect_words,
    existing_statistics,
    extended_statistics,
    in_vain_words,
    read_condition,
    statistics_words,
)
from assay.analysis.findings.plans.misestimate import operator_words
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Alternative
    from assay.model.finding import Finding, Tells
    from assay.model.plan import PlanNode

METHOD = "overestimate"
EFFECT_MIN = 0.05
# The optimiser makes the same choices for estimates with a smaller error factor.
Q_ERROR_MIN = 10.0
# Plans for few rows expect fewer rows than this.
EXPECTED_MIN = 500.0
# Repeated executions of one plan differ less than this.
FASTER_MAX = 0.7
# A change of this share of the overestimated rows explains the estimate.
EXPLAINED_SHARE = 0.5
# Plans with these operators are prepared for more rows than there are.
FOR_MANY = ("scan", "sort", "hash join", "hash build", "merge join")
KINDS = ("rewrite",)
GROUPS = "aggregate"


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation that is faster with a plan for few rows."""
    findings = []
    for operation, others in case.alternatives.items():
        faster = [other for other in others if _is_faster(other)]
        best = min(faster, key=lambda other: other.seconds_changed or 0.0, default=None)
        if best is None:
            continue
        nodes = [
            timed
            for timed in timed_nodes(case)
            if timed.operation == operation and timed.plan.statement == best.statement
        ]
        origin = next(_origins(nodes), None)
        if origin is not None and not _is_by_dead_rows(case, origin):
            findings.append(_finding(case, origin, best, nodes))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_faster(other: Alternative) -> bool:
    """Return True if the plan made for another row estimate took clearly less time."""
    if other.kind not in KINDS or not other.differs or not other.seconds:
        return False
    return other.seconds_changed is not None and other.seconds_changed <= FASTER_MAX * other.seconds


def _origins(nodes: Sequence[Timed]) -> Iterator[Timed]:
    """Yield the lowest plan operators with overestimated rows, the largest error first."""
    wrong = [
        timed
        for timed in nodes
        if _is_overestimated(timed.node) and not any(map(_is_overestimated, timed.node.children))
    ]
    yield from sorted(wrong, key=lambda timed: -(timed.node.q_error or 0.0))


def _is_overestimated(node: PlanNode) -> bool:
    expected, seen = node.estimated_rows, node.rows
    if expected is None or seen is None or expected < EXPECTED_MIN or node.loops == 0:
        return False
    return expected > seen and (node.q_error or 0.0) >= Q_ERROR_MIN


def _finding(case: Case, origin: Timed, other: Alternative, nodes: Sequence[Timed]) -> Finding:
    node, operation = origin.node, origin.operation
    ratio = (other.seconds_changed or 0.0) / (other.seconds or 1.0)
    fractions = {operation: (1 - ratio) * sum(timed.fraction or 0.0 for timed in nodes)}
    effect = case.of_run(fractions)
    large = [
        timed.node for timed in nodes if timed.node is not node and timed.node.operator in FOR_MANY
    ]
    chosen = ", ".join(dict.fromkeys(map(operator_words, large))) or origin.plan.line
    times = f"{seconds_text(other.seconds)}, and {seconds_text(other.seconds_changed)}"
    reader = reader_of(origin)
    table = None if reader is None else known_table(case.tables, reader) or reader.object
    of = operator_words(node) if node.object or table is None else f"{node.native} of {table}"
    condition = f" for {node.condition}" if node.condition else ""
    claim = (
        f"{operation}: {count_text(node.estimated_rows)} rows of {of}{condition} were estimated "
        f"and {count_text(node.rows)} came. The optimiser chose a plan for many rows "
        f"({chosen}): the operation took {times} with a plan for few rows, "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{of}: the estimate is too large by a factor of {count_text(node.q_error)}",
            f"plan:{operation}",
        ),
        Evidence(f"{times} with {other.summary or other.change}", f"clock:{operation}"),
    ]
    advice, to_try = None, statistics_words(table, node.condition)
    changed = None if table is None else _changed(case, table, node)
    lacking = reader and (
        extended_statistics(case, (reader,), effect)
        or histogram(case, reader, read_condition(reader), effect)
    )
    existing = None if reader is None else existing_statistics(case, (reader,))
    if table and reader and changed is not None and case.can("statistics"):
        evidence.append(Evidence(changed, f"catalogue:{table}"))
        advice = table_advice("statistics", table, reader, effect)
        to_try = case.try_words(METHOD, fractions, f"gathers statistics of {table}")
    elif lacking:
        advice, to_try = lacking, case.try_words(METHOD, fractions, effect_words(lacking))
    elif existing is not None:
        to_try = in_vain_words(existing[0])
    tells: Tells = "cause"
    if node.operator == GROUPS:
        # There are no statistics on the number of groups, so the estimate cannot be corrected.
        tells, to_try = "shape", "rewrite the statement so that it finds those groups first"
    finding = case.finding(
        METHOD, claim, fractions, tells=tells, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of("computing", saved=(0.0, effect))


def _is_by_dead_rows(case: Case, origin: Timed) -> bool:
    """Return True if dead rows of the table explain the overestimate.

    The finding `dead-rows` is about them: statistics would not remove them.
    """
    reader = reader_of(origin)
    facts = None if reader is None else case.tables.get(known_table(case.tables, reader) or "")
    in_vain = (origin.node.estimated_rows or 0.0) - (origin.node.rows or 0.0)
    return facts is not None and (facts.dead_rows or 0.0) >= EXPLAINED_SHARE * in_vain


def _changed(case: Case, table: str, node: PlanNode) -> str | None:
    """Return text on how many rows changed since the table's statistics; None if too few."""
    facts = case.tables.get(table)
    in_vain = (node.estimated_rows or 0.0) - (node.rows or 0.0)
    if facts is None or not facts.changed_rows or facts.changed_rows < EXPLAINED_SHARE * in_vain:
        return None
    return (
        f"{count_text(facts.changed_rows)} rows of {table} changed since its statistics were "
        "gathered"
    )
