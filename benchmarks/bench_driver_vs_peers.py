"""Client CPU a transaction: the driver, with every event recorded, beside pgbench and sysbench.

The same prepared statements on the same tables of one server, on the same CPUs, in interleaved
rounds, with one client and with eight, client and server on one CPU and on two:

    PostgreSQL  pgbench's TPC-B-like transaction; sysbench's point select and read-write transaction
    MariaDB     sysbench's point select and read-write transaction

and TPC-C of one warehouse by the driver alone, without waits. Statements of the read-write
transaction and of TPC-C are those of Assay's workloads. Each ratio is of one round; a line tells
their median with a 95 % interval (percentile bootstrap over rounds). The goals are 0.85 of each
client, and 250 microseconds a TPC-C transaction.

CPU is user and system time: of a peer's process, in a long run less that in a short one, and of the
driver's process from the call of `drive` to its return, recorder and all else in it included.

    .venv/bin/python benchmarks/bench_driver_vs_peers.py [--rounds 5] [--seconds 5] [--pipelined]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict

import peers  # benchmarks/peers.py
import pgbench  # benchmarks/pgbench.py
from assay.engines.discovery import find_engine
from assay.engines.postgresql.programs import find_programs
from assay.running.data.filling import fill
from assay.workloads.discovery import find_workload
from peers import Sysbench, Target
from servers import Server, Started, filling_of, started  # benchmarks/servers.py

PLACEMENTS = {"same CPU": 0, "own CPUs": 1}
CLIENTS = (1, 8)
PEERS = {
    "postgresql": {"tpcb": "pgbench", "point-select": "sysbench", "oltp-read-write": "sysbench"},
    "mariadb": {"point-select": "sysbench", "oltp-read-write": "sysbench"},
}
# A server's own work is not what is measured: it need not wait for its disk.
SETTINGS = {
    "postgresql": {"max_connections": "100", "synchronous_commit": "off"},
    "mariadb": {"innodb_flush_log_at_trx_commit": "0"},
}
TPCC = "tpcc"
RETRIES_MAX = 20
RESAMPLES = 2_000
GOAL, GOAL_TPCC_US = 0.85, 250.0


@dataclass(frozen=True)
class Cell:
    """What is measured: server, work, clients, and where both sides run."""

    engine: str
    work: str
    clients: int
    placement: str
    peer: str | None

    def __str__(self) -> str:
        return f"{self.engine:<10} {self.work:<15} {self.clients} clients  {self.placement}"


@dataclass
class Taken:
    """Microseconds of client CPU a transaction, round by round."""

    ours_us: list[float] = field(default_factory=list)
    theirs_us: list[float] = field(default_factory=list)

    def ratio(self) -> tuple[float, float, float] | None:
        """The median over rounds, and its interval."""
        if not self.theirs_us:
            return None
        ratios = [ours / theirs for ours, theirs in zip(self.ours_us, self.theirs_us, strict=True)]
        return interval(ratios)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median with its interval by the percentile bootstrap (Efron and Tibshirani, 1993, 13.3)."""
    draw = random.Random(1)  # noqa: S311 - nothing is to be kept secret
    medians = sorted(
        statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)
    )
    low, high = medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]
    return statistics.median(values), low, high


def main() -> None:
    asked = arguments()
    if asked.child is not None:
        drive_once(json.loads(asked.child))
        return
    sysbench = Sysbench()
    versions: dict[str, str] = {"sysbench": sysbench.version}
    taken: dict[Cell, Taken] = {}
    for engine in asked.engines:
        of = [cell for cell in cells(engine) if asked.only is None or asked.only in str(cell)]
        if not of:
            continue
        with target(engine) as (running, at):
            versions[engine] = at.version
            prepare(running, at, {cell.work for cell in of}, sysbench)
            at.pin(0)
            for number in range(asked.rounds):
                for cell in of:
                    play(cell, at, sysbench, asked, number, taken.setdefault(cell, Taken()))
    if asked.json:
        print(json.dumps(facts(versions, taken, asked), indent=2))
    else:
        print_table(versions, taken, asked)


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--engines", nargs="+", default=["postgresql@15", "mariadb"])
    options.add_argument("--only", help="cells whose name contains this")
    options.add_argument(
        "--pipelined", action="store_true", help="our statements that may go together do"
    )
    options.add_argument("--json", action="store_true", help="figures instead of a table")
    options.add_argument("--child", help=argparse.SUPPRESS)
    return options.parse_args()


