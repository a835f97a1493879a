"""Client CPU a transaction: the driver, with every event recorded, beside pgbench.

The same prepared statements on the same tables of one PostgreSQL server, on the same CPUs, in
interleaved rounds: one client and eight, a single-row SELECT and the TPC-B-like transaction, client
and server on one CPU and on two; and 64 clients. Each ratio is of one round; a line tells their
median and range. The goal is 0.85, and no cell may be above 1.

CPU is user and system time: of pgbench's whole process, and of the driver's process from the call
of `drive` to its return, recorder and everything else in it included.

    .venv/bin/python benchmarks/bench_driver_vs_pgbench.py [--rounds 5] [--seconds 5] [--engine postgresql@18]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from servers import Server, server  # benchmarks/servers.py

SCALE = 10
PGBENCH = {"select": ["-S"], "tpcb": []}
ACCOUNTS, TELLERS, BRANCHES = 100_000 * SCALE, 10 * SCALE, SCALE


@dataclass(frozen=True)
class Cell:
    """What is measured: work, clients and where both sides run."""

    work: str
    clients: int
    placement: str  # "same CPU" or "own CPUs"

    def __str__(self) -> str:
        return f"{self.work:<7} {self.clients:>2} clients  {self.placement}"


CELLS = [
    *(
        Cell(work, clients, placement)
        for placement in ("same CPU", "own CPUs")
        for work in ("select", "tpcb")
        for clients in (1, 8)
    ),
    Cell("select", 64, "own CPUs"),
    Cell("tpcb", 64, "own CPUs"),
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--engine", default="postgresql@15")
    options.add_argument("--transport", default="tcp", choices=["tcp", "socket"])
    options.add_argument("--only", help="cells whose name contains this")
    options.add_argument("--child", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child is not None:
        drive_once(json.loads(asked.child))
        return
    cells = [cell for cell in CELLS if asked.only is None or asked.only in str(cell)]
    settings = {"max_connections": "100", "synchronous_commit": "on"}
    with server(asked.engine, settings, asked.transport) as running:
        prepare(running)
        ratios = {cell: [] for cell in cells}
        costs = {cell: [] for cell in cells}
        for number in range(asked.rounds):
            for cell in cells:
                ours, theirs = one_round(running, cell, asked.seconds, ours_first=number % 2 == 0)
                ratios[cell].append(ours / theirs)
                costs[cell].append((ours, theirs))
                print(
                    f"round {number + 1}  {cell}  {ours:6.2f} / {theirs:6.2f} us = {ours / theirs:.2f}",
                    flush=True,
                )
    print(
        f"\nclient CPU a transaction on PostgreSQL {running.version} over {asked.transport}, {asked.rounds} rounds of {asked.seconds:g} s"
    )
    print(f"{'':<30}  driver  pgbench   ratio (lowest to highest)")
    for cell in cells:
        ours, theirs = (statistics.median(values) for values in zip(*costs[cell], strict=True))
        low, middle, high = min(ratios[cell]), statistics.median(ratios[cell]), max(ratios[cell])
        print(f"{cell!s:<30}  {ours:6.2f}  {theirs:7.2f}   {middle:.2f}  ({low:.2f} to {high:.2f})")


def prepare(running: Server) -> None:
    command = [str(running.bin / "pgbench"), "-i", "-q", "-s", str(SCALE), *running.client_options]
    subprocess.run(command, env=running.env, check=True, capture_output=True)


def one_round(
    running: Server, cell: Cell, seconds: float, *, ours_first: bool
) -> tuple[float, float]:
    """Microseconds of client CPU a transaction: ours and pgbench's."""
    client_cpu = 0 if cell.placement == "same CPU" else 1
    running.pin(0)
    measures = [
        lambda: ours_us(running, cell, seconds, client_cpu),
        lambda: pgbench_us(running, cell, seconds, client_cpu),
    ]
    if ours_first:
        ours = measures[0]()
        return ours, measures[1]()
    theirs = measures[1]()
    return measures[0](), theirs


