"""Writes runs of one query that reads from a disk, and looks at what the disk gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.model.plan import Plan
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.plans import made, made_plan, with_plans
from tests.records import BEGUN_NS, CPUS, MS, S, task_rows, write_run

QUERY = "q01"
SCAN = "index scan lineitem l_shipdate_idx"
DEVICE = "vda"
SAMPLE_NS = 100 * MS
BEFORE, AFTER = 3, 3


@dataclass(frozen=True)
class Reading:
    """A run whose one query reads evenly.

    Attributes:
        request: What differs from other runs.
        iowait, system, user: Of one CPU's time while the query runs; the other one is idle.
        own_share: Of what is read the part that the engine's process asked for; None: not known.
        sequential: Of ten reads those that begin where the one before ended; None: not traced.
    """

    seconds: float = 1.0
    reads: int = 10_000
    size_bytes: int = 8192
    iowait: float = 0.5
    system: float = 0.3
    user: float = 0.1
    request: dict[str, Any] = field(default_factory=dict)
    own_share: float | None = None
    sequential: int | None = None


def write_reading(runs: Path, reading: Reading, run_id: str = "20261122T100000Z-q1") -> Path:
    """Writes a whole run directory and returns it."""
    directory = write_run(runs, probes=False, run_id=run_id)
    raw = directory / "raw"
    ended_ns = BEGUN_NS + round(reading.seconds * S)
    for name in ("events", "tasks"):
        (raw / f"{name}.arrows").unlink()
    write_stream(raw / "events.arrows", [_event(ended_ns)])
    times = list(range(BEGUN_NS - BEFORE * SAMPLE_NS, ended_ns + AFTER * SAMPLE_NS, SAMPLE_NS))
    write_stream(raw / "disks.arrows", [_disk(reading, time) for time in times])
    write_stream(
        raw / "cpus.arrows", [_cpu(reading, time, cpu) for time in times for cpu in range(CPUS)]
    )
    if reading.own_share is not None:
        write_stream(raw / "tasks.arrows", list(_tasks(reading, ended_ns)))
    if reading.sequential is not None:
        write_stream(raw / "requests.arrows", list(_requests(reading)))
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["request"] |= {"remove": [], "read_ahead_bytes": None, **reading.request}
    facts["plan"]["operations"] = [QUERY]
    facts["statements"] = {QUERY: facts["statements"][QUERY]}
    if reading.request.get("remove"):
        removed = [{"name": "computation", "words": "all but counts"}]
        facts["statements"][QUERY]["rewritten"] = {"removed": removed, "stays": []}
    write_json(directory / "run.json", facts)
    return with_plans(directory, [scan_plan()])


def scan_plan(index: str = "l_shipdate_idx") -> Plan:
    """A sum over rows that an index finds."""
    scan = made("index scan", object="lineitem", index=index, rows=100.0, read_bytes=8192)
    return made_plan(made("aggregate", made("projection", scan)))


def _event(ended_ns: int) -> dict[str, Any]:
    return {
        "sequence": 0,
        "phase": "measured",
        "pass": 0,
        "session": 0,
        "operation": QUERY,
        "scheduled_ns": BEGUN_NS,
        "started_ns": BEGUN_NS,
        "finished_ns": ended_ns,
        "outcome": "ok",
        "error": None,
        "retries": 0,
        "rows": 4,
        "digest": 7,
    }


def _passed(reading: Reading, time_ns: int) -> float:
    """How much of the query is over."""
    return min(max((time_ns - BEGUN_NS) / (reading.seconds * S), 0.0), 1.0)


def _disk(reading: Reading, time_ns: int) -> dict[str, Any]:
    done = _passed(reading, time_ns)
    busy_ns = round(done * reading.seconds * S * reading.iowait)
    return {
        "time_ns": time_ns,
        "device": DEVICE,
        "kind": "disk",
        "reads": round(done * reading.reads),
        "reads_merged": 0,
        "read_bytes": round(done * reading.reads) * reading.size_bytes,
        "read_ns": busy_ns,
        "writes": 0,
        "writes_merged": 0,
        "write_bytes": 0,
        "write_ns": 0,
        "io_ns": busy_ns,
        "weighted_io_ns": busy_ns,
    }


def _tasks(reading: Reading, ended_ns: int) -> Iterator[dict[str, Any]]:
    """Counters of the engine's process at both edges of the query."""
    read_bytes = round(reading.reads * reading.size_bytes * (reading.own_share or 0.0))
    for row in task_rows([_event(ended_ns)]):
        yield row | {"read_bytes": 0 if row["time_ns"] <= BEGUN_NS else read_bytes}


