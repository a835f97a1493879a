"""Chart of CPU and disk use while an operation runs, over time and in total."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.host.query_reads import (
    disturbance_text,
    is_disturbed,
    middle_run,
    query_reads,
    span_s,
)
from assay.analysis.figures.subjects import briefly, measure, subjects_of
from assay.analysis.host.cpu_series import cpu_series
from assay.analysis.host.disk_series import data_device, disk_series
from assay.analysis.quantities import BYTES, COUNT, MB_PER_SECOND, PER_SECOND, SECONDS, SHARE, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell, Measure
    from assay.analysis.figures.host.query_reads import QueryReads
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

OPTIONS = {"operation": "its name; without it the one that takes longest"}
MEGA, KIB = 1e6, 1024
# By key of a measure: its title, its unit, the field of `QueryReads`, and the divisor of its value.
MEASURED = {
    "seconds": ("seconds of the query", SECONDS, "seconds", 1.0),
    "reads": ("reads of the device", COUNT, "reads", 1.0),
    "iops": ("reads a second", PER_SECOND, "reads_per_s", 1.0),
    "mbps": ("MB a second", MB_PER_SECOND, "read_bytes_per_s", MEGA),
    "io_size": ("mean size of a read", BYTES, "mean_read_bytes", 1.0),
    "util": ("device busy", SHARE, "util_share", 1.0),
    "usr": ("CPUs: user", SHARE, "usr_share", 1.0),
    "sys": ("CPUs: kernel", SHARE, "sys_share", 1.0),
    "iowait": ("CPUs: idle, waiting for I/O", SHARE, "iowait_share", 1.0),
    "idle": ("CPUs: idle", SHARE, "idle_share", 1.0),
}
HEADINGS = {"iops": "reads/s", "mbps": "MB/s", "io_size": "a read"}
CPU_PARTS = {"user": "%usr", "kernel": "%sys", "iowait": "%iowait", "stolen": "%steal"}
IDLE = "idle"
TIME, TABLE = "seconds", "over time"
COLUMNS = (
    Column("subject"),
    Column(TIME, SECONDS),
    *(Column(name, SHARE) for name in (*CPU_PARTS, IDLE)),
    Column("reads/s", PER_SECOND),
    Column("MB/s", MB_PER_SECOND),
    Column("KiB a read", "KiB"),
    Column("in the queue", COUNT, 3),
)
# Margin that is shown before and after the operation, in sampling intervals.
MARGIN_INTERVALS = 1.5


def figure(asked: Asked) -> Figure:
    """Return a chart of CPU and disk counters over time."""
    operation = asked.options.get("operation")
    subjects = briefly(subjects_of(asked))
    measures = tuple(_measures(subjects, operation))
    rows = tuple(row for subject in subjects for row in _over_time(subject, operation))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subjects, measures)),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=(_each_run(subjects, operation), Table(TABLE, "over time", COLUMNS, rows)),
        charts=_charts() if rows else (),
        notes=(*_doubts(subjects, operation), *_notes(subjects, operation)),
        missing=tuple(_missing(subjects, operation)),
    )


def _charts() -> tuple[Chart, ...]:
    columns = {
        "iops": ("reads a second", "reads/s"),
        "mbps": ("MB a second", "MB/s"),
        "io_size": ("KiB a read", "KiB a read"),
    }
    return (
        Chart("cpu", "CPU time", "areas", (*CPU_PARTS, IDLE), axis=TIME, table=TABLE),
        *(
            Chart(name, title, "over_time", (column,), axis=TIME, table=TABLE)
            for name, (title, column) in columns.items()
        ),
    )


def _measures(subjects: tuple[Subject, ...], operation: str | None) -> Iterator[Measure]:
    for key, (title, unit, field, divisor) in MEASURED.items():
        reading = partial(_field_value, operation=operation, field=field, divisor=divisor)
        yield measure(key, title, unit, subjects, reading)


def _field_value(run: Run, operation: str | None, field: str, divisor: float) -> float | None:
    reads = query_reads(run, operation)
    value = None if reads is None else getattr(reads, field)
    return None if value is None else float(value) / divisor


def _each_run(subjects: tuple[Subject, ...], operation: str | None) -> Table:
    columns = (
        Column("subject"),
        Column("round", COUNT),
        *(
            Column(HEADINGS.get(key, key), _plain(unit), 3)
            for key, (_, unit, _, _) in MEASURED.items()
        ),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            subject.name,
            run.round,
            *(_field_value(run.run, operation, field, by) for _, _, field, by in MEASURED.values()),
        )
        for subject in subjects
        for run in subject.runs
    ]
    return Table("runs", "each run as a whole", columns, tuple(rows))


def _plain(unit: str) -> str:
    """Return a column's unit, shortened if the heading already names the counted thing."""
    return COUNT if unit in (PER_SECOND, MB_PER_SECOND) else unit


