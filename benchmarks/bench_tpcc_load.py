"""Generating and loading TPC-C: Assay beside multi-row INSERT, the way of the usual clients.

Both sides have a new private server of the same settings, begin with nothing and end with the same
rows, durable and analysed. Rounds are interleaved, and each ratio is taken within a round.

    assay   as a run does it: rows come from the generator, by COPY or LOAD DATA; keys come after,
            where that is faster.
    insert  a connection and a process a warehouse, INSERT of so many rows as text literals, a
            transaction a table; primary keys are there before the rows, indexes come after. Values
            are drawn beforehand, and made into text while the clock runs.
    ready   the same, with all text made beforehand: what is timed is sending it.

Client CPU is user and system time of the client's processes while rows are made, encoded and sent.
The goals are less than a microsecond of it a row, and 2.5 times as fast as `insert` on PostgreSQL.

    .venv/bin/python benchmarks/bench_tpcc_load.py [--engine mariadb] [--warehouses 10] [--rounds 3]
        [--tables warehouse,district,customer]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg
import pyarrow as pa
import pymysql

from assay.engines.contract import Address, Instance
from assay.engines.discovery import find_engine
from assay.engines.mysql_family.connecting import connect
from assay.running.data.filling import fill
from assay.workloads.discovery import find_workload
from assay.workloads.generate import column_names, table_rows
from servers import STREAMS, filling_of, started  # benchmarks/servers.py

TPCC = find_workload("tpcc")
SIDES = ("assay", "insert", "ready")
PHASES = ("rows", "keys", "statistics and checkpoint")
# A part of the generator is a tenth of a warehouse's rows.
PARTS_A_WAREHOUSE = 10
MOMENT = "'2026-01-01 00:00:00'"


@dataclass(frozen=True)
class Product:
    """What the sides have to know of a product.

    Attributes:
        connect: Opens a connection of the client that INSERTs.
        digest: SQL for the rows of a table and a digest of them that their order does not change.
    """

    dialects: tuple[str, ...]
    connect: Callable[[Address], Any]
    digest: Callable[[str], str]


def mysql_connection(address: Address) -> pymysql.Connection[Any]:
    connection = connect(address)
    connection.autocommit(value=False)
    return connection


def postgresql_digest(table: str) -> str:
    return f"select count(*), sum(hashtextextended(row::text, 0))::text from {table} as row"


def mysql_digest(table: str) -> str:
    columns = ", ".join(column_names(TPCC.row_facts(1), table))
    return f"select count(*), cast(sum(crc32(concat_ws('|', {columns}))) as char) from {table}"


PRODUCTS = {
    "postgresql": Product(
        ("postgresql",), lambda address: psycopg.connect(address["dsn"]), postgresql_digest
    ),
    "mariadb": Product(("mariadb", "mysql"), mysql_connection, mysql_digest),
    "mysql": Product(("mysql",), mysql_connection, mysql_digest),
}


@dataclass(frozen=True)
class Work:
    """What each side loads: the rows of some tables, and how many of them an INSERT has."""

    warehouses: int
    rows: int
    tables: Sequence[str]


@dataclass(frozen=True)
class Load:
    """What one load took.

    Attributes:
        seconds: Of each phase.
        cpu_s: CPU of the client while rows were loaded.
        rows: How many.
        held: Rows and a digest of each table.
    """

    seconds: dict[str, float]
    cpu_s: float
    rows: int
    held: dict[str, list[int]]

    @property
    def all_s(self) -> float:
        return sum(self.seconds.values())

    @property
    def cpu_us(self) -> float:
        """Client CPU a row."""
        return self.cpu_s / self.rows * 1e6


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--warehouses", type=int, default=2)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--rows", type=int, default=200, help="rows of an INSERT")
    options.add_argument("--engine", default="postgresql@18", help="postgresql, mariadb or mysql")
    options.add_argument(
        "--tables", default=",".join(TPCC.facts.tables), help="those that are filled [all]"
    )
    options.add_argument("--child", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child is not None:
        print(json.dumps(load(**json.loads(asked.child))))
        return
    work = Work(asked.warehouses, asked.rows, tuple(asked.tables.split(",")))
    taken: dict[str, list[Load]] = {side: [] for side in SIDES}
    for number in range(asked.rounds):
        first = number % len(SIDES)
        for side in (*SIDES[first:], *SIDES[:first]):
            loaded = loaded_by(side, asked.engine, work)
            taken[side].append(loaded)
            phases = "  ".join(f"{phase} {loaded.seconds[phase]:.2f}" for phase in PHASES)
            print(
                f"round {number + 1}  {side:<7}{loaded.all_s:7.2f} s: {phases}; {loaded.cpu_us:.2f} us of client CPU a row",
                flush=True,
            )
        assert len({json.dumps(loads[-1].held) for loads in taken.values()}) == 1, "rows differ"
    print_table(
        taken, f"{asked.warehouses} warehouses into {asked.engine}, {asked.rows} rows an INSERT"
    )


def print_table(taken: dict[str, list[Load]], what: str) -> None:
    rows = taken["assay"][0].rows
    print(f"\nTPC-C, {what}: {rows} rows, median of {len(taken['assay'])} rounds")
    print(f"{'':<27}{''.join(f'{side:>9}' for side in SIDES)}   / assay (lowest to highest)")
    measures = {
        **{f"{phase}, s": lambda loading, phase=phase: loading.seconds[phase] for phase in PHASES},
        "all, s": lambda loading: loading.all_s,
        "client CPU, us a row": lambda loading: loading.cpu_us,
        "rows, us a row": lambda loading: loading.seconds["rows"] / loading.rows * 1e6,
    }
    for name, measure in measures.items():
        values = {side: [measure(loading) for loading in loads] for side, loads in taken.items()}
        shown = "".join(f"{statistics.median(values[side]):>9.2f}" for side in SIDES)
        ratios = "   ".join(
            f"{side} {ratio_text(values[side], values['assay'])}" for side in SIDES[1:]
        )
        print(f"{name:<27}{shown}   {ratios}")


def ratio_text(peers: Sequence[float], ours: Sequence[float]) -> str:
    ratios = [peer / own for peer, own in zip(peers, ours, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def loaded_by(side: str, product: str, work: Work) -> Load:
    """A load into a new server, by a client that is a process of its own."""
    name = product.partition("@")[0]
    with started(product, dict(find_engine(name).engine().load_settings())) as server:
        job = {"side": side, "name": name, "address": dict(server.address)}
        job |= {"work": asdict(work)}
        command = [sys.executable, __file__, "--child", json.dumps(job)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Load(**json.loads(done.stdout))


def load(side: str, name: str, address: Address, work: dict[str, Any]) -> dict[str, Any]:
    """In a process of its own: loads, and tells what it took and what is there then."""
    engine, product, phases = find_engine(name).engine(), PRODUCTS[name], Phases()
    instance, asked = engine.attach(address), Work(**work)
    if side == "assay":
        load_as_a_run(engine, instance, product, asked, phases)
    else:
        drawn = [drawn_for(warehouse, asked) for warehouse in range(1, asked.warehouses + 1)]
        parts = [
            [*statements(warehouse_rows, asked.rows)] if side == "ready" else warehouse_rows
            for warehouse_rows in drawn
        ]
        context = multiprocessing.get_context("fork")
        arguments = [(product, address, part, asked.rows) for part in parts]
        processes = [context.Process(target=send, args=sent) for sent in arguments]
        load_by(processes, engine, instance, product, asked.warehouses, phases)
    phases.enter("")
    held = contents(product, address, asked.tables)
    engine.detach(instance)
    seconds = {phase: phases.seconds.get(phase, 0.0) for phase in PHASES}
    loaded = sum(count for count, _ in held.values())
    return {"seconds": seconds, "cpu_s": phases.cpu_s["rows"], "rows": loaded, "held": held}


class Phases:
    """Seconds and CPU seconds of each phase; a phase that is left and entered again goes on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_s: dict[str, float] = {}
        self._phase = ""
        self._begun_s, self._begun_cpu_s = time.monotonic(), cpu_s()

    def enter(self, phase: str) -> None:
        if phase == self._phase:
            return
        now_s, now_cpu_s = time.monotonic(), cpu_s()
        past = self._phase
        self.seconds[past] = self.seconds.get(past, 0.0) + now_s - self._begun_s
        self.cpu_s[past] = self.cpu_s.get(past, 0.0) + now_cpu_s - self._begun_cpu_s
        self._phase, self._begun_s, self._begun_cpu_s = phase, now_s, now_cpu_s


