"""Finds index searches that look up many rows in the table, on engines that count only pages.

Plans of such an engine have no rows and times. The witness is the number of pages that an execution
asks of the cache: each row needs the pages from the root of the table down to the row, while an
index with all columns has many rows in a page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import index_advice
from assay.analysis.findings.changing import CHANGES
from assay.analysis.findings.memory.cache import HITS, MISSES
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "row-look-ups"
SEARCH = "index scan"
# A few hundred rows; fewer take less time than the statement itself.
PAGES_MIN = 1000
EFFECT_MIN = 0.1
# With less of the time, other operations may have asked for the pages.
MOST_TIME = 0.8
# A longer index takes as much space as the table and slows down each change of its rows.
ADDED_MAX = 4
# Words of conditions that search the index several times, which needs pages, too.
SEVERAL = "ANY("
# Tables of this dialect can store their rows in the order of the primary key.
ROWS_IN_KEY_ORDER = "sqlite"
TO_SETTLE = "measure with the index: plans of this engine have no times and rows"


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation whose only search looks up many rows in the table."""
    findings = [
        _finding(case, scan, index, pages)
        for scan in timed_nodes(case)
        if _is_alone(case, scan)
        and (index := _searched(case, scan)) is not None
        and 0 < len(_lacking(scan, index)) <= ADDED_MAX
        and (pages := _pages(case, scan.operation)) is not None
        and pages >= PAGES_MIN
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _is_alone(case: Case, scan: Timed) -> bool:
    """Return True if the search is all that its operation reads, and it changes nothing."""
    if scan.node.operator != SEARCH or scan.node.rows is not None or scan.plan.timed:
        return False
    if len(case.plans[scan.operation]) != 1 or CHANGES.search(scan.plan.text or "") is not None:
        return False
    reads = [node for node in scan.plan.root.walk() if node.object is not None]
    return reads == [scan.node] and SEVERAL not in (scan.node.condition or "")


def _searched(case: Case, scan: Timed) -> Index | None:
    """Return the index of a search if a longer index with its keys would serve the search."""
    for index in case.indexes_of(scan.node.object, scan.node.schema):
        is_plain = index.predicate is None and index.collation is None
        is_rising = all(direction == "asc" for direction in index.directions)
        has_columns = all(column.strip('"`').isidentifier() for column in index.columns)
        if index.name == scan.node.index and is_plain and is_rising and has_columns:
            return index
    return None


def _lacking(scan: Timed, index: Index) -> list[str]:
    """Return the columns that the statement reads and the index does not contain."""
    has = {column.strip('"`').lower() for column in index.columns}
    return [column for column in scan.node.columns or () if column.lower() not in has]


def _pages(case: Case, operation: str) -> float | None:
    """Return the pages that one execution of an operation asks of the cache; None if not known.

    If only their total is counted, an operation with most of the time asked for as large a part.
    """
    figures = [figure for name in (HITS, MISSES) if (figure := case.figure(name)) is not None]
    counted = [figure.get("operations") or {} for figure in figures]
    if any(operation in of_operations for of_operations in counted):
        return float(sum(of_operations.get(operation, 0.0) for of_operations in counted))
    executions = sum(op.passes for op in case.operations if op.name == operation)
    share = case.shares.get(operation, 0.0)
    if share < MOST_TIME or not figures or not executions:
        return None
    return share * sum(case.total(name) or 0.0 for name in (HITS, MISSES)) / executions


def _finding(case: Case, scan: Timed, index: Index, pages: float) -> Finding:
    operation, table = scan.operation, scan.node.object or ""
    fractions = {operation: case.worked(operation)}
    effect = case.of_run(fractions)
    lacking = _lacking(scan, index)
    columns = [*(column.strip('"`') for column in index.columns), *lacking]
    missing = ", ".join(lacking)
    claim = (
        f"{operation} finds rows by index {index.name}, which lacks {missing}, and looks "
        f"up each row in {table}: an execution asks the cache for {count_text(pages)} pages. The "
        f"search and the look-ups took up to {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{scan.node.native} {index.name} reads {missing}", f"plan:{operation}"),
        Evidence(f"{count_text(pages)} pages per execution", f"counter:{HITS}"),
        Evidence(f"{index.text} lacks {missing}", f"catalogue:{table}"),
    ]
    does = f"makes an index of {table} ({', '.join(columns)}), which the search reads alone"
    to_try = case.try_words(METHOD, fractions, does)
    if index.unique and case.grammar == ROWS_IN_KEY_ORDER:
        to_try = (
            f"if {index.name} is the primary key, a table `without rowid` stores the rows in it; "
            f"{to_try}"
        )
    advice = index_advice(table, columns, scan.node.schema, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
