"""Accounts of CPU time in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class AccountsSection(TypedDict):
    """CPU seconds of the measured part by who used them."""

    window_s: float
    """Time between the samples around the measured part."""
    cpus: int
    capacity_s: float
    """window_s times cpus."""
    by_account_s: dict[str, float]
    """CPU time of the engine and of Assay's own processes: engine, driver, probes."""
    background_s: float
    """CPU time of all other processes."""
    busy_s: float
    idle_s: float
    """Idle time, including waiting for a device."""
    steal_s: MeasuredValue
    """Time that the hypervisor gave to other machines."""