def _over_time(subject: Subject, operation: str | None) -> Iterator[tuple[Cell, ...]]:
    """Yield a row of CPU and disk use per sample around the first execution of a run."""
    run = middle_run(subject.runs, operation).run
    device, span = data_device(run), span_s(run, operation)
    if device is None or span is None:
        return
    cpus = cpu_series(run, None).sort("time_s")
    disks = disk_series(run, None, device).sort("time_s")
    if cpus.is_empty() or disks.is_empty():
        return
    begun_s, ended_s = span
    interval_s = float(run.facts["request"]["probe_interval_s"])
    margin_s = MARGIN_INTERVALS * interval_s
    # The disk and the CPU probe sample at different times: each row has the nearest CPU sample.
    rows = disks.join_asof(
        cpus.drop("seconds"), on="time_s", strategy="nearest", tolerance=interval_s
    ).filter(pl.col("time_s").is_between(begun_s - margin_s, ended_s + margin_s))
    for row in rows.iter_rows(named=True):
        yield (
            subject.name,
            row["time_s"] - begun_s,
            *(_percent(row.get(part)) for part in CPU_PARTS.values()),
            _percent(row.get("%idle")),
            row["r/s"],
            None if row["rkB/s"] is None else row["rkB/s"] * KIB / MEGA,
            row["rareq-sz"],
            row["aqu-sz"],
        )


def _percent(value: float | None) -> float | None:
    return None if value is None else value / 100


def _says(subjects: tuple[Subject, ...], measures: tuple[Measure, ...]) -> Iterator[str]:
    by_key = {quantity.key: quantity.values for quantity in measures}
    for subject in subjects:
        texts = {
            key: text(by_key[key][subject.name].middle, quantity.unit)
            for key, quantity in ((quantity.key, quantity) for quantity in measures)
            if subject.name in by_key[key]
        }
        if {"seconds", "iops", "io_size", "mbps"} <= texts.keys():
            yield (
                f"{subject.name[:1].upper()}{subject.name[1:]}: {texts['seconds']}; reads at"
                f" {texts['iops']} of {texts['io_size']}, {texts['mbps']}{_cpus_say(texts)}."
            )


def _cpus_say(texts: dict[str, str]) -> str:
    if not {"usr", "sys", "iowait", "idle"} <= texts.keys():
        return ""
    return (
        f"; the CPUs were {texts['usr']} of the time in programs, {texts['sys']} in the kernel,"
        f" {texts['iowait']} idle for I/O and {texts['idle']} idle"
    )


def _notes(subjects: tuple[Subject, ...], operation: str | None) -> Iterator[str]:
    first = subjects[0].first
    device = data_device(first)
    if device is not None:
        interval_s = float(first.facts["request"]["probe_interval_s"])
        yield (
            f"The device is {device}, which holds the data; samples are {text(interval_s, SECONDS)}"
            " apart. Figures of a run are over the query's own time; CPUs are all of the host."
        )
    if any(len(subject.runs) > 1 for subject in subjects):
        rounds = {subject.name: _shown_run(subject, operation).round for subject in subjects}
        shown = "; ".join(f"{name}: {number}" for name, number in rounds.items())
        yield f"The charts are of the round whose query took the middle time ({shown})."


def _shown_run(subject: Subject, operation: str | None) -> StudyRun:
    return middle_run(subject.runs, operation)


def _doubts(subjects: tuple[Subject, ...], operation: str | None) -> Iterator[str]:
    for subject in subjects:
        disturbed = [run for run in subject.runs if is_disturbed(run.run, operation)]
        if disturbed:
            reason = disturbance_text(disturbed[0].run, operation)
            yield f"{subject.name}, round {disturbed[0].round}: {reason}."


def _missing(subjects: tuple[Subject, ...], operation: str | None) -> Iterator[str]:
    for subject in subjects:
        run = subject.first
        reads: QueryReads | None = query_reads(run, operation)
        if reads is None:
            yield f"{subject.name}: no execution of the query can be separated from others"
        elif data_device(run) is None:
            yield f"{subject.name}: which device holds the data is not known"
        elif reads.reads is None:
            yield f"{subject.name}: the device was not observed while the query ran"
