"""Computes rates, totals and growth per operation of the counters that an engine reports.

Counters are rows of (source, object, counter, value) with the engine's own names. Each engine
declares which counters are shown, with title and unit. The form is in
`docs/reference/record-format.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from assay.analysis.counters.objects import declared_tables, object_tables
from assay.analysis.operations import NS, measured, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run

KEY = ["source", "object", "counter"]
# Columns that distinguish one reading from another.
READING = ("time_ns", "sequence", "edge")
COUNTER, GAUGE = "counter", "gauge"
STATUS_STREAM = "engine-status"
START, END = "start", "end"
# Name for the count of Assay's own session.
OWN = "own"
STANDING: dict[str, type[pl.DataType]] = {
    "edge": pl.String,
    "time_ns": pl.Int64,
    "source": pl.String,
    "object": pl.String,
    "counter": pl.String,
    "value": pl.Float64,
}


@dataclass(frozen=True)
class Shown:
    """A counter that an engine declares for display.

    Attributes:
        name: Name in shares and documents.
        title, unit: Title and unit for readers. The unit applies to the value after `scale`.
        source, counter: Source and counter of its rows.
        object: Object of its rows; None means the sum over all objects of the source.
        kind: `counter` for a cumulative value, `gauge` for a current one.
        scale: Factor of a value, such as 1e-3 for seconds from milliseconds.
        to_try: Advice if the value is high.
        less: Source whose counter of the same name is subtracted: what Assay's own session counted,
            which samples the server; None without one.
    """

    name: str
    title: str
    unit: str
    source: str
    counter: str
    object: str | None = None
    kind: Literal["counter", "gauge"] = "counter"
    scale: float = 1.0
    to_try: str | None = None
    less: str | None = None


@dataclass(frozen=True)
class Share:
    """A quotient that an engine declares: the sum of some counters over the sum of others."""

    name: str
    title: str
    part: tuple[str, ...]
    whole: tuple[str, ...]


def declared(facts: dict[str, Any]) -> tuple[list[Shown], list[Share]]:
    """Return the counters that an engine's `counters.toml` declares, in its order.

    Raises:
        ValueError: If a counter lacks a key or has an unknown one, or a share names an unknown
            counter.
    """
    try:
        shown = [Shown(**entry) for entry in facts.get("counters", [])]
        shares = [
            Share(**entry | {key: tuple(entry[key]) for key in ("part", "whole")})
            for entry in facts.get("shares", [])
        ]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"a declaration of counters cannot be read: {error}") from error
    for figure in shown:
        _check(figure)
    names = {figure.name for figure in shown}
    for share in shares:
        if unknown := {*share.part, *share.whole} - names:
            raise ValueError(
                f"the share {share.name!r} names {sorted(unknown)}, which is not a counter"
            )
    return shown, shares


def _check(figure: Shown) -> None:
    if figure.kind not in (COUNTER, GAUGE):
        raise ValueError(f"the counter {figure.name!r} has the unknown kind {figure.kind!r}")
    is_number = isinstance(figure.scale, int | float)
    if not is_number:
        raise ValueError(
            f"the counter {figure.name!r} has the scale {figure.scale!r}, which is not a number"
        )


def engine_counters(run: Run) -> dict[str, Any] | None:
    """Return the values of the counters that a run's engine declares; None without any.

    Keys: window_s (seconds between the readings around the measured part); `counters` (name,
    title, unit, kind, to_try; total and per_s for counters, last for gauges; operations: growth
    in one execution, the median over passes); `shares` (name, title, share); `series` (name,
    time_s from the beginning of the measured part, values: a gauge's readings, or a counter's
    growth per second since the previous reading, None for the first); `tables` (from
    `object_tables`). A value that was not reported, or was reset in between, is None.

    Raises:
        ValueError: If the engine's declaration cannot be read.
    """
    facts = run.facts.get("engine", {}).get("counters")
    window = window_of(run)
    if not facts or window is None or not run.has("engine"):
        return None
    shown, shares = declared(facts)
    readings = run.table("engine")
    summed = figures(readings, shown)
    within = around(summed, *window)
    if within.is_empty():
        return None
    by_operation = _by_operation(run, shown)
    at_edges = standing(run)
    values = _values(within) | _values(figures(at_edges, shown))
    entries = [_entry(figure, values.get(figure.name), by_operation) for figure in shown]
    total_by_name = {entry["name"]: entry["total"] for entry in entries}
    return {
        "window_s": _elapsed_s(within),
        "counters": entries,
        "shares": [
            {"name": share.name, "title": share.title, "share": _share(share, total_by_name)}
            for share in shares
        ],
        "series": [_series(figure, within, window[0]) for figure in shown],
        "tables": object_tables(
            around(plain_readings(readings), *window),
            declared_tables(facts),
            at_edges.filter(pl.col("edge") == END),
        ),
    }


def standing(run: Run) -> pl.DataFrame:
    """Return the engine's status values at the start and end of the measured part.

    Columns: edge (start, end), time_ns, source, object, counter, value. If an edge has several
    readings, the last one counts, because a reading before a warm-up is replaced after it.
    """
    if not run.has(STATUS_STREAM):
        return pl.DataFrame(schema=STANDING)
    plain = plain_readings(run.table(STATUS_STREAM))
    latest = plain.filter(pl.col("time_ns") == pl.col("time_ns").max().over("edge"))
    return latest if latest["edge"].n_unique() == len((START, END)) else plain.clear()


def last_look(run: Run, source: str, gauges: Sequence[str], ended_ns: int) -> pl.DataFrame:
    """Return the gauges of database objects in their last reading up to an instant.

    Readings at the beginning and end of the measured part are included, with the times of those
    ends. Columns: time_ns, source, object, counter, value.
    """
    looks = plain_readings(run.table("engine"))
    window = window_of(run)
    if window is not None:
        edges = dict(zip((START, END), window, strict=True))
        at_ns = pl.col("edge").replace_strict(edges, return_dtype=pl.Int64)
        stood = standing(run).with_columns(at_ns.alias("time_ns"))
        looks = pl.concat([looks, stood.select(looks.columns)])
    own = looks.filter(
        pl.col("source") == source,
        pl.col("counter").is_in(list(gauges)),
        pl.col("time_ns") <= ended_ns,
    )
    return own.filter(pl.col("time_ns") == pl.col("time_ns").max())


class _Value(NamedTuple):
    """The growth of a counter, its last value, and the seconds between its readings."""

    growth: float | None
    last: float | None
    window_s: float


def _values(readings: pl.DataFrame) -> dict[str, _Value]:
    if readings.is_empty():
        return {}
    window_s = _elapsed_s(readings)
    grown = growth(readings, ["name"])
    return {name: _Value(grew, last, window_s) for name, grew, last in grown.iter_rows()}


def _elapsed_s(readings: pl.DataFrame) -> float:
    times = readings["time_ns"].sort()
    return float(times[-1] - times[0]) * NS


def rates(readings: pl.DataFrame, key: list[str] | None = None) -> pl.DataFrame:
    """Return the growth per second of each counter since its previous reading, by time.

    Columns: the key, time_ns, per_s. The rate is null for a first reading, after a reset, and if
    no time passed.
    """
    key = key or KEY
    grown, elapsed_ns = pl.col("value").diff().over(key), pl.col("time_ns").diff().over(key)
    return (
        plain_readings(readings)
        .sort("time_ns", maintain_order=True)
        .select(
            *key,
            "time_ns",
            pl.when((grown >= 0) & (elapsed_ns > 0)).then(grown / (elapsed_ns * NS)).alias("per_s"),
        )
    )


def totals(readings: pl.DataFrame, begun_ns: int, ended_ns: int) -> pl.DataFrame:
    """Return each counter's growth from the last reading before a window to the first after it.

    Columns: source, object, counter, growth (null if it was reset or is missing at either end),
    last.
    """
    return growth(around(plain_readings(readings), begun_ns, ended_ns), KEY)


def around(readings: pl.DataFrame, begun_ns: int, ended_ns: int) -> pl.DataFrame:
    """Return the counter readings from the last before a window to the first after it."""
    times = readings["time_ns"]
    first, last = times.filter(times <= begun_ns).max(), times.filter(times >= ended_ns).min()
    begun = begun_ns if first is None else first
    ended = ended_ns if last is None else last
    return readings.filter(pl.col("time_ns").is_between(pl.lit(begun), pl.lit(ended)))


def growth(readings: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Return one row per counter with the key, growth and last value.

    A counter that decreased, or that is missing in the first or last reading, has no growth.
    """
    first, last = readings["time_ns"].min(), readings["time_ns"].max()
    value, time_ns = pl.col("value"), pl.col("time_ns")
    is_whole = (time_ns.first() == first) & (time_ns.last() == last) & value.is_not_null().all()
    never_back = (value.diff().drop_nulls() >= 0).all()
    return (
        readings.sort("time_ns", maintain_order=True)
        .group_by(key, maintain_order=True)
        .agg(
            pl.when(is_whole & never_back).then(value.last() - value.first()).alias("growth"),
            value.last().alias("last"),
        )
    )


