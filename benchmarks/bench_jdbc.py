"""What the way through the bridge costs: JDBC sessions beside PostgreSQL's own, on one server.

The same operations on the same tables, over loopback, in interleaved rounds: prepared single-row
SELECTs of one client and of eight, the TPC-B-like transaction, and a result of 100,000 rows. Each
ratio is of one round, bridged by native: operations a second, the driver's CPU an operation, and
driver and bridge together. A line tells their median and range. The Java process is warm: a round
that is not told comes first, except with `--no-warm-up`.

    .venv/bin/python benchmarks/bench_jdbc.py [--rounds 5] [--seconds 3] [--engine postgresql@16]
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from assay.engines.bridge.addresses import session_config
from assay.engines.bridge.drivers import obtain_driver
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.process import JAR, await_bridge, command
from assay.engines.bridge.statements import marked_script
from assay.model.script import Script
from assay.running.host.places import engines_dir
from pgbench import SCALE, cpu_s, drawn, operations, prepare, statement  # benchmarks/pgbench.py
from servers import Server, server  # benchmarks/servers.py

DRIVER = "org.postgresql:postgresql:42.7.4"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ROWS = 100_000
READ_ROWS = {
    "rows": {
        "name": "rows",
        "draws": [drawn("low", 1, ROWS)],
        "statements": [
            statement(
                f"SELECT aid, bid, abalance, filler, aid / 7.0 FROM pgbench_accounts WHERE aid BETWEEN $1 AND $1 + {ROWS - 1}",
                0,
            )
        ],
    }
}
CELLS = [("select", 1), ("select", 8), ("tpcb", 1), ("tpcb", 8), ("rows", 1)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--engine", default="postgresql@15")
    options.add_argument("--scale", type=int, default=SCALE, help="of pgbench's tables")
    options.add_argument("--clients", type=int, help="only with so many")
    options.add_argument("--no-warm-up", action="store_true", help="the first round counts")
    options.add_argument("--child", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child is not None:
        drive_once(json.loads(asked.child))
        return
    cells = [cell for cell in CELLS if asked.clients in {None, cell[1]}]
    settings = {"max_connections": "100", "synchronous_commit": "off"}
    with server(asked.engine, settings, "tcp") as running, bridge() as (socket, pid):
        prepare(running, asked.scale)
        ways = {"native": {"dsn": running.dsn}, "bridged": {"jdbc": address(running, socket)}}
        taken: dict[tuple[str, int], list[dict[str, dict[str, float]]]] = {c: [] for c in cells}
        for number in range(1 if asked.no_warm_up else 0, asked.rounds + 1):
            for cell in cells:
                order = list(ways) if number % 2 else list(ways)[::-1]
                by_way = {way: measured(ways[way], cell, asked, pid) for way in order}
                if number:
                    taken[cell].append(by_way)
    print(f"PostgreSQL {running.version}, {asked.rounds} rounds of {asked.seconds:g} s")
    print("bridged by native: median (lowest to highest); microseconds of CPU an operation\n")
    for cell, rounds in taken.items():
        tell(cell, rounds)


@contextmanager
def bridge() -> Iterator[tuple[Path, int]]:
    """A bridge with PostgreSQL's driver: its socket and its process."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "bridge.sock"
        jars = [JAR, obtain_driver(DRIVER, engines_dir())]
        process = subprocess.Popen(command(find_java(engines_dir()), jars, path), cwd=place)
        try:
            await_bridge(path, lambda: None if process.poll() is None else "it ended")
            yield path, process.pid
        finally:
            process.kill()
            process.wait()


def address(running: Server, socket: Path) -> dict:
    """How the same server is reached by JDBC."""
    parts = {key: str(value) for key, value in conninfo_to_dict(running.dsn).items()}
    url = f"jdbc:postgresql://{parts['host']}:{parts['port']}/{parts['dbname']}"
    properties = {name: parts[name] for name in ("user", "password") if name in parts}
    return {"socket": str(socket), "url": url, "properties": properties}


def measured(
    way: dict, cell: tuple[str, int], asked: argparse.Namespace, bridge_pid: int
) -> dict[str, float]:
    """Operations a second, and CPU microseconds an operation of driver and bridge."""
    of = {"scale": asked.scale, "seconds": asked.seconds}
    job = json.dumps({**way, "work": cell[0], "clients": cell[1], **of})
    before_s = process_cpu_s(bridge_pid)
    ended = subprocess.run(
        [sys.executable, __file__, "--child", job], check=True, capture_output=True, text=True
    )
    bridge_s = process_cpu_s(bridge_pid) - before_s
    result = json.loads(ended.stdout)
    done = result["operations"]
    return {
        "per_s": done / result["wall_s"],
        "driver_us": result["cpu_s"] / done * 1e6,
        "both_us": (result["cpu_s"] + bridge_s) / done * 1e6,
    }


def process_cpu_s(pid: int) -> float:
    """User and system time of a process and of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def drive_once(job: dict) -> None:
    """In a process of its own: opens sessions, drives, tells CPU time and operations."""
    from assay import _core

    script = {"operations": [(operations(job["scale"]) | READ_ROWS)[job["work"]]], "prepared": True}
    if "dsn" in job:
        script_text = json.dumps(script)
        sessions = [
            _core.PostgresSession(job["dsn"], script_text, 1, n) for n in range(job["clients"])
        ]
    else:
        for operation in script["operations"]:
            for draw in operation["draws"]:
                draw.setdefault("choice", None)
        script_text = json.dumps(marked_script(Script.read(script)).facts())
        config = session_config(job["jdbc"])
        sessions = [_core.JdbcSession(config, script_text, 1, n) for n in range(job["clients"])]
    phase = {
        "name": "measured",
        "arrival": {"shape": "closed", "clients": job["clients"]},
        "operations": [0],
        "duration_ns": round(job["seconds"] * 1e9),
    }
    plan = {"operations": [job["work"]], "phases": [phase], "seed": 1, "sessions_per_worker": 64}
    with tempfile.TemporaryDirectory() as raw:
        before = resource.getrusage(resource.RUSAGE_SELF)
        cancel = _core.CancelFlag()
        report = json.loads(_core.drive(json.dumps(plan), sessions, raw, cancel, lambda *_: None))
        used_s = cpu_s(resource.getrusage(resource.RUSAGE_SELF)) - cpu_s(before)
    phase = report["phases"][0]
    counts = phase["operations"][0]["counts"]
    assert counts["failed"] == 0, report["errors"]
    wall_s = (phase["ended_ns"] - phase["begun_ns"]) / 1e9
    print(json.dumps({"cpu_s": used_s, "operations": counts["ok"], "wall_s": wall_s}))


def tell(cell: tuple[str, int], rounds: list[dict[str, dict[str, float]]]) -> None:
    """One cell: its ratios, and what they are of."""
    print(f"{cell[0]}, {cell[1]} client{'s' * (cell[1] > 1)}")
    for figure, title in (
        ("per_s", "operations a second"),
        ("driver_us", "CPU of the driver"),
        ("both_us", "CPU of driver and bridge"),
    ):
        ratios = [by_way["bridged"][figure] / by_way["native"][figure] for by_way in rounds]
        of = [
            statistics.median(by_way[way][figure] for by_way in rounds)
            for way in ("bridged", "native")
        ]
        print(
            f"  {title:<25} {statistics.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            f"   {of[0]:,.0f} by {of[1]:,.0f}"
        )


if __name__ == "__main__":
    main()
