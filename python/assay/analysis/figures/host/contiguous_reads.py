"""Charts of how contiguous disk reads were, in runs that traced every device request."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.contract import Column, Table
from assay.analysis.figures.host.query_reads import is_disturbed, middle_run, query_reads
from assay.analysis.host.contiguity import Contiguity, contiguity
from assay.analysis.quantities import BYTES, COUNT, SHARE, text
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

SHARES = (
    Column("subject"),
    Column("reads", COUNT),
    Column("in sequence", SHARE),
    Column("within 128 KiB", SHARE),
    Column("farther away", SHARE),
    Column("near one of 16 before", SHARE),
    Column("reads in a run", COUNT, 3),
    Column("bytes in a run", BYTES),
)
DISTANCES = (Column("subject"), Column("from the end of the one before"), Column("reads", COUNT))
RUNS = (Column("subject"), Column("reads in a run, at most", COUNT), Column("runs", COUNT))


def contiguity_tables(subjects: tuple[Subject, ...], operation: str | None) -> Iterator[Table]:
    """Return tables of the contiguity, distances and run lengths of disk reads."""
    by_name = {subject.name: _middle_trace(subject, operation) for subject in subjects}
    traced = {name: pair for name, pair in by_name.items() if pair is not None}
    if not traced:
        return
    shares, distances, runs = [], [], []
    for name, (trace, row) in traced.items():
        shares.append(_shares(name, row))
        distances += [
            (name, _distance(distance), distance["reads"])
            for distance in trace.distances.filter(operation=row["operation"]).iter_rows(named=True)
        ]
        runs += [
            (name, length["at_most_reads"], length["runs"])
            for length in trace.run_lengths.filter(operation=row["operation"]).iter_rows(named=True)
        ]
    yield Table("contiguity", "how contiguous reads were", SHARES, tuple(shares))
    yield Table("distances", "where reads begin", DISTANCES, tuple(distances))
    yield Table("runs", "how many reads follow one another", RUNS, tuple(runs))


def contiguity_says(subject: Subject, operation: str | None) -> Iterator[str]:
    """Return sentences on the contiguity of disk reads; empty if they were not traced."""
    traced = _middle_trace(subject, operation)
    if traced is not None and traced[1]["sequential_share"] is not None:
        row = traced[1]
        yield (
            f"Of its reads {text(row['sequential_share'], SHARE)} begin where the previous read "
            f"ended, {text(row['near_share'], SHARE)} within 128 KiB of it, and"
            f" {text(row['random_share'], SHARE)} farther away, by a trace of every request."
        )


def why_not_traced(run: Run) -> str:
    """Return the reason why the disk requests of a run were not traced."""
    probe = (run.facts.get("probes") or {}).get("requests") or {}
    return str(probe.get("error") or "its requests were not traced (--block-trace)")


def _middle_trace(
    subject: Subject, operation: str | None
) -> tuple[Contiguity, dict[str, Any]] | None:
    """Return the contiguity of disk reads in the run with the median time; None if unknown."""
    run = middle_run(subject.runs, operation).run
    trace, reads = _contiguity(run), query_reads(run, operation)
    if trace is None or reads is None or is_disturbed(run, operation):
        return None
    rows = trace.operations.filter(operation=reads.operation).to_dicts()
    return (trace, rows[0]) if rows else None


@lru_cache(maxsize=64)
def _contiguity(run: Run) -> Contiguity | None:
    return contiguity(run)


def _shares(name: str, row: dict[str, Any]) -> tuple[Cell, ...]:
    keys = ("reads", "sequential_share", "near_share", "random_share", "near_recent_share")
    return (name, *(row[key] for key in keys), row["mean_run_reads"], row["mean_run_bytes"])


def _distance(row: dict[str, Any]) -> str:
    most = row["at_most_bytes"]
    if most == 0:
        return "none: in sequence"
    way = "after it" if row["forward"] else "before it"
    return f"farther, {way}" if most is None else f"up to {bytes_text(most)} {way}"