def cpu_s() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def load_as_a_run(
    engine: Any, instance: Instance, product: Product, work: Work, phases: Phases
) -> None:
    filling = filling_of(TPCC, product.dialects, work.warehouses) | {"tables": work.tables}
    of = {"tables": "rows", "loading": "rows", PHASES[-1]: PHASES[-1]}
    phases.enter("rows")
    fill(engine, instance, filling, lambda phase, *_: phases.enter(of.get(phase, "keys")))


def load_by(
    processes: Sequence[Any],
    engine: Any,
    instance: Instance,
    product: Product,
    warehouses: int,
    phases: Phases,
) -> None:
    """Tables with primary keys, rows by processes that INSERT, then indexes and statistics."""
    keys, indexes = TPCC.keys(product.dialects, warehouses).values()
    phases.enter("rows")
    for script in TPCC.setup(product.dialects, warehouses).values():
        engine.run_script(instance, script)
    phases.enter("keys")
    engine.make_keys(instance, keys, STREAMS, lambda *_: None)
    phases.enter("rows")
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    phases.enter("keys")
    engine.make_keys(instance, indexes, STREAMS, lambda *_: None)
    phases.enter(PHASES[-1])
    engine.finish_load(instance)


Drawn = list[tuple[str, list[pa.RecordBatch]]]


