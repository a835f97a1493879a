"""Finds full scans that keep a few rows, for which no index exists.

If the catalogue has an index that begins with a column of the condition, the cause is an unused
index instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import (
    computed_index_advice,
    expression_advice,
    index_advice,
    index_words,
)
from assay.analysis.findings.indexes.access_methods import (
    MethodIndex,
    array_elements,
    method_index,
)
from assay.analysis.findings.indexes.conditions import (
    conjuncts,
    excluded_column,
    first_columns,
    has_subquery,
    indexable,
    served_part,
    single_parts,
    whole_part,
)
from assay.analysis.findings.indexes.index_use import OTHERS_REMOVE, unused_index
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import (
    Timed,
    counted_rows,
    fraction_of,
    reach_of,
    timed_nodes,
)
from assay.analysis.findings.plans.setting_trials import is_faster_by_default
from assay.analysis.findings.scan_words import (
    changed_rows_evidence,
    rows_text,
    scan_reason,
)
from assay.analysis.findings.size import is_large
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "missing-index"
BY_ELEMENT = "measure the statement with `@>`"
# An index look-up per row costs more than a sequential scan unless few rows are kept. Column stores
# scan faster, so an index must find fewer rows there.
REMOVED_SHARE_MIN = 0.98
REMOVED_SHARE_MIN_BY_COLUMN = 0.999
# A scan of fewer rows takes less time than an index look-up.
READ_ROWS_MIN = 100
# An index that finds more of a table's rows saves little or nothing.
FOUND_SHARE_MAX = 0.1


def find(case: Case) -> list[Finding]:
    """Return a finding for each table and set of filtered columns without an index."""
    if not case.can("index"):
        return []
    by_index: dict[tuple[str, str | None, tuple[str, ...], str | None], list[Timed]] = {}
    by_part: dict[tuple[str, str | None, tuple[str, ...], str], list[Timed]] = {}
    for timed in timed_nodes(case):
        if timed.node.object is None or _is_by_unused(case, timed) or _is_by_setting(case, timed):
            continue
        if _is_wasteful(case, timed.node):
            table, schema = timed.node.object, timed.node.schema
            columns = _columns(case, timed)
            predicate = None if columns else _predicate(case, timed)
            if predicate is not None:
                part = (table, schema, _partial_columns(timed), predicate)
                by_part.setdefault(part, []).append(timed)
                continue
            # The finding `subquery-per-row` covers a condition of a subquery alone.
            if columns is None or (not columns and has_subquery(timed.node.condition)):
                continue
            # Conditions of no plain column need an index each.
            key = None if columns else _expression(case, [timed]) or timed.node.condition
            by_index.setdefault((table, schema, columns, key), []).append(timed)
    findings = [
        _finding(case, table, columns, scans)
        for (table, schema, columns, _), scans in by_index.items()
        if usable_index(case, table, _first(scans), schema) is None
    ]
    findings += [
        _partial(case, table, columns, predicate, scans)
        for (table, _, columns, predicate), scans in by_part.items()
    ]
    return [finding for finding in findings if is_large(case, finding)]


def _columns(case: Case, scan: Timed) -> tuple[str, ...] | None:
    """Return the columns of the index that a scan lacks; empty if its condition names none.

    None if each index of plain columns would find too many rows: other comparisons of the
    condition, which no index serves, remove them.
    """
    condition, table = scan.node.condition, scan.node.object or ""
    columns = indexable(condition, table)
    most = FOUND_SHARE_MAX * _read_rows(scan.node)
    if not columns or _found_rows(case, scan, columns) <= most:
        return columns
    singles = [indexable(part, table) for part in single_parts(condition, table)]
    found = {single: _found_rows(case, scan, single) for single in singles if single}
    best = min(found, key=lambda single: found[single], default=None)
    return best if best is not None and found[best] <= most else None


def _predicate(case: Case, scan: Timed) -> str | None:
    """Return the comparison of a condition whose few rows a partial index could have alone.

    None if no comparison keeps so few rows, or if the engine has no partial indexes.
    """
    if not case.advice.get("partial_indexes") or not _partial_columns(scan):
        return None
    condition, table = scan.node.condition, scan.node.object
    if excluded_column(condition, table or "") is not None:
        return whole_part(condition or "")
    few = (1 - REMOVED_SHARE_MIN) * _read_rows(scan.node)
    for part in single_parts(condition, table or ""):
        rows = counted_rows(case, scan, part)
        if rows is not None and rows <= few:
            return part
    return None


def _partial_columns(scan: Timed) -> tuple[str, ...]:
    """Return the columns of a partial index: those that find rows, or the one with the values."""
    condition, table = scan.node.condition, scan.node.object or ""
    excluded = excluded_column(condition, table)
    return indexable(condition, table) or (() if excluded is None else (excluded,))


def _found_rows(case: Case, scan: Timed, columns: Sequence[str]) -> float:
    """Return the number of rows that an index finds, by a count; without one, the rows kept.

    The scan keeps fewer rows than the index finds if the index serves a part of the condition only.
    """
    condition, table = scan.node.condition, scan.node.object or ""
    if indexable(condition, table) == tuple(columns):
        parts = [part] if (part := served_part(condition, table)) else []
    else:
        every = single_parts(condition, table)
        parts = [part for part in every if indexable(part, table) == tuple(columns)]
    counts = [counted_rows(case, scan, part) for part in parts]
    # Of several comparisons of a column, each keeps at least as many rows as all together.
    return min((float(rows) for rows in counts if rows is not None), default=scan.node.rows or 0.0)


def _read_rows(node: PlanNode) -> float:
    return (node.removed_rows or 0.0) + (node.rows or 0.0)


def _is_counted(case: Case, scan: Timed) -> bool:
    """Return True if it was counted how many rows the served part of the condition keeps."""
    part = served_part(scan.node.condition, scan.node.object or "")
    return part is None or counted_rows(case, scan, part) is not None


def _first(scans: Sequence[Timed]) -> tuple[str, ...]:
    """Return the columns with which a serving index begins, for scans with the same columns."""
    node = scans[0].node
    return first_columns(node.condition, node.object or "")


def _is_by_unused(case: Case, timed: Timed) -> bool:
    """Return True if an existing index surely serves the scan's condition but is not used.

    The same holds if a new index would stay unused for the same reason.
    """
    unused = unused_index(case, timed)
    return unused is not None and (unused.settle is None or unused.is_enough)


def _is_by_setting(case: Case, timed: Timed) -> bool:
    """Return True if a setting prevents a faster plan with existing indexes."""
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
    # The result of a subquery, such as `<derived2>` of MySQL, is no table.
    if (node.object or "").startswith("<"):
        return False
    # The finding `order-limit` covers scans that stop after the first rows in an order.
    if node.cut_short and node.operator != "scan":
        return False
    read = _read_rows(node)
    by_column = case.advice.get("by_column", False)
    least = REMOVED_SHARE_MIN_BY_COLUMN if by_column else REMOVED_SHARE_MIN
    return read >= READ_ROWS_MIN and node.removed_rows / read >= least


def _removed_share(node: PlanNode) -> float:
    return (node.removed_rows or 0.0) / _read_rows(node)


def _spared_share(case: Case, scan: Timed, columns: Sequence[str]) -> float:
    """Return the share of the rows read by a scan that an index would not find."""
    read = _read_rows(scan.node)
    return max(0.0, 1 - _found_rows(case, scan, columns) / read)


def usable_index(
    case: Case, table: str, columns: Sequence[str], schema: str | None
) -> Index | None:
    """Return a usable index of a table whose first column is one of these; None without one.

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
    sentence = f"{table} has {has}" + (f", but no index that begins with {wanted}" if count else "")
    return [Evidence(sentence, f"catalogue:{table}")]


