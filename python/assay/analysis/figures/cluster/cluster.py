"""Table of a cluster's counters: messages, bytes, CPU and waiting, in total and by node."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from assay.analysis.cluster.counted import operation_lines
from assay.analysis.cluster.line import KIB, PERCENT, Line
from assay.analysis.cluster.nodes import COORDINATOR
from assay.analysis.cluster.words import BLOCKED, BYTES, MESSAGES, SCHEDULING, TASK, WAIT
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.queries.executions import (
    FIRST_COLUMNS,
    SPREAD_COLUMNS,
    deviation_of,
    first_execution_figure,
    first_rows,
    longest,
    spread_rows,
)
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.metrics import summary_of
from assay.analysis.quantities import BYTES as BYTES_UNIT
from assay.analysis.quantities import (
    COUNT,
    PER_SECOND,
    SECONDS,
    SHARE,
    TIMES,
    by_subject,
    listed,
    spread,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.analysis.cluster.line import NodeFigures
    from assay.analysis.cluster.told import Cluster
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS = {"operation": "its name; without it the one that takes longest"}
KB_PER_SECOND = "KB/s"
# Key of a measure, its title, its unit, the counter it is read from, and the factor of its unit.
PARTS = (
    ("messages", "messages a second between nodes", PER_SECOND, "messages_per_s", 1.0),
    ("kb", "KB a second between nodes", KB_PER_SECOND, "bytes_per_s", 1 / KIB),
    ("cpu", "cores kept busy", COUNT, "cpu_cores", 1.0),
    ("waiting", "of tasks' time, waiting for other nodes", SHARE, "waiting_share", 1.0),
    ("fetch", "of tasks' time, until others send", SHARE, "wait_share", 1.0),
    ("blocked", "of tasks' time, until others take", SHARE, "blocked_share", 1.0),
    ("scheduling", "scheduling beside tasks' time", SHARE, "scheduling_share", 1.0),
    ("message", "mean length of a message", BYTES_UNIT, "bytes_a_message", 1.0),
)
OF_A_NODE = ("messages", "kb", "cpu", "waiting")
COLUMNS = (
    Column("subject"),
    Column("node"),
    Column("seconds", SECONDS),
    Column("messages", PER_SECOND, 4),
    Column("KB a second", COUNT, 4),
    Column("CPU, % of a core", COUNT, 4),
    Column("waiting for another node, %", COUNT, 3),
    Column("for what it sends, %", COUNT, 3),
    Column("until it takes, %", COUNT, 3),
    Column("scheduling, %", COUNT, 3),
    Column("a message", BYTES_UNIT),
    Column("memory", BYTES_UNIT),
)
# A larger deviation between executions is reported. The published article on Virtuoso's cluster has
# a smaller one.
EVEN_MAX = 0.05
ONE_SERVER = "one server"
# Counters whose absence is reported first.
WANTED = (MESSAGES, BYTES, WAIT, BLOCKED, SCHEDULING, TASK)


@dataclass(frozen=True)
class MeasuredLine:
    """The cluster counters of a run, and its cluster; None for a single server."""

    line: Line | None
    cluster: Cluster | None


def figure(asked: Asked) -> Figure:
    """Return a table of the counters of clusters."""
    chosen = asked.options.get("operation")
    subjects = subjects_of(asked)
    measures = tuple(_measures(subjects, chosen))
    keys = {quantity.key for quantity in measures if quantity.values}
    of_lines = ("messages", "cpu", "waiting")
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(chain.from_iterable(_says(subject, chosen) for subject in subjects)),
        subjects=tuple(subject.name for subject in subjects),
        measures=tuple(quantity for quantity in measures if quantity.values),
        tables=tuple(_tables(subjects, chosen)),
        charts=tuple(
            Chart(key, title, "bars", (key,))
            for key, title, *_ in PARTS
            if key in keys and key in of_lines
        ),
        notes=tuple(dict.fromkeys(_notes(subjects, chosen))),
        missing=tuple(_missing(subjects, chosen)),
    )


def measured_line(run: Run, chosen: str | None) -> MeasuredLine:
    """Return the cluster counters of one operation, or of the measured part under a load."""
    cluster, name = summary_of(run).cluster, chosen or longest(run)
    lines = operation_lines(run, {}, ()) if cluster is None else cluster.operations
    if name is not None and name in lines:
        return MeasuredLine(lines[name], cluster)
    return MeasuredLine(None if cluster is None or lines else cluster.run, cluster)


def _measures(subjects: tuple[Subject, ...], chosen: str | None) -> Iterator[Measure]:
    yield measure("seconds", "time of an execution", SECONDS, subjects, _figure("", chosen))
    for key, title, unit, name, scale in PARTS:
        yield measure(key, title, unit, subjects, _figure(name, chosen, scale))
    workers = max((len(_workers(subject.first, chosen)) for subject in subjects), default=0)
    for at in range(workers):
        for key, title, unit, name, scale in PARTS:
            if key in OF_A_NODE:
                node_figure = _figure(name, chosen, scale, at)
                node_title = f"node {at + 1}: {title}"
                yield measure(f"{at + 1} {key}", node_title, unit, subjects, node_figure)
    yield from _executed_measures(subjects, chosen)


def _executed_measures(subjects: tuple[Subject, ...], chosen: str | None) -> Iterator[Measure]:
    def first(name: str) -> Callable[[Run], float | None]:
        return lambda run: first_execution_figure(run, chosen, name)

    yield measure("first seconds", "first execution", SECONDS, subjects, first("seconds"))
    yield measure("later seconds", "a later one", SECONDS, subjects, first("later_seconds"))
    values = by_subject(
        (subject.name, spread([deviation_of(subject, chosen)])) for subject in subjects
    )
    yield Measure("variability", "deviation of executions, of their mean", SHARE, values)


def _figure(
    name: str, chosen: str | None, scale: float = 1.0, worker: int | None = None
) -> Callable[[Run], float | None]:
    """Return a function that reads one cluster counter of all nodes or of one worker."""

    def figure_of_run(run: Run) -> float | None:
        line = measured_line(run, chosen).line
        if line is None or not name:
            return None if line is None else line.seconds
        workers = _workers(run, chosen)
        if worker is not None and worker >= len(workers):
            return None
        node = line.whole if worker is None else workers[worker]
        value = node.figures(line.seconds)[name]
        return None if value is None else value * scale

    return figure_of_run


def _workers(run: Run, chosen: str | None) -> list[NodeFigures]:
    line = measured_line(run, chosen).line
    return [] if line is None else [node for node in line.nodes if node.role != COORDINATOR]


def _tables(subjects: tuple[Subject, ...], chosen: str | None) -> Iterator[Table]:
    rows = tuple(row for subject in subjects for row in _rows(subject, chosen))
    yield Table("cluster", "all nodes, and each", COLUMNS, rows)
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (subject.name, node_line)
        for subject in subjects
        if (line := measured_line(subject.first, chosen).line) is not None
        for node_line in (line.head, *line.each)
    )
    yield Table("lines", "the same as lines", (Column("subject"), Column("line")), lines)
    spreads = tuple(row for subject in subjects for row in spread_rows(subject))
    yield Table("variability", "how executions differ", SPREAD_COLUMNS, spreads)
    firsts = tuple(row for subject in subjects for row in first_rows(subject))
    yield Table("first", "the first execution beside later ones", FIRST_COLUMNS, firsts)


def _rows(subject: Subject, chosen: str | None) -> Iterator[tuple[Cell, ...]]:
    """Yield table rows of cluster counters: all nodes together, then each node."""
    line = measured_line(subject.first, chosen).line
    if line is None:
        return
    count = len(line.nodes)
    name = f"cluster of {count} node{'' if count == 1 else 's'}" if count else ONE_SERVER
    for label, node_figures in ((name, line.whole), *((node.name, node) for node in line.nodes)):
        figures = node_figures.figures(line.seconds)
        yield (
            subject.name,
            label,
            line.seconds,
            figures["messages_per_s"],
            _times(figures["bytes_per_s"], 1 / KIB),
            _times(figures["cpu_cores"], PERCENT),
            *(
                _times(figures[share], PERCENT)
                for share in ("waiting_share", "wait_share", "blocked_share", "scheduling_share")
            ),
            figures["bytes_a_message"],
            figures["memory_bytes"],
        )


def _times(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _says(subject: Subject, chosen: str | None) -> Iterator[str]:
    measured = measured_line(subject.first, chosen)
    if measured.line is None:
        return
    figures = measured.line.whole.figures(measured.line.seconds)
    parts = [text(measured.line.seconds, SECONDS)]
    if figures["messages_per_s"] is not None:
        length = text(figures["bytes_a_message"], BYTES_UNIT)
        parts.append(f"{text(figures['messages_per_s'], PER_SECOND)} messages of {length}")
    if figures["cpu_cores"] is not None:
        cores = None if measured.cluster is None else measured.cluster.platform_cores
        most = "" if cores is None else f" of at most {PERCENT * cores:.0f} %"
        parts.append(f"{PERCENT * figures['cpu_cores']:.4g} % of a core{most}")
    if figures["waiting_share"] is not None:
        parts.append(
            f"{text(figures['waiting_share'], SHARE)} of tasks' time waiting for other nodes"
        )
    yield f"{subject.name}: {', '.join(parts)}."
    yield from _uneven(subject, measured)
    first, later = (
        first_execution_figure(subject.first, chosen, f"{of}seconds") for of in ("", "later_")
    )
    varied = deviation_of(subject, chosen)
    if first is not None and later:
        apart = f"; later ones deviate by {text(varied, SHARE)}" if varied is not None else ""
        over = varied is not None and varied > EVEN_MAX
        yield (
            f"{subject.name}: the first execution took {text(first, SECONDS)},"
            f" {text(first / later, TIMES)} a later one{apart}"
            f"{f', more than {text(EVEN_MAX, SHARE)}' if over else ''}."
        )


def _uneven(subject: Subject, measured: MeasuredLine) -> Iterator[str]:
    if measured.cluster is None:
        return
    name = next(
        (n for n, line in measured.cluster.operations.items() if line is measured.line), None
    )
    uneven = [skew for skew in measured.cluster.skew(name) if skew.is_skewed]
    if uneven:
        parts = [
            f"{skew.measure} {skew.ratio:.3g} times the mean on {skew.node}" for skew in uneven
        ]
        yield f"{subject.name} is uneven: {listed(parts)}."


def _notes(subjects: tuple[Subject, ...], chosen: str | None) -> Iterator[str]:
    for subject in subjects:
        cluster = measured_line(subject.first, chosen).cluster
        for note in () if cluster is None else cluster.notes:
            yield f"{subject.name}: {note}."
    if subjects:
        yield (
            "A KB is of 1024 bytes, 100 % of a core one core; rates are over an execution, medians."
            " Nodes are those of the first round."
        )


def _missing(subjects: tuple[Subject, ...], chosen: str | None) -> Iterator[str]:
    for subject in subjects:
        measured = measured_line(subject.first, chosen)
        if measured.line is None:
            yield f"{subject.name}: the operation has no time, so it has no line"
        elif measured.cluster is None:
            yield f"{subject.name} is one server: it sends itself no messages"
        else:
            reasons: dict[str, list[str]] = {}
            for word in WANTED:
                if word in measured.cluster.missing:
                    reasons.setdefault(measured.cluster.missing[word], []).append(
                        word.removesuffix("_ns")
                    )
            for why, unmeasured in reasons.items():
                yield f"{subject.name}: {listed(unmeasured)} not measured: {why}"
