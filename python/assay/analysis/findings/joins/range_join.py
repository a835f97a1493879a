"""Finds joins by an inequality that compare or return many pairs of rows.

A hash join by an inequality may return many rows for each row of its inputs, of which an aggregate
keeps few. An example is the newest of all earlier prices. A running total as a subquery reads all
earlier rows of the table anew for each row.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "range-join"
# With fewer rows, the fixed cost of a join makes its rows look slow.
ROWS_MIN = 10_000
# A hash join looks a row up in a fraction of this time, even if its table misses the CPU's caches.
ROW_S_MIN = 1e-6
EFFECT_MIN = 0.25
# Rows of a join for each row of its larger input, and for each row that an aggregate keeps of them.
PAIRS_MIN = 10.0
BETWEEN = ("projection", "filter", "sort")
_INEQUALITY = re.compile(r"<>|!=|<=|>=|<|>")
_EQUALITY = re.compile(r"(?<![<>!])=")
TO_TRY = (
    "add an equality that leaves fewer pairs (such as the day of both), or join by the nearest "
    "value if each row has one match (`asof join`, if the engine has it)"
)
WINDOW = (
    "for a sum over a range, use a window function, which needs no pairs: `sum(...) over "
    "(partition by ... order by ...)`"
)
NEAREST = "measure the statement with a join that finds only the wanted row of each pair's group"
SUBQUERY, SCANS = "subquery", ("scan", "index scan", "bitmap scan")
_AGGREGATE = re.compile(
    r"\(\s*select\s+(?:coalesce|ifnull)?\s*\(?\s*(?:sum|count|avg|min|max)\s*\(", re.IGNORECASE
)
BY_WINDOW = "measure the statement with a window function instead of the subquery"
PAIRS = "count the pairs of rows that satisfy the equality alone (select count(*) of the join)"


def find(case: Case) -> list[Finding]:
    """Return findings of hash joins that also compare a range, and are slow or return many rows."""
    nodes = timed_nodes(case)
    joins = [timed for timed in nodes if _is_slow_range_join(timed)]
    findings = _slow_joins(case, joins) if case.of_run(fraction_of(joins)) >= EFFECT_MIN else []
    named = {operation for finding in findings for operation in finding.operations}
    findings += [
        _reduced_join(case, top, join, nodes)
        for top in nodes
        if top.operation not in named and (join := _reduced(top.node)) is not None
    ]
    findings += [
        _running_total(case, subquery, scan)
        for subquery in nodes
        if subquery.node.operator == SUBQUERY
        if (scan := _repeated_scan(subquery, nodes)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _repeated_scan(subquery: Timed, nodes: Sequence[Timed]) -> Timed | None:
    """Return the scan that a subquery with an aggregate repeats for rows of the same table.

    It compares a column by an inequality, and reads many rows each time. None for other subqueries.
    """
    inside = set(map(id, subquery.node.walk()))
    scans = [
        timed
        for timed in nodes
        if timed.plan is subquery.plan and timed.node.operator in SCANS and timed.node.object
    ]
    own = [timed for timed in scans if id(timed.node) in inside]
    others = {timed.node.object for timed in scans if id(timed.node) not in inside}
    if len(own) != 1 or own[0].node.object not in others:
        return None
    node = own[0].node
    compared = [part.condition for part in subquery.node.walk() if part.condition]
    is_ranged = any(inequalities(condition) for condition in compared)
    is_total = _AGGREGATE.search(subquery.plan.text or "") is not None
    loops = node.loops or 0.0
    is_repeated = loops >= PAIRS_MIN and _read(node) >= max(ROWS_MIN, PAIRS_MIN * loops)
    return own[0] if is_ranged and is_total and is_repeated else None


def _read(scan: PlanNode) -> float:
    return (scan.rows or 0.0) + (scan.removed_rows or 0.0)


def _running_total(case: Case, subquery: Timed, scan: Timed) -> Finding:
    """Return the finding of an aggregate that is computed anew for each row of its own table."""
    fractions, operation = fraction_of([subquery, scan]), scan.operation
    effect, read, loops = case.of_run(fractions), _read(scan.node), scan.node.loops or 1.0
    claim = (
        f"{operation} computes a subquery for each of {count_text(loops)} rows of "
        f"{scan.node.object}, which reads {count_text(read)} rows of the same table in total, "
        f"{count_text(read / loops)} each time; this took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{scan.node.native} of {scan.node.object} was executed {count_text(loops)} times: "
            f"{scan.node.condition or subquery.node.condition}",
            f"plan:{operation}",
        )
    ]
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        to_try=f"{WINDOW}; {case.try_words(METHOD, fractions, 'measures it')}",
        evidence=evidence,
        advice=Advice("window-function", operation, {}, effect),
    )
    finding = replace(finding.without_interval(), settle=BY_WINDOW)
    return finding.of("computing", saved=(0.0, effect))


def _slow_joins(case: Case, joins: Sequence[Timed]) -> list[Finding]:
    """Return the finding of joins that take long for each of their rows."""
    fractions = fraction_of(joins)
    effect = case.of_run(fractions)
    first = max(joins, key=lambda timed: timed.fraction or 0.0)
    equal, ranges = equalities(first.node.condition), inequalities(first.node.condition)
    claim = (
        f"{first.node.native} of {first.operation} took {seconds_text(_row_seconds(first))} for "
        f"each of its {count_text(_rows(first))} rows: rows that are equal by {equal} are compared "
        f"one by one by {ranges}, {percent_text(effect)} of the time in total"
    )
    evidence = [
        Evidence(
            f"{timed.node.native} of {timed.operation}: {seconds_text(_row_seconds(timed))} a row",
            f"plan:{timed.operation}",
        )
        for timed in joins
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=TO_TRY, evidence=evidence)
    finding = replace(finding.without_interval(), settle=PAIRS)
    return [finding.of("computing", saved=(0.0, effect))]


def _reduced(top: PlanNode) -> PlanNode | None:
    """Return the join of whose many rows an aggregate keeps few; None without such a join."""
    node = top
    while len(node.children) == 1 and (node is top or node.operator in BETWEEN):
        node = node.children[0]
    if top.operator != "aggregate" or node.operator != "hash join":
        return None
    condition, rows = node.condition or "", node.rows or 0.0
    inputs = [child.rows or 0.0 for child in node.children]
    if (
        not equalities(condition)
        or not inequalities(condition)
        or rows < PAIRS_MIN * max(ROWS_MIN, *inputs)
    ):
        return None
    return node if rows >= PAIRS_MIN * max(1.0, top.rows or 0.0) else None


def _reduced_join(case: Case, top: Timed, join: PlanNode, nodes: Sequence[Timed]) -> Finding:
    parts, operation = {id(node) for node in top.node.walk()}, top.operation
    fractions = fraction_of(timed for timed in nodes if id(timed.node) in parts)
    effect, larger = case.of_run(fractions), max(child.rows or 0.0 for child in join.children)
    claim = (
        f"{operation} joins {count_text(larger)} rows to {count_text(join.rows)} pairs, of which "
        f"{top.node.native} makes {count_text(top.node.rows)} rows: pairs that are equal by "
        f"{equalities(join.condition)} are many, although {inequalities(join.condition)} is "
        f"compared, too. This took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{join.native} returned {count_text(join.rows)} rows for {join.condition}",
            f"plan:{operation}",
        )
    ]
    to_try, advice = f"{TO_TRY}; {WINDOW}", None
    if _is_of_one_table(join):
        tries = case.try_words(METHOD, fractions, "measures it")
        to_try = f"{WINDOW}; {tries}; or {TO_TRY}"
        advice = Advice("window-function", operation, {}, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=NEAREST)
    return finding.of("computing", saved=(0.0, effect))


def _is_of_one_table(join: PlanNode) -> bool:
    """Return True if both inputs of a join read the same table and no other."""
    tables = [
        {node.object for node in child.walk() if node.object is not None} for child in join.children
    ]
    return len(tables) > 1 and all(len(names) == 1 and names == tables[0] for names in tables)


def _is_slow_range_join(timed: Timed) -> bool:
    node = timed.node
    if node.operator != "hash join" or node.spilled_bytes or not node.condition:
        return False
    if (
        not equalities(node.condition)
        or not inequalities(node.condition)
        or _rows(timed) < ROWS_MIN
    ):
        return False
    return _row_seconds(timed) >= ROW_S_MIN


def _rows(timed: Timed) -> float:
    """Return the rows that a join reads from its inputs and returns."""
    return (timed.node.rows or 0.0) + sum(child.rows or 0.0 for child in timed.node.children)


def _row_seconds(timed: Timed) -> float:
    return (timed.node.seconds or 0.0) / max(1.0, _rows(timed))


def equalities(condition: str | None) -> str:
    """Return the comparisons of a join's condition for equality, as text; empty without any."""
    parts = [part for part in conjuncts(condition) if not _INEQUALITY.search(part)]
    return " and ".join(part.strip(" ()") for part in parts if _EQUALITY.search(part))


def inequalities(condition: str | None) -> str:
    """Return the comparisons of a join's condition by an inequality, as text."""
    parts = [part for part in conjuncts(condition) if _INEQUALITY.search(part)]
    return " and ".join(part.strip(" ()") for part in parts)
