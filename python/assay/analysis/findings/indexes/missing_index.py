"""Full scans that keep a few rows, for which no index exists.

If the catalogue has an index that begins with a column of the condition, the cause is an unused
index instead.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.case import index_advice, names_text
from assay.analysis.findings.indexes.index_use import unused_index
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, reach_of, timed_nodes
from assay.analysis.findings.plans.setting_trials import is_faster_by_default
from assay.analysis.findings.size import is_large
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "missing-index"
# An index look-up per row costs more than a sequential scan unless few rows are kept. Column stores
# scan faster, so an index must find fewer rows there.
REMOVED_SHARE_MIN = 0.98
REMOVED_SHARE_MIN_BY_COLUMN = 0.999
# A scan of fewer rows takes less time than an index look-up.
READ_ROWS_MIN = 100

_TEXT = re.compile(r"'(?:[^']|'')*'")
# Separator between the search condition of an index and the filter on its rows.
_AND = re.compile(r"\band\b|;", re.IGNORECASE)
_COLLATED = re.compile(r"\bcollate\b", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
_CAST_NAME = re.compile(r"\(([\w.\"]+)\)::[\w ]+(?:\[\])?")
_CAST = re.compile(r"::[\w ]+(?:\(\d+(?:,\d+)?\))?(?:\[\])?")
_COMPARED = re.compile(
    r"[\s(]*(?:filter\b|optional:)?[\s(]*([A-Za-z_][\w.]*)\s*"
    r"(<=>|<=|>=|=|<(?!>)|>|\bin\b|\bbetween\b)(.*)",
    re.IGNORECASE | re.DOTALL,
)
# Texts that stand for a value instead of a literal: a parameter, an expression that is computed
# once, and keywords around several values.
_VALUE = re.compile(
    r"<cache>\(.*|\$\d+|\(InitPlan \d+\)\.col\d+|\b(?:any|array|const|true|false)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
EQUAL = ("=", "<=>", "in")


def find(case: Case) -> list[Finding]:
    """Return one finding for each table and the columns that filter its rows."""
    if not case.can("index"):
        return []
    by_index: dict[tuple[str, str | None, tuple[str, ...]], list[Timed]] = {}
    for timed in timed_nodes(case):
        if timed.node.object is None or unused_index(case, timed) is not None:
            continue
        if _is_by_setting(case, timed):
            continue
        if _is_wasteful(case, timed.node):
            columns = indexable(timed.node.condition, timed.node.object)
            by_index.setdefault((timed.node.object, timed.node.schema, columns), []).append(timed)
    findings = [
        _finding(case, table, columns, scans)
        for (table, schema, columns), scans in by_index.items()
        if usable_index(case, table, columns, schema) is None
    ]
    return [finding for finding in findings if is_large(case, finding)]


def _is_by_setting(case: Case, timed: Timed) -> bool:
    """Return True if a setting prevents a faster plan that uses existing indexes."""
    others = case.alternatives.get(timed.operation, ())
    statement = timed.plan.statement
    return any(
        is_faster_by_default(alternative)
        for alternative in others
        if alternative.statement == statement
    )


def _is_wasteful(case: Case, node: PlanNode) -> bool:
    if not node.is_full_scan or node.removed_rows is None or node.rows is None:
        return False
    # The finding `order-limit` covers scans that stop after the first rows in an order.
    if node.cut_short and node.operator != "scan":
        return False
    read = node.removed_rows + node.rows
    by_column = case.advice.get("by_column", False)
    least = REMOVED_SHARE_MIN_BY_COLUMN if by_column else REMOVED_SHARE_MIN
    return read >= READ_ROWS_MIN and node.removed_rows / read >= least


def _removed_share(node: PlanNode) -> float:
    removed = node.removed_rows or 0.0
    return removed / (removed + (node.rows or 0.0))


def indexable(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the columns that an index can search by, those compared for equality first.

    Only one range condition is useful. Conditions inside functions, in OR, or between columns of
    one row cannot use an index.
    """
    equal, ranges = _compared(condition, table)
    first_range = [column for column in ranges if column not in equal][:1]
    return (*equal, *first_range)


def equal_columns(condition: str | None, table: str) -> tuple[str, ...]:
    """Return the columns that are compared for equality with a value, as `indexable` finds them."""
    return _compared(condition, table)[0]


