"""Merges the records of several drivers: streams on the run's clock, one report.

An operation has the same number in all streams, and no two operations share a number. Rows of a
host stay in order, and hosts follow each other.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from assay.model.errors import RunFailedError
from assay.record.streams import whole_batches
from assay.running.fleet.contract import FILE, STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.running.fleet.clocks import ClockOf

OUTCOMES = ("ok", "skipped", "failed")
COUNTS = ("scheduled", *OUTCOMES, "retries")
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p999_ns": 0.999}


@dataclass(frozen=True)
class AgentPart:
    """The results of one client host: its directory, clock and report.

    Attributes:
        directory: Directory with its streams and files.
        number: Number of the host, from 0.
        clock: Clock of the host.
        report: Counts of its driver; None if it ended before it sent them.
    """

    directory: Path
    number: int
    clock: ClockOf
    report: Mapping[str, Any] | None = None


def keep(directory: Path, who: str, message: Mapping[str, Any]) -> None:
    """Append received data of a stream or file to what was received before.

    Raises:
        RunFailedError: If the file name leads outside of the directory.
    """
    name = message["name"] if message["kind"] == FILE else f"{message['name']}.arrows"
    path = (directory / name).resolve()
    if not path.is_relative_to(directory.resolve()):
        raise RunFailedError(
            f"the host {who} tried to write a file outside of the run's directory: {name}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(message["bytes"])


def merge_streams(
    parts: Sequence[AgentPart], raw: Path, streams: Mapping[str, Sequence[str]] = STREAMS
) -> None:
    """Merge the streams of all client hosts into one file per stream.

    Args:
        parts: Parts in the order of their rows.
        raw: Target directory.
        streams: Columns with times of a host's clock, by stream.
    """
    for name, times in streams.items():
        writer: pa.RecordBatchStreamWriter | None = None
        try:
            for part in parts:
                for batch in batches(part.directory / f"{name}.arrows"):
                    moved = _moved(batch, times, part, len(parts))
                    writer = writer or pa.ipc.new_stream(str(raw / f"{name}.arrows"), moved.schema)
                    writer.write_batch(moved)
        finally:
            if writer is not None:
                writer.close()


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the complete batches of a stream file, up to its end or truncation.

    A stream without rows yields one empty batch.
    """
    if not path.exists():
        return
    with pa.OSFile(str(path)) as file:
        try:
            reader = pa.ipc.open_stream(file)
        except (pa.ArrowException, OSError):
            return
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from whole_batches(reader)


def _moved(
    batch: pa.RecordBatch, times: Sequence[str], part: AgentPart, hosts: int
) -> pa.RecordBatch:
    """Return a batch with times on the run's clock, and unique operation numbers."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        moved = column
        if field.name == "sequence":
            moved = (pl.Series(column) * hosts + part.number).cast(pl.UInt64).to_arrow()
        elif field.name in times:
            moved = part.clock.ours(pl.Series(column, dtype=pl.Int64)).to_arrow()
        columns.append(moved.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def merge_files(directories: Sequence[Path], raw: Path) -> None:
    """Move files other than streams from each client host's directory into the record."""
    for number, directory in enumerate(directories):
        for path in sorted(directory.rglob("*")):
            within = path.relative_to(directory)
            if path.is_dir() or path.suffix == ".arrows":
                continue
            name = f"{within.stem}-{number}{within.suffix}" if path.suffix == ".log" else within
            target = raw / name
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)
        shutil.rmtree(directory, ignore_errors=True)


