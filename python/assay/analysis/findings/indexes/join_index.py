"""Finds joins that scan a whole table for a few matches, for which an index is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.indexes.missing_index import usable_index
from assay.analysis.findings.joins.unlike_types import unlike_types
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
# A hash join compares rows of its probe side faster than an index finds them.
BUILT_SHARE_MAX = 0.02
NESTED_LOOP, HASH_JOIN = "nested loop", "hash join"
JOINS = (NESTED_LOOP, HASH_JOIN)
# An anti join returns rows of its probe side without a match, which no index finds.
PROBE_ANTI = re.compile(r"(?<!Right )\bAnti\b", re.IGNORECASE)
PASSING = ("hash build", "materialize", "exchange", "projection")

_KEY = re.compile(r"=\s*(\w+)\.\"?(\w+)\"?")
_USING = re.compile(r"(?i)\busing\s*\(\s*\"?(\w+)\"?\s*\)")
_EQUAL = re.compile(r"\b(\w+)\.\"?(\w+)\"?\s*=\s*(\w+)\.\"?(\w+)\"?")


def find(case: Case) -> list[Finding]:
    """Return one finding for each table and column that joins search by full scans."""
    if not case.can("index"):
        return []
    nodes = timed_nodes(case)
    findings = []
    for join, scan in wasteful_joins(case, nodes):
        named = joined_column(join, scan)
        if named is None or usable_index(case, *named, scan.schema) is not None:
            continue
        pair = compared_pair(join, scan)
        if pair is None or unlike_types(case, *pair) is None:
            findings.append(_finding(case, join, scan, named, nodes))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def wasteful_joins(case: Case, nodes: Iterable[Timed]) -> Iterator[tuple[Timed, PlanNode]]:
    """Yield joins that read a whole table for few matches, with the scan of that table.

    The table may be the inner input, or the outer one: the probe side of a hash join, or the side
    whose rows a nested loop looks up. Engines that store tables by column read an outer input fast,
    and their joins use no index.
    """
    by_column = case.advice.get("by_column", False)
    for join in nodes:
        if join.node.operator not in JOINS or len(join.node.children) < 2:  # noqa: PLR2004 - sides
            continue
        outer, inner = join.node.children[:2]
        scan = scanned_whole(inner)
        if scan is not None and _is_wasteful(join.node, outer, scan):
            yield join, scan
        scan = None if by_column else scanned_whole(outer)
        if scan is not None and (
            _probes_in_vain(join.node, scan, inner) or _looks_up_in_vain(join.node, scan, inner)
        ):
            yield join, scan


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


def _probes_in_vain(join: PlanNode, scan: PlanNode, build: PlanNode) -> bool:
    """Return True if a hash join reads a whole table to compare it with few rows.

    Rows that the scan's own filter removed might match as well, so that an index would return them.
    """
    if join.operator != HASH_JOIN or PROBE_ANTI.search(join.native):
        return False
    read = rows_read(scan)
    if read < READ_ROWS_MIN or not scan.rows or join.rows is None or build.rows is None:
        return False
    if build.rows >= Q_ERROR_MIN * (build.estimated_rows or build.rows):
        return False
    matching = join.rows * read / scan.rows
    return matching <= MATCHED_SHARE_MAX * read and build.rows <= BUILT_SHARE_MAX * read


def _looks_up_in_vain(join: PlanNode, scan: PlanNode, inner: PlanNode) -> bool:
    """Return True if a nested loop looks up each row of a table, and a filter removes most matches.

    With an index on the table's compared column, the loop could start with the other table, whose
    filter keeps few rows. Rows without a match would not be removed by a filter.
    """
    if join.operator != NESTED_LOOP or inner.operator != "index scan":
        return False
    read = rows_read(scan)
    joined = joined_rows(join)
    if read < READ_ROWS_MIN or not scan.rows or joined is None:
        return False
    removed = (inner.removed_rows or 0.0) >= (1 - MATCHED_SHARE_MAX) * scan.rows
    return removed and joined <= MATCHED_SHARE_MAX * scan.rows


def joined_rows(join: PlanNode) -> float | None:
    """Return the rows of a join; those of a nested loop's inner input if it counts none."""
    if join.rows is None and join.operator == NESTED_LOOP and len(join.children) == 2:  # noqa: PLR2004 - two sides
        return join.children[1].rows
    return join.rows