def figures(readings: pl.DataFrame, shown: list[Shown]) -> pl.DataFrame:
    """Return readings of the declared counters, scaled and summed over database objects.

    Columns: time_ns, sequence and edge if present, name, value. If an object is missing in a
    reading, the sum is null.
    """
    plain = plain_readings(readings)
    reading = [name for name in plain.columns if name in READING]
    parts = [_figure(plain, figure, reading) for figure in shown]
    empty = plain.clear().select(
        *reading, pl.col("counter").alias("name"), pl.col("value").cast(pl.Float64)
    )
    return pl.concat([empty, *parts])


def _figure(plain: pl.DataFrame, figure: Shown, reading: list[str]) -> pl.DataFrame:
    sources = [figure.source] if figure.less is None else [figure.source, figure.less]
    rows = plain.filter(pl.col("source").is_in(sources) & (pl.col("counter") == figure.counter))
    if figure.object is not None:
        rows = rows.filter(pl.col("object") == figure.object)
    objects = rows.select("source", "object").n_unique()
    sign = pl.when(pl.col("source") == figure.source).then(1.0).otherwise(-1.0)
    value = (pl.col("value") * sign).sum() * figure.scale
    return (
        rows.group_by(reading, maintain_order=True)
        .agg(
            pl.lit(figure.name).alias("name"),
            pl.when(pl.len() == objects).then(value).alias("value"),
        )
        .select(*reading, "name", "value")
    )


