"""Times of an operation's executions: their variation, and the extra time of the first."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.figures.contract import Column
from assay.analysis.findings.shape.first_run import first_and_later
from assay.analysis.host.task_counters import executions
from assay.analysis.metrics import seconds_of
from assay.analysis.operations import is_measured
from assay.analysis.quantities import BYTES, COUNT, SECONDS, SHARE, TIMES, spread
from assay.analysis.stats.variance import coefficient_of_variation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

FIRST_COLUMNS = (
    Column("subject"),
    Column("operation"),
    Column("first", SECONDS),
    Column("later", SECONDS),
    Column("first / later", TIMES),
    Column("more in the kernel", SECONDS),
    Column("more page faults", COUNT),
    Column("more read", BYTES),
)
SPREAD_COLUMNS = (
    Column("subject"),
    Column("operation"),
    Column("executions", COUNT),
    Column("median", SECONDS),
    Column("lowest", SECONDS),
    Column("highest", SECONDS),
    Column("deviation / mean", SHARE),
    Column("rounds", COUNT),
    Column("medians of rounds apart", SHARE),
)


def longest(run: Run) -> str | None:
    """Return the operation with the longest time; None if no operation has a time."""
    timed = {name: seconds for name, seconds in seconds_of(run).items() if seconds is not None}
    return max(timed, key=lambda name: timed[name], default=None)


@lru_cache(maxsize=64)
def _executions(run: Run) -> pl.DataFrame:
    tasks = run.table("tasks") if run.has("tasks") else None
    return executions(run.table("events"), tasks)


def _timed(run: Run) -> pl.DataFrame:
    done = _executions(run)
    return done.filter(is_measured(done))


def spread_rows(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    """Yield a row per operation: execution times of all rounds, and the spread of the medians."""
    timed = pl.concat(
        [_timed(run.run).with_columns(pl.lit(run.round).alias("round")) for run in subject.runs]
    )
    for (operation,), own in timed.group_by("operation", maintain_order=True):
        seconds = own["seconds"].to_list()
        medians = own.group_by("round").agg(pl.col("seconds").median())["seconds"].to_list()
        middle = spread(seconds)
        if middle is None:
            continue
        apart = (max(medians) - min(medians)) / middle.middle if len(medians) > 1 else None
        yield (
            subject.name,
            str(operation),
            len(seconds),
            middle.middle,
            middle.low,
            middle.high,
            coefficient_of_variation(seconds),
            len(medians),
            apart,
        )


def deviation_of(subject: Subject, chosen: str | None) -> float | None:
    """Return the relative deviation of the chosen operation's times, as the median over rounds."""
    deviations = []
    for run in subject.runs:
        own = _timed(run.run).filter(pl.col("operation") == (chosen or longest(run.run)))
        deviations.append(coefficient_of_variation(own["seconds"].to_list()))
    over_rounds = spread(deviations)
    return None if over_rounds is None else over_rounds.middle


def first_rows(subject: Subject) -> Iterator[tuple[Cell, ...]]:
    """Yield a row per operation: times of its first and later executions, medians over rounds."""
    frames = [first_and_later(_executions(run.run)) for run in subject.runs]
    figures = [pl.exclude("operation", "in_warm_up").median()]
    medians = pl.concat(frames).group_by("operation", maintain_order=True).agg(figures)
    for row in medians.iter_rows(named=True):
        yield (
            subject.name,
            row["operation"],
            row["seconds"],
            row["later_seconds"],
            row["seconds"] / row["later_seconds"],
            *(_more(row, name) for name in ("system_s", "minor_faults", "read_bytes")),
        )


def _more(row: dict[str, float | None], name: str) -> float | None:
    first, later = row[name], row[f"later_{name}"]
    return None if first is None or later is None else max(0.0, first - later)


def first_execution_figure(run: Run, chosen: str | None, name: str) -> float | None:
    """Return a quantity of an operation's first execution, or its median over later ones."""
    wanted = chosen or longest(run)
    rows = first_and_later(_executions(run)).filter(pl.col("operation") == wanted)
    return None if rows.is_empty() else float(rows[name][0])
