"""Exports a run for other tools: tables as CSV or Parquet, a JSON document, or CPU samples."""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from assay.analysis.load.summary import per_second
from assay.model.errors import RecordUnreadableError, UsageError, suggestion
from assay.model.whole_file import made_directories, whole_file
from assay.record.layout import KIND_CEILING, RAW_DIR
from assay.record.outside import refuse_inside_record
from assay.record.reader import damage_reported
from assay.report.ceiling.document import ceiling_document
from assay.report.ceiling.exports import ceiling_tables
from assay.report.charts import counters as counter_charts
from assay.report.charts.run import flat_operation
from assay.report.csv_text import inert_table
from assay.report.document import document
from assay.report.kept import REPORT_FILE
from assay.report.profile_exports.formats import FORMATS as PROFILE_FORMATS
from assay.report.profile_exports.formats import export_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.record.reader import Run
    from assay.report.documents.host.sessions import SessionsSection
    from assay.report.documents.load.specified import SpecifiedTestSection
    from assay.report.documents.run import RunDocument

log = logging.getLogger(__name__)

FORMATS = ["csv", "json", "parquet", *PROFILE_FORMATS]
OPERATIONS = "operations"
SECONDS = "seconds"
COUNTERS = "counters"
COUNTERS_BY_OPERATION = "counters-by-operation"
COUNTERS_OVER_TIME = "counters-over-time"
SERVER_CPU = "server-cpu"
INTERVALS = "intervals"


def export(run: Run, to: str, out: Path | None = None, operation: str | None = None) -> list[Path]:
    """Write a run into the directory `out` (`./<run id>-<format>`) and return the files' paths.

    csv and parquet: one file each for the table of operations, a load's seconds (rates,
    percentiles, backlog), the tables of `server_tables`, a test's intervals, and each stream of the
    record. A ceiling has one file for disk points, one for memory and cores, and one for each
    stream. json: one file with the document, which is `out` itself if that ends in .json. folded,
    firefox, flamegraph and pprof: the CPU samples of all operations or of `operation`, in the file
    `out` or a file in the working directory.

    Raises:
        UsageError: If the format is unknown, needs samples that the run lacks, or `out` cannot be
            written, lies inside a record, or is the file of an earlier profile.
    """
    if to not in FORMATS:
        raise UsageError(f"cannot export to {to!r}: {suggestion(to, FORMATS)}")
    if operation is not None and to not in PROFILE_FORMATS:
        raise UsageError(
            f"{to} exports a whole run: remove --operation, or export to "
            f"{', '.join(PROFILE_FORMATS)}."
        )
    refuse_inside_record(out or Path(), "--out")
    try:
        with damage_reported(run):
            if to in PROFILE_FORMATS:
                _check_samples(run, to)
                return [export_profile(run, to, out, operation)]
            place = out or Path(f"{run.id}-{to}")
            return [_json(run, place)] if to == "json" else _tables(run, to, place)
    except OSError as error:
        raise UsageError(
            f"cannot write {out or 'here'}: {error.strerror or error}. Name another directory "
            "with --out."
        ) from error


def _check_samples(run: Run, to: str) -> None:
    if run.kind == KIND_CEILING:
        raise UsageError(
            f"{run.id} is a host's ceiling, and {to} needs CPU samples: export the ceiling to "
            "csv, parquet or json."
        )


def _json(run: Run, out: Path) -> Path:
    path = out if out.suffix == ".json" else out / "document.json"
    text = json.dumps(_document(run), indent=1, ensure_ascii=False)
    with made_directories(path.parent), whole_file(path) as partial:
        partial.write_text(f"{text}\n", encoding="utf-8")
    return path


def _document(run: Run) -> Mapping[str, object]:
    if run.kind == KIND_CEILING:
        return ceiling_document(run, run.dir, run.derived / REPORT_FILE)
    return document(run, run.dir)


def _tables(run: Run, to: str, out: Path) -> list[Path]:
    written = []
    with made_directories(out), ExitStack() as undoing:
        for name, table in _all_tables(run):
            path = out / f"{name}.{to}"
            if not path.exists():
                undoing.callback(path.unlink, missing_ok=True)
            with whole_file(path) as partial, partial.open("wb") as file:
                if to == "csv":
                    inert_table(_flat(table)).write_csv(file)
                else:
                    _write_parquet(table, file)
            written.append(path)
        undoing.pop_all()
    return written