def merged_report(
    parts: Sequence[AgentPart], events: pl.DataFrame, plan: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one report for the drivers of all client hosts.

    Args:
        parts: Parts of the hosts, at least one.
        events: All events after merging.
        plan: Load plan of all hosts.
    """
    reports = [part.report for part in parts if part.report is not None]
    ends = [report["ended"] for report in reports]
    silent = [part.number for part in parts if part.report is None]
    unheard = events.filter((pl.col("sequence") % len(parts)).is_in(silent))
    return {
        "ended": next((end for end in ends if end != "done"), "done" if ends else "cancelled"),
        "phases": [
            _phase(phase, parts, events, unheard)
            for phase in _phase_names(plan)
            if any(_reported_phase(part, phase) for part in parts) or phase in set(unheard["phase"])
        ],
        "errors": _errors(reports),
        "recorder_waits": sum(report["recorder_waits"] for report in reports),
        "meter_error": next(
            (report["meter_error"] for report in reports if report["meter_error"]), None
        ),
    }


def _phase_names(plan: Mapping[str, Any]) -> list[str]:
    return [str(phase["name"]) for phase in plan["phases"]]


def _reported_phase(part: AgentPart, name: str) -> Mapping[str, Any] | None:
    """Return a client host's report of the named phase; None if the host never began it."""
    for phase in (part.report or {"phases": []})["phases"]:
        if phase["phase"] == name and phase["begun_ns"]:
            reported: Mapping[str, Any] = phase
            return reported
    return None


def _phase(
    name: str, parts: Sequence[AgentPart], events: pl.DataFrame, unheard: pl.DataFrame
) -> dict[str, Any]:
    clocked_phases = [
        (part.clock, phase) for part in parts if (phase := _reported_phase(part, name)) is not None
    ]
    own = events.filter(pl.col("phase") == name)
    begun = [clock.ours_ns(phase["begun_ns"]) for clock, phase in clocked_phases]
    ended = [
        clock.ours_ns(phase["ended_ns"]) for clock, phase in clocked_phases if phase["ended_ns"]
    ]
    first, last = own["scheduled_ns"].min(), own["finished_ns"].max()
    begun += [first] if not begun and isinstance(first, int) else []
    ended += [last] if not ended and isinstance(last, int) else []
    counts: dict[tuple[str, int], dict[str, int]] = {}
    for _, phase in clocked_phases:
        for operation in phase["operations"]:
            _add(counts, (operation["operation"], operation["variant"]), operation["counts"])
    for (operation, variant), more in _counted(unheard.filter(pl.col("phase") == name)).items():
        _add(counts, (operation, variant), more)
    times = _times(own)
    return {
        "phase": name,
        "begun_ns": min(begun, default=0),
        "ended_ns": max(ended, default=0),
        "operations": [
            {
                "operation": key[0],
                "variant": key[1],
                "counts": by_outcome,
                **times.get(key, UNTIMED),
            }
            for key, by_outcome in counts.items()
        ],
    }


def _add(
    counts: dict[tuple[str, int], dict[str, int]], key: tuple[str, int], more: Mapping[str, int]
) -> None:
    own = counts.setdefault(key, dict.fromkeys(COUNTS, 0))
    for word in COUNTS:
        own[word] += more[word]


def _counted(events: pl.DataFrame) -> dict[tuple[str, int], dict[str, int]]:
    """Return outcomes by operation and variant from events: scheduled = ok + skipped + failed."""
    counted = events.group_by("operation", "variant", maintain_order=True).agg(
        pl.len().alias("scheduled"),
        *((pl.col("outcome") == word).sum().alias(word) for word in OUTCOMES),
        pl.col("retries").sum(),
    )
    return {
        (row["operation"], row["variant"]): {word: row[word] for word in COUNTS}
        for row in counted.iter_rows(named=True)
    }


UNTIMED: dict[str, Any] = {"latency": None, "service": None}


def _times(events: pl.DataFrame) -> dict[tuple[str, int], dict[str, Any]]:
    """Return quantiles of latency and service time of successes, by operation and variant."""
    done = events.filter(pl.col("outcome") == "ok").with_columns(
        (pl.col("finished_ns") - pl.col("scheduled_ns")).alias("latency"),
        (pl.col("finished_ns") - pl.col("started_ns")).alias("service"),
    )
    times = {}
    for key, rows in done.group_by("operation", "variant"):
        operation, variant = key
        times[str(operation), int(str(variant))] = {
            name: {
                "count": rows.height,
                **{
                    word: int(rows[name].quantile(share, "higher") or 0)
                    for word, share in QUANTILES.items()
                },
                "max_ns": _largest(rows[name]),
            }
            for name in UNTIMED
        }
    return times


def _largest(times: pl.Series) -> int:
    largest = times.max()
    return largest if isinstance(largest, int) else 0


def _errors(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return classes of errors with the first message of each."""
    first_errors: dict[tuple[str, int], dict[str, Any]] = {}
    for report in reports:
        for error in report["errors"]:
            first_errors.setdefault((error["class"], error["operation"]), error)
    return list(first_errors.values())


def events_of(path: Path) -> pl.DataFrame:
    """Return all events of a stream file as a table; empty if there is no file."""
    record_batches = list(batches(path))
    if not record_batches:
        empty = {name: pl.Series([], dtype=pl.Int64) for name in ("sequence", *STREAMS["events"])}
        texts = {name: pl.Series([], dtype=pl.String) for name in ("phase", "operation", "outcome")}
        rest = {name: pl.Series([], dtype=pl.UInt32) for name in ("variant", "retries", "session")}
        return pl.DataFrame(empty | texts | rest)
    frame = pl.from_arrow(pa.Table.from_batches(record_batches))
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table gives a frame, not a series
    return frame.with_columns(pl.col("phase", "operation", "outcome").cast(pl.String))
