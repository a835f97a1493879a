"""Loads rows into Virtuoso, and runs SQL scripts before the measured part of a run."""

from __future__ import annotations

import secrets
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import split
from assay.engines.feeding import fed
from assay.engines.server_files import new_server_file, remove_server_file, server_directory
from assay.engines.virtuoso.connecting import ask, file_text, filled, name_of, run
from assay.engines.virtuoso.serialising import serialised
from assay.engines.virtuoso.server import LOADING

if TYPE_CHECKING:
    from assay.engines.contract import Address, Instance, Tell
    from assay.engines.feeding import Batches
    from assay.engines.loading import ArrowStream

# Number of rows that the server inserts at once: its usual vector length.
AT_ONCE = 10_000


def load(instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
    """Have the server read batches of rows in its own binary format, over several connections.

    Each batch is written to a file, read by the server and deleted, without a flush to disk.

    Raises:
        EngineError: If the server refuses rows. The error message is the server's.
    """
    reader = pa.RecordBatchReader.from_stream(rows)
    procedure = f"assay_load_{secrets.token_hex(8)}"
    run(instance.handle, _procedure(procedure, table, reader.schema.names))
    with ExitStack() as links:
        opened = [links.enter_context(Link.connect(instance.address)) for _ in range(streams)]
        fed(reader, [partial(_feed, link, instance.address, procedure) for link in opened])
    run(instance.handle, filled("drop_procedure.sql", name=procedure))


def _feed(link: Link, address: Address, procedure: str, batches: Batches) -> None:
    scratch, name = Path(address["scratch"]), f"{procedure}-{threading.get_ident()}"
    statement, file = filled("call_load.sql", name=procedure), str(scratch / LOADING / name)
    with server_directory(scratch, LOADING) as directory:
        try:
            for batch in batches:
                with new_server_file(name, 0o644, directory) as out:
                    for begin in range(0, batch.num_rows, AT_ONCE):
                        out.writelines(serialised(batch.slice(begin, AT_ONCE)))
                link.run(statement, (file,))
        finally:
            remove_server_file(name, directory)


def _procedure(name: str, table: str, columns: list[str]) -> str:
    numbers = range(len(columns))
    return filled(
        "load.sql",
        name=name,
        table=name_of(table),
        columns=", ".join(map(name_of, columns)),
        vectors=", ".join(f"v{number}" for number in numbers),
        taken=" ".join(filled("load_take.sql", number=str(number)) for number in numbers),
        rows=", ".join(filled("load_row.sql", number=str(number)) for number in numbers),
        values=", ".join(f"c{number}" for number in numbers),
    )


def count(instance: Instance, table: str) -> int:
    """Return the number of rows of a Virtuoso table.

    Raises `EngineError` if the table does not exist.
    """
    return int(ask(instance.address, filled("count.sql", table=name_of(table)))[0][0].as_py())


def run_script(instance: Instance, sql: str) -> None:
    """Run a script's SQL statements on Virtuoso one by one, each in its own transaction."""
    for statement in split(sql):
        run(instance.handle, statement)


def make_keys(instance: Instance, sql: str, tell: Tell) -> None:
    """Run the statements one after another, because the server uses its threads for each."""
    statements = split(sql)
    for number, statement in enumerate(statements):
        tell("keys and indexes", number, len(statements), "statements")
        run(instance.handle, statement)


def checkpoint(instance: Instance) -> None:
    """Flush all changed pages of Virtuoso to disk."""
    run(instance.handle, file_text("checkpoint.sql"))
