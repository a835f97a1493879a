"""Finds runs that the load generator, or the client's fetching of rows, limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least, names_text
from assay.analysis.findings.host.processes import cores_of, cpus_text
from assay.analysis.time.operation_tree import NETWORK
from assay.model.finding import Advice, Evidence, Finding
from assay.model.units import count_text, percent_text
from assay.record.layout import ACCOUNT_DRIVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case

METHOD = "client-bound"
# A load generator that uses this share of its available CPU time delays operations.
SATURATED_SHARE = 0.80
# Waiting for the client is reported from a tenth of the run's time on.
WAITING_SHARE = 0.10
# Operations that wait for a smaller share of their own time are not named.
NAMED_SHARE = 0.05
# A result of fewer rows fits into a few packets, so returning fewer rows saves nothing.
ROWS_MIN = 1_000


def find(case: Case) -> list[Finding]:
    """Return the finding of a saturated load generator, or else of the engine's client waits."""
    saturated = saturation(case)
    if saturated is not None and saturated >= SATURATED_SHARE:
        return [_saturated(case, saturated)]
    return _waited(case)


def saturation(case: Case) -> float | None:
    """Return the share of its available CPU time that the load generator used; None without a load.

    For a fleet, return the share of the busiest host.
    """
    if case.fleet_share is not None:
        return case.fleet_share
    driver = None if case.accounts is None else cores_of(case.accounts, ACCOUNT_DRIVER)
    cpus = client_cpus(case)
    return None if driver is None or cpus is None else driver / cpus


def client_cpus(case: Case) -> int | None:
    """Return the number of CPUs that a load generator can use: at most one per client."""
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
        to_try=f"fewer --clients, {_pin(case)}, or a second machine for the client",
        tells="bound",
        evidence=(Evidence(f"{used} it could use", "check:client_saturation"),),
        advice=_fewer(case),
    )


def _pin(case: Case) -> str:
    """Return the option that pins the client to CPUs. Assay cannot pin a running server."""
    return "--pin client=..." if case.on_running_server else "--pin engine=...,client=..."


def _fewer(case: Case) -> Advice | None:
    """Return the advice to halve the clients; None for one client, and in the power order."""
    clients = 0 if case.load is None else case.load.load.clients
    return Advice("clients", "clients", {"value": str(clients // 2)}) if clients > 1 else None


def _waited(case: Case) -> list[Finding]:
    """Return waiting for the client: a cause if results are large, else a part of the time.

    A result of a few rows is sent in a few packets, so there is nothing to leave out.
    """
    case = case.with_measured("client")
    waited = at_least(case.part("client"), NAMED_SHARE)
    rows = {op.name: op.rows or 0 for op in case.operations}
    large = {name: share for name, share in waited.items() if rows[name] >= ROWS_MIN}
    if case.of_run(large) >= WAITING_SHARE:
        return [_results_finding(case, large, rows)]
    effect = case.of_run(waited)
    queued = min(effect, case.client_queue_share or 0.0)
    if queued >= WAITING_SHARE and _others_took_its_cpus(case):
        return [_queue_finding(case, waited, queued / effect)]
    if effect < WAITING_SHARE:
        return []
    claim = (
        f"Network and client are {percent_text(effect)} of the time, most in"
        f" {names_text(case.largest_first(waited))}: results are small, so the round trip is the"
        f" cause"
    )
    evidence = _rows_evidence(case, waited, rows)
    return [case.finding(METHOD, claim, waited, tells="shape", evidence=evidence).of(NETWORK)]


def _others_took_its_cpus(case: Case) -> bool:
    """Return True if processes other than the engine and the run used the client's CPUs.

    A client that shares CPUs with the engine waits while the engine computes.
    """
    return "client" in case.pinned


def _queue_finding(case: Case, waited: Mapping[str, float], part: float) -> Finding:
    """Return the finding of a client that waits for a CPU, which the server sees as client wait."""
    fractions = {name: share * part for name, share in waited.items()}
    effect = case.of_run(fractions)
    claim = (
        f"The client was ready and had no CPU for {percent_text(case.client_queue_share)} of the"
        f" time; the server waited for it meanwhile, {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"the load generator waited for a CPU {percent_text(case.client_queue_share)} of the"
            " time, by the scheduler's clock",
            "timeline",
        ),
        *(
            Evidence(
                f"{name} waited for its client for {percent_text(share)} of its time",
                f"where:{name}",
            )
            for name, share in waited.items()
        ),
    ]
    to_try = f"CPUs of its own for the client ({_pin(case)}), or another host for it"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return finding.of(NETWORK, saved=(effect / 2, min(1.0, case.client_queue_share or effect)))


def _results_finding(case: Case, waited: Mapping[str, float], rows: Mapping[str, int]) -> Finding:
    effect, names = case.of_run(waited), case.largest_first(waited)
    claim = (
        f"The server waited for its client for {percent_text(effect)} of the time, most in"
        f" {names_text(names)}, which returned {count_text(rows[names[0]])} rows"
    )
    evidence = _rows_evidence(case, waited, rows)
    evidence.append(
        Evidence(f"{names[0]} returned {count_text(rows[names[0]])} rows", f"clock:{names[0]}")
    )
    to_try = "fetch fewer rows or columns, or run the client on CPUs of its own or another host"
    return case.finding(METHOD, claim, waited, to_try=to_try, evidence=evidence).of(NETWORK)


def _rows_evidence(
    case: Case, waited: Mapping[str, float], rows: Mapping[str, int]
) -> list[Evidence]:
    return [
        Evidence(
            f"{name} waited for its client for {percent_text(waited[name])} of its time and"
            f" returned {count_text(rows[name])} rows",
            f"where:{name}",
        )
        for name in case.largest_first(waited)[:3]
    ]
