"""Tables of an engine's counters with a row per object, such as per index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

PER = 100.0
COUNTER, GAUGE = "counter", "gauge"
# Largest number of objects that are listed, those with the highest counts first.
OBJECTS_MAX = 50


@dataclass(frozen=True)
class Column:
    """A column of a counter table, which shows one counter.

    Attributes:
        counter: Name of the counter in the readings.
        title, unit: Title and unit for readers.
        kind: `counter` shows the growth, `gauge` the value at the end.
    """

    counter: str
    title: str
    unit: str
    kind: Literal["counter", "gauge"] = "counter"


@dataclass(frozen=True)
class PerHundred:
    """A table column that shows one counter per 100 units of another counter.

    Attributes:
        counter, title, unit: As in `Column`.
        place: Position of the column, from 0; None means the last.
        added: Number added to the divisor, as some servers do to avoid division by zero.
            The result is then rounded down to an integer, as in those servers.
    """

    counter: str
    title: str
    unit: str
    place: int | None = None
    added: int = 0


@dataclass(frozen=True)
class ObjectTable:
    """A table of counters by database object, which an engine declares.

    Attributes:
        name: Name in documents.
        title: Title for readers.
        source: Source whose objects are the rows.
        object: Kind of object in each row, such as `index`.
        parts: Column heads for the dot-separated parts of an object's name. A missing part
            equals the part before it; empty if names have no parts.
        columns: Columns of the table.
        order: Counter that sorts the rows, largest first; None means the first column's counter.
        without: Objects that get no row, such as sums.
        per_hundred: Column with a ratio per 100; None means no such column.
        apart: Title of two separate tables, for the start of a run and for the rest; None means
            no separate tables.
    """

    name: str
    title: str
    source: str
    object: str
    columns: tuple[Column, ...]
    without: tuple[str, ...] = ()
    per_hundred: PerHundred | None = None
    parts: tuple[str, ...] = ()
    order: str | None = None
    apart: str | None = None


def declared_tables(facts: Mapping[str, Any]) -> list[ObjectTable]:
    """Return the tables of counters by object that an engine's `counters.toml` declares.

    Raises:
        ValueError: If a table lacks a key or has an unknown one.
    """
    try:
        return [_declared(entry) for entry in facts.get("tables", [])]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"a table of counters cannot be read: {error}") from error


def _declared(entry: Mapping[str, Any]) -> ObjectTable:
    columns = tuple(Column(**column) for column in entry["columns"])
    if not columns or any(column.kind not in (COUNTER, GAUGE) for column in columns):
        raise ValueError(f"table {entry['name']!r} of counters has no columns of a known kind")
    if entry.get("order", columns[0].counter) not in [column.counter for column in columns]:
        raise ValueError(f"the table {entry['name']!r} of counters is ordered by an unknown column")
    per = entry.get("per_hundred")
    return ObjectTable(
        **{
            **entry,
            "columns": columns,
            "without": tuple(entry.get("without", ())),
            "per_hundred": PerHundred(**per) if per else None,
            "parts": tuple(entry.get("parts", ())),
        }
    )


def object_tables(
    readings: pl.DataFrame, tables: list[ObjectTable], at_end: pl.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Return each table with a row per object: the growth of counters, and gauges at the end.

    An object that is not in the first reading starts from zero. A counter that decreased was
    reset, and its growth is None. Objects without growth get no row, whatever their gauges are.

    Args:
        readings: time_ns, source, object, counter, value; from the reading before the measured
            part to the one after it, with names as text.
        tables: Declared tables.
        at_end: source, object, counter, value of gauges at the end; None means no gauges.

    Returns:
        For each table: name, title, object, parts, columns (counter, title, unit), rows (object,
            and values in the order of the columns), left_out (number of objects beyond
            `OBJECTS_MAX`).
    """
    return [
        _table(readings.filter(pl.col("source") == table.source), table, _gauges(at_end, table))
        for table in tables
    ]


def _gauges(at_end: pl.DataFrame | None, table: ObjectTable) -> dict[tuple[str, str], float]:
    """Return gauges of database objects at the end, by object and counter."""
    if at_end is None:
        return {}
    own = at_end.filter(pl.col("source") == table.source).select("object", "counter", "value")
    return {(thing, counter): value for thing, counter, value in own.iter_rows()}


def _growth(readings: pl.DataFrame, table: ObjectTable) -> dict[tuple[str, str], float | None]:
    """Return the growth of each counter of each database object; None after a reset."""
    first, last = pl.col("time_ns").min(), pl.col("time_ns").max()
    readings = readings.with_columns(first.alias("first_ns"), last.alias("last_ns"))
    kept = readings.filter(~pl.col("object").is_in(list(table.without)))
    begun = (
        pl.when(pl.col("time_ns").first() == pl.col("first_ns").first())
        .then(pl.col("value").first())
        .otherwise(0)
    )
    never_back = (pl.col("value").diff().drop_nulls() >= 0).all()
    grown = (
        kept.sort("time_ns", maintain_order=True)
        .group_by("object", "counter", maintain_order=True)
        .agg(
            pl.when(never_back & (pl.col("time_ns").last() == pl.col("last_ns").first()))
            .then(pl.col("value").last() - begun)
            .alias("growth")
        )
    )
    return {(thing, counter): value for thing, counter, value in grown.iter_rows()}


def _table(
    readings: pl.DataFrame, table: ObjectTable, gauges: dict[tuple[str, str], float]
) -> dict[str, Any]:
    growth = _growth(readings, table)
    rows: list[dict[str, Any]] = []
    counters = [column.counter for column in table.columns if column.kind == COUNTER]
    for name in dict.fromkeys(thing for thing, _ in growth):
        if any(growth.get((name, counter)) for counter in counters):
            values = [
                (growth if column.kind == COUNTER else gauges).get((name, column.counter))
                for column in table.columns
            ]
            rows.append({"object": name, "values": values})
    names = [column.counter for column in table.columns]
    by = names.index(table.order) if table.order else 0
    rows.sort(key=lambda row: (*(-(row["values"][at] or 0.0) for at in (by, 0)), row["object"]))
    columns = [_facts(column) for column in table.columns]
    if table.per_hundred:
        columns.insert(_place(table), _facts(table.per_hundred))
        rows = [_with_quotient(row, table, table.per_hundred) for row in rows]
    return {
        "name": table.name,
        "title": table.title,
        "object": table.object,
        "parts": list(table.parts),
        "columns": columns,
        "rows": rows[:OBJECTS_MAX],
        "left_out": max(0, len(rows) - OBJECTS_MAX),
    }


def _facts(column: Column | PerHundred) -> dict[str, str]:
    return {"counter": column.counter, "title": column.title, "unit": column.unit}


def _place(table: ObjectTable) -> int:
    place = table.per_hundred.place if table.per_hundred else None
    return len(table.columns) if place is None else place


def _with_quotient(row: dict[str, Any], table: ObjectTable, per: PerHundred) -> dict[str, Any]:
    """Return a table row with an added column: one counter's value per 100 of another."""
    values = list(row["values"])
    places = {column.counter: place for place, column in enumerate(table.columns)}
    part, first = values[places[per.counter]], values[0]
    whole = None if first is None else first + per.added
    quotient = PER * part / whole if whole and part is not None else None
    if per.added and quotient is not None:
        quotient = float(math.floor(quotient))
    values.insert(_place(table), quotient)
    return row | {"values": values}
