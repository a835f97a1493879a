"""A record of a host's ceiling made by hand, whose every figure is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.record.reader import Run
from assay.record.seal import write_seal
from tests.conftest import write_stream

SIZES, DEPTHS, ROUNDS = (4096, 8192, 16384), (1, 16), 3
TIME_NS = 100_000_000
RUN_ID = "20260102T030405Z-ceiling-host-abc123"
HOST = {
    "host": "bench",
    "machine": "x86_64",
    "memory_bytes": 1 << 34,
    "cpu": {"online": 2, "model": "A CPU"},
    "data_filesystem": {"type": "ext4"},
    "data_device": {"name": "sda", "disks": ["sda"], "rotational": False, "scheduler": "none"},
}
MEDIUM = {
    "name": "sda",
    "model": "A DISK",
    "driver": "sd",
    "write_cache": "write back",
    "logical_block_bytes": 512,
    "physical_block_bytes": 4096,
    "queue_requests": 64,
}


def iops_of(size_bytes: int, depth: int, pattern: str) -> float:
    """A disk that moves a byte in a nanosecond, finds one in 100 us, and serves 4 at once."""
    seconds = 100e-6 * (0.1 if pattern == "sequential" else 1) + size_bytes * 1e-9
    return min(depth, 4) / seconds


def disk_trial(round_number: int, size: int, depth: int, pattern: str, **other: Any) -> dict:
    """One trial of that disk; rounds differ by a per cent from each other."""
    rate = iops_of(size, depth, pattern) * (1 + (round_number - 2) / 100)
    requests = round(rate * TIME_NS / 1e9)
    latency = round(depth * 1e9 / rate)
    return {
        "round": round_number,
        "operation": "read",
        "pattern": pattern,
        "cache": "direct",
        "method": "pread" if depth == 1 else "io_uring",
        "buffers": None if depth == 1 else "registered",
        "depth": depth,
        "size_bytes": size,
        "requests": requests,
        "requests_outside": depth - 1,
        "elapsed_ns": TIME_NS,
        "user_ns": 1_000 * requests,
        "system_ns": 4_000 * requests,
        **{f"latency_{name}_ns": latency for name in ("mean", "min", "p50", "p90")},
        **{f"latency_{name}_ns": 2 * latency for name in ("p99", "p999", "max")},
        "device_requests": requests + depth - 1,
        "device_merged": 0,
        "device_bytes": (requests + depth - 1) * size,
        "device_other_bytes": 0,
        "host_busy_ns": 5_000 * requests,
        "host_steal_ns": 0,
    } | other


def disk_trials() -> list[dict[str, Any]]:
    """All trials of the disk: reads, and a write with each flush."""
    numbers = range(1, ROUNDS + 1)
    reads = [
        disk_trial(number, size, depth, pattern)
        for number in numbers
        for size in SIZES
        for depth in DEPTHS
        for pattern in ("sequential", "random")
    ]
    flushed = {"cache": "buffered", "latency_p50_ns": 2_000_000}
    return reads + [
        disk_trial(number, 8192, 1, "sequential", operation=operation, **flushed)
        for number in numbers
        for operation in ("fsync", "fdatasync")
    ]


def _memory() -> list[dict[str, Any]]:
    shared = {"elapsed_ns": TIME_NS, "array_bytes": 1 << 26}
    return [
        {"round": number, "kernel": "read", "threads": threads, "moved_bytes": threads * 10**9}
        | shared
        for number in range(1, ROUNDS + 1)
        for threads in (1, 2)
    ] + [
        {"round": 1, "kernel": "chase", "threads": 1, "loads": 10**6, **shared},
    ]


def _cores() -> list[dict[str, Any]]:
    return [
        {"round": number, "kernel": "sort", "threads": 1, "steps": 10**7, "elapsed_ns": TIME_NS}
        for number in range(1, ROUNDS + 1)
    ]


def write_ceiling(
    runs: Path,
    run_id: str = RUN_ID,
    *,
    disk: list[dict[str, Any]] | None = None,
    status: str = "complete",
    host: dict[str, Any] = HOST,
    medium: dict[str, Any] | None = MEDIUM,
    io_uring_refusal: str | None = None,
) -> Run:
    """Writes such a record and reads it back with the product's reader."""
    directory = runs / run_id
    (directory / "raw").mkdir(parents=True)
    request = {
        "directory": "/data",
        "size_bytes": 1 << 30,
        "time_s": TIME_NS / 1e9,
        "rounds": ROUNDS,
        "seed": 1,
        "quick": True,
        "parts": ["disk", "memory", "core"],
    }
    facts = {
        "schema": 1,
        "id": run_id,
        "kind": "ceiling",
        "status": status,
        "reason": None if status == "complete" else "stopped by Ctrl-C",
        "started_utc": "2026-01-02T03:04:05.000+00:00",
        "ended_utc": "2026-01-02T03:05:05.000+00:00",
        "request": request,
    }
    environment = {
        "host": host,
        "medium": medium,
        "file": {"size_bytes": 1 << 30, "direct_align_bytes": 512},
        "last_cache_bytes": 1 << 25,
        "io_uring_refusal": io_uring_refusal,
    }
    (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    (directory / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    streams = {
        "disk": disk_trials() if disk is None else disk,
        "memory": _memory(),
        "core": _cores(),
    }
    for name, rows in streams.items():
        write_stream(directory / "raw" / f"ceiling-{name}.arrows", rows)
    if status == "complete":
        write_seal(directory)
    return Run(directory)