def pgbench_us(running: Server, cell: Cell, seconds: float, cpu: int) -> float:
    command = [
        "taskset",
        "-c",
        str(cpu),
        str(running.bin / "pgbench"),
        "-n",
        "-M",
        "prepared",
        *PGBENCH[cell.work],
        "-c",
        str(cell.clients),
        "-j",
        "1",
        "-T",
        str(max(1, round(seconds))),
        *running.client_options,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(command, env=running.env, check=True, capture_output=True, text=True)
    used_s = cpu_s(resource.getrusage(resource.RUSAGE_CHILDREN)) - cpu_s(before)
    line = next(line for line in told.stdout.splitlines() if "actually processed" in line)
    return used_s / int(line.split(":")[1].split("/")[0]) * 1e6


def ours_us(running: Server, cell: Cell, seconds: float, cpu: int) -> float:
    job = {
        "dsn": running.dsn,
        "work": cell.work,
        "clients": cell.clients,
        "seconds": seconds,
        "cpu": cpu,
    }
    command = [sys.executable, __file__, "--child", json.dumps(job)]
    told = subprocess.run(command, env=os.environ, check=True, capture_output=True, text=True)
    result = json.loads(told.stdout)
    return result["cpu_s"] / result["transactions"] * 1e6


def drive_once(job: dict) -> None:
    """In a process of its own: opens sessions, drives, tells CPU time and transactions."""
    from assay import _core

    os.sched_setaffinity(0, [job["cpu"]])
    script = json.dumps({"operations": [OPERATIONS[job["work"]]], "prepared": True})
    sessions = [
        _core.PostgresSession(job["dsn"], script, 1, number) for number in range(job["clients"])
    ]
    phase = {
        "name": "measured",
        "arrival": {"shape": "closed", "clients": job["clients"]},
        "operations": [0],
        "duration_ns": round(job["seconds"] * 1e9),
    }
    plan = {"operations": [job["work"]], "phases": [phase], "seed": 1, "sessions_per_worker": 64}
    with tempfile.TemporaryDirectory() as raw:
        before = resource.getrusage(resource.RUSAGE_SELF)
        report = json.loads(
            _core.drive(json.dumps(plan), sessions, raw, _core.CancelFlag(), lambda *_: None)
        )
        used_s = cpu_s(resource.getrusage(resource.RUSAGE_SELF)) - cpu_s(before)
        events = (Path(raw) / "events.arrows").stat().st_size
    counts = report["phases"][0]["operations"][0]["counts"]
    assert counts["failed"] == 0, report["errors"]
    assert events > counts["ok"], "every event is on disk"
    print(json.dumps({"cpu_s": used_s, "transactions": counts["ok"]}))


def cpu_s(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def drawn(name: str, low: int, high: int) -> dict:
    return {"name": name, "integer": [low, high]}


def statement(text: str, *values: int) -> dict:
    return {"text": text, "values": list(values)}


OPERATIONS = {
    "select": {
        "name": "select",
        "draws": [drawn("aid", 1, ACCOUNTS)],
        "statements": [statement("SELECT abalance FROM pgbench_accounts WHERE aid = $1", 0)],
    },
    "tpcb": {
        "name": "tpcb",
        "draws": [
            drawn("aid", 1, ACCOUNTS),
            drawn("bid", 1, BRANCHES),
            drawn("tid", 1, TELLERS),
            drawn("delta", -5000, 5000),
        ],
        "statements": [
            statement("BEGIN"),
            statement("UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", 3, 0),
            statement("SELECT abalance FROM pgbench_accounts WHERE aid = $1", 0),
            statement("UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", 3, 2),
            statement("UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", 3, 1),
            statement(
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
                2,
                1,
                0,
                3,
            ),
            statement("END"),
        ],
    },
}

if __name__ == "__main__":
    main()