def execution_growth(plain: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Return the growth of each counter in each execution that has readings around it.

    Columns: sequence, those of the key, growth. Executions in which a counter was reset, or is
    missing at either end, are left out.
    """
    start, end = (plain.filter(pl.col("edge") == edge) for edge in (START, END))
    return (
        start.join(end, on=["sequence", *key], suffix="_after")
        .select("sequence", *key, (pl.col("value_after") - pl.col("value")).alias("growth"))
        .filter(pl.col("growth") >= 0)
    )


def operation_growth(events: pl.DataFrame, plain: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Return the growth of each counter in one execution: the median over executions.

    Columns: operation, those of the key, growth, passes. Passes in which a counter was reset, or
    is missing at either end, are left out.
    """
    grown = execution_growth(plain, key)
    done = measured(events).filter(pl.col("outcome") == "ok").select("sequence", "operation")
    return (
        done.join(grown, on="sequence")
        .group_by("operation", *key, maintain_order=True)
        .agg(pl.col("growth").median(), pl.len().alias("passes"))
    )


def _by_operation(run: Run, shown: list[Shown]) -> dict[str, dict[str, float]]:
    """Return the growth of each declared counter in one execution, by counter and operation."""
    if not run.has("engine-operations"):
        return {}
    counters = [figure for figure in shown if figure.kind == COUNTER]
    summed = figures(run.table("engine-operations"), counters)
    by_figure: dict[str, dict[str, float]] = {}
    grown = operation_growth(run.table("events"), summed, ["name"])
    for operation, name, value in grown.select("operation", "name", "growth").iter_rows():
        by_figure.setdefault(name, {})[operation] = value
    for figure in counters:
        if figure.less is not None and figure.name in by_figure:
            by_figure[figure.name] = _without_own(run, figure, summed)
    return by_figure


def _without_own(run: Run, figure: Shown, summed: pl.DataFrame) -> dict[str, float]:
    """Return a counter's growth in one execution without that of Assay's sampling session.

    The sampling session counts at a rate that is not known for each execution. So the result is the
    mean over executions in whole events, and not more than the whole run has for each of them.
    """
    window = window_of(run)
    own = replace(figure, name=OWN, source=str(figure.less), less=None)
    readings = figures(run.table("engine"), [figure, own])
    grew = {} if window is None else _values(around(readings, *window))
    total, sampled = grew.get(figure.name), grew.get(OWN)
    if total is None or total.growth is None:
        return {}
    per_s = 0.0
    if sampled is not None and sampled.window_s > 0:
        per_s = (sampled.growth or 0.0) / sampled.window_s
    edges = summed.filter(pl.col("name") == figure.name)
    start, end = (edges.filter(pl.col("edge") == edge) for edge in (START, END))
    elapsed_s = (pl.col("time_ns_after") - pl.col("time_ns")) * NS
    grown = pl.col("value_after") - pl.col("value") - per_s * elapsed_s
    done = measured(run.table("events")).filter(pl.col("outcome") == "ok")
    means = (
        done.join(start.join(end, on="sequence", suffix="_after"), on="sequence")
        .group_by("operation", maintain_order=True)
        .agg(grown.mean(), pl.len().alias("executions"))
        .drop_nulls()
    )
    return {
        operation: float(max(0, min(round(mean), total.growth // count)))
        for operation, mean, count in means.iter_rows()
    }


def _entry(
    figure: Shown,
    value: _Value | None,
    by_operation: dict[str, dict[str, float]],
) -> dict[str, Any]:
    is_counter = figure.kind == COUNTER
    growth, last, window_s = value or _Value(None, None, 0.0)
    total = growth if is_counter else None
    return {
        "name": figure.name,
        "title": figure.title,
        "unit": figure.unit,
        "kind": figure.kind,
        "to_try": figure.to_try,
        "total": total,
        "per_s": None if total is None or window_s <= 0 else total / window_s,
        "last": None if is_counter else last,
        "operations": by_operation.get(figure.name, {}),
    }


def _share(share: Share, total_by_name: dict[str, float | None]) -> float | None:
    part = [total_by_name[name] for name in share.part]
    whole = [total_by_name[name] for name in share.whole]
    if any(value is None for value in (*part, *whole)):
        return None
    below = sum(value for value in whole if value is not None)
    return sum(value for value in part if value is not None) / below if below else None


def _series(figure: Shown, within: pl.DataFrame, zero_ns: int) -> dict[str, Any]:
    own = within.filter(pl.col("name") == figure.name)
    if figure.kind == COUNTER:
        own = rates(own, ["name"]).rename({"per_s": "value"})
    time_s = ((own["time_ns"] - zero_ns) * NS).round(6)
    return {"name": figure.name, "time_s": time_s.to_list(), "values": own["value"].to_list()}


def plain_readings(readings: pl.DataFrame) -> pl.DataFrame:
    """Return counter readings with categorical columns as text, for comparisons."""
    columns = [name for name in (*KEY, "edge") if name in readings.columns]
    return readings.with_columns(pl.col(columns).cast(pl.String))
