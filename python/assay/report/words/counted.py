"""An engine's counters as text lines, in the layout that the engine's users know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import amount_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.host.engine_counters import (
        ActivitySection,
        CountedTable,
        CounterRow,
    )
    from assay.report.documents.run import RunDocument

GAP = "  "
ABSENT = "-"
PART = "."
GAUGE = "gauge"
AMOUNT_WIDTH = 12


def heads(table: CountedTable) -> list[str]:
    """Return the headings of the columns that name a database object."""
    return list(table["parts"]) or [table["object"]]


def names(thing: str, table: CountedTable) -> list[str]:
    """Return a database object's name, split into the columns of `heads`."""
    wanted = len(heads(table))
    parts = thing.split(PART, wanted - 1)
    return parts + [parts[-1]] * (wanted - len(parts))


def whole_text(value: float | None) -> str:
    """Return a count with all its digits."""
    if value is None:
        return ABSENT
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


def object_text(table: CountedTable) -> list[str]:
    """Return text lines of counters by object: names at the left, exact counts at the right."""
    left = heads(table)
    rows = [[*left, *(column["title"] for column in table["columns"])]]
    rows += [
        [*names(row["object"], table), *map(whole_text, row["values"])] for row in table["rows"]
    ]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    rows.insert(1, ["=" * width for width in widths])
    return [
        GAP.join(
            cell.ljust(width) if place < len(left) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in rows
    ]


def counted_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield text lines of the engine's nonzero counters, then its tables by object."""
    counted = document["engine_counters"]
    if counted is None:
        return
    amounts = [(figure, _amount(figure)) for figure in counted["counters"]]
    if any(amount for _, amount in amounts):
        yield from indented("The engine's own counters in the measured part", "", width)
        for figure, amount in amounts:
            if amount:
                text = amount_text(amount, figure["unit"])
                at_end = " at the end" if figure["kind"] == GAUGE else ""
                yield from indented(
                    f"{figure['title']}{at_end}", f"{text:>{AMOUNT_WIDTH}}  ", width
                )
        yield ""
    yield from activity_lines(counted["activity"], width)
    for table in counted["tables"]:
        if table["rows"]:
            yield from indented(table["title"], "", width)
            yield from object_text(table)
            yield ""


def activity_lines(activity: ActivitySection | None, width: int) -> Iterator[str]:
    """Yield the engine's activity line for the measured part, intervals and operations."""
    if activity is None:
        return
    yield from indented(activity["title"], "", width)
    if activity["missing"] is not None:
        yield from indented(f"not measured: {activity['missing']}", "  ", width)
    else:
        yield f"  {activity['line']}"
        rows = activity_rows(activity)
        longest = max((len(name) for name, _ in rows), default=0)
        yield from (f"  {name:<{longest}}  {line}" for name, line in rows)
    yield ""


def activity_rows(activity: ActivitySection) -> list[tuple[str, str]]:
    """Return the engine's activity lines by interval and operation."""
    intervals = [
        (f"{interval['begun_s']:.1f} to {interval['ended_s']:.1f} s", interval["line"])
        for interval in activity["intervals"]
    ]
    return [
        *intervals,
        *((operation["name"], operation["line"]) for operation in activity["operations"]),
    ]


def _amount(figure: CounterRow) -> float | None:
    value: float | None = figure["last" if figure["kind"] == GAUGE else "total"]
    return value
