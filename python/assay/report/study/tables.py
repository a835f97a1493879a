"""Tables of a study as files and as texts: its figures' own, and the article's beside ours."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.quantities import TIMES, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TABLES_DIR = "tables"
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def cell_text(value: Any, column: Mapping[str, Any]) -> str:  # noqa: ANN401 - a cell
    """A cell as people read it; '-' where it was not measured."""
    if isinstance(value, str):
        return value
    return text(value, column["unit"], column["digits"])


def is_number(column: Mapping[str, Any]) -> bool:
    """Whether its cells are numbers."""
    return column["unit"] is not None


def compared_table(figure: Mapping[str, Any], *, times: bool = True) -> dict[str, Any] | None:
    """The article's values beside ours as a table of texts; None where nothing is compared.

    Args:
        figure: Of a study's document.
        times: Whether amounts are told in times of another one as well.
    """
    article = figure["article"]
    if article is None or not article["compared"]:
        return None
    subjects = [
        name
        for name in figure["subjects"]
        if any(name in one["ours"] for one in article["compared"])
    ]
    columns = [_column(""), _column("the article"), *map(_column, subjects)]
    return {
        "name": "the article and ours",
        "title": "the article beside ours",
        "columns": columns,
        "rows": [_compared_row(one, subjects, times=times) for one in article["compared"]],
    }


def _column(name: str) -> dict[str, Any]:
    return {"name": name, "unit": None, "digits": None}


def _compared_row(one: Mapping[str, Any], subjects: list[str], *, times: bool) -> list[str]:
    known = (one["our_times"] or {}) if times else {}
    cells = [one["title"], _with_times(one["printed"], one["article_times"] if times else None)]
    return [*cells, *(_with_times(_ours(one, name), known.get(name)) for name in subjects)]


def _ours(one: Mapping[str, Any], subject: str) -> str:
    """Our median; where the article has a range and we have rounds, ours too."""
    told = one["ours"].get(subject)
    if told is None:
        return "-"
    if one["article_high"] is None or told["count"] == 1:
        return text(told["middle"], one["unit"])
    return f"{text(told['low'], one['unit'])} to {text(told['high'], one['unit'])}"


def _with_times(words: str, times: float | None) -> str:
    return words if times is None else f"{words} ({text(times, TIMES)})"


def tables_of(figure: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table of a figure with the name of its file, the article's own last."""
    for table in figure["tables"]:
        yield file_name(figure["name"], table["name"]), table
    measures = measures_table(figure)
    if measures is not None:
        yield file_name(figure["name"], "measures"), measures
    article = figure["article"]
    for table in () if article is None else article["tables"]:
        yield file_name(figure["name"], f"article {table['name']}"), table


def measures_table(figure: Mapping[str, Any]) -> dict[str, Any] | None:
    """What charts draw, a row a measure and subject, the article's values too."""
    if not figure["measures"]:
        return None
    columns = ("key", "measure", "unit", "subject", "median", "lowest", "highest", "rounds")
    rows: list[list[Any]] = [
        [
            one["key"],
            one["title"],
            one["unit"],
            subject,
            value["middle"],
            value["low"],
            value["high"],
            value["count"],
        ]
        for one in figure["measures"]
        for subject, value in one["values"].items()
    ]
    article = figure["article"]
    for one in () if article is None else article["compared"]:
        ends = [one["article"], one["article"], one["article_high"] or one["article"]]
        rows.append([one["key"], one["title"], one["unit"], "the article", *ends, None])
    return {
        "name": "measures",
        "title": "all that is compared",
        "columns": [_column(name) for name in columns],
        "rows": rows,
    }


def file_name(figure: str, table: str) -> str:
    """The name of a table's file, which every file system takes."""
    return f"{NOT_IN_NAMES.sub('-', f'{figure} {table}').strip('-')}.csv"


def csv_text(table: Mapping[str, Any]) -> str:
    """A table as CSV: plain values, with units in the headings; nothing where none was measured."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(_heading(column) for column in table["columns"])
    writer.writerows(table["rows"])
    return written.getvalue()


def _heading(column: Mapping[str, Any]) -> str:
    unit = column["unit"]
    return column["name"] if unit in (None, "count") else f"{column['name']} ({unit})"


def write_tables(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Writes every table of a study's figures as CSV; what was there of before is removed.

    Raises:
        OSError: If the disk does not take them.
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
