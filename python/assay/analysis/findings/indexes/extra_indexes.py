"""Finds inserts into tables with many indexes that no plan of the run reads.

Each new row needs an entry in every index of its table.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.plan import PlanNode
from assay.model.sql import without_remarks
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "extra-indexes"
EFFECT_MIN = 0.05
# A few more indexes are usual, and cost little beside the row, the log and the keys.
INDEXES_MIN = 4
NAMES_MAX = 3
MODIFY = "modify"
_INSERT = re.compile(r"\binsert\b", re.IGNORECASE)
_INTO = re.compile(
    r"\s*insert\s+(?:ignore\s+)?(?:into\s+)?(?:[\w\"`]+\.)?([\w\"`]+)[^;]*\bselect\b", re.IGNORECASE
)
TO_SETTLE = (
    "look up how often the server has read these indexes since it counts (other statements may "
    "need them), and measure a copy without them"
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each table whose inserts keep up indexes that the run does not read."""
    # An operation without a plan may read any index. Statements that make the tables take no time.
    if not {name for name, share in case.shares.items() if share} <= set(case.plans):
        return []
    nodes = timed_nodes(case)
    read = {timed.node.index for timed in nodes if timed.node.index is not None}
    by_table: dict[tuple[str, str | None], list[Timed]] = {}
    for timed in nodes:
        node = timed.node
        if node.operator == MODIFY and node.object and _INSERT.search(node.native):
            inserts = by_table.setdefault((node.object, node.schema), [])
            inserts.append(_with_rest(case, timed, nodes))
    for insert in _unplanned(case, nodes):
        by_table.setdefault((insert.node.object or "", None), []).append(insert)
    findings = [
        _finding(case, table, inserts, indexes, extra)
        for (table, schema), inserts in by_table.items()
        if (indexes := case.indexes_of(table, schema))
        and len(extra := _extra(case, indexes, read)) >= INDEXES_MIN
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _unplanned(case: Case, nodes: Sequence[Timed]) -> list[Timed]:
    """Return inserts of selected rows whose plan shows the select only, as in MySQL and MariaDB.

    They take the time of the whole statement, without that of a select of the catalogue's tables.
    """
    inserts = []
    for top in nodes:
        match = _INTO.match(without_remarks(top.plan.text))
        parts = list(top.plan.root.walk())
        if top.above or match is None or any(node.operator == MODIFY for node in parts):
            continue
        table = match[1].strip('"`')
        own = sum(timed.fraction or 0.0 for timed in nodes if timed.plan is top.plan)
        if any(node.object in (case.indexes or {}) and node.object != table for node in parts):
            own = _beside_select(case, top)
        node = PlanNode(MODIFY, "Insert", object=table)
        inserts.append(replace(top, node=node, fraction=min(1.0, own)))
    return inserts


def _beside_select(case: Case, top: Timed) -> float:
    """Return the share of an operation's time that the insert of selected rows took; 0 if unknown.

    It is what the select did not take when its plan was captured, if the operation is this
    statement alone.
    """
    seconds, nodes = case.seconds.get(top.operation), list(top.plan.root.walk())
    reading = [node for node in nodes if node.object in (case.indexes or {}) and not node.children]
    is_timed = bool(reading) and all(node.seconds is not None for node in reading)
    if not seconds or not is_timed or len(case.plans[top.operation]) != 1:
        return 0.0
    selected = sum(node.seconds or 0.0 for node in nodes) / seconds
    return max(0.0, case.computing(top.operation) - selected)


def _with_rest(case: Case, insert: Timed, nodes: Iterable[Timed]) -> Timed:
    """Return an insert with the time of its statement that no other operator has.

    Engines such as SQLite do not time the operator itself. It stays without a time if the statement
    reads a table, since reading takes an unknown part of the time.
    """
    plan, plans = insert.plan, case.plans[insert.operation]
    whole = sum(captured.execution_s or 0.0 for captured in plans)
    is_reading = any(
        node.object in (case.indexes or {}) for node in plan.root.walk() if node is not insert.node
    )
    if insert.fraction is not None or not plan.execution_s or is_reading:
        return insert
    others = sum(timed.fraction or 0.0 for timed in nodes if timed.plan is plan)
    part = case.computing(insert.operation) * plan.execution_s / whole
    return replace(insert, fraction=max(0.0, part - others))


def _extra(case: Case, indexes: Iterable[Index], read: set[str]) -> list[Index]:
    """Return the indexes that no plan reads and that neither a key nor a foreign key needs."""
    needed = {(key.table, key.columns[0].lower()) for key in case.foreign_keys if key.columns}
    return [
        index
        for index in indexes
        if index.name not in read
        and index.columns
        and not index.unique
        and index.predicate is None
        and (index.table, index.columns[0].strip('"`').lower()) not in needed
    ]


def _finding(
    case: Case,
    table: str,
    inserts: Sequence[Timed],
    indexes: Sequence[Index],
    extra: Sequence[Index],
) -> Finding:
    # A row takes about as long as an entry of an index.
    fractions = scaled(fraction_of(inserts), len(extra) / (len(indexes) + 1))
    effect = case.of_run(fractions)
    names = ", ".join(index.name for index in extra[:NAMES_MAX])
    more = f" and {len(extra) - NAMES_MAX} more" if len(extra) > NAMES_MAX else ""
    claim = (
        f"{table} has {len(indexes)} indexes, and no plan of this run reads {len(extra)} of them "
        f"({names}{more}); keeping them up to date took about {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{timed.node.native} of {timed.operation} took {percent_text(timed.fraction)} of its "
            "time",
            f"plan:{timed.operation}",
        )
        for timed in inserts
    ]
    evidence.append(Evidence(f"{len(extra)} indexes of {table} serve no key", f"catalogue:{table}"))
    to_try = f"drop the indexes of {table} that no statement needs"
    advice = None
    if case.can("dropped-index"):
        dropped = ",".join(index.name for index in extra)
        advice = Advice("dropped-index", table, {"indexes": dropped}, effect)
        to_try += f"; {case.try_words(METHOD, fractions, 'measures it without all of them')}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, case.of_run(fraction_of(inserts))))
