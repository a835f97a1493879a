"""Divides a run's counters into the start, in which the cache fills, and the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from assay.analysis.counters.engine_counters import around, last_look, plain_readings
from assay.analysis.counters.index_work import Span
from assay.analysis.counters.objects import declared_tables, object_tables
from assay.analysis.load.mixes import steady_since_ns
from assay.analysis.operations import window_ns

if TYPE_CHECKING:
    from assay.analysis.counters.objects import ObjectTable
    from assay.record.reader import Run

FROM_THEN_ON = "from then on"
# Without a warm-up this share of a run is its first part.
FIRST_PART = 0.1


class Parts(NamedTuple):
    """Two periods of a run: the start, in which the cache fills, and the rest.

    Attributes:
        first, rest: The two time spans in their order.
        first_text: Description of the first part.
    """

    first: Span
    rest: Span
    first_text: str


def parts_of(run: Run) -> Parts | None:
    """Return the period in which the cache fills and the rest, divided at the steady time."""
    return parts(run.table("events"), steady_since_ns(run))


def parts(events: pl.DataFrame, steady_ns: int | None = None) -> Parts | None:
    """Return two periods of a run: while the cache fills, and afterwards; None if not measured.

    Args:
        events: The run's events.
        steady_ns: Time at which the run became steady. None: the first part is the warm-up or,
            without one, the first tenth of the measured part.
    """
    window = window_ns(events)
    if window is None:
        return None
    begun, ended = int(events["started_ns"].min()), window[1]  # type: ignore[arg-type]
    at, phrase = window[0], "until the measured part began"
    if steady_ns is not None and begun < steady_ns < ended:
        at, phrase = steady_ns, "until it was steady"
    elif begun >= window[0]:
        begun = window[0]
        at, phrase = round(begun + FIRST_PART * (ended - begun)), "the first tenth of the run"
    return Parts(Span(begun, at), Span(at, ended), phrase) if begun < at < ended else None


def tables_apart(run: Run) -> list[dict[str, Any]]:
    """Return tables of engine counters for the start and the rest of a run.

    Only tables that the engine declares for separate parts are returned. Gauges have the values
    of the last reading up to the end of each part.

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
        _part(run, table, run_parts.first, "first", run_parts.first_text),
        _part(run, table, run_parts.rest, "rest", FROM_THEN_ON),
    ]


def _part(run: Run, table: ObjectTable, span: Span, name: str, phrase: str) -> dict[str, Any]:
    named = replace(table, name=f"{table.name}-{name}", title=f"{table.apart}, {phrase}")
    gauges = [column.counter for column in table.columns if column.kind == "gauge"]
    readings = plain_readings(run.table("engine")).filter(~pl.col("counter").is_in(gauges))
    last = last_look(run, table.source, gauges, span.ended_ns)
    (document,) = object_tables(around(readings, *span), [named], last)
    return document
