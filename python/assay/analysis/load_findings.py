"""Claims about a run under a closed or an open load, each with its numbers.

What bounds a load is read from the CPU time of engine and driver against the CPUs each may use.
Where neither is short of CPU, clients waited for something that this record has no counter for,
and that is what is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Finding
from assay.model.units import percent_text, rate_text
from assay.record.layout import ACCOUNT_DRIVER, ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

if TYPE_CHECKING:
    from assay.analysis.accounts import Accounts
    from assay.analysis.load import LoadSummary

# CPUs are taken to be used up when hardly a sixth of their time is left.
CPU_BOUND_SHARE = 0.85
# A load generator that is busy for this share of what it may use delays its own operations.
CLIENT_BOUND_SHARE = 0.80
# A rate is held when next to nothing of it is missing.
RATE_HELD_SHARE = 0.99
# The last third of a steady run is as fast as its first, but for this.
STEADY_SHARE = 0.10
# Intervals without which thirds of a run say nothing.
STEADY_INTERVALS_MIN = 6

METHOD_BOUND = "load-bound-by"
METHOD_RATE = "rate-held"
METHOD_STEADY = "steady"


def load_findings(
    run_id: str,
    load: LoadSummary,
    used: Accounts | None,
    pinned: dict[str, int],
    cpus: int | None,
) -> list[Finding]:
    """All findings of one load: what held it back first, then whether it was steady.

    Args:
        run_id: Of the run.
        load: Its figures.
        used: CPU seconds of the measured part.
        pinned: How many CPUs `engine` and `client` were pinned to, if they were.
        cpus: How many CPUs the run may use.
    """
    found = [
        rate_not_held(run_id, load),
        bound_by(run_id, load, used, pinned, cpus),
        not_steady(run_id, load),
    ]
    return [finding for finding in found if finding is not None]


def rate_not_held(run_id: str, load: LoadSummary) -> Finding | None:
    """That fewer operations were done than became due, and by how much the backlog grew."""
    went = load.schedule
    if went is None or went.done_per_s >= RATE_HELD_SHARE * went.rate_per_s:
        return None
    missing = 1 - went.done_per_s / went.rate_per_s
    grown = ""
    if went.grown_per_s is not None and went.grown_per_s > 0:
        grown = f", and the backlog grew by {rate_text(went.grown_per_s)}"
    claim = (
        f"The rate was not held: {rate_text(went.done_per_s)} of {rate_text(went.rate_per_s)} were"
        f" done{grown}; percentiles of latency say how long the run was"
    )
    return Finding(claim, missing, None, (run_id,), METHOD_RATE, _slower(went.done_per_s))


def _slower(done_per_s: float) -> str:
    lower = float(f"{done_per_s * CPU_BOUND_SHARE:.2g}")
    return f"--rate {lower:g}, or --clients without --rate for the most"


def bound_by(
    run_id: str,
    load: LoadSummary,
    used: Accounts | None,
    pinned: dict[str, int],
    cpus: int | None,
) -> Finding | None:
    """What bounds the load, by the CPU time of engine and driver; None where it has no samples."""
    if used is None or not used.window_s or cpus is None:
        return None
    engine_cores, driver_cores = _cores(used, ACCOUNT_ENGINE), _cores(used, ACCOUNT_DRIVER)
    if engine_cores is None or driver_cores is None:
        together = _cores(used, ACCOUNT_ENGINE_AND_DRIVER)
        return None if together is None else _bound_together(run_id, load, together, cpus)
    client_cpus = min(pinned.get("client", cpus), load.load.clients)
    engine_cpus = pinned.get("engine", cpus)
    client_share = driver_cores / client_cpus
    if client_share >= CLIENT_BOUND_SHARE:
        claim = (
            f"Client-bound: the load generator used {percent_text(client_share)} of the"
            f" {_cpus(client_cpus)} it could use, so the engine was not at its limit"
        )
        to_try = "fewer --clients, --pin engine=...,client=..., or a second machine for the client"
        return Finding(claim, client_share, None, (run_id,), METHOD_BOUND, to_try)
    apart = "engine" in pinned
    share = (engine_cores if apart else engine_cores + driver_cores) / engine_cpus
    who = "the engine" if apart else "engine and load generator"
    of_it = "" if apart else f", {engine_cores:.2g} of them the engine"
    if share >= CPU_BOUND_SHARE:
        claim = f"CPU-bound: {who} used {share * engine_cpus:.2g} of {_cpus(engine_cpus)}{of_it}"
        return Finding(claim, min(1.0, share), None, (run_id,), METHOD_BOUND)
    return _not_by_cpu(run_id, load, engine_cores + driver_cores, share, f"{who} used")


def _bound_together(run_id: str, load: LoadSummary, cores: float, cpus: int) -> Finding:
    """For an engine that lives in the driver's process: the two cannot be told apart."""
    who = "engine and driver, one process,"
    if cores / cpus >= CPU_BOUND_SHARE:
        claim = f"CPU-bound: {who} used {cores:.2g} of {_cpus(cpus)}"
        return Finding(claim, min(1.0, cores / cpus), None, (run_id,), METHOD_BOUND)
    return _not_by_cpu(run_id, load, cores, cores / cpus, f"{who} used")


def _not_by_cpu(
    run_id: str, load: LoadSummary, cores: float, share: float, who_used: str
) -> Finding:
    """What is left to be said where CPUs were idle."""
    clients = load.load.clients
    seen = f"{who_used} {percent_text(share)} of the CPU time there was"
    went = load.schedule
    if went is not None and went.done_per_s >= RATE_HELD_SHARE * went.rate_per_s:
        claim = f"Not at its limit: {rate_text(went.rate_per_s)} were held, and {seen}"
        to_try = "a higher --rate, or no --rate for the most these clients can do"
        return Finding(claim, 1 - share, None, (run_id,), METHOD_BOUND, to_try)
    if cores / clients >= CPU_BOUND_SHARE:
        # A client is served by one CPU at a time: its own work, then the engine's.
        claim = (
            f"Bound by the number of clients: {clients} kept {cores:.2g} CPUs busy, as many as so"
            f" few can; {seen}"
        )
        return Finding(claim, share, None, (run_id,), METHOD_BOUND, "more --clients")
    claim = (
        f"Not bound by the CPU: {seen}; clients were waiting, cause not measured (log, locks, disk"
        " or network)"
    )
    return Finding(claim, 1 - share, None, (run_id,), METHOD_BOUND)


def not_steady(run_id: str, load: LoadSummary) -> Finding | None:
    """That the last third was faster or slower than the first by more than the threshold."""
    rates = load.pace.throughput_per_s
    if len(rates) < STEADY_INTERVALS_MIN:
        return None
    third = len(rates) // 3
    first, last = sum(rates[:third]) / third, sum(rates[-third:]) / third
    if not first or abs(last / first - 1) <= STEADY_SHARE:
        return None
    way = "fell" if last < first else "rose"
    claim = (
        f"Not steady: throughput {way} from {rate_text(first)} in the first third to"
        f" {rate_text(last)} in the last ({last / first - 1:+.0%}); the mean hides it"
    )
    return Finding(claim, abs(last / first - 1), None, (run_id,), METHOD_STEADY, "a longer --time")


def _cores(used: Accounts, account: str) -> float | None:
    seconds = used.by_process.get(account)
    return None if seconds is None else seconds / used.window_s


def _cpus(count: int) -> str:
    return f"{count} CPU" if count == 1 else f"{count} CPUs"
