"""Tables of counted objects of the beginning of a run, and of the rest of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.counters.engine_counters import around, last_look, plain_readings
from assay.analysis.counters.index_work import Parts, Span, parts_of
from assay.analysis.counters.objects import declared_tables, object_tables

if TYPE_CHECKING:
    from assay.analysis.counters.objects import ObjectTable
    from assay.record.reader import Run

FROM_THEN_ON = "from then on"


def tables_apart(run: Run) -> list[dict[str, Any]]:
    """Tables that an engine declares so, each of both parts; as `object_tables` has them.

    Gauges are those of the last look up to the end of a part.

    Raises:
        ValueError: If the engine's declaration cannot be read.
    """
    facts = run.facts.get("engine", {}).get("counters") or {}
    tables = [table for table in declared_tables(facts) if table.apart is not None]
    run_parts = parts_of(run) if tables and run.has("engine") else None
    if run_parts is None:
        return []
    return [document for table in tables for document in _both(run, table, run_parts)]


def _both(run: Run, table: ObjectTable, run_parts: Parts) -> list[dict[str, Any]]:
    return [
        _part(run, table, run_parts.first, "first", run_parts.words),
        _part(run, table, run_parts.rest, "rest", FROM_THEN_ON),
    ]


def _part(run: Run, table: ObjectTable, span: Span, name: str, phrase: str) -> dict[str, Any]:
    named = replace(table, name=f"{table.name}-{name}", title=f"{table.apart}, {phrase}")
    gauges = [column.counter for column in table.columns if column.kind == "gauge"]
    readings = plain_readings(run.table("engine")).filter(~pl.col("counter").is_in(gauges))
    last = last_look(run, table.source, gauges, span.ended_ns)
    (document,) = object_tables(around(readings, *span), [named], last)
    return document
