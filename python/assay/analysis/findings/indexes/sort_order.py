"""Reads the order of a plan's sorts, and tells whether an index returns rows in that order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.existing_index import direction_of, has_directions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Index
    from assay.model.plan import PlanNode

# Prefix of engines' internal temporary tables, which nobody can index.
TEMPORARY = "<"
SORTS = ("sort", "top-n")
SCANS = ("scan", "index scan", "bitmap scan")
PASSING = (*SORTS, "limit", "projection", "exchange", "filter", "result", "subquery")

_COLUMN = re.compile(
    r'^"?(?:[\w$]+"?\."?)*?([\w$]+)"?(?P<direction>(?:\s+(?:asc|desc))?(?:\s+nulls \w+)?)$',
    re.IGNORECASE,
)
# The part of a sort key by which the rows below are in order already.
_PRESORTED = re.compile(r";\s*presorted\b.*", re.IGNORECASE | re.DOTALL)
_PARTLY = re.compile(r"\b(?:last|right)\b.*\bof order by$", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")


def has_index(
    case: Case, scan: PlanNode, keys: Sequence[str], searched: Collection[str] = ()
) -> bool:
    """Return True if a valid full index returns the rows of a scan in an order.

    Args:
        case: The run.
        scan: Scan of the table.
        keys: Columns of the order as keys of an index, such as `priority desc`. An index is read
            forwards or backwards, so all directions may be the opposite ones.
        searched: Columns that are compared for equality. They come first in the index.
    """
    return bool(_with_columns(case, scan, keys, searched, in_order=True))


def other_directions(
    case: Case, scan: PlanNode, keys: Sequence[str], searched: Collection[str] = ()
) -> tuple[Index, ...]:
    """Return the indexes with the columns of an order, but in other directions."""
    if has_index(case, scan, keys, searched):
        return ()
    return _with_columns(case, scan, keys, searched, in_order=False)


def _with_columns(
    case: Case, scan: PlanNode, keys: Sequence[str], searched: Collection[str], *, in_order: bool
) -> tuple[Index, ...]:
    first = {column.lower() for column in searched}
    begin, wanted = len(first), [_name(key).lower() for key in keys]
    directions = [direction_of(key) for key in keys]
    found = []
    for index in case.indexes_of(scan.object, scan.schema):
        own = [column.strip('"`').lower() for column in index.columns]
        if not index.valid or index.predicate is not None or set(own[:begin]) != first:
            continue
        has_columns = own[begin : begin + len(wanted)] == wanted
        if has_columns and (not in_order or has_directions(index, directions, begin)):
            found.append(index)
    return tuple(found)


def sort_columns(condition: str | None) -> tuple[str, ...]:
    """Return the columns of a sort key; empty if the key contains an expression."""
    return tuple(name for name, _ in _parts(condition))


def sort_keys(case: Case, condition: str | None, searched: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sort key as keys of an index, such as `priority desc`; empty for expressions.

    Columns that are compared for equality have no order. An index is read forwards or backwards, so
    columns that are all descending are ascending in it.
    """
    has_nulls = bool((case.advice.get("index_order") or {}).get("nulls"))
    parts = [
        (name, direction if has_nulls else direction.partition(" nulls")[0])
        for name, direction in _parts(condition)
        if name not in searched
    ]
    return _forwards(parts)


def index_keys(index: Index, searched: Collection[str] = ()) -> tuple[str, ...]:
    """Return the keys of an index, without searched columns; empty if one is an expression."""
    names = sort_columns(", ".join(index.columns))
    directions = index.directions or ("asc",) * len(names)
    parts = zip(names, directions, strict=False)
    return _forwards([(name, direction) for name, direction in parts if name not in searched])


def has_mixed_directions(keys: Iterable[str]) -> bool:
    """Return True if an index with these keys needs descending columns, or another order of nulls.

    The keys are those of `sort_keys`.
    """
    return any(direction_of(key) != "asc" for key in keys)


def can_mix_directions(case: Case) -> bool | None:
    """Return whether indexes of the engine can have descending columns.

    None if the record does not have this fact of the engine.
    """
    facts = case.advice.get("index_order")
    if facts is None:
        return None
    if not facts.get("descending", True):
        return False
    since, version = facts.get("since"), (case.environment.get("engine") or {}).get("version")
    return since is None or _numbers(version) >= _numbers(since)


def is_partly_sorted(sort: PlanNode) -> bool:
    """Return True if the rows below a sort are in the order of its first columns already.

    Such a sort reads and sorts one group of rows after another, and may stop early.
    """
    is_incremental = _PRESORTED.search(sort.condition or "") is not None
    return is_incremental or _PARTLY.search(sort.native) is not None


def _parts(condition: str | None) -> list[tuple[str, str]]:
    """Return the columns of a sort key with their directions; empty for expressions."""
    columns = []
    for part in _PRESORTED.sub("", condition or "").split(","):
        matched = _COLUMN.match(part.strip().strip("()").strip())
        if matched is None:
            return []
        columns.append((matched[1], direction_of(f"key {matched['direction']}")))
    return columns


def _forwards(parts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return columns and directions as keys of an index, which is read backwards if that helps."""
    backwards = all(direction == "desc" for _, direction in parts)
    return tuple(
        name if backwards or direction == "asc" else f"{name} {direction.removeprefix('asc ')}"
        for name, direction in parts
    )


def _name(key: str) -> str:
    return key.split(" ", 1)[0]


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(map(int, _NUMBERS.findall(version or "")))


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
