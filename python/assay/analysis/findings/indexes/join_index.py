"""Finds joins that scan a whole table for a few matches, for which an index is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.indexes.missing_index import usable_index
from assay.analysis.findings.plans.estimates import Q_ERROR_MIN
from assay.analysis.findings.plans.plan_time import Timed, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "join-index"
EFFECT_MIN = 0.05
READ_ROWS_MIN = 100
# An index finds matches one by one. It pays off if few rows match, and if few outer rows search.
MATCHED_SHARE_MAX = 0.02
ASKING_SHARE_MAX = 0.1
NESTED_LOOP = "nested loop"
JOINS = (NESTED_LOOP, "hash join")
PASSING = ("hash build", "materialize", "exchange", "projection")

_EQUAL = re.compile(r"\b(\w+)\.\"?(\w+)\"?\s*=\s*(\w+)\.\"?(\w+)\"?")


def find(case: Case) -> list[Finding]:
    """Return one finding for each table and column that joins search by full scans."""
    if not case.can("index"):
        return []
    nodes = timed_nodes(case)
    findings = []
    for join, inner in wasteful_joins(nodes):
        named = joined_column(join, inner)
        if named is not None and usable_index(case, *named, inner.schema) is None:
            findings.append(_finding(case, join, inner, named, nodes))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def wasteful_joins(nodes: Iterable[Timed]) -> Iterator[tuple[Timed, PlanNode]]:
    """Yield joins that read a whole table for few matches, with the scan of that table."""
    for join in nodes:
        if join.node.operator not in JOINS or len(join.node.children) < 2:  # noqa: PLR2004 - sides
            continue
        outer, inner = join.node.children[0], scanned_whole(join.node.children[1])
        if inner is not None and _is_wasteful(join.node, outer, inner):
            yield join, inner


def scanned_whole(node: PlanNode) -> PlanNode | None:
    """Return the full scan directly below a join; None if other operators are in between.

    An index that is read in full without a condition is a full scan, too.
    """
    while node.operator in PASSING and len(node.children) == 1:
        node = node.children[0]
    is_whole = node.operator == "scan" or (node.operator == "index scan" and not node.condition)
    return node if is_whole and node.object is not None else None


def rows_read(scan: PlanNode) -> float:
    """Return the number of rows that a scan read, including rows that its filter removed."""
    return (scan.rows or 0.0) + (scan.removed_rows or 0.0)


def _is_wasteful(join: PlanNode, outer: PlanNode, scan: PlanNode) -> bool:
    """Return True if few outer rows cause full scans of the join's inner table.

    Small tables do not count. If far more outer rows came than estimated, the estimate is the cause
    instead. A nested loop compares each outer row with each inner row.
    """
    read = rows_read(scan)
    if read / max(1.0, scan.loops or 1.0) < READ_ROWS_MIN:
        return False
    if join.rows is None or outer.rows is None:
        return False
    if outer.rows >= Q_ERROR_MIN * (outer.estimated_rows or outer.rows):
        return False
    if join.operator == NESTED_LOOP:
        read *= max(1.0, outer.rows / max(1.0, scan.loops or 1.0))
    return join.rows <= MATCHED_SHARE_MAX * read and outer.rows <= ASKING_SHARE_MAX * read


def joined_column(join: Timed, scan: PlanNode) -> tuple[str, tuple[str, ...]] | None:
    """Return the scanned table and the columns by which a join compares it; None without any."""
    text = join.plan.text or ""
    condition = " ".join(part for part in (join.node.condition, scan.condition) if part is not None)
    for left, left_column, right, right_column in _EQUAL.findall(condition):
        for alias, column in ((left, left_column), (right, right_column)):
            table = table_of(alias, text)
            if scan.object in {alias, table}:
                return table, (column,)
    return None


def table_of(alias: str, text: str) -> str:
    """Return the table of an alias in a statement; the alias itself if the statement has none."""
    named = re.search(
        rf"\b(?:from|join|,)\s+([\w.\"`]+)\s+(?:as\s+)?{alias}\b", text, re.IGNORECASE
    )
    return alias if named is None else named[1].rpartition(".")[2].strip('"`')


def _finding(
    case: Case,
    join: Timed,
    scan: PlanNode,
    named: tuple[str, tuple[str, ...]],
    nodes: Sequence[Timed],
) -> Finding:
    (table, columns), operation = named, join.operation
    names = ", ".join(columns)
    fractions = {operation: join_fraction(case, join, nodes)}
    effect = case.of_run(fractions)
    claim = (
        f"Missing index for a join: {operation} reads {count_text(rows_read(scan))} rows of "
        f"{table} to find {count_text(join.node.rows)} by {names}, which took "
        f"{percent_text(effect)} of the time"
    )
    advice = index_advice(table, columns, scan.schema, effect)
    to_try = case.try_words(METHOD, fractions, f"makes an index of {table} ({names})")
    evidence = [
        Evidence(
            f"{join.node.native} of {operation} by {join.node.condition} returned "
            f"{count_text(join.node.rows)} of {count_text(rows_read(scan))} rows read",
            f"plan:{operation}",
        )
    ]
    if case.indexes is not None:
        evidence.append(Evidence(f"no index of {table} begins with {names}", f"catalogue:{table}"))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(
        COMPUTING, saved=(0.0, case.of_run({operation: case.reached(operation)}))
    )


def join_fraction(case: Case, join: Timed, nodes: Sequence[Timed]) -> float:
    """Return the time share of a join and of its input that is scanned in full.

    For a join without times, return the share of time that no other operator has.
    """
    inner = {id(node) for node in join.node.children[1].walk()}
    operators = [operator for operator in nodes if operator.plan is join.plan]
    within = sum(operator.fraction or 0.0 for operator in operators if id(operator.node) in inner)
    if join.node.seconds is not None:
        return within + (join.fraction or 0.0)
    timed = sum(operator.fraction or 0.0 for operator in operators)
    return within + max(0.0, case.computing(join.operation) - timed)
