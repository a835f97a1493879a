"""Chart of barriers: times when nearly all cluster nodes wait for others, and the time lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.barriers import HIGH, LOW
from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.metrics import summary_of
from assay.analysis.quantities import COUNT, SECONDS, SHARE, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.analysis.cluster.told import Cluster
    from assay.analysis.figures.contract import Asked, Cell, Measure
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

OPTIONS = {"rows": "how many barriers of each subject are told, those that cost most (10)"}
ROWS = 10
# The chart shows this many seconds of a run. In a longer span, barriers cannot be told apart.
SHOWN_S = 30.0
TIME, TABLE = "seconds", "over time"
CORES, IN_BARRIERS = "cores", "in barriers"
COLUMNS = (
    Column("subject"),
    Column("round", COUNT),
    Column("operation"),
    Column("begin", SECONDS),
    Column("length", SECONDS),
    Column("cores in it", COUNT, 2),
    Column("cores around it", COUNT, 3),
    Column("lost", SECONDS),
)


def figure(asked: Asked) -> Figure:
    """Return a chart of the time that clusters lost at barriers."""
    subjects = subjects_of(asked)
    measured = [subject for subject in subjects if _reason_missing(subject.first) is None]
    rows = tuple(
        row for subject in measured for row in _rows(subject, int(asked.options.get("rows", ROWS)))
    )
    times = tuple(row for subject in measured for row in _over_time(subject))
    series = (Column("subject"), Column(TIME, SECONDS), Column(CORES, COUNT), Column(IN_BARRIERS))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subject) for subject in measured),
        subjects=tuple(subject.name for subject in subjects),
        measures=tuple(_measures(tuple(measured))) if measured else (),
        tables=(
            Table("barriers", "the barriers that cost most", COLUMNS, rows),
            Table(TABLE, "cores that all nodes have, over time", series, times),
        )
        if measured
        else (),
        charts=tuple(_charts(bool(times))) if measured else (),
        notes=_notes(measured),
        missing=tuple(
            f"{subject.name}: barriers are not measured: {why}"
            for subject in subjects
            if (why := _reason_missing(subject.first)) is not None
        ),
    )


def _reason_missing(run: Run) -> str | None:
    """Return why the time that a run lost at barriers is not known; None if it is known."""
    cluster = summary_of(run).cluster
    if cluster is None:
        return "it is one server, which waits for no other"
    if cluster.barriers.missing is not None:
        return cluster.barriers.missing
    if cluster.barriers.lost_share is None:
        return "no execution was long enough for ten samples of its CPUs"
    return None


def _measures(subjects: tuple[Subject, ...]) -> Iterator[Measure]:
    yield measure("lost", "of the time, lost to barriers", SHARE, subjects, _lost)
    yield measure(
        "barriers",
        "barriers",
        COUNT,
        subjects,
        _cluster_figure(lambda cluster: len(cluster.barriers.barriers)),
    )
    yield measure("busy", "of the platform's cores, busy", SHARE, subjects, _busy)


def _cluster_figure(quantity: Callable[[Cluster], float]) -> Callable[[Run], float | None]:
    def of_run(run: Run) -> float | None:
        cluster = summary_of(run).cluster
        return None if cluster is None or _reason_missing(run) is not None else quantity(cluster)

    return of_run


def _lost(run: Run) -> float | None:
    cluster = summary_of(run).cluster
    return None if cluster is None else cluster.barriers.lost_share


def _busy(run: Run) -> float | None:
    cluster = summary_of(run).cluster
    if cluster is None or not cluster.platform_cores:
        return None
    series = [values for name, values in cluster.series.items() if name != "time_s"]
    looks = len(cluster.series.get("time_s", ()))
    return sum(map(sum, series)) / looks / cluster.platform_cores if looks else None


def _charts(has_series: bool) -> Iterator[Chart]:  # noqa: FBT001 - of one call
    yield Chart("lost", "of the time, lost to barriers", "bars", ("lost",))
    if has_series:
        yield Chart("cores", "cores that nodes have", "over_time", (CORES,), axis=TIME, table=TABLE)


def _rows(subject: Subject, most: int) -> Iterator[tuple[Cell, ...]]:
    for run in subject.runs:
        cluster = summary_of(run.run).cluster
        barriers = () if cluster is None else cluster.barriers.barriers
        for barrier in sorted(barriers, key=lambda barrier: -barrier.lost_s)[:most]:
            yield (
                subject.name,
                run.round,
                barrier.operation or "the load",
                barrier.begun_s,
                barrier.seconds,
                barrier.cores,
                barrier.peak_cores,
                barrier.lost_s,
            )


def _over_time(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    """Yield time, busy cores of all cluster nodes, and whether a barrier lasts."""
    cluster = summary_of(subject.first).cluster
    if cluster is None or not cluster.series:
        return
    series = [values for name, values in cluster.series.items() if name != "time_s"]
    for at, time_s in enumerate(cluster.series["time_s"]):
        if time_s > SHOWN_S:
            return
        inside = any(
            barrier.begun_s < time_s <= barrier.ended_s for barrier in cluster.barriers.barriers
        )
        yield (subject.name, time_s, sum(values[at] for values in series), "yes" if inside else "")


def _says(subject: Subject) -> str:
    cluster = summary_of(subject.first).cluster
    assert cluster is not None  # noqa: S101 - subjects without are told as missing
    lost, busy = cluster.barriers.lost_share, _busy(subject.first)
    count = len(cluster.barriers.barriers)
    use = f"; {text(busy, SHARE)} of the platform's cores were busy" if busy is not None else ""
    if not count:
        return f"{subject.name}: no barriers{use}."
    return f"{subject.name}: {count} barriers took {text(lost, SHARE)} of the time{use}."


def _notes(subjects: list[Subject]) -> tuple[str, ...]:
    if not subjects:
        return ()
    sentence = (
        f"A barrier is three looks on end or more with at most {text(LOW, SHARE)} of the platform's"
        f" cores at work or wanted, between looks with at least {text(HIGH, SHARE)}, within one"
        " execution. What is lost is what would be saved at the pace of the peaks around it."
    )
    return (sentence, "The chart is of the first round.")
