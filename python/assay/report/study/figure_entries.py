"""Converts a study's results to entries of its JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
    from assay.analysis.published.compared import Beside
    from assay.analysis.published.facts import ColumnFacts, TableFacts
    from assay.analysis.quantities import Spread
    from assay.report.documents.study import (
        ArticleTableEntry,
        ChartEntry,
        ColumnEntry,
        ComparedEntry,
        FigureContent,
        MeasureEntry,
        SpreadEntry,
        TableEntry,
    )


def figure_content(figure: Figure) -> FigureContent:
    """Return a study's result as an entry of its document."""
    return {
        "name": figure.name,
        "kind": figure.kind,
        "title": figure.title,
        "says": list(figure.says),
        "subjects": list(figure.subjects),
        "measures": [_measure(measure) for measure in figure.measures],
        "tables": [_table(table) for table in figure.tables],
        "charts": [_chart(chart) for chart in figure.charts],
        "notes": list(figure.notes),
        "missing": list(figure.missing),
    }


def compared_entry(row: Beside) -> ComparedEntry:
    """Return an article's quantity with the study's values, as a document entry."""
    return {
        "key": row.key,
        "title": row.title,
        "unit": row.unit,
        "article": row.article,
        "article_high": row.article_high,
        "printed": row.printed,
        "ours": _spreads(row.ours),
        "base": row.base,
        "article_times": row.article_times,
        "our_times": None if row.our_times is None else dict(row.our_times),
    }


def article_table(table: TableFacts) -> ArticleTableEntry:
    """Return an article's published table as a document entry."""
    value = table.value
    return {
        "name": table.name,
        "title": table.title,
        "columns": [_column(column) for column in table.columns],
        "rows": [list(row) for row in table.rows],
        "key": table.key,
        "value": list(value) if isinstance(value, tuple) else value,
    }


def _measure(measure: Measure) -> MeasureEntry:
    return {
        "key": measure.key,
        "title": measure.title,
        "unit": measure.unit,
        "values": _spreads(measure.values),
        "at": measure.at,
    }


def _spreads(values: Mapping[str, Spread]) -> dict[str, SpreadEntry]:
    return {
        name: {
            "middle": spread.middle,
            "low": spread.low,
            "high": spread.high,
            "count": spread.count,
        }
        for name, spread in values.items()
    }


def _table(table: Table) -> TableEntry:
    return {
        "name": table.name,
        "title": table.title,
        "columns": [_column(column) for column in table.columns],
        "rows": table.rows,
    }


def _column(column: Column | ColumnFacts) -> ColumnEntry:
    return {"name": column.name, "unit": column.unit, "digits": column.digits}


def _chart(chart: Chart) -> ChartEntry:
    return {
        "name": chart.name,
        "title": chart.title,
        "kind": chart.kind,
        "keys": list(chart.keys),
        "logarithmic": chart.logarithmic,
        "axis": chart.axis,
        "table": chart.table,
    }
