"""Writes a workload's data to files: tables, or triples as N-Triples or Turtle."""

from __future__ import annotations

import errno
import shutil
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa

from assay.engines.feeding import text_bytes
from assay.model.errors import RunFailedError, UsageError
from assay.model.units import bytes_text
from assay.model.whole_file import made_directories
from assay.record.outside import refuse_inside_record
from assay.workloads.generate import estimated_bytes, table_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from assay.engines.contract import Tell
    from assay.workloads.contract import Workload

Format = Literal["nt", "ttl", "csv", "parquet"]
# Bytes of a format's files per byte of their rows in memory: the smallest share of TPC-H, SSB,
# TPC-C and BSBM, rounded down. In RDF formats, the rows are the files' text.
SHARE_OF_MEMORY: dict[Format, float] = {"nt": 1.0, "ttl": 1.0, "csv": 0.8, "parquet": 0.2}
# Suffix of a file while it is written.
UNFINISHED = ".part"
FULL = (errno.ENOSPC, errno.EDQUOT)


class Sink(Protocol):
    """Interface of a file to which table rows are written."""

    def write(self, batch: pa.RecordBatch) -> object:
        """Add a batch of rows to the file."""
        ...

    def close(self) -> None:
        """Write the remaining rows and close the file."""
        ...


@dataclass(frozen=True)
class Wanted:
    """A request for data files: workload, scale, format and tables.

    Attributes:
        scale: Scale of the data; None means the workload's own.
        form: Format of the files; None means N-Triples for a workload that has triples, else
            Parquet.
        directory: Directory for the files. The directory is created if needed.
        seed: Seed of the data; None means the seed of the data that runs load.
        threads: Number of threads that generate rows.
    """

    workload: Workload
    scale: float | None
    form: str | None
    directory: Path
    seed: int | None
    threads: int


@dataclass(frozen=True)
class DataFile:
    """A written data file with its number of rows.

    Attributes:
        rows: Number of rows of the table: triples in N-Triples, subjects in Turtle.
        checksum: Checksum of the rows, as in the record of a run.
    """

    path: str
    table: str
    rows: int
    bytes: int
    seconds: float
    checksum: str


def offered(workload: Workload) -> dict[Format, tuple[str, ...]]:
    """Return the tables that a workload has in each format, without formats that have none."""
    facts = workload.facts
    tables: dict[Format, tuple[str, ...]] = {
        "nt": facts.triples,
        "ttl": facts.turtle,
        "parquet": facts.tables,
        "csv": facts.tables,
    }
    return {form: names for form, names in tables.items() if names}


def write_files(wanted: Wanted, tell: Tell) -> list[DataFile]:
    """Write one data file for each requested table.

    If writing fails or is stopped, no file is left, and no directory that was created for them.

    Raises:
        UsageError: If the workload has no files of that format, the scale or the seed is refused, a
            file exists already, or the directory cannot be used or is too small.
        RunFailedError: If the disk is full, or a file cannot be written.
    """
    form, facts = _chosen_format(wanted)
    tables = offered(wanted.workload)[form]
    paths = {table: wanted.directory / f"{table}.{form}" for table in tables}
    for table in tables:
        table_rows(facts, table, 1)  # An invalid scale must not create a directory.
    written = []
    with _room(wanted.directory, paths, form, facts), ExitStack() as undoing:
        for table, path in paths.items():
            unfinished = path.with_name(path.name + UNFINISHED)
            undoing.callback(unfinished.unlink, missing_ok=True)
            try:
                written.append(_write(unfinished, form, facts, table, wanted.threads, tell))
                unfinished.rename(path)
            except OSError as error:
                raise RunFailedError(_refused(error, path)) from error
            undoing.callback(path.unlink, missing_ok=True)
        undoing.pop_all()
    return written


