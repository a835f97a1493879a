"""Messages between a run and its agents on other hosts.

Assay's messages are plain values, which are never executed as code. After `OP_DRIVE` the connection
serves only the share:

    owner   {kind: "go" | "begin" | "cancel" | "plan", facts}     handed on to the driver's host
    agent   {kind: "told", message}                               what the driver's host told
            {kind: "stream" | "file", name, bytes}                what it wrote, in order
            {kind: "alive"}                                       several times a second
            {kind: "failed", message, exit_code}                  the share has ended early

After `OP_OBSERVE` it serves only the probes on the engine's host:

    owner   {kind: "go" | "cancel"}                               begin, and end
    agent   {kind: "told", message}                               `ready`, `begun`, then `observed`
            {kind: "stream" | "alive" | "failed", ...}            as above
"""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path
from typing import Any

from assay.version import VERSION

OP_WHO, OP_CLOCK = "assay_who", "assay_clock"
OP_DRIVE, OP_OBSERVE = "assay_drive", "assay_observe"
TOLD, STREAM, FILE, ALIVE, FAILED = "told", "stream", "file", "alive", "failed"
GATE, PROGRESS, DRIVEN, PLANNED = "gate", "progress", "driven", "planned"
READY, BEGUN, OBSERVED = "ready", "begun", "observed"
GO, BEGIN, CANCEL = "go", "begin", "cancel"

# Streams of a driver, with the columns that are times on its host's clock.
STREAMS: dict[str, tuple[str, ...]] = {
    "events": ("scheduled_ns", "started_ns", "finished_ns"),
    "statements": ("started_ns", "finished_ns"),
    "attempts": ("started_ns", "finished_ns"),
    "receipts": ("finished_ns",),
    "backends": ("time_ns",),
    "connections": ("time_ns",),
    "servers": ("time_ns",),
    "tasks": ("time_ns",),
}
HOST_LOG = "host-drive.log"
# Probes that observe a host itself; their streams have this time column.
HOST_PROBES = ("disks", "neighbours", "processes", "system", "waits")
HOST_TIMES = ("time_ns", "seen_ns")

# Seconds between transfers of new data by an agent; this much is lost if its host dies.
TELL_INTERVAL_S = 0.25
# Seconds of silence after which a host counts as dead, because its load is no longer known.
SILENCE_S = 10.0
CHUNK_BYTES = 1 << 20


def whose() -> dict[str, Any]:
    """Return this agent's identity: its host, clock and process namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return {
        "host": socket.gethostname(),
        "version": VERSION,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "clock": f"{boot} {_namespace('time')}",
        "network": f"{boot} {_namespace('net')}",
        "processes": f"{boot} {_namespace('pid')}",
    }


def _namespace(kind: str) -> str:
    try:
        return os.readlink(f"/proc/self/ns/{kind}")  # noqa: PTH115 - it is no path
    except OSError:
        return ""
