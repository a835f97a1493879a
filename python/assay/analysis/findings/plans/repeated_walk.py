"""Finds recursive queries that visit the same rows once for each path to them.

With `union all`, a recursive query continues from a row each time that a path reaches it. If the
query above only asks for distinct rows, `union` continues from each row once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.joins.grouped import plain
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "repeated-walk"
EFFECT_MIN = 0.1
ROWS_MIN = 1000
REPEATED_MIN = 10.0
# The engines' names of a recursion; MariaDB has a union that reads its own table instead.
RECURSIONS = ("recursive union", "recursive_cte", "materialize recursive cte")
DERIVED = "<derived"
BETWEEN = ("projection", "filter", "sort", "exchange", "materialize", "cte", "aggregate", "scan")
_RECURSIVE = re.compile(r"\bwith\s+recursive\s+(\w+)\s*(?:\(([\w\s,]+)\)\s*)?as\s*\(")
_FIRST_SELECT = re.compile(r"\s*select\b([^()]*?)\bfrom\b")
_UNION = re.compile(r"\bunion\b(\s+all\b)?")
TO_SETTLE = "measure the statement with `union` instead of `union all` in its recursive part"


def find(case: Case) -> list[Finding]:
    """Return a finding for each recursive query whose rows are mostly repeated."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, walked, distinct, nodes)
        for walked in nodes
        if is_recursion(walked.node)
        and (walked.node.rows or 0.0) >= ROWS_MIN
        and _asks_for_distinct(plain(walked.plan.text))
        and (distinct := _distinct(walked, nodes)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def is_recursion(node: PlanNode) -> bool:
    """Return True for the operator that returns all rows of a recursive query."""
    native = node.native.lower()
    # The scan within a recursion has a similar name, and no inputs.
    if node.children and native.startswith(RECURSIONS):
        return "dedup" not in native
    below = [part for child in node.children for part in child.walk()]
    is_read = any(part.object == node.object for part in below)
    return (node.object or "").startswith(DERIVED) and is_read


def _asks_for_distinct(statement: str) -> bool:
    """Return True if a plain statement needs each row of its recursive part only once.

    All its columns must be asked for: a column such as the depth differs between paths.
    """
    recursive = list(_RECURSIVE.finditer(statement))
    if len(recursive) != 1:
        return False
    name, columns = recursive[0][1], _columns(recursive[0], statement)
    depth, at = 1, recursive[0].end()
    while at < len(statement) and depth:
        depth += {"(": 1, ")": -1}.get(statement[at], 0)
        at += 1
    unions = _UNION.findall(statement[recursive[0].end() : at])
    asked = re.search(rf"\bselect\s+distinct\b(.*?)\bfrom\s+{name}\b", statement[at:], re.DOTALL)
    if asked is None or not columns or not unions or not all(unions):
        return False
    return all(re.search(rf"\b{re.escape(column)}\b", asked[1]) for column in columns)


def _columns(recursive: re.Match[str], statement: str) -> list[str]:
    """Return the names of a recursive query's columns; empty if they are not known."""
    if recursive[2] is not None:
        return [name.strip() for name in recursive[2].split(",")]
    first = _FIRST_SELECT.match(statement, recursive.end())
    # Without a list, a column has the name that its first select gives it.
    return [] if first is None else [item.split()[-1].split(".")[-1] for item in _items(first[1])]


def _items(text: str) -> list[str]:
    return [item for item in text.split(",") if item.strip()]


def _distinct(walked: Timed, nodes: Sequence[Timed]) -> tuple[float, set[int]] | None:
    """Return the number of distinct rows of a recursion, and the operators that made them.

    None if the operators above the recursion do not show that its rows are repeated.
    """
    rows, path = walked.node.rows or 0.0, {id(node) for node in walked.node.walk()}
    readers = [walked]
    scans = [
        timed
        for timed in nodes
        if timed.plan is walked.plan and timed.node.native == "CTE Scan"
        if id(timed.node) not in path
    ]
    # A recursion that is computed apart is read by scans elsewhere.
    if any(node.operator == "cte" for node in walked.above[-1:]):
        readers = [scan for scan in scans if scan.node.object == walked.above[-1].object]
    if len(readers) != 1:
        return None
    path.add(id(readers[0].node))
    for node in reversed(readers[0].above):
        if node.operator not in BETWEEN:
            return None
        path.add(id(node))
        if node.rows is not None and node.rows * REPEATED_MIN <= rows:
            return (node.rows, path) if node.operator != "filter" else None
    return None


def _finding(
    case: Case, walked: Timed, distinct: tuple[float, set[int]], nodes: Sequence[Timed]
) -> Finding:
    (kept, path), rows, operation = distinct, walked.node.rows or 0.0, walked.operation
    whole = fraction_of(timed for timed in nodes if id(timed.node) in path)
    fractions = scaled(whole, 1 - kept / rows)
    effect = case.of_run(fractions)
    claim = (
        f"the recursive part of {operation} returns {count_text(rows)} rows, of which "
        f"{count_text(kept)} are distinct: it visits a row once for each path to it; the repeated "
        f"visits took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{walked.node.native} returned {count_text(rows)} rows, and `distinct` keeps "
            f"{count_text(kept)} of them",
            f"plan:{operation}",
        ),
        Evidence("the recursive part has `union all`", f"statement:{operation}"),
    ]
    to_try = (
        "write `union` instead of `union all` in the recursive part, so that it continues from "
        "each row once; the result stays the same, because the statement asks for distinct rows"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