def drawn_for(warehouse: int, work: Work) -> Drawn:
    """The values of a warehouse's rows, by table; the first one has those of no warehouse, too."""
    drawn = []
    for table in work.tables:
        stream = table_rows(TPCC.row_facts(work.warehouses), table, 1)
        batches = list(pa.RecordBatchReader.from_stream(stream))
        if len(batches) == PARTS_A_WAREHOUSE * work.warehouses and table != "item":
            first = PARTS_A_WAREHOUSE * (warehouse - 1)
            drawn.append((table, batches[first : first + PARTS_A_WAREHOUSE]))
        elif warehouse == 1:
            drawn.append((table, batches))
    return drawn


def statements(drawn: Drawn, rows: int) -> Iterator[str]:
    """The INSERTs of some rows; an empty text ends a transaction."""
    for table, batches in drawn:
        for batch in batches:
            texts = list(literals(batch))
            for begin in range(0, len(texts), rows):
                yield f"insert into {table} values {','.join(texts[begin : begin + rows])}"
        yield ""


def literals(batch: pa.RecordBatch) -> Iterator[str]:
    """Each row in brackets."""
    columns = [list(literals_of(column)) for column in batch.columns]
    return (f"({','.join(row)})" for row in zip(*columns, strict=True))


def literals_of(column: pa.Array) -> Iterable[str]:
    if pa.types.is_string(column.type):
        return (f"'{value}'" for value in column.to_pylist())
    if pa.types.is_timestamp(column.type):
        return ("null" if missing else MOMENT for missing in column.is_null().to_pylist())
    return ("null" if value is None else str(value) for value in column.to_pylist())


def send(product: Product, address: Address, work: Drawn | list[str], rows: int) -> None:
    """In a process of its own: sends the statements over one connection."""
    ready = bool(work) and isinstance(work[0], str)
    connection = product.connect(address)
    cursor = connection.cursor()
    for statement in work if ready else statements(work, rows):
        if statement:
            cursor.execute(statement)
        else:
            connection.commit()
    connection.close()


def contents(
    product: Product, address: Address, tables: Sequence[str]
) -> dict[str, tuple[int, str]]:
    """Rows and digest of each table."""
    connection = product.connect(address)
    cursor, held = connection.cursor(), {}
    for table in tables:
        cursor.execute(product.digest(table))
        held[table] = cursor.fetchone()
    connection.close()
    return held


if __name__ == "__main__":
    main()
