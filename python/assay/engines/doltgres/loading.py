"""Loads and counts Doltgres tables, and commits them to the history."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from assay.engines.contract import EngineError
from assay.engines.doltgres.server import TITLE
from assay.engines.postgres_family import connecting
from assay.engines.postgres_family.statements import SQL, composed

if TYPE_CHECKING:
    import psycopg
    from psycopg.sql import Composed

    from assay.engines.contract import Instance, Tell
    from assay.engines.loading import ArrowStream

CONF = Path(__file__).parent / "conf"
LOADING = "assay loading"
# Texts are always quoted, so that an empty text differs from NULL.
WRITTEN = csv.WriteOptions(include_header=False, quoting_style="needed")
# The server reads these two characters as the second alone, in quotes or not.
MISREAD = "\r\n"


def file_text(name: str) -> str:
    """Return the SQL text of a file in the `conf/` folder of the engine Doltgres."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def execute(instance: Instance, statement: str | Composed) -> psycopg.Cursor[tuple[object, ...]]:
    """Run one SQL statement on Doltgres.

    The `EngineError` has the statement and the server's message.
    """
    return connecting.execute(instance.handle, statement, None, TITLE)


def run_script(instance: Instance, sql: str) -> None:
    """Run the statements of a file one by one, each in its own transaction."""
    for statement in SQL.split(sql):
        execute(instance, statement)


def load(instance: Instance, table: str, rows: ArrowStream) -> None:
    """Copy rows as text into a Doltgres table.

    Raises `EngineError` with the server's message.

    The copy has its own connection. The server may answer an aborted copy twice, and the second
    answer would be taken for the next statement's.
    """
    import psycopg

    copying = composed(file_text("copy.sql"), table=table)
    own = connecting.connect(instance.address["dsn"], LOADING, TITLE)
    try:
        with closing(own), own.cursor().copy(copying) as copy:
            for batch in pa.RecordBatchReader.from_stream(rows):
                _refuse_misread(table, batch)
                text = pa.BufferOutputStream()
                csv.write_csv(batch, text, WRITTEN)
                copy.write(memoryview(text.getvalue()))
    except (psycopg.Error, pa.ArrowException) as error:
        raise EngineError(f"table {table} cannot be loaded: {error}") from error


def _refuse_misread(table: str, batch: pa.RecordBatch) -> None:
    """Raise `EngineError` for a text that Doltgres would change while loading."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        texts = pa.types.is_string(column.type)
        if texts and pc.any(pc.match_substring(column, MISREAD)).as_py():
            raise EngineError(
                f"the column {table}.{name} contains a carriage return at the end of a line, "
                f"which {TITLE}'s COPY drops: the table cannot be loaded."
            )


def count(instance: Instance, table: str) -> int:
    """Return the number of rows of a Doltgres table.

    Raises `EngineError` if the table does not exist.
    """
    row = execute(instance, composed(file_text("count.sql"), table=table)).fetchone()
    return cast("tuple[int]", row)[0]


def make_keys(instance: Instance, sql: str, tell: Tell) -> None:
    """Create the keys and indexes of Doltgres tables one after another."""
    statements = SQL.split(sql)
    for done, statement in enumerate(statements):
        tell("keys", done, len(statements), "statements")
        execute(instance, statement)


def finish(instance: Instance) -> None:
    """Gather statistics, commit the tables to Doltgres' history, and collect garbage."""
    for (table,) in execute(instance, file_text("tables.sql")).fetchall():
        execute(instance, composed(file_text("analyze.sql"), table=cast("str", table)))
    execute(instance, file_text("commit.sql"))
    execute(instance, file_text("collect.sql"))


def refuse_open_transaction(instance: Instance) -> None:
    """Raise `EngineError` if a script's statements left a Doltgres transaction open."""
    from psycopg.pq import TransactionStatus

    if instance.handle.info.transaction_status != TransactionStatus.IDLE:
        raise EngineError(
            "the file ends within an open transaction, whose changes would be lost: add 'commit;'"
        )
