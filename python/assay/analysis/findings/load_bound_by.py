"""What bounds a closed or an open load, by the CPU time of engine and driver.

Where neither is short of CPU, clients waited for something. Where the time of operations is split,
of each or of all together, the largest wait is named with its share; else it is said to be unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.causes import CAUSES, UNCOVERED
from assay.analysis.findings.client_bound import SATURATED_SHARE, saturation
from assay.analysis.findings.processes import cores_of, cpus_text
from assay.analysis.findings.rate_held import RATE_HELD_SHARE
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text, rate_text
from assay.record.layout import ACCOUNT_DRIVER, ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

if TYPE_CHECKING:
    from assay.analysis.accounts import Accounts
    from assay.analysis.findings.case import Case
    from assay.analysis.load import LoadSummary

METHOD = "load-bound-by"
# CPUs are taken to be used up when hardly a sixth of their time is left.
CPU_BOUND_SHARE = 0.85
# A wait is named as what a load is bound by when it is this much of the time of its operations.
WAIT_SHARE = 0.3
NOT_MEASURED = "what for was not measured"
# Waiting for the engine's own threads, and what has no source, are no causes to name.
UNNAMED = (UNCOVERED, "idle", "workers")


def find(case: Case) -> list[Finding]:
    """What bounds the load; silent in the power order and without samples of processes."""
    used, load = case.accounts, case.load
    if load is None or used is None or not used.window_s or case.cores is None:
        return []
    told = _told(case, load, used, case.cores)
    if told is None:
        return []
    claim, effect, to_try = told
    found = Finding(
        claim=claim,
        effect_share=min(1.0, max(0.0, effect)),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=to_try,
        tells="bound",
        evidence=_evidence(used),
    )
    return [found]


def _told(
    case: Case, load: LoadSummary, used: Accounts, cpus: int
) -> tuple[str, float, str | None] | None:
    """Claim, effect and what to try."""
    engine, driver = cores_of(used, ACCOUNT_ENGINE), cores_of(used, ACCOUNT_DRIVER)
    # Drivers of a fleet that are on other hosts than the engine use none of its CPUs.
    elsewhere = driver is None and case.fleet_share is not None
    driver = 0.0 if elsewhere else driver
    if engine is None or driver is None:
        return _together(case, load, cores_of(used, ACCOUNT_ENGINE_AND_DRIVER), cpus)
    if (saturation(case) or 0.0) >= SATURATED_SHARE:
        return None
    engine_cpus = case.pinned.get("engine", cpus)
    apart = elsewhere or "engine" in case.pinned
    share = (engine if apart else engine + driver) / engine_cpus
    who = "the engine" if apart else "engine and load generator"
    of_it = "" if apart else f", {engine:.2g} of them the engine"
    if share >= CPU_BOUND_SHARE:
        busy = f"{who} used {share * engine_cpus:.2g} of {cpus_text(engine_cpus)}{of_it}"
        return f"CPU-bound: {busy}", share, None
    return _not_by_cpu(case, load, engine + driver, share, f"{who} used")


def _together(
    case: Case, load: LoadSummary, cores: float | None, cpus: int
) -> tuple[str, float, str | None] | None:
    """For an engine that lives in the driver's process: the two cannot be told apart."""
    if cores is None:
        return None
    who = "engine and driver, one process,"
    if cores / cpus >= CPU_BOUND_SHARE:
        return f"CPU-bound: {who} used {cores:.2g} of {cpus_text(cpus)}", cores / cpus, None
    return _not_by_cpu(case, load, cores, cores / cpus, f"{who} used")


def _not_by_cpu(
    case: Case, load: LoadSummary, cores: float, share: float, who_used: str
) -> tuple[str, float, str | None]:
    """What is left to be said where CPUs were idle."""
    clients, went = load.load.clients, load.schedule
    seen = f"{who_used} {percent_text(share)} of the CPU time there was"
    if went is not None and went.done_per_s >= RATE_HELD_SHARE * went.rate_per_s:
        claim = f"Not at its limit: {rate_text(went.rate_per_s)} were held, and {seen}"
        return claim, 1 - share, "a higher --rate, or no --rate for the most these clients can do"
    cause, waited = _largest_wait(case) or ("", 0.0)
    if waited >= WAIT_SHARE:
        claim = f"Bound by waiting: {percent_text(waited)} of the time of operations was {cause}"
        return f"{claim}; {seen}", waited, None
    if cores / clients >= CPU_BOUND_SHARE:
        # A client is served by one CPU at a time: its own work, then the engine's.
        claim = (
            f"Bound by the number of clients: {clients} kept {cores:.2g} CPUs busy, as many as so"
            f" few can; {seen}"
        )
        return claim, share, "more --clients"
    claim = f"Not bound by the CPU: {seen}; clients were waiting, and {NOT_MEASURED}"
    if waited:
        claim = (
            f"Not bound by the CPU: {seen}; clients were waiting, and the largest wait,"
            f" {percent_text(waited)} of the time of operations, was {cause}"
        )
    return claim, 1 - share, None


def _largest_wait(case: Case) -> tuple[str, float] | None:
    """What operations waited for most, and which share of their time it is; None: not known."""
    waits = {}
    for cause in CAUSES:
        waited, known = case.part(cause.name), case.known(cause.name)
        share = known.of_run(waited) if known.operations else None
        if not waited:
            share = case.where.get(cause.name)
        if share is not None and not cause.on_cpu and cause.name not in UNNAMED:
            waits[cause.title] = share
    return max(waits.items(), key=lambda told: told[1]) if waits else None


def _evidence(used: Accounts) -> tuple[Evidence, ...]:
    told = [
        f"{account} {seconds / used.window_s:.2g}" for account, seconds in used.by_process.items()
    ]
    return (Evidence(f"cores busy: {', '.join(told)}", "timeline"),)
