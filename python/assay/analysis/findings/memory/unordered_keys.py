"""Finds keys without an order, which put each inserted row on another page of the cache."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import MISSES
from assay.analysis.operations import is_measured
from assay.analysis.plans.inserted import inserted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.analysis.plans.inserted import Inserted
    from assay.model.catalogue import Index

# Keys that grow fill a page with dozens of rows before the next one is needed.
PAGES_PER_ROW_MIN = 0.3
# Functions whose results have no order, and words of those whose results grow with time.
RANDOM = re.compile(
    r"\b(?:gen_random_uuid|uuid\w*|newid|rand|random|randomblob|sha\d*|md5|digest)\s*\("
)
GROWING = re.compile(
    r"v7|uuid_short|ulid|time|\bnow\b|nextval|clock|julianday|uuid_to_bin\(.*,\s*(?:1|true)\)"
)
# Types of keys that are no numbers and no times.
UNORDERED_TYPE = re.compile(r"char|text|binary|blob|bytea|uuid|string", re.IGNORECASE)
INSTEAD = (
    "keys that grow, such as UUID version 7 or a number that the database counts, put new rows on "
    "the same pages"
)


def unordered_keys(case: Case) -> str | None:
    """Return a clause about the key of the inserted rows if it has no order; None otherwise.

    All operations of the run must insert listed rows only, and read many pages for each row.
    """
    plans = [plan for name in case.shares for plan in case.plans.get(name, ())]
    writes = [inserted(plan.text or "", case.grammar) for plan in plans]
    inserts = [write for write in writes if write is not None]
    if not inserts or len(inserts) < len(writes) or any(plan.triggers for plan in plans):
        return None
    missed, rows = case.total(MISSES), _inserted_rows(case)
    if not missed or not rows or missed < PAGES_PER_ROW_MIN * rows:
        return None
    key = next((key for write in inserts if (key := _key(case, write)) is not None), None)
    if key is None:
        return None
    return (
        f"only inserts were executed, and each row read {missed / rows:.1f} pages: the key "
        f"{key} has no order, so new rows go to pages all over the table"
    )


def _inserted_rows(case: Case) -> float | None:
    """Return the rows inserted in the measured part; None if an operation's rows are not known."""
    measured = case.executions.filter(is_measured(case.executions))
    rows = 0.0
    for operation, executed in measured["operation"].value_counts().iter_rows():
        plans = case.plans.get(operation, ())
        writes = [inserted(plan.text or "", case.grammar) for plan in plans]
        if not writes or None in writes:
            return None
        rows += executed * sum(write.rows for write in writes if write is not None)
    return rows


def _key(case: Case, write: Inserted) -> str | None:
    """Return the first unordered key of an insert's table, as text with its type."""
    if any(key.table.lower() == write.table for key in case.foreign_keys):
        return None
    tables = {table.lower(): indexes for table, indexes in (case.indexes or {}).items()}
    indexes = tables.get(write.table, ())
    declared = case.column_types.get(write.table, {})
    for column in _first_columns(indexes):
        kind = declared.get(column)
        value = write.values.get(column)
        if _is_unordered(value, kind, is_alone=len(indexes) == 1):
            kind_text = "" if kind is None else f" ({kind})"
            return f"{column} of {write.table}{kind_text}"
    return None


def _first_columns(indexes: Iterable[Index]) -> list[str]:
    """Return the first column of each unique index, in lower case."""
    unique = [index for index in indexes if index.unique and index.columns]
    return [index.columns[0].strip('"`').lower() for index in unique]


def _is_unordered(value: str | None, kind: str | None, *, is_alone: bool) -> bool:
    """Return True if a key's values have no order, by their expression or else their type.

    The type counts only if the table has no other index, which could read the pages instead.
    """
    if value is not None and GROWING.search(value):
        return False
    if value is not None and RANDOM.search(value):
        return True
    return is_alone and kind is not None and UNORDERED_TYPE.search(kind) is not None
