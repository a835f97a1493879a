"""Text bars of a setting's trade-off, one line per level."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, cast

from assay.analysis.figures.contract import LATER
from assay.analysis.quantities import text
from assay.report.study.tables import records_of
from assay.report.terminal.summary import bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.documents.study import FigureContent
    from assay.report.study.chart_rows import TradeRow

LEAD, GAP = "  ", "  "
BAR_MIN, PANELS_MAX = 4, 3


def trade_lines(figure: FigureContent, width: int) -> Iterator[str]:
    """Yield text bars of a setting's trade-off; nothing for a result without one.

    Args:
        figure: Figure of a study's document.
        width: Columns of the terminal.
    """
    chart = next((entry for entry in figure["charts"] if entry["kind"] == "trade"), None)
    table = next(
        (entry for entry in figure["tables"] if chart and entry["name"] == chart["table"]), None
    )
    if chart is None or table is None:
        return
    rows = cast("list[TradeRow]", records_of(table))
    for subject in figure["subjects"]:
        own = [row for row in rows if row["subject"] == subject and row["drawn"] == LATER]
        if own:
            yield ""
            yield from _bars(subject, str(chart["axis"]), own, width)


def _bars(subject: str, axis: str, rows: Sequence[TradeRow], width: int) -> Iterator[str]:
    """Yield the first counter of each panel as a column of numbers and text bars."""
    panels: dict[str, list[TradeRow]] = {}
    for row in rows:
        own = panels.setdefault(row["panel"], [])
        if not own or own[0]["counter"] == row["counter"]:
            own.append(row)
    shown = list(panels.values())[:PANELS_MAX]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    first = max(len(name) for name in (axis, *levels))
    room = (width - len(LEAD) - first - len(GAP) * len(shown)) // len(shown)
    heads = [_head(panel, room) for panel in shown]
    yield f"{LEAD}{subject}"
    for line in range(max(map(len, heads))):
        cells = [head[line] if line < len(head) else "" for head in heads]
        yield _line(axis if line == 0 else "", first, cells, room)
    cells_of = [_cells(panel, room) for panel in shown]
    for level in levels:
        yield _line(level, first, [cells.get(level, "-") for cells in cells_of], room)


def _line(name: str, first: int, cells: Sequence[str], room: int) -> str:
    return GAP.join([f"{LEAD}{name:<{first}}", *(f"{cell:<{room}}" for cell in cells)]).rstrip()


def _head(panel: Sequence[TradeRow], room: int) -> list[str]:
    counter, side = str(panel[0]["counter"]), str(panel[0]["panel"])
    title = counter if side == "response" else f"{side}: {counter}"
    return textwrap.wrap(title, room)


def _cells(panel: Sequence[TradeRow], room: int) -> dict[str, str]:
    """Return a number and a text bar for each level of a setting."""
    numbers = {row["level"]: text(row["value"], row["unit"]) for row in panel}
    wide = max(map(len, numbers.values()))
    longest = max(BAR_MIN, room - wide - 1)
    most = max(float(row["value"]) for row in panel) or 1.0
    return {
        row["level"]: f"{numbers[row['level']]:>{wide}} {bar(float(row['value']) / most, longest)}"
        for row in panel
    }