def _write_parquet(table: pl.DataFrame, file: BinaryIO) -> None:
    """Write a table by way of memory, because polars' error does not say that a disk is full."""
    made = BytesIO()
    table.write_parquet(made)
    file.write(made.getbuffer())


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with each list turned into one text, because CSV has no lists."""
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    return table.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" "))


def _all_tables(run: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables derived from the record, then every stream that can be read."""
    yield from ceiling_tables(run) if run.kind == KIND_CEILING else _run_tables(run)
    for path in sorted((run.dir / RAW_DIR).glob("*.arrows")):
        try:
            yield path.stem, run.table(path.stem)
        except RecordUnreadableError as error:
            log.warning("a stream of the record is missing from the export: %s", error)


def _run_tables(run: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables of operations, of a load's seconds, and of the engine's counters."""
    run_document = document(run, run.dir)
    yield OPERATIONS, operations_table(run_document)
    yield from server_tables(run_document)
    if run_document["test"] is not None:
        yield INTERVALS, intervals_table(run_document["test"])
    seconds = per_second(run) if run.has("events") else None
    if seconds is not None:
        yield SECONDS, seconds


def intervals_table(test: SpecifiedTestSection) -> pl.DataFrame:
    """Return one row for each query interval of a TPC-H test.

    `stream` is 0 in a power test, and null in the stream of refresh functions.
    """
    import polars as pl

    rows = [
        {"run": run["run"], "test": "power", "stream": 0} | interval
        for run in test["runs"]
        for interval in run["power"]
    ]
    rows += [
        {"run": run["run"], "test": "throughput", "stream": stream["stream"]} | interval
        for run in test["runs"]
        for stream in run["throughput"]
        for interval in stream["intervals"]
    ]
    schema = {
        "run": pl.Int64,
        "test": pl.String,
        "stream": pl.Int64,
        "operation": pl.String,
        "variant": pl.Int64,
        "begun_seconds": pl.Float64,
        "seconds": pl.Float64,
        "counted_seconds": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)


def server_tables(run_document: RunDocument) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield tables of the engine's counters and of CPU time by session, where measured.

    counters: one row per counter. counters-by-operation: operation, name, unit, growth. counters-
        over-time: name, unit (with /s for rates), time_s, value. server-cpu: one row per session
        and process title, and one for time that no sample saw.
    """
    import polars as pl

    counted, used = run_document["engine_counters"], run_document["sessions"]
    if counted is not None:
        shown = [{k: v for k, v in f.items() if k != "operations"} for f in counted["counters"]]
        floats = dict.fromkeys(("total", "per_s", "last"), pl.Float64)
        yield COUNTERS, pl.DataFrame(shown, schema_overrides=floats)
        grown = [
            (operation, figure["name"], figure["unit"], growth)
            for figure in counted["counters"]
            for operation, growth in figure["operations"].items()
        ]
        if grown:
            names = ["operation", "name", "unit", "growth"]
            yield COUNTERS_BY_OPERATION, pl.DataFrame(grown, schema=names, orient="row")
        yield COUNTERS_OVER_TIME, counter_charts.data(counted)
    if used is not None:
        yield SERVER_CPU, _cpu_table(used)


def _cpu_table(used: SessionsSection) -> pl.DataFrame:
    import polars as pl

    schema = {
        "owner": pl.String,
        "session": pl.Int64,
        "title": pl.String,
        "processes": pl.Int64,
        "cpu_s": pl.Float64,
        "run_delay_s": pl.Float64,
        "read_bytes": pl.Int64,
        "write_bytes": pl.Int64,
        "workers": pl.Int64,
        "workers_cpu_s": pl.Float64,
    }
    owners = (
        ("sessions", used["sessions"]),
        ("background", used["background"]),
        ("ours", used["ours"]),
        ("other_clients", used["other_clients"]),
    )
    rows: list[dict[str, object]] = [
        {"owner": owner} | dict(entry) for owner, entries in owners for entry in entries
    ]
    return pl.DataFrame([*rows, {"owner": "unseen", "cpu_s": used["unseen_cpu_s"]}], schema=schema)


def operations_table(run_document: RunDocument) -> pl.DataFrame:
    """Return one row per operation, as in the document, with shares of time in columns *_share."""
    import polars as pl

    rows = [flat_operation(operation) for operation in run_document["operations"]]
    if not rows:
        return pl.DataFrame(schema={"name": pl.String, "seconds": pl.Float64})
    typed = pl.DataFrame(rows, infer_schema_length=None)
    # A column without any value has no type. It gets the type float, as figures have.
    return typed.with_columns(pl.col(pl.Null).cast(pl.Float64))
