"""Table of the memory of queries, alone and in streams, with predictions for larger scales."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from assay.analysis.composite.memory import (
    FORMULA,
    MemoryPeak,
    at_larger_scales,
    extrapolated_bytes,
    memory_peaks,
)
from assay.analysis.composite.played import larger_scales, refresh_names
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.metrics import summary_of, test_of
from assay.analysis.quantities import BYTES, COUNT, Spread, by_subject, each_text, spread, text
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.summary import OperationSummary
    from assay.record.reader import Run

OPTIONS = {
    "scale": "the scale that is extrapolated to; without it a hundred times the measured one",
    "streams": "query streams there; without it the fewest that the specification allows",
}
SHOWN_MAX = 8
ASSUMPTION = (
    f"Nothing at other scales was measured. {FORMULA}: hash tables and sorts grow with the data,"
    " and each stream has its own; caches of data, which are as large as they are set, are no part"
    " of it."
)
OWN = "by the engine's own account"
RESIDENT = "by what was resident beyond what was before"


def figure(asked: Asked) -> Figure:
    """Return a table of the peak memory of queries."""
    every = subjects_of(asked)
    subjects = tuple(subject for subject in every if _peaks(subject.first))
    scale, streams = _target(asked)
    measures = (*_queries(subjects), *_whole(subjects, scale, streams))
    queries = [query for query in measures if query.key not in ("streams", "extrapolated")]
    measured = {subject.name for subject in subjects}
    tables = (
        Table(
            "queries",
            "the most memory of each query",
            (Column("query"), *(Column(subject.name, BYTES) for subject in subjects)),
            tuple(
                (query.title, *(_middle(query, subject.name) for subject in subjects))
                for query in queries
            ),
        ),
        Table(
            "scales",
            "memory of queries at larger scales, extrapolated",
            (
                Column("subject"),
                Column("of"),
                Column("scale", COUNT),
                Column("streams", COUNT),
                Column("memory", BYTES),
            ),
            tuple(row for subject in subjects for row in _scales(subject)),
        ),
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(
            *_in_all(measures),
            *(_says(subject, measures, scale, streams) for subject in subjects),
        ),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=tables if subjects else (),
        charts=_charts(queries),
        notes=(
            ASSUMPTION,
            *(
                f"{subject.name}: {_source(subject.first)}{_larger_alone(subject.first)}."
                for subject in subjects
            ),
        ),
        missing=tuple(
            f"{subject.name}: no query took memory beyond what was resident before"
            for subject in every
            if subject.name not in measured
        ),
    )


def _middle(query: Measure, name: str) -> Cell:
    return query.values[name].middle if name in query.values else None


@lru_cache(maxsize=256)
def _peaks(run: Run) -> tuple[MemoryPeak, ...]:
    test = test_of(run)
    processes = run.table("processes") if run.has("processes") else None
    runs = () if test is None or test.why_not else test.runs
    return memory_peaks(runs, _query_operations(run), processes)


def _query_operations(run: Run) -> list[OperationSummary]:
    """Return the operations of a run that are queries, without refresh functions."""
    test = run.facts.get("test")
    refreshes = () if test is None else refresh_names(test)
    return [
        operation for operation in summary_of(run).operations if operation.name not in refreshes
    ]


def _is_own(run: Run) -> bool:
    """Return True if the engine itself reports the memory of its queries."""
    return any(operation.engine_memory_bytes for operation in _query_operations(run))


def _source(run: Run) -> str:
    return OWN if _is_own(run) else RESIDENT


def _larger_alone(run: Run) -> str:
    """Return text on a query that alone takes more memory than all streams; empty if none does."""
    together, most = _streams_peak(run), next(iter(_peaks(run)), None)
    if together is None or most is None or most.streams > 1:
        return ""
    return (
        f"; {most.what.partition(',')[0]} took {text(most.bytes, BYTES)}, more than each of the"
        " streams, so streams that play it at the same time take more than is extrapolated"
    )


def _bytes_of(run: Run, query: str) -> float | None:
    is_own = _is_own(run)
    for operation in _query_operations(run):
        if operation.name == query:
            return operation.engine_memory_bytes if is_own else operation.memory_growth_bytes
    return None


def _queries(subjects: tuple[Subject, ...]) -> list[Measure]:
    """Return the peak memory of the queries that use the most, largest first."""
    names = dict.fromkeys(
        op.name for subject in subjects for op in _query_operations(subject.first)
    )
    measures = [
        measure(name, name, BYTES, subjects, partial(_bytes_of, query=name)) for name in names
    ]
    taken = [query for query in measures if any(peak.middle for peak in query.values.values())]
    return sorted(taken, key=lambda query: -max(peak.middle for peak in query.values.values()))


def _whole(
    subjects: tuple[Subject, ...], scale: float | None, streams: int | None
) -> Iterator[Measure]:
    """Yield the peak memory of the throughput test, and its prediction at a larger scale."""
    beside: dict[str, Spread] = by_subject(
        (
            subject.name,
            spread(
                peak.bytes for run in subject.runs if (peak := _streams_peak(run.run)) is not None
            ),
        )
        for subject in subjects
    )
    yield Measure("streams", "peak of the throughput test", BYTES, beside)
    far = by_subject(
        (subject.name, spread([_extrapolated_bytes(subject, scale, streams)]))
        for subject in subjects
    )
    yield Measure(
        "extrapolated", f"at scale {scale:g}" if scale else "at 100 times the scale", BYTES, far
    )


def _streams_peak(run: Run) -> MemoryPeak | None:
    """Return the peak memory of all query streams together, over a run's throughput tests."""
    return max(
        (peak for peak in _peaks(run) if peak.streams > 1),
        key=lambda peak: peak.bytes,
        default=None,
    )


