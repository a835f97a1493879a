"""Tables of a setting's trade-off: the metric by level, its counters, and the values in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import FIRST, LATER, TRADE_COLUMNS, Column, Table
from assay.analysis.quantities import COUNT, SECONDS, SHARE, TIMES
from assay.analysis.stats.student import mean_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Cell
    from assay.analysis.metrics import Metric
    from assay.analysis.tune.knob_effect import Moved
    from assay.analysis.tune.trade import Level, Trade

CURVES = "curves"
RESPONSE, SCHEDULING, BLOCKING = "response", "scheduling", "blocking"
NUMBERS = ("value", "low", "high")
# Maximum number of drawn counters for each side.
DRAWN_MAX = 2
READ_BACK_COLUMNS = (
    Column("subject"),
    Column("level"),
    Column("setting"),
    Column("asked"),
    Column("in force"),
    Column("as asked"),
)
KNOWN = {True: "yes", False: "no", None: "not known"}


def tables_of(
    trades: Mapping[str, Trade],
    factor: str,
    places: Mapping[str, float | None],
    metric: Metric,
) -> tuple[Table, ...]:
    """Return all tables of a setting's trade-off; the first has the metric by level."""
    if not trades:
        return ()
    short = factor.removeprefix("set.")
    tables = (
        _curve(trades, short, list(places), metric),
        _first(trades, short),
        _counters(trades, short),
        Table(
            "read-back",
            "what was asked and what was in force",
            READ_BACK_COLUMNS,
            tuple(_read_back(trades)),
        ),
        _model(trades, short),
        Table(
            CURVES,
            f"what is drawn: {metric.title}, and both sides below it",
            tuple(Column(name, COUNT if name in NUMBERS else None) for name in TRADE_COLUMNS),
            tuple(_drawn(trades, metric)),
        ),
    )
    return tuple(table for table in tables if table.rows)