def _compared(condition: str | None, table: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns compared for equality, and those compared with a range."""
    text = _TEXT.sub("''", condition or "")
    if _EITHER.search(text):
        return (), []
    equal: list[str] = []
    ranges: list[str] = []
    for comparison in _AND.split(text):
        # An index in the column's own collation does not serve a comparison in another collation.
        if _COLLATED.search(comparison):
            continue
        match = _COMPARED.match(_CAST.sub("", _CAST_NAME.sub(r"\1", comparison)))
        if match is not None and _belongs_to(match[1], table) and not _has_column(match[3], table):
            column = match[1].rpartition(".")[2]
            (equal if match[2].lower() in EQUAL else ranges).append(column)
    return tuple(dict.fromkeys(equal)), ranges


def usable_index(
    case: Case, table: str, columns: Sequence[str], schema: str | None
) -> Index | None:
    """Return an index of the table whose first column is one of these; None without one.

    Hidden, invalid and partial indexes do not count, because they do not serve an arbitrary query.
    """
    wanted = {column.lower() for column in columns}
    for index in case.indexes_of(table, schema):
        is_whole = index.valid and index.predicate is None
        if is_whole and index.columns and index.columns[0].strip('"`').lower() in wanted:
            return index
    return None


def _catalogue_evidence(
    case: Case, table: str, columns: Sequence[str], schema: str | None
) -> list[Evidence]:
    """Return evidence that the catalogue has no such index; empty without a catalogue."""
    if case.indexes is None or not columns:
        return []
    count = len(case.indexes_of(table, schema))
    wanted = " or ".join(columns)
    has = "no index" if not count else f"{count} index" + ("es" if count > 1 else "")
    sentence = f"{table} has {has}" + (f", none that begins with {wanted}" if count else "")
    return [Evidence(sentence, f"catalogue:{table}")]


def _conjuncts(condition: str | None) -> int:
    """Return the number of conditions joined by AND; 1 if the condition contains OR."""
    text = _TEXT.sub("''", condition or "")
    return len([part for part in _AND.split(text) if part.strip(" ()")])


def _belongs_to(name: str, table: str) -> bool:
    """Return True if a column belongs to a table. Plans may number tables, such as `orders_1`."""
    prefix = name.rpartition(".")[0]
    return prefix in ("", table) or re.fullmatch(rf"{re.escape(table)}_\d+", prefix) is not None


def _has_column(text: str, table: str) -> bool:
    """Return True if one side of a comparison reads this table's columns."""
    return any(_belongs_to(name, table) for name in _NAME.findall(_VALUE.sub("", text)))


def _finding(case: Case, table: str, columns: Sequence[str], scans: Sequence[Timed]) -> Finding:
    wasted = {
        operation: fraction * _removed_share(_largest(operation, scans).node)
        for operation, fraction in fraction_of(scans).items()
    }
    name, *others = case.largest_first(wasted)
    first = _largest(name, scans).node
    likewise = f", likewise in {names_text(others)}" if others else ""
    read = (first.rows or 0.0) + (first.removed_rows or 0.0)
    claim = (
        f"Scans of {table} keep {count_text(first.rows)} of {count_text(read)} rows in {name}"
        f"{likewise}; reading the others took {percent_text(case.of_run(wasted))} of the time"
    )
    # The scan's condition does not mention rows that a join elsewhere removes.
    asked = first.condition
    advice, to_try = None, None if asked is None else f"an index of {table} for: {asked}"
    if columns:
        names = ", ".join(columns)
        advice = index_advice(table, columns, first.schema, case.of_run(wasted))
        to_try = case.try_words(METHOD, wasted, f"makes an index of {table} ({names})")
    evidence = _catalogue_evidence(case, table, columns, first.schema) + [
        Evidence(
            f"{scan.node.native} of {scan.operation} removed"
            f" {percent_text(_removed_share(scan.node))} of the rows it read and took"
            f" {percent_text(scan.fraction)} of its time",
            f"plan:{scan.operation}",
        )
        for scan in scans
    ]
    evidence += [
        Evidence(f"{name}: {case.counted_scans[name]}", f"counter:{name}")
        for name in case.largest_first(wasted)
        if name in case.counted_scans
    ]
    part = _removed_share(first)
    best = case.of_run({name: share * part for name, share in reach_of(scans).items()})
    finding = case.finding(METHOD, claim, wasted, to_try=to_try, evidence=evidence, advice=advice)
    finding = replace(finding.without_interval(), settle=_to_settle(first, columns))
    return finding.of(COMPUTING, saved=(_least(case, wasted), best))


def _least(case: Case, wasted: Mapping[str, float]) -> float:
    """Return the share of time saved if other operations use the freed CPUs: the CPU time alone."""
    on_cpu = {}
    for name, share in wasted.items():
        tree = case.trees.get(name)
        if tree is None:
            return 0.0
        computing = tree.share_of(COMPUTING)
        waits = sum(tree.share_of(f"{COMPUTING}/{wait}") for wait in ("queue", "limit", "steal"))
        on_cpu[name] = share * (1 - waits / computing) if computing else 0.0
    return case.of_run(on_cpu)


def _to_settle(scan: PlanNode, columns: Sequence[str]) -> str | None:
    """Return what is not known about the advised index; None if it serves the whole condition."""
    if len(columns) >= _conjuncts(scan.condition):
        return None
    if not columns:
        return f"an index that serves this condition: {scan.condition}"
    return f"how many rows {' and '.join(columns)} alone keeps: other conditions remove rows, too"


def _largest(operation: str, scans: Sequence[Timed]) -> Timed:
    operation_scans = [scan for scan in scans if scan.operation == operation]
    return max(operation_scans, key=lambda scan: scan.fraction or 0.0)
