"""Facts about the client hosts that drove the load of one run together (a fleet)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.operations import NS, window_of
from assay.record.layout import measured_phases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

# Endings of a host that was lost before it reported its whole share of the load.
LOST = ("died", "failed")


def hosts_of(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the client hosts that drove a run's load; empty for a single client."""
    return list((facts.get("fleet") or {}).get("hosts", []))


def lost_hosts(hosts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the client hosts that were lost before they reported all their results."""
    return [host for host in hosts if (host["ended"] or {}).get("how") in LOST]


def clock_uncertainty_s(hosts: Sequence[dict[str, Any]]) -> float | None:
    """Return the largest uncertainty of client hosts' clocks in seconds; None if unknown."""
    clocks = [host["clock"] for host in hosts]
    if not clocks or any(clock is None for clock in clocks):
        return None
    return max(int(clock["uncertainty_ns"]) for clock in clocks) * NS


def busiest(hosts: Sequence[dict[str, Any]], phase: str, seconds: float) -> float | None:
    """Return the largest share of its CPUs that the load driver used on any client host.

    Args:
        hosts: Hosts of the fleet.
        phase: Name of the phase.
        seconds: Length of the phase.

    Returns:
        The share, 0 to 1; None if no host reported its CPU time, or the phase took no time.
    """
    shares = [
        host["driver_cpu_s"][phase] / (seconds * min(host["cpus"], host["sessions"]))
        for host in hosts
        if phase in host["driver_cpu_s"] and seconds > 0
    ]
    return max(shares, default=None)


def measured_share(run: Run) -> float | None:
    """Return the largest share of its CPUs that a client host used; None for a single client."""
    hosts = hosts_of(run.facts)
    window = window_of(run) if hosts else None
    if window is None:
        return None
    phases = measured_phases(phase["name"] for phase in run.facts["plan"]["phases"])
    return busiest(hosts, phases[0], (window[1] - window[0]) * NS) if phases else None