def _curve(trades: Mapping[str, Trade], short: str, levels: list[str], metric: Metric) -> Table:
    several = len(trades) > 1
    sides = [_shared(trades, side) for side in (SCHEDULING, BLOCKING)]
    columns = [
        *([Column("subject")] if several else []),
        Column(short),
        Column(_heading(metric), metric.unit),
        Column("at least", metric.unit),
        Column("at most", metric.unit),
        Column("beside the best", TIMES),
        Column("first", SECONDS),
        *(Column(side.title, side.unit) for side in sides if side is not None),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, trade in trades.items():
        by_name = {level.name: level for level in trade.levels}
        for level in levels:
            if level in by_name:
                measured = by_name[level]
                cells: tuple[Cell, ...] = (level, *_response(trade, measured))
                cells += tuple(_mean(side, trade, level) for side in sides if side is not None)
                rows.append((name, *cells) if several else cells)
    return Table("trade", f"{metric.title} by {short}, and both sides", tuple(columns), tuple(rows))


def _heading(metric: Metric) -> str:
    return "time" if metric.unit == SECONDS else metric.title


def _response(trade: Trade, level: Level) -> tuple[Cell, ...]:
    ends = level.response.interval or (None, None)
    beside = {comparison.level: comparison.factor for comparison in trade.beside}
    factor = beside.get(level.name)
    times = 1.0 if level.name == trade.best else None if factor is None else factor.times
    first = None if level.first is None else level.first.first_s.value
    return level.response.value, *ends, times, first


def shown_first(counters: Sequence[Moved]) -> list[Moved]:
    """Return the available counters of a trade-off, those that are not zero first."""
    return sorted(
        (counter for counter in counters if counter.values),
        key=lambda counter: not any(counter.means.values()),
    )


def _shared(trades: Mapping[str, Trade], side: str) -> Moved | None:
    """Return the first trade-off counter that was counted for all engines; None without one."""
    every = [
        {counter.name: counter for counter in shown_first(getattr(trade, side))}
        for trade in trades.values()
    ]
    names = [name for name in every[0] if all(name in by_name for by_name in every)]
    return every[0][names[0]] if names else None


def _mean(counter: Moved, trade: Trade, level: str) -> Cell:
    for moved in (*trade.scheduling, *trade.blocking):
        if moved.name == counter.name:
            return moved.means.get(level)
    return None


def _first(trades: Mapping[str, Trade], short: str) -> Table:
    columns = (
        Column("subject"),
        Column(short),
        Column("first", SECONDS),
        Column("later", SECONDS),
        Column("first / later", TIMES),
        Column("minor page faults, first", COUNT),
        Column("later", COUNT),
        Column("executions of one run differ by", SHARE),
        Column("because"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, trade in trades.items():
        for level in trade.levels:
            first, differ = level.first, level.variability
            cells: tuple[Cell, ...] = (None,) * 5
            if first is not None:
                times = first.first_s.value / first.later_s.value if first.later_s.value else None
                cells = (first.first_s.value, first.later_s.value, times)
                cells += (first.first_faults, first.later_faults)
            share = None if differ is None else differ.share
            why = "-" if differ is None or differ.reason is None else differ.reason
            rows.append((name, level.name, *cells, share, why))
    return Table(
        "first", "the first execution of each run, and how later ones differ", columns, tuple(rows)
    )


def _counters(trades: Mapping[str, Trade], short: str) -> Table:
    """Return a table of all counters of a setting's trade-off, one counter per row."""
    levels = list(dict.fromkeys(level.name for trade in trades.values() for level in trade.levels))
    columns = (
        Column("subject"),
        Column("side"),
        Column("counter"),
        Column("unit"),
        *(Column(f"{short} {level}", COUNT) for level in levels),
        Column("moved"),
        Column("chance if alike", COUNT),
        Column("why not counted"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, trade in trades.items():
        for side, counters in _sides(trade):
            for counter in counters:
                means = counter.means
                rows.append(
                    (
                        name,
                        side,
                        counter.title,
                        counter.unit,
                        *(means.get(level) for level in levels),
                        KNOWN[counter.moved],
                        counter.chance,
                        "-" if counter.values or counter.why_not is None else counter.why_not,
                    )
                )
    return Table("counters", "counters of one execution, by level", columns, tuple(rows))


def _sides(trade: Trade) -> tuple[tuple[str, tuple[Moved, ...]], ...]:
    return (
        (SCHEDULING, trade.scheduling),
        (BLOCKING, trade.blocking),
        ("has to move", trade.effect.moved),
    )


def _read_back(trades: Mapping[str, Trade]) -> Iterator[tuple[Cell, ...]]:
    for name, trade in trades.items():
        for reading in trade.effect.read_back:
            yield (
                name,
                reading.level,
                trade.turned.setting or "-",
                reading.asked or "-",
                reading.effective or "not told",
                KNOWN[reading.is_asked],
            )


def _model(trades: Mapping[str, Trade], short: str) -> Table:
    """Return a table of predicted and counted messages; empty unless the engine is a cluster."""
    columns = (
        Column("subject"),
        Column(short),
        Column("quantity"),
        Column("unit"),
        Column("on paper", COUNT),
        Column("counted", COUNT),
        Column("counted / on paper", TIMES),
        Column("why they differ"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            level.name,
            message.title,
            message.unit,
            message.predicted,
            message.counted,
            message.ratio,
            message.why,
        )
        for name, trade in trades.items()
        for level in trade.levels
        for message in level.messages
    ]
    title = "messages between nodes of one execution, on paper and as they were counted"
    return Table("model", title, columns, tuple(rows))


def _drawn(trades: Mapping[str, Trade], metric: Metric) -> Iterator[tuple[Cell, ...]]:
    for name, trade in trades.items():
        for level in trade.levels:
            ends = level.response.interval or (None, None)
            head = (RESPONSE, metric.title, metric.unit, name, level.name)
            yield *head, level.response.value, *ends, LATER
            if level.first is not None and metric.unit == SECONDS:
                yield *head, level.first.first_s.value, None, None, FIRST
        for side, counters in _sides(trade)[:2]:
            for counter in [counter for counter in counters if any(counter.means.values())][
                :DRAWN_MAX
            ]:
                for level in trade.levels:
                    values = counter.values.get(level.name, ())
                    if values:
                        head = (side, counter.title, counter.unit, name, level.name)
                        yield *head, *_mean_and_ends(values), LATER


def _mean_and_ends(values: tuple[float, ...]) -> tuple[float | None, ...]:
    """Return a counter's mean and its interval; the lower end is at least 0."""
    mean = mean_of(values)
    low, high = mean.interval or (None, None)
    return mean.value, None if low is None else max(0.0, low), high