def _chosen_format(wanted: Wanted) -> tuple[Format, dict[str, Any]]:
    """Return the format of data files, and the options of the row generator."""
    workload = wanted.workload
    name, formats = workload.facts.name, offered(workload)
    if not formats:
        raise UsageError(
            f"the workload {name} has no data to write to files: SQL in the engine creates its "
            "tables"
        )
    known_formats = ", ".join(formats)
    chosen = next((form for form in formats if wanted.form in (None, form)), None)
    if chosen is None:
        raise UsageError(
            f"--format {wanted.form}: the data of {name} can be written in the formats "
            f"{known_formats}"
        )
    scale = workload.facts.scale_default if wanted.scale is None else wanted.scale
    return chosen, workload.row_facts(scale) | {"seed": wanted.seed}


@contextmanager
def _room(
    directory: Path, paths: Mapping[str, Path], form: Format, facts: Mapping[str, Any]
) -> Iterator[None]:
    """Create the directory of data files if it has the space, and remove it if it stays empty."""
    refuse_inside_record(directory, "--out")
    with ExitStack() as made:
        try:
            made.enter_context(made_directories(directory))
        except OSError as error:
            raise UsageError(f"--out {directory}: {error.strerror}") from error
        _check_room(directory, paths, form, facts)
        yield


def _check_room(
    directory: Path, paths: Mapping[str, Path], form: Format, facts: Mapping[str, Any]
) -> None:
    try:
        there = [path for path in paths.values() if path.exists()]
        free = shutil.disk_usage(directory).free
    except OSError as error:
        raise UsageError(f"--out {directory}: {error.strerror}") from error
    if there:
        raise UsageError(f"{there[0]} exists already: remove it, or name another --out")
    needed = SHARE_OF_MEMORY[form] * sum(estimated_bytes(facts, table) for table in paths)
    if needed > free:
        raise UsageError(
            f"--out {directory}: the files need about {bytes_text(needed)} or more, and "
            f"{bytes_text(free)} are free: name another directory, or a smaller --scale"
        )


def _write(
    path: Path, form: Format, facts: Mapping[str, Any], table: str, threads: int, tell: Tell
) -> DataFile:
    rows = table_rows(facts, table, threads)
    begun_s = time.monotonic()
    reader = pa.RecordBatchReader.from_stream(rows)
    sink = SINKS[form](path, reader.schema)
    try:
        for batch in reader:
            sink.write(batch)
            tell(table, rows.rows, rows.rows_expected, "rows")
    finally:
        sink.close()
    return DataFile(
        path=str(path.with_name(path.name.removesuffix(UNFINISHED))),
        table=table,
        rows=rows.rows,
        bytes=path.stat().st_size,
        seconds=time.monotonic() - begun_s,
        checksum=rows.checksum,
    )


class _Plain:
    """A text file with one row per line."""

    def __init__(self, path: Path, _schema: pa.Schema) -> None:
        # Batches are megabytes, which a buffer would only copy.
        self._file = path.open("wb", buffering=0)

    def write(self, batch: pa.RecordBatch) -> None:
        left = text_bytes(batch)
        while left:
            left = left[self._file.write(left) :]

    def close(self) -> None:
        self._file.close()


def _csv(path: Path, schema: pa.Schema) -> Sink:
    from pyarrow import csv

    writer: Sink = csv.CSVWriter(path, schema)
    return writer


def _parquet(path: Path, schema: pa.Schema) -> Sink:
    from pyarrow import parquet

    writer: Sink = parquet.ParquetWriter(path, schema)
    return writer


SINKS: dict[Format, Callable[[Path, pa.Schema], Sink]] = {
    "nt": _Plain,
    "ttl": _Plain,
    "csv": _csv,
    "parquet": _parquet,
}


def _refused(error: OSError, path: Path) -> str:
    if error.errno in FULL:
        return (
            f"the disk of {path.parent} is full: free some space, or name another --out; nothing"
            " is left of what was written"
        )
    return f"{path} cannot be written ({error.strerror}): nothing is left of what was"
