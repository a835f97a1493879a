"""A run directory made by hand, whose every figure is known beforehand.

`SyntheticRun` begins as a run that every check calls valid. A test changes what it is about,
writes it and reads it back with the product's reader.
"""

from __future__ import annotations

import gc
import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings

from assay._core import record_tables
from assay.record.layout import SCHEMA_VERSION
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.running.host.places import engines_dir
from tests.e2e.conftest import POSTGRESQL, Lab, reachable_directory

# How long an example takes says nothing of it on a host that others use.
settings.register_profile("any host", deadline=None)
settings.load_profile("any host")

# A command stays deaf to signals that `nohup`, or a shell for the background, has ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
LONG = HERE / "long.txt"
OBJECTS_PER_COLLECTION = 100_000

MS = 1_000_000
S = 1_000 * MS
BEGUN_NS = 1_000 * S
OPERATION_MS = {"a": 100, "b": 300}
PASSES = 3
CPUS = 2
# Every CPU is busy for this share of the time, all of it with our own processes.
BUSY = 0.5
ENGINE_SHARE = 0.98
PROBE_INTERVAL_MS = 100

TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "uint32": pa.uint32(),
    "text": pa.string(),
    "text, dictionary": pa.dictionary(pa.uint16(), pa.string()),
    "list of int64": pa.list_(pa.int64()),
}


def pytest_configure() -> None:
    """Has laboratories run their commands in forks."""
    Lab.in_forks = True
    # Collected tests live until the end: searching them at each collection would take its time.
    gc.set_threshold(OBJECTS_PER_COLLECTION)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that `make test` leaves out."""
    left = long_tests()
    for item in items:
        if item.nodeid.removeprefix(f"{HERE.name}/") in left:
            item.add_marker(pytest.mark.long)


def long_tests() -> list[str]:
    """Tests that `make test-long` carries out, as pytest names them below this folder."""
    lines = LONG.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def pytest_collection_finish() -> None:
    """Has garbage collections pass over modules and collected tests, which live until the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Has the last garbage collections find what native libraries complain about otherwise."""
    gc.unfreeze()


@cache
def stream_schema(stream: str) -> pa.Schema:
    """The columns of a stream as the compiled core declares them."""
    columns = next(columns for file, _, columns in record_tables() if file == f"{stream}.arrows")
    return pa.schema(
        [pa.field(name, TYPES[kind], nullable=nullable) for name, kind, nullable, _ in columns]
    )


def stream_table(stream: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a stream's table; what a row does not name is null, or 0 where it cannot be."""
    schema = stream_schema(stream)

    def absent(column: pa.Field) -> Any:
        if column.nullable:
            return None
        return 0 if pa.types.is_integer(column.type) else ""

    # A column at a time: tests write millions of values.
    columns = [(column.name, column.type, absent(column)) for column in schema]
    return pa.Table.from_arrays(
        [
            pa.array([row.get(name, default) for row in rows], kind)
            for name, kind, default in columns
        ],
        schema=schema,
    )


