"""Converts chart rows to the form that the chart library Altair accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import altair as alt
    import polars as pl


def inline(rows: pl.DataFrame | Iterable[Mapping[str, object]]) -> alt.InlineData:
    """Return rows as inline data of an Altair chart.

    Altair does not copy a tuple of rows. It copies a list row by row whenever charts are layered or
    joined, which took half of the time of making a page.
    """
    import altair as alt

    values = rows.to_dicts() if hasattr(rows, "to_dicts") else rows
    return alt.InlineData(values=tuple(values))
