"""Finds pages whose first row is asked for by alternatives (`a > x or (a = x and b > y)`).

An index cannot begin at such a condition. It is read from its start, and a filter removes all rows
of earlier pages. A comparison of rows, `(a, b) > (x, y)`, has the same result and a begin.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.ordered_scan import index_of_scan, removes_in_order
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
ONWARD, BACKWARD = ">", "<"


def find(case: Case) -> list[Finding]:
    """Return a finding for each index that is read from its start up to the wanted page."""
    findings = [
        _finding(case, scan, columns, direction)
        for scan in timed_nodes(case)
        if removes_in_order(scan, REMOVED_SHARE_MIN)
        and (index := index_of_scan(case, scan)) is not None
        and (columns := _compared(scan, index))
        and (direction := _direction(scan)) is not None
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _condition(scan: Timed) -> str:
    return _TEXT.sub("''", scan.node.condition or "")


def _compared(scan: Timed, index: Index) -> tuple[str, ...]:
    """Return the first columns of an index if the condition compares these alone; else empty."""
    condition = _condition(scan)
    if not _OR.search(condition) or not _GLUE.fullmatch(_COMPARISON.sub("", condition)):
        return ()
    names = {match[1].lower() for match in _COMPARISON.finditer(condition)}
    first = tuple(column.strip('"`') for column in index.columns[: len(names)])
    is_first = names == {column.lower() for column in first}
    return first if len(names) > 1 and is_first else ()


def _direction(scan: Timed) -> str | None:
    """Return the direction of all comparisons; None if they differ, which is no next page."""
    operators = {match[2][0] for match in _COMPARISON.finditer(_condition(scan))} - {"="}
    return operators.pop() if len(operators) == 1 else None


def _finding(case: Case, scan: Timed, columns: tuple[str, ...], direction: str) -> Finding:
    node, operation = scan.node, scan.operation
    removed, kept = node.removed_rows or 0.0, node.rows or 0.0
    share = removed / (removed + kept)
    fractions = {name: whole * share for name, whole in fraction_of([scan]).items()}
    effect, names = case.of_run(fractions), ", ".join(columns)
    claim = (
        f"{operation} reads index {node.index} of {node.object} from its start: the condition with "
        f"`or` gives no place to begin, and removes {count_text(removed)} of "
        f"{count_text(removed + kept)} rows. Reading them took {percent_text(effect)} of the time"
    )
    to_try = (
        f"compare the columns as one row: `where ({names}) {direction} (..., ...)`, so that the "
        "index is read from there on"
    )
    evidence = [
        Evidence(f"{node.native} with {node.index}: {node.condition}", f"plan:{operation}"),
        Evidence(f"index {node.index} begins with {names}", f"catalogue:{node.object}"),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
