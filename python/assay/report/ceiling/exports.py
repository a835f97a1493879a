"""Exports the trials of a host's hardware as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.ceiling.document import ceiling_document
from assay.report.ceiling.tables import flat_machine, flat_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from assay.record.reader import Run

POINTS, MACHINE = "points", "machine"


def ceiling_tables(run: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables of disk points, and of memory and core points, of a hardware ceiling."""
    import polars as pl

    document = ceiling_document(run, run.dir, run.derived / "report.html")
    yield POINTS, pl.DataFrame(flat_points(document), infer_schema_length=None)
    yield MACHINE, pl.DataFrame(flat_machine(document), infer_schema_length=None)
