"""Writes tables as CSV without text that spreadsheets execute as formulas.

Spreadsheets execute a cell that begins with =, +, - or @. An apostrophe before such a text makes it
a plain text. Numbers keep their signs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

FORMULA = r"^[=+\-@\t\r]"
IS_FORMULA = re.compile(FORMULA)


def inert(value: Any) -> Any:  # noqa: ANN401 - a cell is of any type
    """Return a cell, with an apostrophe before text that a spreadsheet would execute."""
    if isinstance(value, str) and IS_FORMULA.match(value):
        return f"'{value}"
    return value


def inert_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which no text or column name is a spreadsheet formula."""
    import polars as pl

    texts = [
        name for name, kind in table.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)
    ]
    text = table.with_columns(
        pl.when(pl.col(name).cast(pl.String).str.contains(FORMULA))
        .then(pl.lit("'") + pl.col(name).cast(pl.String))
        .otherwise(pl.col(name).cast(pl.String))
        .alias(name)
        for name in texts
    )
    return text.rename({name: inert(name) for name in text.columns})


def csv_of(table: pl.DataFrame) -> str:
    """Return a table as CSV text."""
    return inert_table(table).write_csv()
