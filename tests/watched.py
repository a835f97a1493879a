"""Writes records of a server's own statements, as an observation leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from assay.probes.streams import COST, LOOKS, STATEMENT_COUNTS, Stream, write_no_events
from assay.record.reader import Run
from assay.record.writer import RunWriter
from assay.running.asked.observe import observation_of, observe_options

S = 1_000_000_000
BEGUN_NS = 50 * S
# A commit is seen at every other look, and not counted; an update is both.
COMMIT, UPDATE, SCAN = "11", "22", "33"
NAMES = {COMMIT: "commit", UPDATE: "update-accounts", SCAN: "select-orders"}
TEXTS = {
    "commit": "COMMIT",
    "update-accounts": "update accounts set balance = $1 where id = $2",
    "select-orders": "select * from orders where customer_id = $1",
}
LOOKS_TAKEN = 200
LOCKED, LOGGED = ("Lock", "transactionid"), ("IO", "WalSync")

Row = tuple[int, str | None, int | None, str | None, str | None]


def a_look(number: int) -> list[Row]:
    """Sessions of one look: session, statement, leader, and what it waits for."""
    rows: list[Row] = []
    if number % 2 == 0:
        rows.append((101, COMMIT, None, *LOGGED))
    if number % 4 == 0:
        rows.append((102, UPDATE, None, *(LOCKED if number % 8 == 0 else (None, None))))
    return rows


def looks_of(looks: dict[int, list[Row]], step_ns: int = S // 10) -> pl.DataFrame:
    """The stream of looks, by their numbers."""
    rows: list[dict[str, Any]] = []
    for number, sessions in looks.items():
        time_ns = BEGUN_NS + number * step_ns
        rows.append({"time_ns": time_ns})
        rows += [
            {
                "time_ns": time_ns,
                "session": session,
                "statement": statement,
                "leader": leader,
                "wait_kind": kind,
                "wait_event": event,
            }
            for session, statement, leader, kind, event in sessions
        ]
    columns = {"session": pl.UInt32, "leader": pl.UInt32, "tid": pl.UInt32, "seconds": pl.Float64}
    words = ("statement", "application", "database", "wait_kind", "wait_event")
    schema = {"time_ns": pl.Int64, **columns, **dict.fromkeys(words, pl.String)}
    return pl.DataFrame(rows, schema=schema)


def counts_of(grown: dict[str, dict[str, tuple[float, float]]]) -> pl.DataFrame:
    """The stream of counts: by statement and counter, its first and last value."""
    rows = [
        (BEGUN_NS + place * S, statement, counter, values[place])
        for statement, counters in grown.items()
        for counter, values in counters.items()
        for place in (0, 1)
    ]
    return pl.DataFrame(rows, schema=["time_ns", "statement", "counter", "value"], orient="row")


def counted(calls: float, seconds: float, **more: float) -> dict[str, float]:
    return {"calls": calls, "execution_seconds": seconds, "planning_seconds": 0.0, **more}


def write_observed(
    runs: Path, *, limits: tuple[str, ...] = (), source: str | None = "pg_stat_statements"
) -> Run:
    """A sealed record of twenty seconds: commits, updates that wait, and scans of a table."""
    options = observe_options({"dsn": "postgresql://reader@db/shop", "time": "20s"})
    asked = observation_of(options).facts("18.1")
    ended_ns = BEGUN_NS + LOOKS_TAKEN * S // 10
    with RunWriter(runs, "20260101T000000000Z-observed-postgresql-abc123", asked) as run:
        write_no_events(run.raw)
        _write_looks(run.raw)
        _write_counts(run.raw, ended_ns)
        run.write_environment({"host": {"cpu": {"allowed": [0, 1]}}, "engine": {"settings": {}}})
        run.update(
            probes={
                "statements": {"cost": "asks", "stream": "looks", "error": None, "samples": 200}
            },
            observed={
                "begun_ns": BEGUN_NS,
                "ended_ns": ended_ns,
                "asked_s": 20.0,
                "stopped": False,
                "source": source,
                "limits": list(limits),
                "aliases": {},
                "names": NAMES,
            },
            statements={
                name: {"operation": name, "file": None, "parameters": {}, "text": text}
                for name, text in TEXTS.items()
            },
            plans={"error": None},
        )
        run.seal()
        return Run(run.dir)


def _write_looks(raw: Path) -> None:
    with Stream(raw, "looks", LOOKS) as stream, Stream(raw, "probe-statements", COST) as cost:
        for number in range(LOOKS_TAKEN):
            time_ns = BEGUN_NS + number * S // 10
            stream.push(time_ns, *[None] * 9)
            for session, statement, leader, kind, event in a_look(number):
                stream.push(
                    time_ns, session, statement, leader, None, "shop", "shop", kind, event, 0.01
                )
            cost.push(time_ns, "statements", number * 300_000, number + 1, 400_000)


def _write_counts(raw: Path, ended_ns: int) -> None:
    grown = {
        COMMIT: counted(4_000, 0.01),
        UPDATE: counted(4_000, 4.8, rows=4_000),
        SCAN: counted(20, 2.0, rows=200, cache_hit_bytes=160e6),
    }
    with Stream(raw, "statement-counts", STATEMENT_COUNTS) as stream:
        for statement, counters in grown.items():
            for counter, value in counters.items():
                stream.push(BEGUN_NS, statement, counter, 7.0)
                stream.push(ended_ns, statement, counter, 7.0 + value)
