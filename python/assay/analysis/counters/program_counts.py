"""Counts calls and time of functions and triggers in the measured part of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.counters.engine_counters import around
from assay.analysis.operations import is_measured, window_of

if TYPE_CHECKING:
    from assay.record.reader import Run


def program_counts(run: Run, source: str, ran: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Return calls and seconds of each counted function or trigger in the measured part.

    Sessions may report their calls late, such as once a second, but they report all when they end.
    So calls are counted from the first reading, before the warm-up, to the first one after the
    measured part. The measured executions have their share of them.

    Args:
        run: The run.
        source: Source of the counters.
        ran: Successful executions, including those of the warm-up.
    """
    window = window_of(run)
    if window is None or not run.has("engine"):
        return {}
    begun_ns, ended_ns = window
    readings = run.table("engine").with_columns(
        pl.col("source", "object", "counter").cast(pl.String)
    )
    counted = around(readings, begun_ns if ran.is_empty() else 0, ended_ns)
    first_ns = counted["time_ns"].min() or 0
    grown = _grown(counted.filter(pl.col("source") == source), first_ns)
    measured = 1.0 if ran.is_empty() else len(ran.filter(is_measured(ran))) / len(ran)
    return {
        name: (counters["calls"] * measured, counters["seconds"] * measured)
        for name, counters in grown.items()
        if counters.get("calls") and "seconds" in counters
    }


def _grown(counted: pl.DataFrame, first_ns: object) -> dict[str, dict[str, float]]:
    """Return the growth of the counters of each object, which is new if the first reading lacks it.

    A counter that was reset is left out.
    """
    grown: dict[str, dict[str, float]] = {}
    value = pl.col("value")
    began = pl.when(pl.col("time_ns").first() == first_ns).then(value.first()).otherwise(0.0)
    spans = counted.sort("time_ns").group_by("object", "counter", maintain_order=True)
    for name, counter, growth in spans.agg(value.last() - began).iter_rows():
        if growth >= 0:
            grown.setdefault(name, {})[counter] = growth
    return grown
