"""Reads the requested load of a run: clients, rate and duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.analysis.operations import NS
from assay.record.layout import measured_phases

POWER = "power"
CLOSED = "closed"
OPEN = "open"


@dataclass(frozen=True)
class Load:
    """The requested load of a run's measured part: clients, rate and duration.

    Attributes:
        shape: closed or open.
        clients: Number of concurrent sessions.
        rate_per_s: Operations per second that become due; None for a closed load.
        time_s: Seconds in which operations become due, or until a requested kill of the engine;
            None if a number of operations ends the run.
        late_limit_s: Delay in seconds after which an operation is skipped; None means never.
        speed: Factor by which captured executions become due faster than in the capture; None if
            they become due at a rate.
    """

    shape: str
    clients: int
    rate_per_s: float | None
    time_s: float | None
    late_limit_s: float | None
    speed: float | None = None


def load_of(facts: dict[str, Any]) -> Load | None:
    """Return the load of a run's measured phase; None for fixed orders and without a plan."""
    phase = measured_phase(facts)
    arrival, request = phase.get("arrival", {}), facts.get("request", {})
    if arrival.get("shape") not in (CLOSED, OPEN):
        return None
    return Load(
        shape=arrival["shape"],
        clients=arrival["clients"],
        rate_per_s=arrival.get("rate_per_s"),
        time_s=_time_s(phase, facts.get("fault")),
        late_limit_s=phase["late_limit_ns"] * NS if phase.get("late_limit_ns") else None,
        speed=request.get("speed", 1.0) if request.get("as_recorded") else None,
    )


def _time_s(phase: dict[str, Any], fault: dict[str, Any] | None) -> float | None:
    """Return the seconds until the planned end of the load, or until the engine is killed."""
    if fault is not None:
        return float(fault["asked_s"])
    return phase["duration_ns"] * NS if phase.get("duration_ns") else None


def measured_phase(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the first measured phase of a run's plan; empty without one."""
    phases = {phase["name"]: phase for phase in facts.get("plan", {}).get("phases", [])}
    names = measured_phases(phases)
    return phases[names[0]] if names else {}
