"""Makes a written run one of a cluster: its nodes' processes and counters, all of them known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.analysis.cluster.words import WORDS
from assay.probes.streams import ENGINE, ENGINE_OPERATIONS, Stream
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import MS, S, write_stream

LOOK_NS = 100 * MS
MIB = 1 << 20
ROOTS = {"coordinator": 7000, "worker-1": 7010, "worker-2": 7020}
# The second worker's work is done by a child of its root.
CHILD = {"worker-2": 7021}
# What a worker counts in a second; the second one half as much.
EACH_S = {
    "fetched": 1000.0,
    "fetchedBytes": 1000.0 * 4096,
    "localFetched": 500.0,
    "fetchWaitMs": 100.0,
    "blockedMs": 50.0,
    "taskMs": 1000.0,
    "delayMs": 250.0,
    "cpuMs": 400.0,
    "scanned": 2e6,
}
HALF = {"coordinator": 0.0, "worker-1": 1.0, "worker-2": 0.5}
CORES = {"coordinator": 0.1, "worker-1": 0.8, "worker-2": 0.4}
COUNTED = {
    "messages": "fetched",
    "bytes": "fetchedBytes",
    "local_messages": "localFetched",
    "wait_ns": "fetchWaitMs",
    "blocked_ns": "blockedMs",
    "task_ns": "taskMs",
    "scheduling_ns": "delayMs",
    "cpu_ns": "cpuMs",
    "read_bytes": "scanned",
    "memory_bytes": "used",
}
CLUSTER: dict[str, Any] = {
    "title": "Workers",
    "source": "nodes",
    "counters": COUNTED,
    "scales": dict.fromkeys(("wait_ns", "blocked_ns", "task_ns", "scheduling_ns", "cpu_ns"), 1e6),
    "says": {"messages": "pages fetched from another worker"},
    "missing": {word: "it does not tell" for word in WORDS if word not in COUNTED},
}
DECLARED: dict[str, Any] = {"counters": [], "cluster": CLUSTER}
KNOBS: dict[str, Any] = {
    "knobs": {
        "batch": {
            "setting": "exchange.batch",
            "about": "bytes that are sent at once",
            "values": "bytes",
            "low": "64kB",
            "high": "16MB",
            "choices": [],
            "even": False,
            "effective": None,
            "moves": ["messages"],
            "scheduling": ["scheduling_ns"],
            "blocking": ["blocked_ns", "wait_ns"],
        }
    },
    "without": {},
}


def nodes(*, here: bool = True) -> list[dict[str, Any]]:
    """The nodes as `run.json` has them."""
    return [
        {
            "name": name,
            "role": "coordinator" if name == "coordinator" else "worker",
            "host": "127.0.0.1" if here else f"{name}.example",
            "pids": [pid] if here else [],
        }
        for name, pid in ROOTS.items()
    ]


def as_cluster(
    directory: Path,
    *,
    cores: Callable[[str, float], float] = lambda node, _: CORES[node],
    declared: Any = DECLARED,
    here: bool = True,
) -> Path:
    """Adds to a run what a cluster tells, seals it anew and returns it.

    Args:
        directory: Of the run.
        cores: That a node has at so many seconds since the first look.
        declared: What the engine's declaration says.
        here: Whether its nodes are on this host.
    """
    raw = directory / "raw"
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["engine"] |= {"kind": "server", "counters": declared, "knobs": KNOBS}
    facts["cluster"] = {"nodes": nodes(here=here)}
    with pa.ipc.open_stream(raw / "events.arrows") as reader:
        events: list[dict[str, Any]] = reader.read_all().to_pylist()
    begun_ns = min(event["started_ns"] for event in events) - S
    ended_ns = max(event["finished_ns"] for event in events) + S
    write_processes(raw, begun_ns, ended_ns, cores if here else None)
    _write_counters(raw, range(begun_ns, ended_ns + 1, S // 2))
    _write_operation_counters(raw, events)
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def write_processes(
    raw: Path, begun_ns: int, ended_ns: int, cores: Callable[[str, float], float] | None
) -> None:
    """Looks at each root, at the child of one, and at a process that is no node's."""
    rows: list[dict[str, Any]] = []
    used = dict.fromkeys(ROOTS, 0.0)
    for time_ns in range(begun_ns, ended_ns + 1, LOOK_NS):
        for name, root in ROOTS.items() if cores else ():
            about = {"time_ns": time_ns, "account": "engine", "state": "S", "started_ns": 1}
            at_work = CHILD.get(name, root)
            for pid in dict.fromkeys((root, at_work)):
                ns = 5 * S + round(used[name]) if pid == at_work else 0
                parent = 1 if pid == root else root
                more = {"on_cpu_ns": ns, "user_ns": ns, "run_delay_ns": 0, "rss_bytes": 100 * MIB}
                rows.append(about | {"pid": pid, "ppid": parent, **more})
            used[name] += cores(name, (time_ns - begun_ns) / S) * LOOK_NS if cores else 0.0
        other = {"pid": 9, "ppid": 1, "account": "driver", "on_cpu_ns": time_ns - begun_ns}
        rows.append({"time_ns": time_ns, "state": "R", "started_ns": 1, **other})
    write_stream(raw / "processes.arrows", rows)


def _write_counters(raw: Path, times: range) -> None:
    with Stream(raw, "engine", ENGINE) as stream:
        for time_ns in times:
            passed_s = (time_ns - times[0]) / S
            for node, factor in HALF.items():
                for counter, each_s in EACH_S.items():
                    stream.push(time_ns, "nodes", node, counter, each_s * factor * passed_s)
                stream.push(time_ns, "nodes", node, "used", 200.0 * MIB)


def _write_operation_counters(raw: Path, events: list[dict[str, Any]]) -> None:
    with Stream(raw, "engine-operations", ENGINE_OPERATIONS) as stream:
        for event in events:
            took_s = (event["finished_ns"] - event["started_ns"]) / S
            edges = (("start", "started_ns", 0.0), ("end", "finished_ns", took_s))
            for edge, time, passed_s in edges:
                about = (event["sequence"], edge, event[time])
                for node, factor in HALF.items():
                    for counter, each_s in EACH_S.items():
                        value = 7.0 + each_s * factor * passed_s
                        stream.push(*about, "nodes", node, counter, value)
                    stream.push(*about, "nodes", node, "used", 200.0 * MIB)
