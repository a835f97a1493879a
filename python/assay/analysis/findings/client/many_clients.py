"""Finds more clients than the CPUs can serve, which only wait for each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.findings.host.steal import blamed
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "many-clients"
QUEUE = "run_queue"
# With more idle CPU time, more clients raise the throughput.
IDLE_MAX = 0.05
# A few clients more than CPUs are usual: they fill the pauses of others.
EFFECT_MIN = 0.5


def find(case: Case) -> list[Finding]:
    """Return a finding of a closed load whose clients mostly wait for each other's CPU time."""
    whole, case = case, case.with_measured(QUEUE)
    clients, enough = _clients(whole), _enough_clients(case)
    if clients is None or enough is None or enough >= clients or case.accounts is None:
        return []
    own = scaled(waited(case, QUEUE), 1 - blamed(case, case.accounts))
    effect = case.of_run(own)
    if effect < EFFECT_MIN:
        return []
    claim = (
        f"{clients} clients compute on {case.cores} CPUs and waited {percent_text(effect)} of the "
        f"time for CPU time that other clients of the run used; about {enough} clients keep the "
        "CPUs busy, with shorter times at the same throughput"
    )
    idle = case.accounts.idle_s / case.accounts.capacity_s
    evidence = [
        *waiting_evidence(case, own, (QUEUE,)),
        Evidence(f"the CPUs were idle for {percent_text(idle)} of the time", "timeline"),
    ]
    to_try = f"use --clients {enough}, or more CPUs"
    return [case.finding(METHOD, claim, own, tells="shape", to_try=to_try, evidence=evidence)]


def _clients(case: Case) -> int | None:
    """Return the clients of a closed load that keeps all CPUs busy; None for other runs."""
    used, load = case.accounts, None if case.load is None else case.load.load
    if load is None or load.rate_per_s is not None or case.pinned:
        return None
    if used is None or used.capacity_s <= 0 or used.idle_s > IDLE_MAX * used.capacity_s:
        return None
    return load.clients


def _enough_clients(case: Case) -> int | None:
    """Return the number of clients that keep the CPUs busy without a queue; None if not known.

    A client that waits for no CPU is on one for the rest of its time, except for other waits.
    """
    on_cpu = case.of_run(case.part("cpu_user", "cpu_system"))
    not_queued = 1 - case.of_run(case.part(QUEUE))
    if case.cores is None or min(on_cpu, not_queued) <= 0:
        return None
    return math.ceil(case.cores * not_queued / on_cpu)
