"""Writes whole run directories of three TPC-H queries, for tests of what renders records.

Times are made up, columns are the real ones: they come from the core's own description of a record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.record.layout import DRIVER_FILE, STATUS_COMPLETE
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_result, write_stream

MS = 1_000_000
S = 1_000_000_000
BEGUN_NS = 1_000 * S
PID = 4300
ENGINE_AND_DRIVER = "engine and driver"
# Median seconds of the operations of a synthetic run, and how many rows they return.
OPERATIONS = {"q01": 0.4, "q02": 0.1, "q03": 0.2}
DIGEST = 7
PASSES = 3
CPUS = 2
SAMPLE_NS = 100 * MS
RSS_BYTES = 200 << 20


def event_rows(failing: str | None = None) -> list[dict[str, Any]]:
    """Events of one warm-up pass and `PASSES` measured ones, 10 ms between two operations."""
    rows: list[dict[str, Any]] = []
    now = BEGUN_NS
    for turn in range(PASSES + 1):
        for name, seconds in OPERATIONS.items():
            # The second measured pass is a tenth slower, so the median is the nominal time.
            factor = {0: 1.5, 1: 0.95, 2: 1.1}.get(turn, 1.0)
            ended = now + round(seconds * factor * S)
            failed = name == failing
            rows.append(
                {
                    "sequence": len(rows),
                    "phase": "measured" if turn else "warmup",
                    "pass": max(0, turn - 1),
                    "session": 0,
                    "operation": name,
                    "scheduled_ns": now,
                    "started_ns": now,
                    "finished_ns": ended,
                    "outcome": "failed" if failed else "ok",
                    "error": "out_of_memory" if failed else None,
                    "retries": 0,
                    "rows": None if failed else 4,
                    "digest": None if failed else DIGEST,
                }
            )
            now = ended + 10 * MS
    return rows


def task_rows(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counters around each operation: on a CPU for nine tenths of its time, with one thread."""
    rows = []
    zero = dict.fromkeys(
        ("user_ns", "system_ns", "run_delay_ns", "read_bytes", "write_bytes", "minor_faults"), 0
    )
    for event in events:
        wall = event["finished_ns"] - event["started_ns"]
        start = {"sequence": event["sequence"], "edge": "start", "time_ns": event["started_ns"]}
        end = start | {"edge": "end", "time_ns": event["finished_ns"]}
        grown = {"user_ns": wall * 8 // 10, "system_ns": wall // 10, "run_delay_ns": wall // 20}
        gauges = {
            "threads_at_work": 1,
            "rss_bytes": RSS_BYTES,
            "rss_peak_bytes": RSS_BYTES,
            "minor_faults": 100,
        }
        rows += [start | zero, end | zero | grown | gauges]
    return rows


def sample_times(events: list[dict[str, Any]]) -> list[int]:
    """Times of samples from before the first operation to after the last."""
    ended = max(event["finished_ns"] for event in events)
    return list(range(BEGUN_NS - SAMPLE_NS, ended + 2 * SAMPLE_NS, SAMPLE_NS))


def write_probe_streams(raw: Path, times: list[int]) -> None:
    """Samples of a machine whose engine uses one of two CPUs and reads 10 MB a second."""
    since = [time - times[0] for time in times]
    write_stream(
        raw / "cpus.arrows",
        [
            {
                "time_ns": time,
                "cpu": cpu,
                **dict.fromkeys(
                    ("nice_ns", "system_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"), 0
                ),
                "user_ns": passed // 2 + passed // 50,
                "idle_ns": passed - passed // 2 - passed // 50,
            }
            for time, passed in zip(times, since, strict=True)
            for cpu in range(CPUS)
        ],
    )
    write_stream(
        raw / "processes.arrows",
        [
            {
                "time_ns": time,
                "pid": pid,
                "account": account,
                "started_ns": 1,
                "user_ns": passed // share,
                "system_ns": 0,
                "threads_disk": 0,
                "rss_bytes": RSS_BYTES,
            }
            for time, passed in zip(times, since, strict=True)
            for pid, account, share in ((PID, ENGINE_AND_DRIVER, 1), (PID + 1, "probes", 100))
        ],
    )
    write_stream(
        raw / "disks.arrows",
        [
            {
                "time_ns": time,
                "device": "vda",
                "kind": "disk",
                "read_bytes": passed // 100,
                "write_bytes": 0,
            }
            for time, passed in zip(times, since, strict=True)
        ],
    )
    write_stream(
        raw / "system.arrows",
        [
            {"time_ns": time, "cpu_some_ns": passed // 20, "io_some_ns": 0, "memory_some_ns": 0}
            for time, passed in zip(times, since, strict=True)
        ],
    )


def write_cost_streams(raw: Path, times: list[int]) -> dict[str, Any]:
    """What each probe cost, as its stream and as run.json tells it."""
    costs = {}
    for name in ("disks", "processes", "system"):
        rows = [
            {"time_ns": time, "probe": name, "cpu_ns": place * 100_000, "samples": place}
            for place, time in enumerate(times, start=1)
        ]
        write_stream(raw / f"probe-{name}.arrows", rows)
        costs[name] = {
            "cost": "reads one file at each sample",
            "stream": name,
            "error": None,
            "samples": len(times),
            "cpu_ns": len(times) * 100_000,
            "longest_ns": 200_000,
        }
    return costs


def write_answers(results: Path) -> None:
    """One right row an operation."""
    for name in OPERATIONS:
        write_result(results / f"{name}-{DIGEST:016x}-{0:016x}.arrow", pa.table({"n": [1]}))
        (results / "expected" / f"{name}.csv").write_text("n\n1\n", encoding="utf-8")


def run_facts(run_id: str) -> dict[str, Any]:
    """run.json of a synthetic run of TPC-H's first three queries."""
    order = list(OPERATIONS)
    power = {"shape": "power"}
    return {
        "schema": 1,
        "id": run_id,
        "status": STATUS_COMPLETE,
        "reason": None,
        "started_utc": "2026-11-20T10:15:00.000+00:00",
        "ended_utc": "2026-11-20T10:15:05.000+00:00",
        "wall_minus_monotonic_ns": 0,
        "request": {
            "workload": "tpch",
            "engine": "duckdb",
            "scale": 1.0,
            "settings": {"threads": "2"},
            "parameters": "default",
            "seed": 1,
            "min_time_s": 2.0,
            "operation_deadline_s": 0.0,
            "probe_interval_s": 0.1,
        },
        "workload": {
            "name": "tpch",
            "title": "TPC-H",
            "legal": "derived from TPC-H, not comparable to published TPC results",
            "scale_name": "SF",
            "metrics": {
                "power": "Power@${scale}GB",
                "throughput": "Throughput@${scale}GB",
                "composite": "QphH@${scale}GB",
            },
            "content_sha256": "0" * 64,
            "tolerance": {"sum_absolute": 100.0, "ratio_relative": 0.01},
            "answer_columns": {},
            "operation_titles": {"q01": "pricing summary", "q02": "cheapest supplier"},
        },
        "engine": {
            "name": "duckdb",
            "title": "DuckDB",
            "kind": "embedded",
            "session": "python",
            "version": "2.0.0",
            "answers": True,
        },
        "plan": {
            "operations": order,
            "results_kept": 8,
            "phases": [
                {"name": "warmup", "arrival": power, "operations": [0, 1, 2], "passes_min": 1},
                {"name": "measured", "arrival": power, "operations": [0, 1, 2], "passes_min": 1},
            ],
            "seed": 1,
            "operation_deadline_ns": 0,
        },
        "statements": {
            name: {
                "operation": name,
                "text": f"select {place}",
                "file": f"{name}.sql",
                "parameters": {"delta": ["90"]},
            }
            for place, name in enumerate(order)
        },
    }


ENVIRONMENT: dict[str, Any] = {
    "host": {
        "host": "bench",
        "kernel": "6.18.0",
        "machine": "x86_64",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "cpu": {
            "model": "Example 9000",
            "online": CPUS,
            "allowed": [0, 1],
            "governor": None,
            "virtual": True,
        },
        "memory_bytes": 8 << 30,
        "delay_accounting": "0",
        "data_filesystem": {"device": "/dev/vda", "mount_point": "/", "type": "ext4"},
    },
    "assay": {"version": "0.1.0", "commit": None, "python": "3.11.7", "command_line": ["assay"]},
    "engine": {"version": "2.0.0", "settings": {"threads": "2", "memory_limit": "6.4 GiB"}},
    "data": None,
    "accounts": {str(PID): ENGINE_AND_DRIVER},
}


def driver_report(events: list[dict[str, Any]], message: str) -> dict[str, Any]:
    """What the driver counted, with one error if an operation failed."""
    phases = []
    for phase in ("warmup", "measured"):
        operations = []
        for name in OPERATIONS:
            mine = [e["outcome"] for e in events if (e["phase"], e["operation"]) == (phase, name)]
            counts = {word: mine.count(word) for word in ("ok", "skipped", "failed")}
            operations.append({"operation": name, "counts": counts | {"scheduled": len(mine)}})
        phases.append({"phase": phase, "operations": operations})
    failed = sorted({e["operation"] for e in events if e["outcome"] == "failed"})
    order = list(OPERATIONS)
    errors = [
        {"operation": order.index(name), "class": "out_of_memory", "message": message}
        for name in failed
    ]
    return {"ended": "done", "phases": phases, "errors": errors, "recorder_waits": 0}


def write_run(
    runs: Path,
    *,
    probes: bool = True,
    failing: str | None = None,
    message: str = "out of memory",
    run_id: str = "20261120T101500Z-tpch-duckdb-abc123",
) -> Path:
    """Writes a whole, sealed run directory and returns it.

    Args:
        runs: Where to.
        probes: Whether probes ran; without them there are no resources.
        failing: An operation that fails in every pass, with `message`.
        message: What the engine said.
        run_id: The run's id.
    """
    directory = runs / run_id
    raw = directory / "raw"
    (raw / "results" / "expected").mkdir(parents=True)
    (directory / "derived").mkdir()
    events = event_rows(failing)
    facts = run_facts(run_id)
    write_stream(raw / "events.arrows", events, batches=4)
    write_stream(raw / "tasks.arrows", task_rows(events))
    write_answers(raw / "results")
    if probes:
        times = sample_times(events)
        write_probe_streams(raw, times)
        facts["probes"] = write_cost_streams(raw, times)
    write_json(raw / DRIVER_FILE, driver_report(events, message))
    write_json(directory / "environment.json", ENVIRONMENT)
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def truncate_run(
    directory: Path, streams: tuple[str, ...] = ("events",), cut_bytes: int = 300
) -> Path:
    """Makes a run look killed: no seal, status running, streams cut within their last batch."""
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    write_json(directory / "run.json", facts | {"status": "running", "ended_utc": None})
    (directory / "SEAL").unlink(missing_ok=True)
    (directory / "raw" / DRIVER_FILE).unlink(missing_ok=True)
    for stream in streams:
        path = directory / "raw" / f"{stream}.arrows"
        path.write_bytes(path.read_bytes()[:-cut_bytes])
    return directory