def _finding(case: Case, table: str, columns: Sequence[str], scans: Sequence[Timed]) -> Finding:
    wasted = {
        operation: fraction * _spared_share(case, _largest(operation, scans), columns)
        for operation, fraction in fraction_of(scans).items()
    }
    name, *others = case.largest_first(wasted)
    largest = _largest(name, scans)
    first = largest.node
    likewise = f", and the same in {names_text(others)}" if others else ""
    read = (first.rows or 0.0) + (first.removed_rows or 0.0)
    claim = (
        f"Scans of {table}{scan_reason(first)} keep {rows_text(first)} of {count_text(read)} rows "
        f"in {name}{likewise}; reading the others took {percent_text(case.of_run(wasted))} of the "
        "time"
    )
    # The scan's condition does not mention rows that a join elsewhere removes.
    asked = first.condition
    advice, to_try = None, None if asked is None else f"create an index of {table} for: {asked}"
    other, elements = None, array_elements(first)
    if columns:
        names = ", ".join(columns)
        advice = index_advice(table, columns, first.schema, case.of_run(wasted))
        to_try = case.try_words(METHOD, wasted, f"makes an index of {table} ({names})")
    elif (other := _by_method(case, scans)) is not None:
        advice, to_try = _of_method(case, table, first, wasted, other)
    elif (expression := _expression(case, scans)) is not None:
        saved = case.of_run(wasted)
        advice = computed_index_advice(case.advice, name, table, expression, first.schema, saved)
        if advice is not None:
            columns = (expression,)
            to_try = case.try_words(METHOD, wasted, index_words(advice, expression))
    elif elements:
        advice, to_try = _of_elements(case, name, first, wasted, elements)
    begins = _first(scans) or columns or (() if other is None else (other.key,))
    evidence = _catalogue_evidence(case, table, begins, first.schema) + [
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
    evidence += [*changed_rows_evidence(largest), *_counted_evidence(case, largest, columns)]
    part = _spared_share(case, largest, columns)
    best = case.of_run({name: share * part for name, share in reach_of(scans).items()})
    finding = case.finding(METHOD, claim, wasted, to_try=to_try, evidence=evidence, advice=advice)
    settle = _to_settle(first, columns) if other is None else _to_settle_method(other)
    settle = BY_ELEMENT if elements and not columns and other is None else settle
    if all(_finds_few(case, scan, columns) for scan in scans):
        settle = None
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of(COMPUTING, saved=(_least(case, wasted), best))


def _partial(
    case: Case, table: str, columns: Sequence[str], predicate: str, scans: Sequence[Timed]
) -> Finding:
    """Return the finding of a missing partial index, with the few rows of a comparison."""
    counts = {scan.operation: counted_rows(case, scan, predicate) for scan in scans}
    # A condition of one comparison is not counted, because the scan keeps its rows.
    rows = {
        scan.operation: float(counts[scan.operation] or scan.node.rows or 0.0) for scan in scans
    }
    wasted = {
        operation: fraction * (1 - rows[operation] / _read_rows(_largest(operation, scans).node))
        for operation, fraction in fraction_of(scans).items()
    }
    name, *others = case.largest_first(wasted)
    first = _largest(name, scans).node
    likewise = f", and the same in {names_text(others)}" if others else ""
    claim = (
        f"Scans of {table} keep {rows_text(first)} of {count_text(_read_rows(first))} rows "
        f"in {name}{likewise}, and only {predicate} removes most of them; reading the others took "
        f"{percent_text(case.of_run(wasted))} of the time"
    )
    saved = case.of_run(wasted)
    advice = index_advice(table, columns, first.schema, saved, predicate=predicate)
    makes = f"makes an index of {table} ({', '.join(columns)}) where {predicate}"
    evidence = [
        Evidence(f"counted: {count_text(rows[name])} rows fulfil {predicate}", f"plan:{name}")
    ]
    to_try = case.try_words(METHOD, wasted, makes)
    finding = case.finding(METHOD, claim, wasted, to_try=to_try, evidence=evidence, advice=advice)
    return finding.without_interval().of(COMPUTING, saved=(_least(case, wasted), saved))


def _finds_few(case: Case, scan: Timed, columns: Sequence[str]) -> bool:
    """Return True if it was counted that an index of some columns finds few of the rows read."""
    found = _found_rows(case, scan, columns)
    is_few = found <= (1 - REMOVED_SHARE_MIN) * _read_rows(scan.node)
    return bool(columns) and is_few and _is_counted(case, scan)


def _counted_evidence(case: Case, scan: Timed, columns: Sequence[str]) -> list[Evidence]:
    """Return evidence of the rows that the index finds, if it serves a part of the condition."""
    if not columns or served_part(scan.node.condition, scan.node.object or "") is None:
        return []
    if not _is_counted(case, scan):
        return []
    found = count_text(_found_rows(case, scan, columns))
    sentence = f"counted: {found} rows fulfil the conditions on {' and '.join(columns)}"
    return [Evidence(sentence, f"plan:{scan.operation}")]


def _by_method(case: Case, scans: Sequence[Timed]) -> MethodIndex | None:
    """Return the index of another access method that serves all scans; None without one."""
    first, *others = (method_index(case, scan.node) for scan in scans)
    return first if all(other == first for other in others) else None


def _of_method(
    case: Case, table: str, scan: PlanNode, wasted: Mapping[str, float], index: MethodIndex
) -> tuple[Advice | None, str]:
    """Return the advice to create an index of another access method, and its words."""
    words = (
        f"create an index of {table} {index.text}, because {index.kind} does not serve "
        f"`{index.operator}`"
    )
    if index.lacks is not None:
        is_available = index.lacks in case.extensions
        lacks = f"create extension {index.lacks}" if is_available else f"install {index.lacks}"
        return None, f"{lacks}, then {words}"
    advice = expression_advice(
        table, index.key, scan.schema, case.of_run(wasted), method=index.method
    )
    return advice, f"{words}; {case.try_words(METHOD, wasted, 'makes this index')}"


def _to_settle_method(index: MethodIndex) -> str | None:
    """Return what is unknown about an index of another access method; None if nothing is."""
    return None if index.doubt is None else f"measure with the index: {index.doubt}"


def _of_elements(
    case: Case,
    operation: str,
    scan: PlanNode,
    wasted: Mapping[str, float],
    elements: Sequence[tuple[str, str]],
) -> tuple[Advice | None, str]:
    """Return the advice for comparisons with each element of arrays, and its words."""
    written = " and ".join(f"`{column} @> array[{value}]`" for column, value in elements)
    column = elements[0][0]
    words = f"write {written} instead of `= any ({column})`, which no index serves"
    indexes = case.indexes_of(scan.object, scan.schema)
    if any(index.method == "gin" and index.columns[:1] == (column,) for index in indexes):
        advice = Advice("array-element", operation, {}, case.of_run(wasted))
        return advice, f"{words}; {case.try_words(METHOD, wasted, 'tries it')}"
    return None, f"{words}, and create an index of {scan.object} using gin ({column})"


def _expression(case: Case, scans: Sequence[Timed]) -> str | None:
    """Return the only expression that all scans compare for equality; None without one."""
    if not (case.advice.get("expressions") or case.can("stored-values")):
        return None
    # Only few runs need the SQL library, which takes a tenth of a second to import.
    from assay.analysis.plans.restrictions import restrictions

    expressions = {
        restriction.expression
        for scan in scans
        for restriction in restrictions(scan.node.condition or "", scan.node.object or "")
        if restriction.is_equal
    }
    return f"({expressions.pop()})" if len(expressions) == 1 and None not in expressions else None


def _least(case: Case, wasted: Mapping[str, float]) -> float:
    """Return the minimum share of time that an index saves: the CPU time alone."""
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
    """Return what is unknown about the advised index; None if it serves the whole condition."""
    parts = conjuncts(scan.condition)
    searched = [set(indexable(part, scan.object or "")) for part in parts]
    if len(columns) >= len(parts) or all(part and part <= set(columns) for part in searched):
        return None
    if not columns:
        return f"create an index that supports this condition: {scan.condition}"
    return f"measure how many rows {' and '.join(columns)} alone keeps: {OTHERS_REMOVE}"


def _largest(operation: str, scans: Sequence[Timed]) -> Timed:
    operation_scans = [scan for scan in scans if scan.operation == operation]
    return max(operation_scans, key=lambda scan: scan.fraction or 0.0)
