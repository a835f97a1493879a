"""Loads rows and runs scripts: what is done to a server's data before anything is timed."""

from __future__ import annotations

import secrets
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import split
from assay.engines.virtuoso.connecting import ask, file_text, filled, name_of, run
from assay.engines.virtuoso.serialising import serialised
from assay.engines.virtuoso.server import LOADING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.contract import Address, ArrowStream, Instance, Tell

# How many rows the server inserts at once: its usual vector.
AT_ONCE = 10_000


def load(instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
    """Has the server read batches of rows as it keeps values itself, over several connections.

    A batch is written to a file, read by the server and gone; none waits there for the disk.

    Raises:
        EngineError: As the server says it.
    """
    reader = pa.RecordBatchReader.from_stream(rows)
    procedure = f"assay_load_{secrets.token_hex(8)}"
    run(instance.handle, _procedure(procedure, table, reader.schema.names))
    source, failures = _Source(reader), list[BaseException]()
    with ExitStack() as links:
        opened = [links.enter_context(Link.connect(instance.address)) for _ in range(streams)]
        threads = [
            threading.Thread(
                target=_feed, args=(link, instance.address, procedure, source, failures)
            )
            for link in opened
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    run(instance.handle, filled("drop_procedure.sql", name=procedure))


class _Source:
    """Batches that several threads take, each one once."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.stopped = False
        self._reader = reader
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while True:
            with self._lock:
                batch = None if self.stopped else next(self._reader, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch


def _feed(
    link: Link, address: Address, procedure: str, source: _Source, failures: list[BaseException]
) -> None:
    file = Path(address["scratch"]) / LOADING / f"{procedure}-{threading.get_ident()}"
    statement = filled("call_load.sql", name=procedure)
    try:
        for batch in source:
            with file.open("wb") as out:
                for begin in range(0, batch.num_rows, AT_ONCE):
                    out.writelines(serialised(batch.slice(begin, AT_ONCE)))
            file.chmod(0o644)
            link.run(statement, (str(file),))
    except BaseException as error:  # noqa: BLE001 - raised by the thread that waits for this one
        source.stopped = True
        failures.append(error)
    finally:
        file.unlink(missing_ok=True)


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
    """Rows of a table, counted. Raises `EngineError` if there is none of that name."""
    return int(ask(instance.address, filled("count.sql", table=name_of(table)))[0][0].as_py())


def run_script(instance: Instance, sql: str) -> None:
    """Runs the statements one by one, each in a transaction of its own."""
    for statement in split(sql):
        run(instance.handle, statement)


def make_keys(instance: Instance, sql: str, tell: Tell) -> None:
    """Runs the statements one after another: the server uses its threads for each."""
    statements = split(sql)
    for number, statement in enumerate(statements):
        tell("keys and indexes", number, len(statements), "statements")
        run(instance.handle, statement)


def checkpoint(instance: Instance) -> None:
    """Writes out all pages that were changed."""
    run(instance.handle, file_text("checkpoint.sql"))
