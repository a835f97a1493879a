"""Charts of an engine setting: the metric by level, and the counters of its trade-off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Figure, Measure
from assay.analysis.figures.factor_levels import most_levels, places_of
from assay.analysis.figures.knobs.trade_grid import grid_figure
from assay.analysis.figures.knobs.trade_tables import CURVES, shown_first, tables_of
from assay.analysis.figures.knobs.trade_words import missing_of, notes_of, says_of
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.metrics import default_metric, metric_named, value_of
from assay.analysis.quantities import SECONDS, SHARE, TIMES, Spread, by_subject
from assay.analysis.tune.trade import Sides, trade_of
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.analysis.figures.contract import Asked
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.metrics import Metric
    from assay.analysis.stats.student import Mean
    from assay.analysis.tune.knob_effect import Moved
    from assay.analysis.tune.trade import Level, Trade

OPTIONS = {
    "metric": "a metric of runs, or an operation's name; without it what the runs are first judged"
    " by",
    "factor": "the factor along the axis; without it the one with most levels",
    "grid": "a second factor: a table of both instead",
    "moves": "names of counters that have to move, in the place of the knob's",
    "scheduling": "names of counters of one side, in the place of the knob's",
    "blocking": "names of counters of the other side, in the place of the knob's",
}


def figure(asked: Asked) -> Figure:
    """Return charts of the gain and cost of an engine setting."""
    name, first = asked.options.get("metric"), asked.runs[0].run
    metric = default_metric(first) if name is None else metric_named(name, first)
    factor = asked.options.get("factor") or most_levels(asked.runs)
    if asked.options.get("grid") is not None:
        return grid_figure(asked, metric, factor, str(asked.options["grid"]))
    places = places_of(asked.runs, factor)
    having = tuple(run for run in asked.runs if factor in run.levels)
    subjects = subjects_of(replace(asked, runs=having), without=(factor,))
    made = {
        subject.name: _trade(subject, factor, list(places), metric, asked) for subject in subjects
    }
    trades = {name: trade for name, trade in made.items() if trade is not None}
    tables = tables_of(trades, factor, places, metric)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(
            sentence
            for name, trade in trades.items()
            for sentence in says_of(name, trade, factor, metric)
        ),
        subjects=tuple(trades),
        measures=tuple(_measures(trades, places, metric)),
        tables=tables,
        charts=(Chart("trade", metric.title, "trade", (), axis=_short(factor), table=CURVES),)
        if trades
        else (),
        notes=tuple(notes_of(trades)),
        missing=tuple(missing_of(made, list(places), factor, metric)),
    )


def _short(factor: str) -> str:
    return factor.removeprefix("set.")


def _trade(
    subject: Subject, factor: str, levels: list[str], metric: Metric, asked: Asked
) -> Trade | None:
    runs = {
        level: [(run.round, run.run) for run in subject.runs if run.levels.get(factor) == level]
        for level in levels
    }
    judged = {
        level: {
            number: value
            for number, run in level_runs
            if (value := value_of(run, metric)) is not None
        }
        for level, level_runs in runs.items()
    }
    sides = Sides(*(_names(asked, key) for key in ("moves", "scheduling", "blocking")))
    return trade_of(runs, judged, lower_is_better=metric.is_better == "lower", asked=sides)


def _names(asked: Asked, key: str) -> tuple[str, ...]:
    names = asked.options.get(key, ())
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"figure {asked.name}: the option {key} must be a list of counter names")
    return tuple(names)


def _measures(
    trades: Mapping[str, Trade], places: Mapping[str, float | None], metric: Metric
) -> Iterator[Measure]:
    """Yield the quantities at each level of a setting, such as the time at level `10K`."""
    what = "time" if metric.unit == SECONDS else metric.name
    for level, at in places.items():
        quantities: list[tuple[str, str, str, Callable[[Trade, Level], Spread | None]]] = [
            (
                what,
                metric.title,
                metric.unit,
                lambda _, own: _spread(own.response, len(own.rounds)),
            ),
            ("first", "first execution", SECONDS, _first),
            ("first times", "first execution in times of later ones", TIMES, _first_times),
            ("variability", "executions of one run differ by", SHARE, _variability),
        ]
        for side in ("scheduling", "blocking"):
            counters = {name: _main(trade, side) for name, trade in trades.items()}
            units = {counter.unit for counter in counters.values() if counter is not None}
            if len(units) == 1:
                title = next(counter.title for counter in counters.values() if counter is not None)
                unit = units.pop()
                quantities.append((side, f"{side}: {title}", unit, _side(side)))
        quantities += [
            (key, title, unit, _message(key)) for key, title, unit in _quantities(trades, level)
        ]
        for key, title, unit, value in quantities:
            values = by_subject(
                (name, value(trade, own))
                for name, trade in trades.items()
                for own in trade.levels
                if own.name == level
            )
            if values:
                yield Measure(f"{level} {key}", f"{level}: {title}", unit, values, at)


def _spread(mean: Mean, count: int) -> Spread:
    low, high = mean.interval or (mean.value, mean.value)
    return Spread(mean.value, low, high, count)


def _first(_: Trade, level: Level) -> Spread | None:
    return None if level.first is None else _spread(level.first.first_s, len(level.rounds))


def _first_times(_: Trade, level: Level) -> Spread | None:
    if level.first is None or not level.first.later_s.value:
        return None
    times = level.first.first_s.value / level.first.later_s.value
    return Spread(times, times, times, len(level.rounds))


def _variability(_: Trade, level: Level) -> Spread | None:
    if level.variability is None:
        return None
    share = level.variability.share
    return Spread(share, share, share, len(level.rounds))


def _main(trade: Trade, side: str) -> Moved | None:
    """Return the counter that represents one side of a setting's trade-off; None without one."""
    return next(iter(shown_first(getattr(trade, side))), None)


def _side(side: str) -> Callable[[Trade, Level], Spread | None]:
    def value(trade: Trade, level: Level) -> Spread | None:
        counter = _main(trade, side)
        values = () if counter is None else counter.values.get(level.name, ())
        if not values:
            return None
        return Spread(sum(values) / len(values), min(values), max(values), len(values))

    return value


def _quantities(trades: Mapping[str, Trade], level: str) -> list[tuple[str, str, str]]:
    """Return key, title and unit of each message quantity that was counted at a setting's level."""
    quantities = (
        (message.name, message.title, message.unit)
        for trade in trades.values()
        for own in trade.levels
        for message in own.messages
        if own.name == level and message.counted is not None
    )
    return list(dict.fromkeys(quantities))


def _message(name: str) -> Callable[[Trade, Level], Spread | None]:
    def value(_: Trade, level: Level) -> Spread | None:
        count = next((message.counted for message in level.messages if message.name == name), None)
        return None if count is None else Spread(count, count, count)

    return value
