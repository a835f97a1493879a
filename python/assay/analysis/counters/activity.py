"""Activity counters of an engine, such as index look-ups, per interval and per operation.

Each engine maps its counters (`[activity]` of its `counters.toml`) to the names of
`analysis.meters`, which prints them as one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.counters.engine_counters import around, operation_growth, plain_readings
from assay.analysis.counters.meters import WORDS, activity_line
from assay.analysis.operations import NS, window_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.counters.index_work import Span
    from assay.record.reader import Run

# Largest number of intervals of a run that are reported.
INTERVALS_MAX = 10


@dataclass(frozen=True)
class ActivityFacts:
    """The engine's counter for each name in `meters.WORDS`, from `[activity]` of `counters.toml`.

    Attributes:
        title: Title of the line, for readers.
        source: Source of the counters, which has one object.
        counters: The engine's own counter names, by the names of the line.
        missing: Reason why counters may be missing, to follow `not measured:`.
    """

    title: str
    source: str
    counters: Mapping[str, str]
    missing: str


def activity_facts(facts: Mapping[str, Any] | None) -> ActivityFacts | None:
    """Return the activity section of an engine's `counters.toml`; None if the file has none.

    Raises:
        ValueError: If a key is missing or unknown, or a counter name is not part of the line.
    """
    table = (facts or {}).get("activity")
    if table is None:
        return None
    try:
        declared = ActivityFacts(**table)
    except TypeError as error:
        raise ValueError(f"[activity] cannot be read: {error}") from error
    if unknown := set(declared.counters) - set(WORDS):
        raise ValueError(
            f"activity.counters has the unknown key {sorted(unknown)}; allowed keys: "
            f"{', '.join(WORDS)}"
        )
    return declared


def activity_between(run: Run, span: Span) -> dict[str, float] | None:
    """Return the growth of the activity counters between two instants; None if not counted."""
    declared = _declared(run)
    if declared is None or not run.has("engine"):
        return None
    return _grown(_counted(run.table("engine"), declared), span) or None


def activity_by_operation(run: Run) -> dict[str, dict[str, float]]:
    """Return the median growth of activity counters in an execution of each operation."""
    declared = _declared(run)
    if declared is None or not run.has("engine-operations"):
        return {}
    counted = _counted(run.table("engine-operations"), declared)
    by_operation: dict[str, dict[str, float]] = {}
    grown = operation_growth(run.table("events"), counted, ["word"])
    for operation, word, value in grown.select("operation", "word", "growth").iter_rows():
        by_operation.setdefault(operation, {})[word] = value
    return by_operation


def why_no_activity(run: Run) -> str:
    """Return the reason why an engine has no activity counters, as the end of a sentence."""
    declared = _declared(run)
    if declared is None:
        return "its engine declares none"
    return declared.missing if run.has("engine") else "the probe of its counters did not run"


def activity_document(run: Run) -> dict[str, Any] | None:
    """Return the activity of a run for a report; None if its engine has no such counters.

    Keys: title; missing (reason why there are no counts, or None); counted (growth by name in
    the measured part) and line; intervals (begun_s and ended_s from the beginning of the
    measured part, and line); operations (name and line).
    """
    declared, window = _declared(run), window_of(run)
    if declared is None or window is None or not run.has("engine"):
        return None
    within = around(_counted(run.table("engine"), declared), *window)
    counted = _of(within)
    by_operation = activity_by_operation(run)
    return {
        "title": declared.title,
        "missing": None if counted else declared.missing,
        "counted": counted,
        "line": activity_line(counted) if counted else None,
        "intervals": _intervals(within, window[0]) if counted else [],
        "operations": [
            {"name": name, "line": activity_line(growths)} for name, growths in by_operation.items()
        ],
    }


def _declared(run: Run) -> ActivityFacts | None:
    return activity_facts(run.facts.get("engine", {}).get("counters"))


def _counted(readings: pl.DataFrame, declared: ActivityFacts) -> pl.DataFrame:
    """Return readings of the activity counters with the column `word` for their shared name."""
    word_by_counter = {counter: word for word, counter in declared.counters.items()}
    own = plain_readings(readings).filter(
        pl.col("source") == declared.source, pl.col("counter").is_in(list(word_by_counter))
    )
    return own.with_columns(pl.col("counter").replace_strict(word_by_counter).alias("word"))


def _grown(counted: pl.DataFrame, span: Span) -> dict[str, float]:
    return _of(around(counted, *span))


def _of(within: pl.DataFrame) -> dict[str, float]:
    """Return counter growth by name from first to last reading, without reset counters."""
    if within["time_ns"].n_unique() < 2:  # noqa: PLR2004 - a difference is of two
        return {}
    value = pl.col("value")
    grown = (
        within.sort("time_ns", maintain_order=True)
        .group_by("word", maintain_order=True)
        .agg((value.last() - value.first()).alias("growth"), (value.diff() < 0).any().alias("back"))
        .filter(~pl.col("back").fill_null(value=False))
    )
    growths = dict(grown.select("word", "growth").iter_rows())
    return {word: growths[word] for word in WORDS if word in growths}


def _intervals(within: pl.DataFrame, zero_ns: int) -> list[dict[str, Any]]:
    """Return the activity counts of intervals between readings, merged to a limited number."""
    times = within["time_ns"].unique().sort().to_list()
    last = len(times) - 1
    count = min(INTERVALS_MAX, last)
    edges = [times[round(place * last / count)] for place in range(count + 1)]
    return [
        {
            "begun_s": round((begun - zero_ns) * NS, 6),
            "ended_s": round((ended - zero_ns) * NS, 6),
            "line": activity_line(_of(within.filter(pl.col("time_ns").is_between(begun, ended)))),
        }
        for begun, ended in pairwise(edges)
    ]
