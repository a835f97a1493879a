"""pgbench's tables and its transactions, as operations of the driver: the same texts."""

from __future__ import annotations

import resource
import subprocess

from servers import Server  # benchmarks/servers.py

SCALE = 10
ACCOUNTS, TELLERS, BRANCHES = 100_000, 10, 1


def prepare(running: Server, scale: int = SCALE) -> None:
    """Makes and fills the tables."""
    command = [str(running.bin / "pgbench"), "-i", "-q", "-s", str(scale), *running.client_options]
    subprocess.run(command, env=running.env, check=True, capture_output=True)


def cpu_s(used: resource.struct_rusage) -> float:
    """User and system time."""
    return used.ru_utime + used.ru_stime


def drawn(name: str, low: int, high: int) -> dict:
    """A value of an operation."""
    return {"name": name, "integer": [low, high]}


def statement(text: str, *values: int) -> dict:
    """A statement that binds these values."""
    return {"text": text, "values": list(values)}


def operations(scale: int = SCALE) -> dict[str, dict]:
    """Return its transactions, over the rows that there are at a scale."""
    return {
        "select": {
            "name": "select",
            "draws": [drawn("aid", 1, ACCOUNTS * scale)],
            "statements": [statement("SELECT abalance FROM pgbench_accounts WHERE aid = $1", 0)],
        },
        "tpcb": {
            "name": "tpcb",
            "draws": [
                drawn("aid", 1, ACCOUNTS * scale),
                drawn("bid", 1, BRANCHES * scale),
                drawn("tid", 1, TELLERS * scale),
                drawn("delta", -5000, 5000),
            ],
            "statements": [
                statement("BEGIN"),
                statement(
                    "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", 3, 0
                ),
                statement("SELECT abalance FROM pgbench_accounts WHERE aid = $1", 0),
                statement(
                    "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", 3, 2
                ),
                statement(
                    "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", 3, 1
                ),
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
