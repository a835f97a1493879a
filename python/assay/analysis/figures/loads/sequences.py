"""Chart of query mixes that clients execute in sequence, by engine, data size and clients.

The figure has the specified rate, the time and CPU time of a query, steadiness, and the verdict of
the runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subject_name
from assay.analysis.metrics import summary_of
from assay.analysis.quantities import COUNT, SECONDS, by_subject, each_text, spread, text
from assay.model.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.load.sequences import Sequence as Mixes
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

    RunMetric = Callable[[Run], float | None]

OPTIONS: dict[str, str] = {}
# Factors that do not make subjects: each pair of their levels is a measure.
WITHIN = ("scale", "clients")
# Name of the rate if no specification names it.
NO_NAME = "mixes a second"
ENGINE_CPU, DRIVER_CPU = "engine_cpu_seconds_per_operation", "driver_cpu_seconds_per_operation"
PERCENTILES = ("latency_seconds_p50", "latency_seconds_p99")
QUERIES = (
    Column("query"),
    Column("what it asks for"),
    Column("engine"),
    Column("size", COUNT, 9),
    Column("mean", SECONDS),
    Column("geometric mean", SECONDS),
    Column("share", "share"),
)


@dataclass(frozen=True)
class Place:
    """Position of a measured rate on a chart: data size, scale, and number of clients."""

    scale: float
    size: float
    size_name: str
    clients: int


@dataclass(frozen=True)
class Point:
    """The runs of one engine at one data size and number of clients."""

    subject: str
    place: Place
    runs: tuple[StudyRun, ...]

    def over_rounds(self, metric: RunMetric) -> Spread | None:
        """Return the median and the extremes of a metric over the runs."""
        return spread([metric(run.run) for run in self.runs])

    def middle(self, metric: RunMetric) -> float | None:
        """Return the median of a metric over the runs."""
        over_rounds = self.over_rounds(metric)
        return None if over_rounds is None else over_rounds.middle


def figure(asked: Asked) -> Figure:
    """Return a chart of query mixes that clients execute in sequence."""
    points = _points(asked)
    subjects = tuple(dict.fromkeys(point.subject for point in points))
    name = _rate_name(points[0].runs[0].run) if points else NO_NAME
    measures = tuple(_measures(points, name))
    rates = tuple(measure.key for measure in measures if measure.unit == name)
    queries = tuple(measure.key for measure in measures if measure.unit == SECONDS)
    without = [run for run in asked.runs if _mixes(run.run) is None]
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(points, name)),
        subjects=subjects,
        measures=measures,
        tables=(
            Table("rates", f"{name} by size and clients", _columns(points, name), _rows(points)),
            Table("queries", "times of each query, with one client", QUERIES, _by_query(points)),
        )
        if points
        else (),
        charts=tuple(_charts(name, rates, queries)),
        missing=tuple(f"{run.run.id} played no mix to its end" for run in without),
    )


def _charts(name: str, rates: Sequence[str], queries: Sequence[str]) -> Iterator[Chart]:
    if rates:
        yield Chart("rates", name, "bars", tuple(rates), logarithmic=True)
    if queries:
        title = "mean time of a query, one client"
        yield Chart("queries", title, "dots", tuple(queries), logarithmic=True)


@lru_cache(maxsize=512)
def _mixes(run: Run) -> Mixes | None:
    return summary_of(run).sequence


def _points(asked: Asked) -> tuple[Point, ...]:
    """Return the runs of each engine, grouped by data size and number of clients."""
    groups: dict[tuple[str, Place], list[StudyRun]] = {}
    for run in asked.runs:
        if (mixes := _mixes(run.run)) is None:
            continue
        scale = float(run.run.facts["request"]["scale"])
        place = Place(scale, mixes.size, mixes.size_name, mixes.clients)
        kept = [(factor, level) for factor, level in run.levels.items() if factor not in WITHIN]
        groups.setdefault((subject_name(kept, run.run), place), []).append(run)
    points = [Point(name, place, tuple(runs)) for (name, place), runs in groups.items()]
    return tuple(sorted(points, key=lambda point: (point.place.scale, point.place.clients)))


def _rate_name(run: Run) -> str:
    mixes = _mixes(run)
    return mixes.metrics[0].name if mixes is not None and mixes.metrics else NO_NAME


def _rate(run: Run) -> float | None:
    """Return the specification's main metric of a run; query mixes per second without one."""
    mixes = _mixes(run)
    if mixes is None:
        return None
    return mixes.metrics[0].value if mixes.metrics else mixes.mixes_per_s


def _mean_query_s(run: Run) -> float | None:
    """Return the mean time over all executed queries in seconds; None without any."""
    mixes = _mixes(run)
    count = sum(query.executions for query in mixes.queries) if mixes is not None else 0
    return mixes.operations_s / count if mixes is not None and count else None


