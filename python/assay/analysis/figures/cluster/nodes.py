"""Charts of a query on one and on several nodes: work, messages and speed-up.

Work, bytes and waits are counted on all hosts. A speed-up is measured only if each node has its own
cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.cluster.counters import declared_cluster, totals_of_a_pass
from assay.analysis.cluster.nodes import shared_cores, workers_of
from assay.analysis.cluster.words import BLOCKED, BYTES, MESSAGES, SCHEDULING, WAIT, WORDS
from assay.analysis.figures.contract import (
    CURVE_COLUMNS,
    LINE,
    POINT,
    Chart,
    Column,
    Figure,
    Measure,
    Table,
)
from assay.analysis.figures.growth.client_curves import CURVES, FITTED
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import BYTES as BYTES_UNIT
from assay.analysis.quantities import (
    COUNT,
    PER_SECOND,
    SECONDS,
    TIMES,
    by_subject,
    interval_text,
    listed,
    spread,
    text,
)
from assay.analysis.scales.costs import CPU_TIME, MEMORY_PEAK, PER_S, READ_BYTES, costs_of
from assay.analysis.stats.rounds import factor_of
from assay.analysis.sweep.scalability import PARAMETERS, scaling
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.quantities import Spread
    from assay.analysis.stats.rounds import Factor
    from assay.analysis.study_runs import StudyRun
    from assay.analysis.sweep.scalability import Scaling
    from assay.record.reader import Run

OPTIONS = {"factor": "the factor whose levels are numbers of nodes; without it set.workers"}
WORKERS = "set.workers"
PLACES = 48


@dataclass(frozen=True)
class Quantified:
    """A quantity that is charted for each number of cluster nodes.

    Attributes:
        key: Second part of a measure's key, after the number of nodes.
        title: Title of the quantity, which also heads its table column.
        unit: Unit of the quantity, as in `quantities.text`.
        of: Function that returns the quantity of a run.
    """

    key: str
    title: str
    unit: str
    of: Callable[[Run], float | None]


def _cost(key: str) -> Callable[[Run], float | None]:
    def of(run: Run) -> float | None:
        cost = costs_of(run).get(key)
        return None if cost is None else cost.value

    return of


def _counted(word: str) -> Callable[[Run], float | None]:
    """Return a function that reads one cluster counter per execution of all operations."""
    scale = 1.0 / NS_PER_S if WORDS[word][1] == "ns" else 1.0

    def of(run: Run) -> float | None:
        value = totals_of_a_pass(run).get(word)
        return None if value is None else value * scale

    return of


RATE = Quantified("rate", "passes a second", PER_SECOND, _cost(PER_S))
QUANTITIES = (
    Quantified("time", "time", SECONDS, _cost("time")),
    Quantified("cpu", "CPU time", SECONDS, _cost(CPU_TIME)),
    Quantified("messages", "messages", COUNT, _counted(MESSAGES)),
    Quantified("bytes", "bytes between nodes", BYTES_UNIT, _counted(BYTES)),
    Quantified("wait", "waiting for others", SECONDS, _counted(WAIT)),
    Quantified("blocked", "blocked on write", SECONDS, _counted(BLOCKED)),
    Quantified("scheduling", "scheduling", SECONDS, _counted(SCHEDULING)),
    Quantified("read", "bytes read from storage", BYTES_UNIT, _cost(READ_BYTES)),
    Quantified("memory", "peak memory", BYTES_UNIT, _cost(MEMORY_PEAK)),
)
TIME, CPU, SENT_MESSAGES, SENT_BYTES = QUANTITIES[:4]
GROWING = (CPU, SENT_MESSAGES, SENT_BYTES)
DRAWN = (CPU, SENT_MESSAGES, SENT_BYTES)


@dataclass(frozen=True)
class Spanned:
    """An engine or setting with its runs at each number of cluster nodes.

    Attributes:
        runs: Runs by number of working nodes, which is 1 for an engine that is not a cluster.
        shared: Reason why the speed-up is not measured; None if it is measured.
        fit: Scaling law of the throughput; None if not measured, or too few numbers of nodes.
    """

    subject: Subject
    runs: dict[int, tuple[StudyRun, ...]]
    shared: str | None
    fit: Scaling | None

    @property
    def name(self) -> str:
        """The name of the engine or setting."""
        return self.subject.name

    @property
    def is_cluster(self) -> bool:
        """True if the engine is a cluster."""
        return bool(workers_of(self.subject.first))

    def of(self, what: Quantified, nodes: int) -> Spread | None:
        """Return the spread of a quantity over the rounds with a given number of nodes."""
        return spread(what.of(run.run) for run in self.runs.get(nodes, ()))

    def growth(self, what: Quantified, nodes: int) -> Factor | None:
        """Return the factor of a quantity relative to its value with the fewest nodes."""
        first = {run.round: what.of(run.run) for run in self.runs[min(self.runs)]}
        there = {run.round: what.of(run.run) for run in self.runs[nodes]}
        pairs = [(first.get(number), value) for number, value in there.items()]
        return factor_of([value / before for before, value in pairs if before and value])

    def speed_up(self, nodes: int) -> Factor | None:
        """Return the speed-up relative to the smallest number of nodes; None if not measured."""
        return None if self.shared is not None else self.growth(RATE, nodes)


def figure(asked: Asked) -> Figure:
    """Return a chart of time and work by number of cluster nodes."""
    factor = asked.options.get("factor", WORKERS)
    spanned = [_spanned(subject) for subject in subjects_of(asked, without=(factor,))]
    # Clusters come first. Single servers are the baseline that they are compared with.
    spanned.sort(key=lambda span: not span.is_cluster)
    levels = sorted({level for span in spanned for level in span.runs})
    tables = (
        _table(spanned),
        *_growth_table(spanned),
        *_law_table(spanned),
        *_curves(spanned, levels),
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(sentence for span in spanned for sentence in _says(span)),
        subjects=tuple(span.name for span in spanned),
        measures=tuple(_measures(spanned, levels)),
        tables=tables,
        charts=_charts(tables),
        notes=tuple(_notes(spanned)),
        missing=tuple(_missing(spanned)),
    )


def _spanned(subject: Subject) -> Spanned:
    runs: dict[int, tuple[StudyRun, ...]] = {}
    for run in subject.runs:
        nodes = max(1, len(workers_of(run.run)))
        runs[nodes] = (*runs.get(nodes, ()), run)
    shared = shared_cores(runs[max(runs)][0].run)
    fit = None
    if shared is None:
        points = [(float(n), RATE.of(run.run)) for n, own in runs.items() for run in own]
        fit = scaling([(n, value) for n, value in points if value])
    return Spanned(subject, dict(sorted(runs.items())), shared, fit)


def _measures(spanned: Sequence[Spanned], levels: Sequence[int]) -> Iterator[Measure]:
    for what in QUANTITIES:
        for level in levels:
            values = by_subject((span.name, span.of(what, level)) for span in spanned)
            if values:
                title = f"{what.title}, {_nodes(level)}"
                yield Measure(f"{level} {what.key}", title, what.unit, values, at=float(level))


def _table(spanned: Sequence[Spanned]) -> Table:
    columns = [Column("subject"), Column("nodes", COUNT), Column("rounds", COUNT)]
    columns += [Column(what.title, what.unit, 3) for what in QUANTITIES]
    columns += [Column("speed-up", TIMES, 3)]
    rows: list[tuple[Cell, ...]] = []
    for span in spanned:
        for level, runs in span.runs.items():
            spreads = [span.of(what, level) for what in QUANTITIES]
            cells = [None if value is None else value.middle for value in spreads]
            gain = span.speed_up(level) if level > min(span.runs) else None
            rows.append((span.name, level, len(runs), *cells, None if gain is None else gain.times))
    return Table("nodes", "a pass, by nodes that work", tuple(columns), tuple(rows))


def _growth_table(spanned: Sequence[Spanned]) -> tuple[Table, ...]:
    rows: list[tuple[Cell, ...]] = []
    for span in spanned:
        for level in list(span.runs)[1:]:
            factors = [(what.title, span.growth(what, level)) for what in GROWING]
            factors.append(("throughput (speed-up)", span.speed_up(level)))
            for title, factor in factors:
                if factor is not None:
                    ends = factor.interval or (None, None)
                    rows.append((span.name, title, min(span.runs), level, factor.times, *ends))
    if not rows:
        return ()
    columns = (
        Column("subject"),
        Column("of"),
        Column("from nodes", COUNT),
        Column("to nodes", COUNT),
        Column("times", TIMES, 3),
        Column("at least", TIMES, 3),
        Column("at most", TIMES, 3),
    )
    return (Table("growth", "what grows with the nodes", columns, tuple(rows)),)


def _law_table(spanned: Sequence[Spanned]) -> tuple[Table, ...]:
    rows: list[tuple[Cell, ...]] = []
    for span in spanned:
        if span.fit is None:
            continue
        parameters = {
            "one node, a second": span.fit.single_per_s,
            "contention (sigma)": span.fit.sigma,
            "coherence (kappa)": span.fit.kappa,
            "nodes at the most": span.fit.most_at,
        }
        for name, value in parameters.items():
            ends = value.ends or (None, None)
            rows.append((span.name, name, *map(_finite, (value.value, *ends))))
    if not rows:
        return ()
    columns = (
        Column("subject"),
        Column("quantity"),
        Column("value", COUNT, 3),
        Column("at least", COUNT, 3),
        Column("at most", COUNT, 3),
    )
    return (Table("law", "the Universal Scalability Law, by nodes", columns, tuple(rows)),)


def _finite(value: float | None) -> float | None:
    return value if value is not None and value != float("inf") else None


def _curves(spanned: Sequence[Spanned], levels: Sequence[int]) -> tuple[Table, ...]:
    """Return the tables behind the scaling curves, one table per chart."""
    tables = []
    measured = [span for span in spanned if span.shared is None]
    for what, own in [(what, spanned) for what in DRAWN] + [(RATE, measured)]:
        rows = [row for span in own if span.is_cluster for row in _points(span, what, levels)]
        if what is RATE:
            rows += [row for span in own for row in _law_line(span)]
        units = (None, None, COUNT, what.unit, what.unit, what.unit, None)
        if rows and len({row[2] for row in rows}) > 1:
            columns = tuple(map(Column, CURVE_COLUMNS, units))
            title = f"what the chart of {what.title} draws"
            tables.append(Table(f"{CURVES}{what.key}", title, columns, tuple(rows)))
    return tuple(tables)


def _points(span: Spanned, what: Quantified, levels: Sequence[int]) -> Iterator[tuple[Cell, ...]]:
    for level in levels:
        cost = span.of(what, level)
        if cost is None:
            continue
        ends = (cost.low, cost.high) if cost.count > 1 else (None, None)
        yield (span.name, f"{level} {what.key}", level, cost.middle, *ends, POINT)
        if what is not RATE or span.fit is None:
            yield (span.name, None, level, cost.middle, None, None, LINE)


def _law_line(span: Spanned) -> Iterator[tuple[Cell, ...]]:
    if span.fit is None:
        return
    first, last = min(span.runs), max(span.runs)
    for number in range(PLACES + 1):
        at = first + (last - first) * number / PLACES
        ends = span.fit.band(at) or (None, None)
        yield (span.name, None, at, span.fit.law.throughput(at), *ends, LINE)


def _charts(tables: Sequence[Table]) -> tuple[Chart, ...]:
    names = {table.name for table in tables}
    return tuple(
        Chart(what.key, what.title, FITTED, ("nodes", what.title), axis="nodes", table=name)
        for what in (*DRAWN, RATE)
        if (name := f"{CURVES}{what.key}") in names
    )


def _says(span: Spanned) -> Iterator[str]:
    first, last = min(span.runs), max(span.runs)
    time = span.of(TIME, first)
    took = "" if time is None else f" takes {text(time.middle, SECONDS)}"
    if not span.is_cluster:
        yield f"{span.name}: a pass{took} on one server."
        return
    if first == last:
        yield f"{span.name}: a pass{took} on {_nodes(first)}; nothing to compare with."
        return
    grown = [(what.title, span.growth(what, last)) for what in GROWING]
    costs = [
        f"{title} {factor.times:.3g} times{interval_text(factor.interval, TIMES)}"
        for title, factor in grown
        if factor is not None
    ]
    range_text = f"from {first} to {_nodes(last)}"
    if costs:
        yield f"{span.name}: {range_text} a pass costs {listed(costs)}."
    gain = span.speed_up(last)
    if gain is not None:
        ends = interval_text(gain.interval, TIMES)
        yield f"{span.name}: {range_text} it is {gain.times:.3g} times as fast{ends}."
    elif span.shared is not None:
        yield f"{span.name}: speed-up not measured: {span.shared}."


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _notes(spanned: Sequence[Spanned]) -> Iterator[str]:
    yield (
        "Nodes are those that work; a coordinator is none. CPU time and memory are those of all"
        " processes of the cluster, by the kernel; messages, bytes and waits are as nodes count"
        " them, summed, of one pass."
    )
    if any(span.fit is not None for span in spanned):
        yield (
            "The line is the Universal Scalability Law of passes a second by nodes, by least"
            " squares of relative errors over all runs; intervals are of 95 %."
        )


def _missing(spanned: Sequence[Spanned]) -> Iterator[str]:
    for span in spanned:
        if not span.is_cluster:
            continue
        declared = declared_cluster(span.subject.first)
        for word in (MESSAGES, BYTES, WAIT, BLOCKED, SCHEDULING):
            why = None if declared is None else declared.missing.get(word)
            if why is not None:
                yield f"{span.name}: {WORDS[word][0]}: not measured: {why}"
        if span.shared is not None:
            yield f"{span.name}: speed-up by nodes: not measured: {span.shared}"
        elif span.fit is None:
            yield (
                f"{span.name}: the law of {len(span.runs)} numbers of nodes; it takes at least"
                f" {PARAMETERS}"
            )
