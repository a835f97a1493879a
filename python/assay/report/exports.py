"""Writes a run's tables for other tools: CSV, Parquet, or the document as JSON."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from assay.analysis.load import per_second
from assay.model.errors import RecordUnreadableError, UsageError, suggestion
from assay.record.layout import RAW_DIR
from assay.report.charts import flat_operation
from assay.report.document import document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from assay.record.reader import Run

log = logging.getLogger(__name__)

FORMATS = ["csv", "json", "parquet"]
OPERATIONS = "operations"
SECONDS = "seconds"


def export(run: Run, to: str, out: Path) -> list[Path]:
    """Writes a run into the directory `out` and returns the files.

    csv and parquet: one file for the table of operations, one for the seconds of a load (a row a
    second: rates, percentiles, backlog), and one a stream of the record. json: the
    document, in `out` itself if that ends in .json.

    Raises:
        UsageError: If there is no such format, or `out` cannot be written.
    """
    if to not in FORMATS:
        raise UsageError(f"cannot export to {to!r}: {suggestion(to, FORMATS)}")
    try:
        return [_json(run, out)] if to == "json" else _tables(run, to, out)
    except OSError as error:
        raise UsageError(
            f"cannot write {out}: {error.strerror or error}. Name another place with --out."
        ) from error


def _json(run: Run, out: Path) -> Path:
    path = out if out.suffix == ".json" else out / "document.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(run, run.dir), indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def _tables(run: Run, to: str, out: Path) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in _all_tables(run):
        path = out / f"{name}.{to}"
        if to == "csv":
            table.write_csv(path)
        else:
            table.write_parquet(path)
        written.append(path)
    return written


def _all_tables(run: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """The table of operations, the seconds of a load, then every stream that can be read."""
    yield OPERATIONS, operations_table(run)
    seconds = per_second(run) if run.has("events") else None
    if seconds is not None:
        yield SECONDS, seconds
    for path in sorted((run.dir / RAW_DIR).glob("*.arrows")):
        try:
            yield path.stem, run.table(path.stem)
        except RecordUnreadableError as error:
            log.warning("stream left out of the export: %s", error)


def operations_table(run: Run) -> pl.DataFrame:
    """One row an operation, as in the document; shares of its time are columns named *_share."""
    import polars as pl

    rows = [flat_operation(operation) for operation in document(run, run.dir)["operations"]]
    if not rows:
        return pl.DataFrame(schema={"name": pl.String, "seconds": pl.Float64})
    typed = pl.DataFrame(rows, infer_schema_length=None)
    # A column without any value has no type of its own; figures are floats.
    return typed.with_columns(pl.col(pl.Null).cast(pl.Float64))