def _metric(name: str) -> RunMetric:
    return lambda run: summary_of(run).metrics.get(name)


def _mean_of(query: str, what: str = "mean_s") -> RunMetric:
    def mean(run: Run) -> float | None:
        mixes = _mixes(run)
        matches = (
            [entry for entry in mixes.queries if entry.name == query] if mixes is not None else []
        )
        return getattr(matches[0], what) if matches else None

    return mean


def _measures(points: Sequence[Point], name: str) -> Iterator[Measure]:
    for place in dict.fromkeys(point.place for point in points):
        here = [point for point in points if point.place == place]
        key = f"{name} {place.scale:g} {place.clients}"
        title = f"{place.size:,.0f} {place.size_name}, {_clients(place)}"
        yield Measure(key, title, name, _values(here, _rate))
    for place in dict.fromkeys(point.place for point in points if point.place.clients == 1):
        here = [point for point in points if point.place == place]
        for query in _queries(here):
            key, title = f"{query} {place.scale:g}", f"{query}, {place.size:,.0f} {place.size_name}"
            yield Measure(key, title, SECONDS, _values(here, _mean_of(query)))


def _values(points: Sequence[Point], metric: RunMetric) -> dict[str, Spread]:
    return by_subject((point.subject, point.over_rounds(metric)) for point in points)


def _queries(points: Sequence[Point]) -> list[str]:
    """Return the names of the queries in the order of the query mix."""
    mixes = [sequence for point in points if (sequence := _mixes(point.runs[0].run)) is not None]
    return list(dict.fromkeys(query.name for mix in mixes for query in mix.queries))


def _clients(place: Place) -> str:
    return f"{place.clients} client{'s' * (place.clients != 1)}"


def _columns(points: Sequence[Point], name: str) -> tuple[Column, ...]:
    return (
        Column("engine"),
        Column(points[0].place.size_name, COUNT, 9),
        Column("clients", COUNT),
        Column(name, None, 5),
        Column("mean time", SECONDS),
        *(Column(percentile.rpartition("_")[2], SECONDS) for percentile in PERCENTILES),
        Column("engine CPU", SECONDS),
        Column("client CPU", SECONDS),
        Column("steady"),
        Column("verdict"),
    )


def _rows(points: Sequence[Point]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            point.subject,
            point.place.size,
            point.place.clients,
            point.middle(_rate),
            point.middle(_mean_query_s),
            *(point.middle(_metric(name)) for name in (*PERCENTILES, ENGINE_CPU, DRIVER_CPU)),
            _steady(point),
            ", ".join(dict.fromkeys(worst(run.checks).word for run in point.runs)),
        )
        for point in points
    )


def _steady(point: Point) -> str:
    """Return the number of the query mix from which times were steady, per round, as text."""
    starts = [_steady_from(run.run) for run in point.runs]
    return ", ".join(dict.fromkeys(starts))


def _steady_from(run: Run) -> str:
    mixes = summary_of(run).mixes
    if mixes is None:
        return "not checked"
    state = mixes.state
    if state.steady is None:
        return "too few"
    return f"from mix {(state.first_mix or 0) + 1}" if state.steady else "no"


def _by_query(points: Sequence[Point]) -> tuple[tuple[Cell, ...], ...]:
    alone = [point for point in points if point.place.clients == 1]
    return tuple(
        (
            query,
            _title(alone, query),
            point.subject,
            point.place.size,
            point.middle(_mean_of(query)),
            point.middle(_mean_of(query, "geometric_mean_s")),
            point.middle(_mean_of(query, "share")),
        )
        for query in _queries(alone)
        for point in alone
    )


def _title(points: Sequence[Point], query: str) -> str:
    mixes = [sequence for point in points if (sequence := _mixes(point.runs[0].run)) is not None]
    titles = (entry.title for mix in mixes for entry in mix.queries if entry.name == query)
    return next(titles, "")


def _says(points: Sequence[Point], name: str) -> Iterator[str]:
    for place in dict.fromkeys(point.place for point in points):
        here = [point for point in points if point.place == place]
        rates = [(point.subject, text(point.middle(_rate), None)) for point in here]
        yield f"{name}({place.size:,.0f} {place.size_name}, {_clients(place)}): {each_text(rates)}."
    alone = [point for point in points if point.place.clients == 1]
    for point in alone:
        shares = {
            query: point.middle(_mean_of(query, "share")) or 0.0 for query in _queries([point])
        }
        most = max(shares, key=shares.__getitem__)
        yield (
            f"{point.subject}, {point.place.size:,.0f} {point.place.size_name}: {most} is"
            f" {text(shares[most], 'share')} of the time of queries."
        )
