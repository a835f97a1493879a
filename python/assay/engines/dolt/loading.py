"""Loads data into Dolt: refuses texts that it reads as NULL, and shrinks its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from assay.engines.contract import EngineError
from assay.engines.dolt.programs import CONF
from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.statements import file_text, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.contract import Instance
    from assay.engines.loading import ArrowStream

# LOAD DATA reads this text as NULL, in quotes or not.
MISREAD = "NULL"


def refuse_words(table: str, rows: ArrowStream) -> pa.RecordBatchReader:
    """Return a reader of rows that refuses texts which Dolt would load as NULL.

    Raises `EngineError` for a text that would be lost.
    """
    reader = pa.RecordBatchReader.from_stream(rows)

    def checked() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if pa.types.is_string(column.type) and pc.any(pc.equal(column, MISREAD)).as_py():
                    raise EngineError(
                        f"the column {table}.{name} contains the text {MISREAD}, which Dolt's "
                        "LOAD DATA reads as NULL: the table cannot be loaded."
                    )
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, checked())


def gather_statistics(instance: Instance) -> None:
    """Gather optimiser statistics of all Dolt tables."""
    for (table,) in execute(instance.handle, file_text("tables.sql")):
        execute(instance.handle, filled("analyze.sql", conf=CONF, table=str(table)))


def settle_history(instance: Instance) -> None:
    """Commit a private server's tables to Dolt's history, then collect garbage.

    A garbage collection copies only data outside the history. Without the commit, every collection
    during the measurement would copy all data.
    """
    if "scratch" not in instance.address:
        return
    execute(instance.handle, file_text("commit.sql", CONF))
    execute(instance.handle, file_text("collect.sql", CONF))
