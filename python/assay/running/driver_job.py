"""Makes the job of the driver's process: load plan, counters, and plans to capture."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import HasPlans
from assay.model.language import SQL
from assay.probes.engine import EngineProbe
from assay.probes.processes import ProcessesProbe
from assay.running.asked.driver_plan import plan_sessions
from assay.running.asked.parsing import STATE_LOADED
from assay.running.asked.played import played_statements

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.asked.asked_run import Asked
    from assay.running.server.subject import Subject


def driver_job(
    asked: Asked,
    subject: Subject,
    raw: Path,
    filling: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the job of the driver's process.

    Args:
        asked: Run that the job belongs to.
        subject: Engine under load.
        raw: Directory for its streams.
        filling: Data that the process loads first; None if they are loaded already.
    """
    request = asked.request
    plans = wants_plans(asked)
    return subject.job() | {
        "script": asked.script.facts(),
        "tried": _tried(asked),
        "clients": plan_sessions(asked.plan),
        "plan": asked.plan,
        "raw_dir": str(raw),
        "metered": subject.metered,
        "reads_of": subject.readers if _counts_reads(asked) else None,
        "counters": _counts_operations(asked),
        "probed_s": _probed_inside_s(asked, subject),
        # Known only after the host was described.
        "device_stat": None,
        "explained": _explained_operations(asked),
        "cpus": request.pin.get("client", []),
        "plans": plans,
        "schema": asked.schema() if plans else None,
        "plans_executed": request.plans_executed and not request.plans_only,
        "plans_only": request.plans_only,
        "hypothetical_indexes": list(request.hypothetical_indexes.values()),
        "filling": filling,
        "looks_into_cache": request.state == STATE_LOADED,
        "share": None,
    }


def wants_plans(asked: Asked) -> bool:
    """Return True if plans of operations are captured after the measured part."""
    wanted = asked.request.plans and asked.request.kill_s is None
    wanted = wanted and asked.language in asked.engine.facts.plans
    return wanted and isinstance(asked.behaviour, HasPlans)


def _tried(asked: Asked) -> list[list[dict[str, Any]]] | None:
    """Return statements for the engine to prepare before the load; None if not needed."""
    done = asked.request.dsn is not None or asked.workload.makes_data
    if done or asked.request.prepare or asked.language != SQL:
        return None
    operations = played_statements(asked)
    return [[asdict(statement) for statement in statements] for statements in operations]


def _counts_operations(asked: Asked) -> bool:
    """Return True if the engine's counters are read around each operation.

    In a test, the time between queries counts, so nothing is done there.
    """
    return asked.test is None and asked.request.runs_probe(EngineProbe.name)


def _counts_reads(asked: Asked) -> bool:
    """Return True if bytes read are counted per query mix, to decide when the load is steady."""
    return asked.request.mixes_max is not None or asked.request.runs_probe(ProcessesProbe.name)


def _probed_inside_s(asked: Asked, subject: Subject) -> float | None:
    """Return the seconds between counter reads of an embedded engine."""
    inside = subject.embedded and asked.request.runs_probe(EngineProbe.name)
    return asked.request.probe_interval_s if inside else None


def _explained_operations(asked: Asked) -> int:
    """Return the number of operations whose plans are captured.

    Operations that are executed once, outside the measured part, come last in the script; their
    plans are not captured.
    """
    if asked.planned_test is None:
        beside = set(asked.workload.facts.played_once)
        return sum(operation.name not in beside for operation in asked.script.operations)
    return len(asked.planned_test.power_queries)
