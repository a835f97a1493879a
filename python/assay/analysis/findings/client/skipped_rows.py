"""Finds statements that read many rows and return few of them.

A large OFFSET skips the first rows. With many rows to skip, engines sort the whole table instead of
reading rows in the order of an index. SQL_CALC_FOUND_ROWS reads all rows behind a limit, to count
them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.sort_order import (
    SORTS,
    has_index,
    scan_below,
    sort_columns,
    sort_keys,
)
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "skipped-rows"
EFFECT_MIN = 0.05
# Fewer rows are skipped in less time than a query needs to begin.
SKIPPED_ROWS_MIN = 100
# Operators that read all their input in any case, however many of their rows are skipped.
WHOLE_INPUT = ("sort", "top-n", "aggregate", "window", "hash build", "materialize")

# `limit 20000, 1` skips 20,000 rows, too.
OFFSET = re.compile(r"\boffset\s+(?!0\b)|\blimit\s+[\w${}]+\s*,", re.IGNORECASE)
COUNTING = re.compile(r"\bsql_calc_found_rows\b", re.IGNORECASE)
NEXT_PAGE = (
    "begin each page after the last row of the page before (`where key > ... order by key limit "
    "...`) instead of `offset`"
)
# A page of more of the sorted rows is no page of a long list.
RETURNED_SHARE_MAX = 0.02
BY_LOOK_UP = (
    "or find the keys of the page first, in a subquery with the `offset` that an index can answer, "
    "and read its rows by key"
)
_ORDER = re.compile(r"\border\s+by\s+([^()]+?)\s+limit\b", re.IGNORECASE)
BY_KEY = (
    "measure the page with a condition (the key of the last row of the page before) instead of "
    "`offset`"
)
COUNT_APART = (
    "leave SQL_CALC_FOUND_ROWS out, and count the rows by `select count(*)` if their number is "
    "needed: an index can have all columns of its condition"
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation whose plan skips most of the rows that it reads."""
    nodes = timed_nodes(case)
    findings = [_finding(case, limit, nodes) for limit in nodes if _skips(limit)]
    findings += [
        _sorted_page(case, sort, scan, nodes)
        for sort in nodes
        if sort.node.operator in SORTS and OFFSET.search(sort.plan.text or "")
        for scan in scan_below(sort.node)
        if scan.is_full_scan and _has_order(case, sort.node, scan) and _is_page(case, sort, scan)
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _skips(limit: Timed) -> bool:
    text = limit.plan.text or ""
    if limit.node.operator != "limit" or not (OFFSET.search(text) or COUNTING.search(text)):
        return False
    if any(part.operator in WHOLE_INPUT for part in limit.node.walk()):
        return False
    return _skipped(limit) >= SKIPPED_ROWS_MIN


def _skipped(limit: Timed) -> float:
    """Return the number of rows that reach a limit and are not returned; 0 if not counted."""
    if limit.node.rows is None or len(limit.node.children) != 1:
        return 0.0
    return (limit.node.children[0].rows or 0.0) - limit.node.rows


def _has_order(case: Case, sort: PlanNode, scan: PlanNode) -> bool:
    """Return True if an index returns the rows of a scan in the order of a sort."""
    keys = sort_keys(case, sort.condition)
    return bool(keys) and has_index(case, scan, keys)


def _is_page(case: Case, sort: Timed, scan: PlanNode) -> bool:
    returned, read = _returned(case, sort), scan.rows or 0.0
    return returned is not None and max(SKIPPED_ROWS_MIN, returned) <= RETURNED_SHARE_MAX * read


def _returned(case: Case, sort: Timed) -> float | None:
    """Return the rows of a page: of the limit above its sort, or of the operation's result."""
    limits = [node.rows for node in sort.above if node.operator == "limit"]
    rows = {op.name: op.rows for op in case.operations}.get(sort.operation)
    return limits[-1] if limits and limits[-1] is not None else rows


def _sorted_page(case: Case, sort: Timed, scan: PlanNode, nodes: Sequence[Timed]) -> Finding:
    """Return the finding of a page for which a table is sorted, although an index has its order."""
    parts, operation = set(map(id, sort.node.walk())), sort.operation
    fractions = fraction_of(timed for timed in nodes if id(timed.node) in parts)
    effect, returned = case.of_run(fractions), _returned(case, sort)
    claim = (
        f"Large offset: {operation} reads and sorts {count_text(scan.rows)} rows of {scan.object} "
        f"to return {count_text(returned)}, although an index has them in order; this took "
        f"{percent_text(effect)} of the time"
    )
    columns = ", ".join(sort_columns(sort.node.condition))
    evidence = [
        Evidence(f"{sort.node.native} by {columns}", f"plan:{operation}"),
        Evidence(f"an index of {scan.object} begins with {columns}", f"catalogue:{scan.object}"),
        Evidence("the statement has an offset", f"statement:{operation}"),
    ]
    advice = _late_look_up(case, sort, sort_columns(sort.node.condition), effect)
    to_try = _to_try(case, fractions, advice)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=BY_KEY)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _finding(case: Case, limit: Timed, nodes: Sequence[Timed]) -> Finding:
    parts = set(map(id, limit.node.walk()))
    own = [timed for timed in nodes if id(timed.node) in parts]
    skipped, returned = _skipped(limit), limit.node.rows or 0.0
    share = skipped / (skipped + returned)
    fractions = {name: whole * share for name, whole in fraction_of(own).items()}
    effect, operation = case.of_run(fractions), limit.operation
    is_counting = COUNTING.search(limit.plan.text or "") is not None
    cause = "SQL_CALC_FOUND_ROWS" if is_counting else "Large offset"
    claim = (
        f"{cause}: {operation} reads {count_text(skipped + returned)} rows to return "
        f"{count_text(returned)}; reading the others took {percent_text(effect)} of the time"
    )
    has = "SQL_CALC_FOUND_ROWS, which counts the rows behind the limit"
    evidence = [
        Evidence(
            f"{limit.node.native} returns {count_text(returned)} of the"
            f" {count_text(skipped + returned)} rows that it gets",
            f"plan:{operation}",
        ),
        Evidence(
            f"the statement has {has if is_counting else 'an offset'}", f"statement:{operation}"
        ),
    ]
    ordered = _ORDER.findall(limit.plan.text or "")
    columns = sort_columns(ordered[-1]) if ordered and not is_counting else ()
    advice = _late_look_up(case, limit, columns, effect)
    to_try = COUNT_APART if is_counting else _to_try(case, fractions, advice)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))


def _late_look_up(case: Case, page: Timed, columns: Sequence[str], effect: float) -> Advice | None:
    """Return the advice to find the keys of a page first; None if its order has no known key."""
    scan = next(scan_below(page.node), None)
    indexes = () if scan is None else case.indexes_of(scan.object, scan.schema)
    ordered = {column.lower() for column in columns}
    has_key = any(
        index.unique
        and index.valid
        and index.predicate is None
        and ordered.issuperset(column.strip('"`').lower() for column in index.columns)
        for index in indexes
    )
    return Advice("late-look-up", page.operation, {}, effect) if has_key else None


def _to_try(case: Case, fractions: Mapping[str, float], advice: Advice | None) -> str:
    if advice is None:
        return NEXT_PAGE
    return f"{NEXT_PAGE}; {BY_LOOK_UP}; {case.try_words(METHOD, fractions, 'measures it')}"
