"""Finds pages whose first row is asked for by a condition that gives an index no begin.

The condition has alternatives (`a > x or (a = x and b > y)`), or compares rows, `(a, b) > (x, y)`,
on an engine that searches no index by rows. The index is read from its start, or from the first row
of its leading columns, and a filter removes all rows of earlier pages. A further comparison, `a >=
x`, has the same result and a begin.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.ordered_scan import REMOVED_ROWS_MIN, index_of_scan
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "paging-condition"
EFFECT_MIN = 0.05
# A page that is not behind most of the index is read quickly anyway.
REMOVED_SHARE_MIN = 0.9
_TEXT = re.compile(r"'(?:[^']|'')*'")
_OR = re.compile(r"\bor\b", re.IGNORECASE)
# One comparison: a column, perhaps with its table, an operator and a value.
_COMPARISON = re.compile(
    r"(?:\w+\.)?\"?(\w+)\"?\s*(<=|>=|=|<(?!>)|>)\s*(?:''|\$\d+|-?\d[\d.]*)(?:::[\w ]+)?"
)
# All that may be left of the condition without its comparisons.
_GLUE = re.compile(r"(?:[\s();]|\b(?:filter|and|or)\b)*", re.IGNORECASE)
# A comparison of several columns with as many values.
_ROW = re.compile(
    r"[\s(]*(?:filter\b)?[\s(]*((?:[\w.\"`]+\s*,\s*)+[\w.\"`]+)\s*\)\s*(<=|>=|<|>)\s*\([^()]*\)[\s)]*",
    re.IGNORECASE,
)
ROW_COLUMNS_MIN = 2


def find(case: Case) -> list[Finding]:
    """Return a finding for each index that is read from its start up to the wanted page."""
    findings = [
        _finding(case, scan, index, columns, direction)
        for scan in timed_nodes(case)
        if _ends_at_limit(scan)
        and (index := index_of_scan(case, scan)) is not None
        and (columns := _compared(scan, index))
        and (direction := _direction(scan)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _ends_at_limit(scan: Timed) -> bool:
    """Return True if a scan of an index removes most of its rows until a limit is reached."""
    node = scan.node
    removed, kept = node.removed_rows or 0.0, node.rows or 0.0
    is_long = removed >= max(REMOVED_ROWS_MIN, REMOVED_SHARE_MIN * (removed + kept))
    return node.operator == "index scan" and node.cut_short and is_long


def _parts(scan: Timed) -> tuple[str, str]:
    """Return the search condition of an index scan, and the filter on its rows."""
    condition = _TEXT.sub("''", scan.node.condition or "")
    search, found, rest = condition.partition("; filter ")
    return (search, rest) if found else ("", condition)


def _compared(scan: Timed, index: Index) -> tuple[str, ...]:
    """Return the columns of an index by which a filter asks for the next page; else empty.

    The index is searched by equality of all its columns before these, if there are any.
    """
    search, condition = _parts(scan)
    equal = _columns(search) if _is_equal(search) else None
    names = _columns(condition) if _OR.search(condition) else _row_columns(condition)
    if equal is None or len(names) < ROW_COLUMNS_MIN:
        return ()
    columns = [column.strip('"`') for column in index.columns]
    lower, end = [column.lower() for column in columns], len(equal) + len(names)
    is_first = equal == set(lower[: len(equal)]) and names == set(lower[len(equal) : end])
    return tuple(columns[len(equal) : end]) if is_first else ()


def _columns(condition: str) -> set[str]:
    """Return the columns of a condition that only compares columns with values; else empty."""
    if not _GLUE.fullmatch(_COMPARISON.sub("", condition)):
        return set()
    return {match[1].lower() for match in _COMPARISON.finditer(condition)}


def _is_equal(search: str) -> bool:
    """Return True if a search condition has nothing but equalities, or is empty."""
    are_equal = all(match[2] == "=" for match in _COMPARISON.finditer(search))
    return are_equal and bool(_columns(search) or not search.strip())


def _row_columns(condition: str) -> set[str]:
    """Return the columns of a comparison of two rows, if the condition has nothing else."""
    row = _ROW.fullmatch(condition)
    return (
        {name.rpartition(".")[2].strip(' "`').lower() for name in row[1].split(",")}
        if row
        else set()
    )


def _direction(scan: Timed) -> str | None:
    """Return the direction of all comparisons; None if they differ, which is no next page."""
    _, condition = _parts(scan)
    row = _ROW.fullmatch(condition)
    if row is not None:
        return row[2][0]
    operators = {match[2][0] for match in _COMPARISON.finditer(condition)} - {"="}
    return operators.pop() if len(operators) == 1 else None


def _start(scan: Timed) -> str:
    """Return the place from which the index is read."""
    search = (scan.node.condition or "").partition("; filter ")[0]
    return f"its first row with {search.strip('()')}" if _parts(scan)[0] else "its start"


def _form(scan: Timed) -> str:
    """Return the form of the condition, as the subject of a sentence."""
    is_row = _ROW.fullmatch(_parts(scan)[1]) is not None
    return "the comparison of rows" if is_row else "the condition with `or`"


def _finding(
    case: Case, scan: Timed, index: Index, columns: tuple[str, ...], direction: str
) -> Finding:
    node, operation = scan.node, scan.operation
    removed, kept = node.removed_rows or 0.0, node.rows or 0.0
    share = removed / (removed + kept)
    fractions = {name: whole * share for name, whole in fraction_of([scan]).items()}
    effect, names = case.of_run(fractions), ", ".join(columns)
    claim = (
        f"{operation} reads index {node.index} of {node.object} from {_start(scan)}: {_form(scan)} "
        f"gives no place to begin, and removes {count_text(removed)} of "
        f"{count_text(removed + kept)} rows. Reading them took {percent_text(effect)} of the time"
    )
    first = columns[0]
    to_try = (
        f"compare {first} by itself, too, so that the index is read from there on: `where {first} "
        f"{direction}= ... and (...)`"
    )
    if not _ROW.fullmatch(_parts(scan)[1]):
        to_try += (
            f"; PostgreSQL and SQLite also begin at one row: `({names}) {direction} (..., ...)`"
        )
    evidence = [
        Evidence(f"{node.native} with {node.index}: {node.condition}", f"plan:{operation}"),
        Evidence(f"index {index.text} has {names} in this order", f"catalogue:{node.object}"),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
