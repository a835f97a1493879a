"""Loads a running engine: creates tables, inserts rows, adds keys and statistics."""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError, Server
from assay.engines.loading import BulkLoads, HasKeys, LoadsTablesTogether, LoadsTriples
from assay.model.errors import AssayError, RunFailedError
from assay.model.language import SPARQL
from assay.running.data.sorting import SortedRows, sorter
from assay.workloads.generate import estimated_bytes, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.engines.contract import Engine, Instance, Tell
    from assay.workloads.generate import Rows

PROGRESS_INTERVAL_S = 0.2


@dataclass(frozen=True)
class Filled:
    """The result of loading data: rows, checksums and times.

    Attributes:
        tables: Rows, checksum and seconds of each table.
        rows: Number of rows of all tables.
        seconds: Time from the first generated row to the last counted one.
        client_cpu_s: CPU time in which this process generated, encoded and sent the rows; None if
            the engine is in this process, too.
    """

    tables: dict[str, dict[str, Any]]
    rows: int
    seconds: float
    client_cpu_s: float | None

    def facts(self) -> dict[str, Any]:
        """Return the result of loading as JSON values."""
        document = asdict(self)
        return {"tables": document.pop("tables"), "load": document}


def fill(engine: Engine, instance: Instance, filling: Mapping[str, Any], tell: Tell) -> Filled:
    """Generate and load all tables, or all triples.

    Raises:
        EngineError: If the engine refuses a statement or rows.
        RunFailedError: If rows are missing, there is no space to sort them, or the engine does not
            support that kind of data.
    """
    if filling["language"] == SPARQL:
        return _fill_triples(engine, instance, filling, tell)
    if not isinstance(engine, BulkLoads):
        raise RunFailedError("this engine cannot load tables")
    return _fill_tables(engine, instance, filling, tell)


def _fill_triples(
    engine: Engine, instance: Instance, filling: Mapping[str, Any], tell: Tell
) -> Filled:
    if not isinstance(engine, LoadsTriples):
        raise RunFailedError("this engine cannot load triples")
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    tables: dict[str, dict[str, Any]] = {}
    for table in filling["tables"]:
        rows = table_rows(filling, table, filling["streams"])
        with _telling_rows(tell, [rows]):
            begun_table_s = time.monotonic()
            engine.load_triples(instance, rows, filling["streams"], tell)
            seconds = time.monotonic() - begun_table_s
        tables[table] = {"rows": rows.rows, "checksum": rows.checksum, "seconds": seconds}
    tell("statistics and checkpoint", 0, None, "")
    engine.finish_triples(instance)
    count, counted = sum(table["rows"] for table in tables.values()), engine.count_triples(instance)
    if counted != count:
        raise RunFailedError(
            f"{count} triples were sent and the store contains {counted} after loading"
        )
    seconds, cpu_s = time.monotonic() - begun_s, time.process_time() - begun_cpu_s
    return Filled(tables, count, seconds, cpu_s if isinstance(engine, Server) else None)


def _fill_tables(
    engine: BulkLoads, instance: Instance, filling: Mapping[str, Any], tell: Tell
) -> Filled:
    for number, (file, script) in enumerate(filling["setup"].items()):
        tell("tables", number, len(filling["setup"]), "scripts")
        try:
            engine.run_script(instance, script)
        except EngineError as error:
            raise EngineError(f"{file}: {error}") from error
    # If tables are loaded one after another, their keys are made likewise.
    streams = 1 if filling["load_order"] else filling["streams"]
    at_once = engine.tables_at_once(streams) if isinstance(engine, LoadsTablesTogether) else 1
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    with _rows(filling, max(1, filling["streams"] // at_once)) as rows:
        tables = _load_tables(tell, engine, instance, filling, rows, at_once)
    seconds, cpu_s = time.monotonic() - begun_s, time.process_time() - begun_cpu_s
    if isinstance(engine, HasKeys):
        # All statements are passed at once, because the engine knows the best order.
        engine.make_keys(instance, "\n".join(filling["keys"]), streams, tell)
    tell("statistics and checkpoint", 0, None, "")
    engine.finish_load(instance)
    count = sum(table["rows"] for table in tables.values())
    return Filled(tables, count, seconds, cpu_s if isinstance(engine, Server) else None)


@contextmanager
def _rows(filling: Mapping[str, Any], threads: int) -> Iterator[dict[str, Rows]]:
    """Yield the rows of each table to load, sorted if requested."""
    by = filling["sorted_by"]
    rows: dict[str, Rows] = {
        table: table_rows(filling, table, threads) for table in filling["tables"]
    }
    if not by:
        yield rows
        return
    needed_bytes = sum(estimated_bytes(filling, table) for table in by)
    with sorter(Path(filling["spill"]), needed_bytes) as sorting:
        yield {
            table: SortedRows(made, by[table], sorting.cursor()) if table in by else made
            for table, made in rows.items()
        }


def _load_tables(
    tell: Tell,
    engine: BulkLoads,
    instance: Instance,
    filling: Mapping[str, Any],
    rows: Mapping[str, Rows],
    at_once: int,
) -> dict[str, dict[str, Any]]:
    # The largest tables come first, so that none is loaded alone at the end.
    order = filling["load_order"] or sorted(rows, key=lambda table: -rows[table].rows_expected)
    with _telling_rows(tell, list(rows.values())), ThreadPoolExecutor(at_once) as pool:
        loading = {
            table: pool.submit(
                _load_table,
                engine,
                instance,
                table,
                rows[table],
                # Several connections would each write only a part of the order.
                1 if table in filling["sorted_by"] else filling["streams"],
            )
            for table in order
        }
        try:
            ended, _ = wait(loading.values(), return_when=FIRST_EXCEPTION)
            for table_loading in ended:
                table_loading.result()
            return {table: loading[table].result() for table in rows}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for made in rows.values():
                made.end()
            raise


def _load_table(
    engine: BulkLoads, instance: Instance, table: str, rows: Rows, streams: int
) -> dict[str, Any]:
    begun_s = time.monotonic()
    try:
        engine.load(instance, table, rows, streams)
    except AssayError as error:
        # The engine knows only that its rows ended early.
        if isinstance(rows, SortedRows) and rows.failure is not None:
            raise rows.failure from error
        raise
    counted = engine.count(instance, table)
    if counted != rows.rows:
        raise RunFailedError(
            f"{table}: {rows.rows} rows were sent and the table contains {counted} after loading"
        )
    seconds = time.monotonic() - begun_s
    return {"rows": counted, "checksum": rows.checksum, "seconds": seconds}


@contextmanager
def _telling_rows(tell: Tell, tables: list[Rows]) -> Iterator[None]:
    """Report the number of generated rows while loading."""
    done = threading.Event()
    telling = threading.Thread(target=_tell_rows, args=(tell, tables, done))
    telling.start()
    try:
        yield
    finally:
        done.set()
        telling.join()


def _tell_rows(tell: Tell, tables: list[Rows], done: threading.Event) -> None:
    expected = sum(table.rows_expected for table in tables)
    while True:
        ended = done.wait(PROGRESS_INTERVAL_S)
        tell("loading", sum(table.rows for table in tables), expected, "rows")
        if ended:
            return