def write_stream(path: Path, rows: list[dict[str, Any]], batches: int = 1) -> None:
    """Writes a stream of `raw/` in some batches."""
    table = stream_table(path.stem, rows)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        step = max(1, -(-len(rows) // batches))
        for begin in range(0, len(rows), step):
            writer.write_table(table.slice(begin, step))


def write_result(path: Path, rows: pa.Table) -> None:
    """Writes kept rows as the driver does: an Arrow file."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows)


def an_event(
    sequence: int, operation: str, started_ns: int, wall_ms: float, **other: Any
) -> dict[str, Any]:
    """One event of a closed loop that succeeded and returned one row."""
    return {
        "sequence": sequence,
        "phase": "measured",
        "pass": 0,
        "session": 0,
        "operation": operation,
        "scheduled_ns": started_ns,
        "started_ns": started_ns,
        "finished_ns": started_ns + round(wall_ms * MS),
        "outcome": "ok",
        "error": None,
        "retries": 0,
        "rows": 1,
        "digest": 1,
    } | other


def _events() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    now_ns = BEGUN_NS
    phases = [("warmup", 0), *(("measured", number) for number in range(PASSES))]
    for phase, number in phases:
        for operation, wall_ms in OPERATION_MS.items():
            about = {"phase": phase, "pass": number}
            events.append(an_event(len(events), operation, now_ns, wall_ms, **about))
            now_ns += wall_ms * MS
    return events


@dataclass
class SyntheticRun:
    """What `write` puts on disk. Change anything before."""

    runs_dir: Path
    id: str = "20260102T030405Z-made-engine-abc123"
    status: str = "complete"
    sealed: bool = True
    facts: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=_events)
    driver: dict[str, Any] | None = field(default_factory=dict)
    probes: dict[str, Any] | None = None
    results: dict[str, dict[int, pa.Table]] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    streams: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        table = pa.table({"n": [1]})
        self.results = self.results or {name: {1: table} for name in OPERATION_MS}
        self.expected = self.expected or dict.fromkeys(OPERATION_MS, "n\n1\n")
        probe = {"cost": "none", "error": None, "samples": 9, "cpu_ns": 9, "longest_ns": 9}
        names = ("disks", "processes", "system")
        self.probes = {name: probe | {"stream": name} for name in names}
        self.streams = self.streams or _samples(self.ended_ns)

    @property
    def ended_ns(self) -> int:
        return max(event["finished_ns"] for event in self.events if event["finished_ns"])

    @property
    def dir(self) -> Path:
        return self.runs_dir / self.id

    def write(self) -> Run:
        """Writes the directory and opens it."""
        results = self.dir / "raw" / "results"
        (results / "expected").mkdir(parents=True)
        (self.dir / "derived").mkdir()
        _write_json(self.dir / "run.json", self._run_facts())
        host = {"host": {"cpu": {"allowed": [0, 1]}}}
        _write_json(self.dir / "environment.json", host | self.environment)
        if self.driver is not None:
            _write_json(self.dir / "raw" / "driver.json", self._driver_report() | self.driver)
        for stream, rows in {"events": self.events, **self.streams}.items():
            write_stream(self.dir / "raw" / f"{stream}.arrows", rows)
        for operation, kept in self.results.items():
            for digest, rows in kept.items():
                write_result(results / f"{operation}-{digest:016x}-{0:016x}.arrow", rows)
        for operation, text in self.expected.items():
            (results / "expected" / f"{operation}.csv").write_text(text, encoding="utf-8")
        if self.sealed:
            write_seal(self.dir)
        return Run(self.dir)

    def _run_facts(self) -> dict[str, Any]:
        names = list(OPERATION_MS)
        facts: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "id": self.id,
            "status": self.status,
            "reason": None,
            "request": {"scale": 1.0, "parameters": "default", "probe_interval_s": 0.1},
            "workload": {
                "name": "made",
                "tolerance": {"sum_absolute": 100.0, "ratio_relative": 0.01},
                "answer_columns": {name: {} for name in names},
                "operation_titles": {name: f"title of {name}" for name in names},
            },
            "engine": {"name": "engine", "kind": "embedded", "answers": True},
            "plan": {"operations": names, "results_kept": 8},
        }
        if self.probes is not None:
            facts["probes"] = self.probes
        for key, value in self.facts.items():
            facts[key] = facts.get(key, {}) | value if isinstance(value, dict) else value
        return facts

    def _driver_report(self) -> dict[str, Any]:
        def counts(of: list[dict[str, Any]]) -> dict[str, int]:
            by_outcome = {
                word: sum(e["outcome"] == word for e in of) for word in ("ok", "skipped", "failed")
            }
            return {"scheduled": len(of), **by_outcome, "retries": 0}

        operations = [
            {
                "operation": name,
                "counts": counts([e for e in self.events if e["operation"] == name]),
            }
            for name in dict.fromkeys(event["operation"] for event in self.events)
        ]
        phases = [{"phase": "measured", "operations": operations}]
        return {"ended": "done", "phases": phases, "errors": [], "recorder_waits": 0}


def _samples(ended_ns: int) -> dict[str, list[dict[str, Any]]]:
    """Samples of all probes from a second before the first operation to a second after the last."""
    times = range(BEGUN_NS - S, ended_ns + S + 1, PROBE_INTERVAL_MS * MS)
    streams: dict[str, list[dict[str, Any]]] = {
        "cpus": [],
        "processes": [],
        "system": [],
        "disks": [],
    }
    for time_ns in times:
        past_ns = time_ns - times[0]
        busy_ns = round(past_ns * BUSY)
        for cpu in range(CPUS):
            rest = {"iowait_ns": 0, "irq_ns": 0, "softirq_ns": 0, "steal_ns": 0}
            streams["cpus"].append(
                {
                    "time_ns": time_ns,
                    "cpu": cpu,
                    "user_ns": busy_ns,
                    "idle_ns": past_ns - busy_ns,
                    **rest,
                }
            )
        of_us = busy_ns * CPUS
        for pid, account, share in (
            (100, "engine and driver", ENGINE_SHARE),
            (101, "probes", 1 - ENGINE_SHARE),
        ):
            used = {"user_ns": round(of_us * share), "account": account, "state": "R"}
            streams["processes"].append({"time_ns": time_ns, "pid": pid, **used})
        streams["system"].append({"time_ns": time_ns})
        streams["disks"].append({"time_ns": time_ns, "device": "vda", "kind": "disk"})
    for name in ("disks", "processes", "system"):
        streams[f"probe-{name}"] = [
            {"time_ns": times[0], "probe": name, "cpu_ns": 0},
            {"time_ns": times[-1], "probe": name, "cpu_ns": (times[-1] - times[0]) // 500},
        ]
    return streams


def _write_json(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.fixture
def synthetic(tmp_path: Path) -> SyntheticRun:
    """A run that every check calls valid, not yet written."""
    return SyntheticRun(tmp_path / "runs")


@pytest.fixture(scope="session")
def server_place() -> Iterator[Path]:
    """The cache with this host's own engines, each obtained once, and data sets of its own."""
    with reachable_directory() as place:
        engines_dir().mkdir(parents=True, exist_ok=True)
        kept = place / "cache" / "assay"
        kept.mkdir(parents=True)
        (kept / "engines").symlink_to(engines_dir())
        ended = Lab(place).assay("engines", "install", POSTGRESQL)
        assert ended.returncode == 0, ended.stderr
        yield place
