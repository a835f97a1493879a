"""Makes a written run one of a server: its own counters, its processes, and which serves whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.probes.streams import ACTIVITY, ENGINE, ENGINE_OPERATIONS, Stream
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import BEGUN_NS, MS, S, write_stream

ROOT, BACKEND, WORKER, WRITER, READER = 5000, 5010, 5100, 5200, 5300
MIB = 1 << 20
CORES = {BACKEND: 0.5, WORKER: 0.25, WRITER: 0.02, READER: 0.01}
TITLES = {
    ROOT: "server",
    BACKEND: "client backend",
    WORKER: "parallel worker",
    WRITER: "<b>writer</b>",
    READER: "client backend idle",
}
SPILLING = "q01"


def figure(name: str, title: str, unit: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "unit": unit, "source": "s", "counter": name} | more


DECLARED: dict[str, Any] = {
    "counters": [
        figure("buffer_hits", "Blocks found", "blocks"),
        figure("buffer_reads", "Blocks read", "blocks"),
        figure("block_read_seconds", "Time in reading <blocks>", "s", scale=1e-3),
        figure("temporary_bytes", "Written to temporary files", "bytes", to_try="more memory"),
        figure("deadlocks", "Deadlocks", "deadlocks"),
        figure("connections", "Connections", "connections", kind="gauge"),
    ],
    "shares": [
        {
            "name": "buffer_hit_share",
            "title": "Blocks found in memory",
            "part": ["buffer_hits"],
            "whole": ["buffer_hits", "buffer_reads"],
        }
    ],
}
# What each counter grows by in a second; connections are as they are.
GROWTH_PER_S = {
    "buffer_hits": 9_990.0,
    "buffer_reads": 10.0,
    "block_read_seconds": 5.0,
    "temporary_bytes": 3.0 * MIB,
    "deadlocks": 0.0,
}


def as_server(directory: Path, *, sessions: int = 1, declared: Any = DECLARED) -> Path:
    """Adds to a run of any load what a server tells, seals it anew and returns it.

    Args:
        directory: Of the run.
        sessions: How many sessions the load generator has.
        declared: What the engine's declaration says.
    """
    raw = directory / "raw"
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["engine"] |= {"kind": "server", "counters": declared}
    events = _events(raw)
    ended_ns = max(event["finished_ns"] or 0 for event in events)
    times = list(range(BEGUN_NS - S, ended_ns + 2 * S, 500 * MS))
    _write_counters(raw, times)
    if facts["request"].get("clients") is None:
        _write_operation_counters(raw, events)
    _write_processes(raw, times, sessions)
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def _events(raw: Path) -> list[dict[str, Any]]:
    with pa.ipc.open_stream(raw / "events.arrows") as reader:
        rows: list[dict[str, Any]] = reader.read_all().to_pylist()
    return rows


def _write_counters(raw: Path, times: list[int]) -> None:
    with Stream(raw, "engine", ENGINE) as stream:
        for time in times:
            passed_s = (time - times[0]) / S
            for name, per_s in GROWTH_PER_S.items():
                stream.push(time, "s", "t", name, per_s * passed_s)
            stream.push(time, "s", "t", "connections", 7.0)


def _write_operation_counters(raw: Path, events: list[dict[str, Any]]) -> None:
    """One operation spills 40 MiB in each execution, each finds 100 blocks."""
    with Stream(raw, "engine-operations", ENGINE_OPERATIONS) as stream:
        for event in events:
            spilled = 40.0 * MIB if event["operation"] == SPILLING else 0.0
            grown = {"buffer_hits": 100.0, "temporary_bytes": spilled, "deadlocks": 0.0}
            for edge, factor in (("start", 0.0), ("end", 1.0)):
                about = (event["sequence"], edge, event["started_ns"], "s", "t")
                for name, value in grown.items():
                    stream.push(*about, name, value * factor)


def _write_processes(raw: Path, times: list[int], sessions: int) -> None:
    rows = []
    backends = [BACKEND + place for place in range(sessions)]
    workers = {WORKER + place: backend for place, backend in enumerate(backends)}
    of_kind = dict.fromkeys(backends, BACKEND) | dict.fromkeys(workers, WORKER)
    for time in times:
        for pid in (ROOT, *backends, *workers, WRITER, READER):
            kind = of_kind.get(pid, pid)
            used_ns = round((time - times[0]) * CORES.get(kind, 0.0) / sessions)
            rows.append(
                {
                    "time_ns": time,
                    "pid": pid,
                    "ppid": 1 if pid == ROOT else ROOT,
                    "started_ns": 1,
                    "account": "engine",
                    "title": TITLES[kind],
                    "user_ns": used_ns,
                    "run_delay_ns": used_ns // 10,
                    "read_bytes": 0,
                    "write_bytes": used_ns // 100,
                }
            )
    write_stream(raw / "processes.arrows", rows)
    write_stream(
        raw / "backends.arrows",
        [
            {"time_ns": times[0], "session": session, "backend_pid": pid}
            for session, pid in enumerate(backends)
        ],
    )
    with Stream(raw, "activity", ACTIVITY) as stream:
        for pid, leader in workers.items():
            stream.push(times[0], pid, "worker", leader, *[None] * 6)
        stream.push(times[0], READER, "client", None, "reader", "idle", *[None] * 4)
