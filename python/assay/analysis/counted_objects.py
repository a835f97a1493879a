"""Tables of what an engine counted for each of its objects, such as indexes: `[[tables]]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

PER = 100.0
# So many objects are told, those with most first.
OBJECTS_MAX = 50


@dataclass(frozen=True)
class Column:
    """A counter that a table has a column for.

    Attributes:
        counter: Its name in the readings.
        title, unit: For people.
    """

    counter: str
    title: str
    unit: str


@dataclass(frozen=True)
class ObjectTable:
    """A table that an engine declares.

    Attributes:
        name: By which documents call it.
        title: For people.
        source: Whose objects are its rows.
        object: What a row is, such as `index`.
        columns: Its counters; the rows are in the order of the first, most first.
        without: Objects that are no rows, such as sums.
        per_hundred: The counter of which it is told how many came on 100 of the first, with the
            title of that column; None: of none.
    """

    name: str
    title: str
    source: str
    object: str
    columns: tuple[Column, ...]
    without: tuple[str, ...] = ()
    per_hundred: Column | None = None


def declared_tables(facts: Mapping[str, Any]) -> list[ObjectTable]:
    """What an engine's `counters.toml` declares, in its order.

    Raises:
        ValueError: If a table lacks a key or has an unknown one.
    """
    try:
        return [_declared(entry) for entry in facts.get("tables", [])]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"a table of counters cannot be read: {error}") from error


def _declared(entry: Mapping[str, Any]) -> ObjectTable:
    columns = tuple(Column(**column) for column in entry["columns"])
    if not columns:
        raise ValueError(f"table {entry['name']!r} of counters has no columns")
    per = entry.get("per_hundred")
    return ObjectTable(
        **{
            **entry,
            "columns": columns,
            "without": tuple(entry.get("without", ())),
            "per_hundred": Column(**per) if per else None,
        }
    )


def object_tables(readings: pl.DataFrame, tables: list[ObjectTable]) -> list[dict[str, Any]]:
    """Each table with its rows: what each object's counters grew by.

    An object that is not in the first reading was not counted yet: it has grown from nothing. One
    that went backwards was reset, and its growth is None. Objects of which nothing grew are left
    out.

    Args:
        readings: time_ns, source, object, counter, value; from the reading before the measured
            part to the one after it, words as text.
        tables: As declared.

    Returns:
        Of each: name, title, object, columns (counter, title, unit), rows (object, values in the
        order of the columns), left_out (objects beyond the first `OBJECTS_MAX`).
    """
    return [_told(readings.filter(pl.col("source") == one.source), one) for one in tables]


def _told(readings: pl.DataFrame, table: ObjectTable) -> dict[str, Any]:
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
    growth = {(thing, counter): value for thing, counter, value in grown.iter_rows()}
    names = dict.fromkeys(thing for thing, _ in growth)
    rows = [
        {"object": name, "values": [growth.get((name, c.counter)) for c in table.columns]}
        for name in names
    ]
    rows = [_with_quotient(row, table) for row in rows if any(row["values"])]
    rows.sort(key=lambda row: (-(row["values"][0] or 0.0), row["object"]))
    columns = [vars(column) for column in table.columns]
    return {
        "name": table.name,
        "title": table.title,
        "object": table.object,
        "columns": [*columns, vars(table.per_hundred)] if table.per_hundred else columns,
        "rows": rows[:OBJECTS_MAX],
        "left_out": max(0, len(rows) - OBJECTS_MAX),
    }


def _with_quotient(row: dict[str, Any], table: ObjectTable) -> dict[str, Any]:
    """The row with how many of a counter came on 100 of the first; None where it did not grow."""
    if table.per_hundred is None:
        return row
    places = {column.counter: place for place, column in enumerate(table.columns)}
    part, whole = row["values"][places[table.per_hundred.counter]], row["values"][0]
    quotient = PER * part / whole if whole and part is not None else None
    return row | {"values": [*row["values"], quotient]}
