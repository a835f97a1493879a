"""Records of closed and open loads that the driver really played, against its null session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay import _core
from assay.record.layout import DRIVER_FILE, STATUS_COMPLETE
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.records import BEGUN_NS, ENVIRONMENT, MS, S, run_facts, write_cost_streams

OPERATIONS = ("select", "update")
ENGINE_PID, DRIVER_PID, PROBES_PID = 4300, 4301, 4302
SAMPLE_NS = 100 * MS
CPUS = 2


def closed(clients: int) -> dict[str, Any]:
    return {"shape": "closed", "clients": clients}


def open_load(rate_per_s: float, clients: int) -> dict[str, Any]:
    return {"shape": "open", "rate_per_s": rate_per_s, "clients": clients}


def phase(arrival: dict[str, Any], seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "name": "measured",
        "arrival": arrival,
        "operations": list(range(len(OPERATIONS))),
        "weights": [3, 1],
        "duration_ns": round(seconds * S),
    } | more


def load_facts(arrival: dict[str, Any], seconds: float, run_id: str, **more: Any) -> dict[str, Any]:
    """run.json of a load on a server that is called PostgreSQL and was never there."""
    facts = run_facts(run_id)
    facts["request"] |= {
        "workload": "point-select",
        "engine": "postgresql",
        "settings": {},
        "clients": arrival["clients"],
        "rate_per_s": arrival.get("rate_per_s"),
        "time_s": seconds,
    }
    facts["workload"] |= {
        "name": "point-select",
        "title": "point-select",
        "scale_name": "scale",
        "legal": None,
        "operation_titles": {},
    }
    facts["engine"] = {
        "name": "postgresql",
        "title": "PostgreSQL",
        "kind": "server",
        "session": "postgres",
        "version": "18.6",
        "answers": False,
    }
    facts["plan"] = {
        "operations": list(OPERATIONS),
        "phases": [phase(arrival, seconds, **more)],
        "seed": 1,
        "results_kept": 8,
    }
    facts["statements"] = {}
    return facts


def played_run(
    runs: Path,
    arrival: dict[str, Any],
    seconds: float,
    session: _core.NullSession | None = None,
    *,
    retries_max: int = 0,
    run_id: str = "20261120T101500Z-point-select-postgresql-abc123",
    **more: Any,
) -> Path:
    """Plays a load against null sessions and seals its record, which has no probes."""
    directory = runs / run_id
    raw = directory / "raw"
    (raw / "results" / "expected").mkdir(parents=True)
    (directory / "derived").mkdir()
    facts = load_facts(arrival, seconds, run_id, **more)
    plan = facts["plan"] | {"retries_max": retries_max}
    sessions = [session or _core.NullSession() for _ in range(arrival["clients"])]
    report = _core.drive(json.dumps(plan), sessions, raw, _core.CancelFlag(), lambda *_: None)
    (raw / DRIVER_FILE).write_text(report, encoding="utf-8")
    write_json(directory / "environment.json", ENVIRONMENT)
    write_json(directory / "run.json", facts | {"status": STATUS_COMPLETE})
    write_seal(directory)
    return directory


def write_load(
    runs: Path,
    arrival: dict[str, Any],
    events: list[dict[str, Any]],
    seconds: float,
    *,
    engine_cores: float = 0.6,
    driver_cores: float = 0.3,
    pin: dict[str, list[int]] | None = None,
    limit_ns: int = 0,
    run_id: str = "20261120T101500Z-point-select-postgresql-abc123",
    **more: Any,
) -> Path:
    """Writes the record of a load whose every event and CPU second is given.

    Args:
        runs: Where to.
        arrival: The load's shape.
        events: Rows of the measured phase.
        seconds: How long operations were due.
        engine_cores: CPU seconds a second of the engine's process.
        driver_cores: The same of the driver's.
        pin: CPUs of `engine` and `client`.
        limit_ns: Time-out of an operation; 0: none.
        run_id: The run's id.
        more: Further keys of the plan's phase.
    """
    directory = runs / run_id
    raw = directory / "raw"
    (raw / "results" / "expected").mkdir(parents=True)
    (directory / "derived").mkdir()
    write_stream(raw / "events.arrows", events, batches=4)
    facts = load_facts(arrival, seconds, run_id, **more)
    facts["plan"]["operation_deadline_ns"] = limit_ns
    ended_ns = BEGUN_NS + round(seconds * S)
    times = list(range(BEGUN_NS - SAMPLE_NS, ended_ns + 2 * SAMPLE_NS, SAMPLE_NS))
    _write_samples(raw, times, engine_cores, driver_cores)
    facts["probes"] = write_cost_streams(raw, times)
    write_json(raw / DRIVER_FILE, _driver_report(events))
    write_json(directory / "environment.json", ENVIRONMENT | ({"pin": pin} if pin else {}))
    write_json(directory / "run.json", facts | {"status": STATUS_COMPLETE})
    write_seal(directory)
    return directory


def an_operation(
    number: int, due_ns: int, waited_ns: int, service_ns: int, **other: Any
) -> dict[str, Any]:
    """One event of a load that succeeded; times since the measured part began."""
    started_ns = BEGUN_NS + due_ns + waited_ns
    return {
        "sequence": number,
        "phase": "measured",
        "pass": 0,
        "session": number % 8,
        "operation": OPERATIONS[number % 4 == 3],
        "scheduled_ns": BEGUN_NS + due_ns,
        "started_ns": started_ns,
        "finished_ns": started_ns + service_ns,
        "outcome": "ok",
        "error": None,
        "retries": 0,
        "rows": 1,
        "digest": 7,
    } | other


SKIPPED = {
    "outcome": "skipped",
    "started_ns": None,
    "finished_ns": None,
    "rows": None,
    "digest": None,
}


def _write_samples(raw: Path, times: list[int], engine: float, driver: float) -> None:
    busy = (engine + driver + 0.01) / CPUS
    accounts = (
        (ENGINE_PID, "engine", engine),
        (DRIVER_PID, "driver", driver),
        (PROBES_PID, "probes", 0.005),
    )
    passed = [(time, time - times[0]) for time in times]
    none = dict.fromkeys(("iowait_ns", "irq_ns", "softirq_ns", "steal_ns"), 0)
    write_stream(
        raw / "cpus.arrows",
        [
            {
                "time_ns": time,
                "cpu": cpu,
                "user_ns": round(since * busy),
                "idle_ns": since - round(since * busy),
                **none,
            }
            for time, since in passed
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
                "user_ns": round(since * cores),
                "rss_bytes": 100 << 20,
                "state": "R",
            }
            for time, since in passed
            for pid, account, cores in accounts
        ],
    )
    write_stream(raw / "system.arrows", [{"time_ns": time} for time in times])
    disk = {"device": "vda", "kind": "disk"}
    write_stream(raw / "disks.arrows", [{"time_ns": time} | disk for time in times])


def _driver_report(events: list[dict[str, Any]]) -> dict[str, Any]:
    operations = []
    for name in OPERATIONS:
        mine = [event["outcome"] for event in events if event["operation"] == name]
        counts = {word: mine.count(word) for word in ("ok", "skipped", "failed")}
        operations.append({"operation": name, "counts": counts | {"scheduled": len(mine)}})
    phases = [{"phase": "measured", "operations": operations}]
    return {"ended": "done", "phases": phases, "errors": [], "recorder_waits": 0}
