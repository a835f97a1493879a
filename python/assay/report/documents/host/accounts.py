"""Types of a run's document on CPU time by account (engine, driver, others)."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class AccountsSection(TypedDict):
    """CPU seconds of the measured part by user: the engine, Assay's own processes, and others."""

    window_s: float
    """Seconds between the two samples around the measured part."""
    cpus: int
    capacity_s: float
    """Available CPU seconds: window_s times cpus."""
    by_account_s: dict[str, float]
    """CPU seconds of the engine and of Assay's own processes, by account: engine, driver,
    probes."""
    background_s: float
    """CPU seconds of all processes other than the engine's and Assay's."""
    busy_s: float
    idle_s: float
    """Idle CPU seconds, including waits for a device."""
    steal_s: MeasuredValue
    """CPU seconds that the hypervisor gave to other machines; null if not known."""
