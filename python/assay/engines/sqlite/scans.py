"""Counts the rows that full table scans read and keep.

This build of SQLite does not count rows by operator. A statement's program shows which comparisons
remove rows, and a count query over the table shows how many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engines.sqlite.bytecode import FOREIGN_KEY
from assay.engines.sqlite.database import quoted, script

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from assay.engines.sqlite.bytecode import Comparison, FilteredScan

AND = " and "


def counted_scans(
    connection: apsw.Connection, scans: Iterable[FilteredScan]
) -> list[dict[str, Any]]:
    """Return the rows that each full scan reads and keeps.

    Raises apsw's errors.

    `read` and `kept` are rows per loop. If rows are compared with another table's, `kept` is the
    average number of rows per distinct value. Scans for one foreign key are counted together: the
    check of a key and its action have one each.
    """
    keys: dict[tuple[str, tuple[str, ...]], FilteredScan] = {}
    others = []
    for scan in scans:
        key = (scan.table, tuple(comparison.column for comparison in scan.comparisons))
        if scan.cause != FOREIGN_KEY:
            others.append(scan)
        elif key in keys:
            keys[key] = replace(keys[key], steps=keys[key].steps + scan.steps)
        else:
            keys[key] = scan
    return [
        {
            "table": scan.table,
            "condition": AND.join(f"({comparison.condition})" for comparison in scan.comparisons),
            "steps": scan.steps,
            "joined": any(comparison.other for comparison in scan.comparisons),
            "cause": scan.cause,
        }
        | _counted(connection, scan)
        for scan in [*others, *keys.values()]
    ]


def _counted(connection: apsw.Connection, scan: FilteredScan) -> dict[str, float]:
    fixed = [comparison for comparison in scan.comparisons if comparison.other is None]
    joined = [
        comparison
        for comparison in scan.comparisons
        if comparison.other is not None and comparison.how == "="
    ]
    read, kept = _kept(connection, scan.table, fixed)
    for comparison in joined:
        kept /= max(_values(connection, scan.table, comparison.column), 1)
    return {"read": read, "kept": kept}


def _kept(
    connection: apsw.Connection, table: str, comparisons: Iterable[Comparison]
) -> tuple[float, float]:
    """Return the number of rows of a table, and of those that fulfil comparisons."""
    fixed = list(comparisons)
    condition = (
        AND.join(f"{quoted(comparison.column)} {comparison.how} ?" for comparison in fixed)
        or "true"
    )
    text = script("plans/kept.sql", table=quoted(table), condition=condition)
    values = [value for comparison in fixed for value in comparison.values]
    counts: tuple[Any, ...] = connection.execute(text, values).fetchall()[0]
    return float(counts[0]), float(counts[1])


def _values(connection: apsw.Connection, table: str, column: str) -> int:
    """Return the number of distinct values in a column."""
    text = script("plans/values.sql", table=quoted(table), column=quoted(column))
    counts: tuple[Any, ...] = connection.execute(text).fetchall()[0]
    return int(counts[0])