def cells(engine: str) -> Iterator[Cell]:
    name = engine.partition("@")[0]
    for work, peer in [*PEERS[name].items(), (TPCC, None)]:
        for placement in PLACEMENTS:
            for clients in CLIENTS:
                yield Cell(engine, work, clients, placement, peer)


@contextmanager
def target(engine: str) -> Iterator[tuple[Started, Target]]:
    """A server, and how clients reach it over TCP."""
    name = engine.partition("@")[0]
    with started(engine, SETTINGS[name]) as running:
        at, version = running.address, running.product.version
        if name == "postgresql":
            said = conninfo_to_dict(at["dsn_tcp"])
            reached = [said[key] for key in ("host", "port", "user", "password", "dbname")]
            programs = find_programs(running.product.home).bin_dir
        else:
            reached = [at[key] for key in ("host", "port", "user", "password", "database")]
            programs = None
        host, port, *rest = reached
        yield running, Target(name, version, str(host), int(port), *rest, (running.pid,), programs)


def prepare(running: Started, at: Target, works: set[str], sysbench: Sysbench) -> None:
    """Makes and fills the tables, each by the client whose they are."""
    if "tpcb" in works:
        assert at.bin is not None
        pgbench.prepare(Server(running.address["dsn_tcp"], at.bin, running.pid, at.version))
    if works & set(peers.SYSBENCH_WORK):
        sysbench.prepare(at)
    if TPCC in works:
        load_tpcc(running, at.engine)


def load_tpcc(running: Started, engine: str) -> None:
    """One warehouse, as a run loads it."""
    workload, dialects = find_workload(TPCC), find_engine(engine).facts.dialects
    instance = running.behaviour.attach(running.address)
    filling = filling_of(workload, dialects, 1)
    fill(running.behaviour, instance, filling, lambda *_: None)
    running.behaviour.detach(instance)


def play(
    cell: Cell, at: Target, sysbench: Sysbench, asked: argparse.Namespace, number: int, into: Taken
) -> None:
    """A round of a cell: who begins changes."""
    cpu = PLACEMENTS[cell.placement]

    def ours() -> None:
        into.ours_us.append(ours_us(cell, at, asked.seconds, cpu, pipelined=asked.pipelined))

    def theirs() -> None:
        if cell.peer is None:
            return
        command = (
            peers.pgbench(at, cell.clients)
            if cell.peer == "pgbench"
            else sysbench.command(at, cell.work, cell.clients)
        )
        into.theirs_us.append(command.cost_us(asked.seconds, cpu))

    for side in (ours, theirs) if number % 2 == 0 else (theirs, ours):
        side()
    beside = f" / {into.theirs_us[-1]:7.2f}" if cell.peer else ""
    print(f"round {number + 1}  {cell}  {into.ours_us[-1]:7.2f}{beside} us", file=sys.stderr)