def _requests(reading: Reading, count: int = 100) -> Iterator[dict[str, Any]]:
    """Reads of which so many in ten follow the one before, and the others begin far away."""
    sectors, sector = reading.size_bytes // 512, 0
    step_ns = round(reading.seconds * S / count)
    for number in range(count):
        is_next = number % 10 < (reading.sequential or 0)
        sector += sectors if is_next else 1 << 22
        yield {
            "time_ns": BEGUN_NS + 1 + number * step_ns,
            "device": DEVICE,
            "sector": sector,
            "bytes": reading.size_bytes,
            "rwbs": "R",
        }


def _cpu(reading: Reading, time_ns: int, cpu: int) -> dict[str, Any]:
    whole_ns = time_ns - (BEGUN_NS - BEFORE * SAMPLE_NS)
    query_ns = round(_passed(reading, time_ns) * reading.seconds * S) if cpu == 0 else 0
    parts = {
        "user_ns": round(query_ns * reading.user),
        "system_ns": round(query_ns * reading.system),
        "iowait_ns": round(query_ns * reading.iowait),
    }
    others = ("nice_ns", "irq_ns", "softirq_ns", "steal_ns", "guest_ns", "guest_nice_ns")
    idle_ns = whole_ns - sum(parts.values())
    return {"time_ns": time_ns, "cpu": cpu, **parts, "idle_ns": idle_ns, **dict.fromkeys(others, 0)}


def write_ceiling(
    runs: Path, *, latency_s: float = 80e-6, bytes_per_s: float = 1e9, deep: float = 5.0
) -> Path:
    """A look at a disk whose reads take a while, then move their bytes; many at once are faster."""
    directory = runs / "20261122T090000Z-ceiling-host-abc123"
    (directory / "raw").mkdir(parents=True)
    rows = [
        _trial(number, size, pattern, depth, cache, latency_s + size / bytes_per_s, deep)
        for number in (1, 2, 3)
        for size in (512 << power for power in range(13))
        for pattern in ("sequential", "random")
        for depth, cache in ((1, "direct"), (16, "direct"), (1, "buffered"))
    ]
    write_stream(directory / "raw" / "ceiling-disk.arrows", rows)
    for name in ("memory", "core"):
        write_stream(directory / "raw" / f"ceiling-{name}.arrows", [])
    host = {"data_device": {"name": DEVICE, "disks": [DEVICE]}}
    write_json(directory / "environment.json", {"host": host})
    facts = {"schema": 1, "id": directory.name, "kind": "ceiling", "status": "complete"}
    write_json(directory / "run.json", facts | {"request": {"size_bytes": 1 << 30}})
    write_seal(directory)
    return directory


def _trial(
    number: int, size: int, pattern: str, depth: int, cache: str, read_s: float, deep: float
) -> dict[str, Any]:
    # Rounds differ a little, so that there is an interval.
    requests = round((1 + 0.01 * number) * (deep if depth > 1 else 1.0) / read_s)
    latency_ns = round(read_s * S)
    percentiles = ("mean", "min", "p50", "p90", "p99", "p999", "max")
    return {
        "round": number,
        "sequence": 1,
        "begun_ns": BEGUN_NS,
        "operation": "read",
        "pattern": pattern,
        "cache": cache,
        "method": "pread" if depth == 1 else "io_uring",
        "depth": depth,
        "size_bytes": size,
        "requests": requests,
        "elapsed_ns": S,
        "user_ns": 0,
        "system_ns": 0,
        **{f"latency_{name}_ns": latency_ns for name in percentiles},
        "host_busy_ns": 0,
        "host_steal_ns": 0,
    }
