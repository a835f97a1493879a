"""Rows of a chart, as Altair takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import altair as alt
    import polars as pl


def inline(rows: pl.DataFrame | Iterable[Mapping[str, object]]) -> alt.InlineData:
    """Rows within the chart.

    A tuple of them is handed on as it is. A list would be copied, row by row, whenever charts are
    layered or joined: half of the time that a page took.
    """
    import altair as alt

    values = rows.to_dicts() if hasattr(rows, "to_dicts") else rows
    return alt.InlineData(values=tuple(values))
