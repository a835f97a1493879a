"""Finds statements that search many partitions and use rows of few of them.

Without a condition on the partition key, the engine has to search each partition. A join by the
partition key selects rows only after they were read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "partitions-read"
EFFECT_MIN = 0.05
# Statements that combine a few tables on purpose are not about partitions.
PARTS_MIN = 8
# If more of them have rows, the partition key would save little.
EMPTY_SHARE_MIN = 0.75
APPENDS = ("append",)
SCANS = ("scan", "index scan", "bitmap scan")
# Share of the partitions' rows that a join keeps at most.
KEPT_MAX = 0.25
NESTED_LOOP = "nested loop"
JOINS = ("hash join", "merge join", NESTED_LOOP)
BETWEEN = ("exchange", "hash build", "sort", "materialize", "projection")
_INEQUALITY = re.compile(r"<>|!=|<=|>=|<|>")
_COLUMN = re.compile(r"\b(\w+)\.\"?(\w+)")
_TEXT = re.compile(r"'(?:[^']|'')*'")
TO_SETTLE = "find out whether the statement's author knows the partition key of the rows"


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that finds no row in most of its partitions."""
    nodes = timed_nodes(case)
    appends = [append for append in nodes if append.node.native.lower().endswith(APPENDS)]
    findings = [
        _finding(case, append, parts, nodes)
        for append in appends
        if len(parts := _parts(append.node)) >= PARTS_MIN
        and len(_empty(parts)) >= EMPTY_SHARE_MIN * len(parts)
    ]
    named = {operation for finding in findings for operation in finding.operations}
    findings += [
        _joined_finding(case, joined, nodes)
        for append in appends
        if append.operation not in named and (joined := _joined(case, append, nodes)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


@dataclass(frozen=True)
class _Joined:
    """Partitions of which a join uses few rows.

    Attributes:
        append: Operator that reads the partitions.
        parts: Number of partitions that were read.
        join: The join.
        table: The partitioned table.
        column: Its column by which it is joined.
        is_key: Whether the column is known to be the first of the partition key.
    """

    append: Timed
    parts: int
    join: Timed
    table: str
    column: str
    is_key: bool


def _joined(case: Case, append: Timed, nodes: Sequence[Timed]) -> _Joined | None:
    """Return the join by a column of many partitions that uses few of their rows."""
    scans = [node for node in append.node.children if node.operator in SCANS and node.loops]
    above = _join_above(append, nodes)
    if len(scans) < PARTS_MIN or above is None or not append.node.rows:
        return None
    kept = above.node.rows
    if kept is None or kept > KEPT_MAX * append.node.rows:
        return None
    columns = _joined_columns(above, append)
    if len({table for table, _ in columns}) != 1:
        return None
    table = columns[0][0]
    if case.partition_keys is None:
        # With several columns, it is not known which of them is the partition key.
        key = columns[0][1] if len(columns) == 1 else None
    else:
        # Only a condition on the first column of the key lets the engine skip partitions for sure.
        first = case.partition_keys.get(table, ())[:1]
        key = next((column for _, column in columns if column in first), None)
    if key is None:
        return None
    return _Joined(append, len(scans), above, table, key, case.partition_keys is not None)


def _join_above(append: Timed, nodes: Sequence[Timed]) -> Timed | None:
    """Return the join that gets the rows of an append, without other operators that reduce them."""
    for node in reversed(append.above):
        if node.operator in JOINS and "anti" not in node.native.lower():
            return next(timed for timed in nodes if timed.node is node)
        if node.operator not in BETWEEN:
            return None
    return None


def _joined_columns(join: Timed, append: Timed) -> list[tuple[str, str]]:
    """Return the partitioned table and its columns that a join compares for equality.

    The plan names the table only in conditions: its scans are those of the partitions. Parts that
    the statement combines itself have their own names there.
    """
    scanned = {node.object for node in join.node.walk() if node.object is not None}
    inside = {id(node) for node in append.node.walk()}
    conditions = [join.node.condition or ""]
    if join.node.operator == NESTED_LOOP:
        conditions += [n.condition or "" for n in join.node.walk() if id(n) not in inside]
    parts = [_TEXT.sub("''", part) for text in conditions for part in conjuncts(text)]
    columns = [
        column
        for part in parts
        if "=" in part and not _INEQUALITY.search(part)
        for column in _COLUMN.findall(part)
        if column[0] not in scanned
    ]
    return list(dict.fromkeys(columns))


def _joined_finding(case: Case, joined: _Joined, nodes: Sequence[Timed]) -> Finding:
    """Return the finding of partitions that a join needs few rows of."""
    append, join, operation = joined.append.node, joined.join.node, joined.append.operation
    read, kept = append.rows or 0.0, join.rows or 0.0
    # A nested loop looks up the other input for each row of the partitions.
    used = join if join.operator == NESTED_LOOP else append
    places = {id(node) for node in used.walk()} | {id(join)}
    whole = fraction_of(timed for timed in nodes if id(timed.node) in places)
    fractions = scaled(whole, 1 - kept / read)
    effect, column = case.of_run(fractions), f"{joined.table}.{joined.column}"
    claim = (
        f"{operation} reads {count_text(read)} rows of {joined.parts} partitions of "
        f"{joined.table}, and the join by {joined.column} keeps {count_text(kept)} of them; "
        f"reading the others took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{join.native} of {append.native} with {joined.parts} scans returned "
            f"{count_text(kept)} rows for {join.condition or column}",
            f"plan:{operation}",
        )
    ]
    if joined.is_key:
        evidence.append(
            Evidence(f"{column} is the partition key", f"catalogue:{joined.table}"),
        )
    to_try = (
        f"repeat the wanted range of {joined.column} as a condition on {joined.table} itself "
        f"(`{column} >= ... and {column} < ...`), because the engine does not skip partitions by "
        "the rows of the joined table"
    )
    settle = "find out whether the rows that the join keeps are in few partitions"
    if not joined.is_key:
        settle = f"find out whether {column} is the partition key; if so, {settle}"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _parts(append: PlanNode) -> list[PlanNode]:
    """Return the scans of an append that were executed and searched for the same condition."""
    scans = [node for node in append.children if node.operator in SCANS and node.loops]
    return [scan for scan in scans if _condition(scan)]


def _condition(scan: PlanNode) -> str | None:
    """Return the condition of a scan; of a bitmap scan, also that of its bitmap."""
    return next((node.condition for node in scan.walk() if node.condition), None)


def _empty(parts: Sequence[PlanNode]) -> list[PlanNode]:
    return [part for part in parts if part.rows == 0]


def _finding(
    case: Case, append: Timed, parts: Sequence[PlanNode], nodes: Sequence[Timed]
) -> Finding:
    empty, operation = _empty(parts), append.operation
    below = {id(node) for part in empty for node in part.walk()}
    fractions = fraction_of(timed for timed in nodes if id(timed.node) in below)
    effect = case.of_run(fractions)
    names = ", ".join(filter(None, (part.object for part in parts[:2])))
    claim = (
        f"{operation} searches {len(parts)} partitions ({names}, ...) and finds no row in "
        f"{len(empty)} of them; searching these took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{append.node.native} of {len(parts)} scans, each for {_condition(parts[0])}",
            f"plan:{operation}",
        )
    ]
    to_try = (
        "add a condition on the partition key to the statement, so that the engine skips the "
        "other partitions"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, case.of_run({operation: case.computing(operation)})))
