"""The messages between owner and agent of a fleet: their names, intervals, identities.

All messages of ours are plain values, of which nothing is executed. After `OP_DRIVE` the
connection is the share's alone:

    owner   {kind: "go" | "begin" | "cancel" | "plan", facts}     handed on to the driver's host
    agent   {kind: "told", message}                               what the driver's host told
            {kind: "stream" | "file", name, bytes}                what it wrote, in order
            {kind: "alive"}                                       several times a second
            {kind: "failed", message, exit_code}                  the share has ended early

and after `OP_OBSERVE` it is that of probes on the engine's host:

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

# Streams of a driver, with the columns that are moments of its host's clock.
STREAMS: dict[str, tuple[str, ...]] = {
    "events": ("scheduled_ns", "started_ns", "finished_ns"),
    "statements": ("started_ns", "finished_ns"),
    "attempts": ("started_ns", "finished_ns"),
    "receipts": ("finished_ns",),
    "backends": ("time_ns",),
    "connections": ("time_ns",),
    "tasks": ("time_ns",),
}
HOST_LOG = "host-drive.log"
# Probes that observe a host by itself, and have streams with this column.
HOST_PROBES = ("disks", "neighbours", "processes", "system", "waits")
HOST_TIMES = ("time_ns", "seen_ns")

# An agent sends along what was written so often, which is less than is lost with a host that dies.
TELL_INTERVAL_S = 0.25
# A host that said nothing for so long is taken for dead: its load is not known any more.
SILENCE_S = 10.0
CHUNK_BYTES = 1 << 20


def whose() -> dict[str, Any]:
    """Return an agent's identity, and what it shares: clock, loopback, process numbers."""
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
