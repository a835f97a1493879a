"""Writes a study's tables as files and texts, including comparisons with the article."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, cast

from assay.analysis.quantities import TIMES, text
from assay.report.csv_text import inert

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.analysis.figures.contract import Cell
    from assay.report.documents.study import (
        ColumnEntry,
        ComparedEntry,
        FigureEntry,
        StudyDocument,
        TableEntry,
    )

TABLES_DIR = "tables"
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def cell_text(value: Cell, column: ColumnEntry) -> str:
    """Return a table cell as text; '-' if it was not measured."""
    if isinstance(value, str):
        return value
    return text(value, column["unit"], column["digits"])


def records_of(table: TableEntry) -> list[dict[str, Cell]]:
    """Return the rows of a table as dictionaries from column name to cell."""
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def number_in(cell: Cell) -> float:
    """Return a measured cell as a number, in the unit of its column."""
    return cast("float", cell)


def is_number(column: ColumnEntry) -> bool:
    """Return True if the cells of a table column are numbers."""
    return column["unit"] is not None


def compared_table(figure: FigureEntry, *, times: bool = True) -> TableEntry | None:
    """Return a table of texts that compares the article's values with the study's.

    Args:
        figure: Figure of a study's document.
        times: Whether the table also has amounts relative to another quantity.
    """
    article = figure["article"]
    if article is None or not article["compared"]:
        return None
    subjects = [
        name
        for name in figure["subjects"]
        if any(name in compared["ours"] for compared in article["compared"])
    ]
    columns = [_column(""), _column("the article"), *map(_column, subjects)]
    return {
        "name": "the article and ours",
        "title": "the article beside ours",
        "columns": columns,
        "rows": [
            _compared_row(compared, subjects, times=times) for compared in article["compared"]
        ],
    }


def _column(name: str) -> ColumnEntry:
    return {"name": name, "unit": None, "digits": None}


def _compared_row(compared: ComparedEntry, subjects: list[str], *, times: bool) -> list[str]:
    ratios = (compared["our_times"] or {}) if times else {}
    cells = [
        compared["title"],
        _with_times(compared["printed"], compared["article_times"] if times else None),
    ]
    return [*cells, *(_with_times(_ours(compared, name), ratios.get(name)) for name in subjects)]


def _ours(compared: ComparedEntry, subject: str) -> str:
    """Return the study's median as text; its range over rounds if the article has a range."""
    spread = compared["ours"].get(subject)
    if spread is None:
        return "-"
    if compared["article_high"] is None or spread["count"] == 1:
        return text(spread["middle"], compared["unit"])
    return f"{text(spread['low'], compared['unit'])} to {text(spread['high'], compared['unit'])}"


def _with_times(value: str, times: float | None) -> str:
    return value if times is None else f"{value} ({text(times, TIMES)})"


def tables_of(figure: FigureEntry) -> Iterator[tuple[str, TableEntry]]:
    """Yield every table of a study's result with its file name."""
    for table in figure["tables"]:
        yield file_name(figure["name"], table["name"]), table
    measures = measures_table(figure)
    if measures is not None:
        yield file_name(figure["name"], "measures"), measures
    article = figure["article"]
    for table in () if article is None else article["tables"]:
        yield file_name(figure["name"], f"article {table['name']}"), table


def measures_table(figure: FigureEntry) -> TableEntry | None:
    """Return a table with a row per quantity and engine, and the article's values."""
    if not figure["measures"]:
        return None
    columns = ("key", "measure", "unit", "subject", "median", "lowest", "highest", "rounds")
    rows: list[list[Cell]] = [
        [
            measure["key"],
            measure["title"],
            measure["unit"],
            subject,
            value["middle"],
            value["low"],
            value["high"],
            value["count"],
        ]
        for measure in figure["measures"]
        for subject, value in measure["values"].items()
    ]
    article = figure["article"]
    for compared in () if article is None else article["compared"]:
        ends = [
            compared["article"],
            compared["article"],
            compared["article_high"] or compared["article"],
        ]
        rows.append(
            [compared["key"], compared["title"], compared["unit"], "the article", *ends, None]
        )
    return {
        "name": "measures",
        "title": "all that is compared",
        "columns": [_column(name) for name in columns],
        "rows": rows,
    }


def file_name(figure: str, table: str) -> str:
    """Return the file name of a table, without characters that file systems reject."""
    return f"{NOT_IN_NAMES.sub('-', f'{figure} {table}').strip('-')}.csv"


def csv_text(table: TableEntry) -> str:
    """Return a table as CSV with units in the headings; cells without a measurement are empty."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(inert(_heading(column)) for column in table["columns"])
    writer.writerows([inert(cell) for cell in row] for row in table["rows"])
    return written.getvalue()


def _heading(column: ColumnEntry) -> str:
    unit = column["unit"]
    return column["name"] if unit in (None, "count") else f"{column['name']} ({unit})"


def write_tables(directory: Path, document: StudyDocument) -> list[Path]:
    """Write every table of a study's results as a CSV file, and remove earlier files.

    Raises:
        OSError: If the files cannot be written.
    """
    place = directory / TABLES_DIR
    place.mkdir(parents=True, exist_ok=True)
    written = {
        place / name: csv_text(table)
        for figure in document["figures"]
        for name, table in tables_of(figure)
    }
    for old in place.glob("*.csv"):
        if old not in written:
            old.unlink()
    for path, content in written.items():
        path.write_text(content, encoding="utf-8")
    return list(written)