def _deciding_peak(run: Run) -> MemoryPeak | None:
    """Return the memory peak to extrapolate: of all streams together, else of the largest query."""
    return _streams_peak(run) or next(iter(_peaks(run)), None)


def _target(asked: Asked) -> tuple[float | None, int | None]:
    scale, streams = asked.options.get("scale"), asked.options.get("streams")
    for name, value in (("scale", scale), ("streams", streams)):
        if value is not None and not (isinstance(value, int | float) and value > 0):
            raise UsageError(f"figure {asked.name}: the option {name} must be a number above 0")
    return (None if scale is None else float(scale)), (None if streams is None else int(streams))


def _scale_and_streams(run: Run, scale: float | None, streams: int | None) -> tuple[float, int]:
    """Return the scale and number of streams to which a run's memory use is extrapolated."""
    mine = float(run.facts["request"]["scale"])
    larger = larger_scales(run.facts, 0.0)
    to = 100 * mine if scale is None else scale
    fewest = [least for size, least in larger if size <= to]
    return to, streams or (fewest[-1] if fewest else larger[0][1] if larger else 1)


def _extrapolated_bytes(subject: Subject, scale: float | None, streams: int | None) -> float | None:
    peak = _deciding_peak(subject.first)
    if peak is None:
        return None
    mine = float(subject.first.facts["request"]["scale"])
    to, count = _scale_and_streams(subject.first, scale, streams)
    return extrapolated_bytes(peak.bytes, mine, peak.streams, to, count)


def _scales(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    mine = float(subject.first.facts["request"]["scale"])
    peak = _deciding_peak(subject.first)
    if peak is not None:
        yield subject.name, peak.what, mine, peak.streams, peak.bytes
        larger = larger_scales(subject.first.facts, mine)
        for there in at_larger_scales(peak, mine, larger):
            yield subject.name, "extrapolated", there.scale, there.streams, there.bytes


def _charts(queries: list[Measure]) -> tuple[Chart, ...]:
    shown = tuple(query.key for query in queries[:SHOWN_MAX])
    return (Chart("queries", "memory", "bars", shown),) if shown else ()


def _in_all(measures: tuple[Measure, ...]) -> Iterator[str]:
    """Yield one sentence on memory use of all engines; nothing for a single engine."""
    far = measures[-1]
    if len(far.values) > 1:
        peaks = each_text((name, text(peak.middle, BYTES)) for name, peak in far.values.items())
        yield f"Memory of queries {far.title} would be {peaks}."


def _says(
    subject: Subject, measures: tuple[Measure, ...], scale: float | None, streams: int | None
) -> str:
    by_key = {entry.key: entry for entry in measures}
    mine = [
        (entry.values[subject.name].middle, key)
        for key, entry in by_key.items()
        if key not in ("streams", "extrapolated") and subject.name in entry.values
    ]
    sentence = f"{subject.name}: "
    if mine:
        most, name = max(mine)
        sentence += f"{name} takes most memory alone, {text(most, BYTES)}; "
    beside = by_key["streams"].values.get(subject.name)
    if beside is not None:
        together = _streams_peak(subject.first)
        if together is not None:
            sentence += f"{together.streams} streams together {text(beside.middle, BYTES)}; "
    far = by_key["extrapolated"].values.get(subject.name)
    to, count = _scale_and_streams(subject.first, scale, streams)
    name = subject.first.facts["workload"].get("scale_name", "scale")
    there = text(None if far is None else far.middle, BYTES)
    return f"{sentence}at {name} {to:g} with {count} streams it would be {there}."
