"""The article of a study as one HTML file that needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.report.page.rendering import rendered_article
from assay.report.study.charts import all_charts, chart_rows, charts_of, colours_of
from assay.report.study.tables import (
    cell_text,
    compared_table,
    csv_text,
    is_number,
    measures_table,
    tables_of,
)
from assay.report.study.words import (
    bound,
    derived_sentence,
    doubt_rows,
    doubts_sentence,
    paragraphs,
    part_rows,
    runs_sentence,
    short,
    source_text,
)

if TYPE_CHECKING:
    from assay.report.documents.study import FigureEntry, StudyDocument, TableEntry

# Longer tables are folded, below a chart of the same data.
OPEN_ROWS_MAX = 14


def study_page(document: StudyDocument) -> str:
    """Return the document of a study as an HTML page."""
    colours = colours_of(document["figures"])
    specs = {
        name: chart.to_dict()
        for figure in document["figures"]
        for name, chart in charts_of(figure, colours).items()
    }
    return rendered_article(
        "study.html.j2",
        specs,
        document=document,
        bound=bound,
        question=paragraphs(document["question"]),
        made=runs_sentence(document),
        short=short(document),
        doubts=doubts_sentence(document),
        doubt_rows=doubt_rows(document),
        parts=part_rows(document),
        figures=[_figure(document, figure) for figure in document["figures"]],
        derived=[derived_sentence(derived) for derived in document["derived"]],
    )


def _figure(document: StudyDocument, figure: FigureEntry) -> dict[str, object]:
    article = figure["article"]
    compared = compared_table(figure)
    tables = [_table(table, name) for name, table in tables_of(figure)]
    of_article = [] if article is None else tables[-len(article["tables"]) :]
    own = tables[: len(figure["tables"])]
    measures = measures_table(figure)
    return {
        "name": figure["name"],
        "title": figure["title"],
        "lead": figure["says"][:1],
        "says": figure["says"][1:],
        "charts": _charts(figure),
        "compared": None if compared is None else _table(compared, "compared.csv"),
        "source": None if article is None else source_text(document, article),
        "claim": None if article is None else article["says"],
        "differs": [] if article is None else article["differs"],
        "derived": []
        if article is None
        else [derived_sentence(derived) for derived in article["derived"]],
        "reasons": [] if article is None or not figure["subjects"] else article["reasons"],
        "tables": own,
        "article_tables": of_article if article is not None and article["tables"] else [],
        "data": None if measures is None else _link(csv_text(measures)),
        "data_name": f"{figure['name']}-measures.csv",
        "notes": figure["notes"],
        "missing": figure["missing"],
    }


def _charts(figure: FigureEntry) -> list[dict[str, str]]:
    return [
        {"id": f"{figure['name']}-{chart['name']}", "title": chart["title"]}
        for chart in all_charts(figure)
        if chart_rows(figure, chart)
    ]


def _table(table: TableEntry, name: str) -> dict[str, object]:
    columns = table["columns"]
    return {
        "title": table["title"],
        "file": name,
        "csv": _link(csv_text(table)),
        "open": len(table["rows"]) <= OPEN_ROWS_MAX,
        "columns": [{"name": column["name"], "number": is_number(column)} for column in columns],
        "rows": [
            [
                {
                    "text": cell_text(cell, column),
                    "number": is_number(column),
                    "value": cell if isinstance(cell, int | float) else "",
                    "missing": cell is None,
                }
                for cell, column in zip(row, columns, strict=True)
            ]
            for row in table["rows"]
        ],
    }


def _link(text: str) -> str:
    return f"data:text/csv;charset=utf-8,{quote(text)}"
