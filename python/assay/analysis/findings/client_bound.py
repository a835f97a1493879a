"""That the load generator, or fetching at the client, was the limit and not the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least, names_text
from assay.analysis.findings.processes import cores_of, cpus_text
from assay.model.finding import Advice, Evidence, Finding
from assay.model.units import count_text, percent_text
from assay.record.layout import ACCOUNT_DRIVER

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "client-bound"
# A load generator that is busy for this share of what it may use delays its own operations.
SATURATED_SHARE = 0.80
# Waiting for the client to take rows is worth a word from a tenth of the run's time on.
WAITING_SHARE = 0.10
# Operations that waited for less of their own time are not named.
NAMED_SHARE = 0.05


def find(case: Case) -> list[Finding]:
    """A saturated load generator bounds a load; else what the engine waited for its client."""
    saturated = saturation(case)
    if saturated is not None and saturated >= SATURATED_SHARE:
        return [_saturated(case, saturated)]
    return _waited(case)


def saturation(case: Case) -> float | None:
    """Share that the load generator used of the CPU time it could use; None without a load.

    Of a fleet it is that of its busiest host.
    """
    if case.fleet_share is not None:
        return case.fleet_share
    driver = None if case.accounts is None else cores_of(case.accounts, ACCOUNT_DRIVER)
    cpus = client_cpus(case)
    return None if driver is None or cpus is None else driver / cpus


def client_cpus(case: Case) -> int | None:
    """CPUs that a load generator can use: those it is pinned to, and no more than its clients."""
    if case.load is None or case.cores is None:
        return None
    return min(case.pinned.get("client", case.cores), case.load.load.clients)


def _saturated(case: Case, share: float) -> Finding:
    who, of_what = "the load generator", f"the {cpus_text(client_cpus(case))}"
    if case.fleet_share is not None:
        who, of_what = "the busiest driver of the fleet", "the CPUs"
    used = f"{who} used {percent_text(share)} of {of_what}"
    return Finding(
        claim=f"Client-bound: {used} it could use, so the engine was not at its limit",
        effect_share=min(1.0, share),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try="fewer --clients, --pin engine=...,client=..., or a second machine for the client",
        tells="bound",
        evidence=(Evidence(f"{used} it could use", "check:client_saturation"),),
        advice=_fewer(case),
    )


def _fewer(case: Case) -> Advice | None:
    """Half as many clients; None of one, and in the power order, which has none."""
    clients = 0 if case.load is None else case.load.load.clients
    return Advice("clients", "clients", {"value": str(clients // 2)}) if clients > 1 else None


def _waited(case: Case) -> list[Finding]:
    case = case.known("client")
    waited = at_least(case.part("client"), NAMED_SHARE)
    effect = case.of_run(waited)
    if effect < WAITING_SHARE:
        return []
    rows = {op.name: op.rows for op in case.operations}
    named = case.largest_first(waited)
    evidence = [
        Evidence(
            f"{name} waited for its client for {percent_text(waited[name])} of its time and"
            f" returned {count_text(rows.get(name))} rows",
            f"where:{name}",
        )
        for name in named[:3]
    ]
    claim = (
        f"The engine waited for its client for {percent_text(effect)} of the time, most in"
        f" {names_text(named)}"
    )
    to_try = "fewer rows or columns in the result: the engine is ready before its client is"
    return [case.finding(METHOD, claim, waited, to_try=to_try, evidence=evidence)]