def ours_us(cell: Cell, at: Target, seconds: int, cpu: int, *, pipelined: bool) -> float:
    """Microseconds of the driver's CPU a transaction."""
    script, weights = script_of(cell.work, at.engine)
    script |= {"prepared": True, "pipelined": pipelined}
    job = {
        "script": script,
        "weights": weights,
        "clients": cell.clients,
        "seconds": seconds,
        "cpu": cpu,
        "server": asdict(at) | {"bin": None},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(job, file)
        file.flush()
        command = [sys.executable, __file__, "--child", json.dumps(file.name)]
        ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(ended.stdout)
    return result["cpu_s"] / result["transactions"] * 1e6


def script_of(work: str, engine: str) -> tuple[dict[str, Any], list[int]]:
    """What our sessions execute, and how often each operation of it."""
    if work == "tpcb":
        return {"operations": [pgbench.operations()["tpcb"]]}, [1]
    if work == "point-select":
        text = "SELECT c FROM sbtest1 WHERE id = $1"
        draws = [pgbench.drawn("id", 1, peers.ROWS)]
        operation = {"name": work, "draws": draws, "statements": [pgbench.statement(text, 0)]}
        return {"operations": [operation]}, [1]
    workload = find_workload(work)
    scale = 1 if work == TPCC else peers.ROWS / 10_000
    script = workload.script(find_engine(engine).facts.dialects, scale, 1).facts()
    order = list(workload.facts.order)
    script["operations"] = [
        operation for operation in script["operations"] if operation["name"] in order
    ]
    return script, [workload.weights[operation["name"]] for operation in script["operations"]]


def drive_once(file: str) -> None:
    """In a process of its own: opens sessions, drives, tells CPU time and transactions."""
    from assay import _core

    job = json.loads(Path(file).read_text())
    os.sched_setaffinity(0, [job["cpu"]])
    names = [operation["name"] for operation in job["script"]["operations"]]
    phase = {
        "name": "measured",
        "arrival": {"shape": "closed", "clients": job["clients"]},
        "operations": list(range(len(names))),
        "weights": job["weights"],
        "deck": True,
        "duration_ns": job["seconds"] * 10**9,
    }
    plan = {
        "operations": names,
        "phases": [phase],
        "seed": 1,
        "retries_max": RETRIES_MAX,
        "sessions_per_worker": 64,
    }
    opened = sessions(job)
    with tempfile.TemporaryDirectory() as raw:
        before = resource.getrusage(resource.RUSAGE_SELF)
        report = json.loads(
            _core.drive(json.dumps(plan), opened, raw, _core.CancelFlag(), lambda *_: None)
        )
        used_s = pgbench.cpu_s(resource.getrusage(resource.RUSAGE_SELF)) - pgbench.cpu_s(before)
        events = (Path(raw) / "events.arrows").stat().st_size
    counts = [operation["counts"] for operation in report["phases"][0]["operations"]]
    done = sum(count["ok"] for count in counts)
    assert all(count["failed"] == 0 for count in counts), report["errors"]
    assert events > done, "every event is on disk"
    print(json.dumps({"cpu_s": used_s, "transactions": done}))


def sessions(job: dict[str, Any]) -> list[Any]:
    """Connections of the driver's own."""
    from psycopg.conninfo import make_conninfo

    from assay import _core

    at, script = job["server"], json.dumps(job["script"])
    reached = {key: at[key] for key in ("host", "port", "user", "password")}
    if at["engine"] == "postgresql":
        dsn = make_conninfo("", **reached, dbname=at["database"])
        return [_core.PostgresSession(dsn, script, 1, n) for n in range(job["clients"])]
    config = json.dumps(reached | {"database": at["database"], "tls": {"mode": "disable"}})
    return [_core.MysqlSession(config, script, 1, n) for n in range(job["clients"])]


def facts(
    versions: dict[str, str], taken: dict[Cell, Taken], asked: argparse.Namespace
) -> dict[str, Any]:
    """All figures, as JSON values."""
    rows = [
        asdict(cell) | asdict(of) | {"ratio": of.ratio(), "ours": interval(of.ours_us)}
        for cell, of in taken.items()
    ]
    how = {"rounds": asked.rounds, "seconds": asked.seconds, "pipelined": asked.pipelined}
    return {"versions": versions, **how, "cells": rows}


def print_table(
    engine_versions: dict[str, str], taken: dict[Cell, Taken], asked: argparse.Namespace
) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in engine_versions.items())
    print(f"client CPU a transaction, {asked.rounds} rounds of {asked.seconds} s; {versions}")
    print(f"{'':<52}  driver    peer  ratio (95 % interval)")
    for cell, of in taken.items():
        ours, ratio = statistics.median(of.ours_us), of.ratio()
        if ratio is None:
            met = "within" if ours <= GOAL_TPCC_US else "above"
            print(f"{cell!s:<52} {ours:7.2f}          {met} {GOAL_TPCC_US:g} us")
            continue
        middle, low, high = ratio
        theirs = statistics.median(of.theirs_us)
        print(
            f"{cell!s:<52} {ours:7.2f} {theirs:7.2f}  {middle:.2f} ({low:.2f} to {high:.2f})"
            f"  {cell.peer}"
        )
    ratios = [ratio[0] for of in taken.values() if (ratio := of.ratio())]
    print(f"{sum(ratio <= GOAL for ratio in ratios)} of {len(ratios)} ratios are {GOAL} or less")


if __name__ == "__main__":
    main()