def joined_column(join: Timed, scan: PlanNode) -> tuple[str, tuple[str, ...]] | None:
    """Return the scanned table and the columns by which a join compares it; None without any."""
    text = join.plan.text or ""
    for alias, column in _compared_columns(join.node, scan, text):
        table = table_of(alias, text)
        if scan.object in {alias, table}:
            return table, (column,)
    return None


def _compared_columns(join: PlanNode, scan: PlanNode, text: str) -> Iterator[tuple[str, str]]:
    """Yield aliases and columns that a join compares, from its plan or else from its statement."""
    condition = " ".join(part for part in (join.condition, scan.condition) if part is not None)
    for left, left_column, right, right_column in _EQUAL.findall(condition):
        yield from ((left, left_column), (right, right_column))
    outer, inner = join.children[:2]
    if scan in outer.walk() and inner.operator == "index scan":
        # The key of a look-up names the table's column, and the filter only its own columns.
        yield from _KEY.findall(inner.condition or "")
        for left, right in _equal_columns(text, {scan.object, inner.object}):
            yield from (left, right)
        # With several such joins, the statement does not tell which of them this one is.
        if len(columns := _USING.findall(text)) == 1:
            yield scan.object or "", columns[0]


def _equal_columns(
    text: str, tables: set[str | None]
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield columns of two tables that a statement compares for equality, by their aliases."""
    for left, left_column, right, right_column in _EQUAL.findall(text):
        if {table_of(left, text), table_of(right, text)} == tables:
            yield (left, left_column), (right, right_column)


def compared_pair(join: Timed, scan: PlanNode) -> tuple[str, str] | None:
    """Return the column of a scanned table and the one by which the join looks up its rows.

    Both are written as `table.column`. None if the statement does not show one such pair.
    """
    text, inner = join.plan.text or "", join.node.children[1]
    if scan not in join.node.children[0].walk() or inner.object in {None, scan.object}:
        return None
    pairs = set(_equal_columns(text, {scan.object, inner.object}))
    if len(pairs) != 1:
        return None
    names = {
        table: f"{table}.{column}"
        for alias, column in pairs.pop()
        for table in (table_of(alias, text),)
    }
    return names[scan.object or ""], names[inner.object or ""]


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
    fractions = {operation: join_fraction(case, join, nodes, scan)}
    effect = case.of_run(fractions)
    claim = (
        f"Missing index for a join: {operation} reads {count_text(rows_read(scan))} rows of "
        f"{table} to find {count_text(joined_rows(join.node))} by {names}, which took "
        f"{percent_text(effect)} of the time"
    )
    advice = index_advice(table, columns, scan.schema, effect)
    to_try = case.try_words(METHOD, fractions, f"makes an index of {table} ({names})")
    evidence = [
        Evidence(
            f"{join.node.native} of {operation} by {join.node.condition or names} returned "
            f"{count_text(joined_rows(join.node))} of {count_text(rows_read(scan))} rows read",
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


def join_fraction(
    case: Case, join: Timed, nodes: Sequence[Timed], scan: PlanNode | None = None
) -> float:
    """Return the time share of a join and of its input that is scanned in full.

    Look-ups for the rows of a scanned outer input count, too. For a join without times, return the
    share of time that no other operator has.

    Args:
        case: The run.
        join: The join.
        nodes: All operators with their times.
        scan: The scan, which is in one of the join's inputs; None means all of its second input.
    """
    inputs = [{id(node) for node in child.walk()} for child in join.node.children]
    side = inputs[1] if scan is None else next(ids for ids in inputs if id(scan) in ids)
    if side is inputs[0] and join.node.operator == NESTED_LOOP:
        side = side | inputs[1]
    operators = [operator for operator in nodes if operator.plan is join.plan]
    within = sum(operator.fraction or 0.0 for operator in operators if id(operator.node) in side)
    if join.node.seconds is not None:
        return within + (join.fraction or 0.0)
    timed = sum(operator.fraction or 0.0 for operator in operators)
    return within + max(0.0, case.computing(join.operation) - timed)
