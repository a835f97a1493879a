"""Reads the order of a plan's sorts, and tells whether an index returns rows in that order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.plan import PlanNode

# Prefix of engines' internal temporary tables, which nobody can index.
TEMPORARY = "<"
SORTS = ("sort", "top-n")
SCANS = ("scan", "index scan", "bitmap scan")
PASSING = (*SORTS, "limit", "projection", "exchange", "filter", "result", "subquery")

_COLUMN = re.compile(
    r'^"?(?:[\w$]+"?\."?)*?([\w$]+)"?(?:\s+(?:asc|desc))?(?:\s+nulls \w+)?$', re.IGNORECASE
)


def has_index(case: Case, scan: PlanNode, columns: Sequence[str]) -> bool:
    """Return True if a valid full index begins with all of the given columns."""
    wanted = tuple(column.lower() for column in columns)
    return any(
        index.valid
        and index.predicate is None
        and tuple(column.strip('"`').lower() for column in index.columns[: len(wanted)]) == wanted
        for index in case.indexes_of(scan.object, scan.schema)
    )


def sort_columns(condition: str | None) -> tuple[str, ...]:
    """Return the columns of a sort key; empty if the key contains an expression."""
    columns = []
    for part in (condition or "").split(","):
        matched = _COLUMN.match(part.strip().strip("()").strip())
        if matched is None:
            return ()
        columns.append(matched[1])
    return tuple(columns)


def scan_below(node: PlanNode) -> Iterator[PlanNode]:
    """Yield the scan directly below a sort operator."""
    below = node
    while len(below.children) == 1:
        below = below.children[0]
        if below.operator in SCANS and below.object is not None:
            if not below.object.startswith(TEMPORARY):
                yield below
            return
        if below.operator not in PASSING:
            return
