"""Finds runs that the load generator, or the client's fetching of rows, limited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.client.large_result import BYTES_MIN, SENT
from assay.analysis.findings.host.processes import cores_of, cpus_text
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.analysis.findings.plans.large_values import PIECES
from assay.analysis.time.operation_tree import NETWORK
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text
from assay.record.layout import ACCOUNT_DRIVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "client-bound"
# A load generator that uses this share of its available CPU time delays operations.
SATURATED_SHARE = 0.80
# Waiting for the client is reported from a tenth of the run's time on.
WAITING_SHARE = 0.10
# Operations that wait for a smaller share of their own time are not named.
NAMED_SHARE = 0.05
# A result of fewer rows fits into a few packets, so returning fewer rows saves nothing.
ROWS_MIN = 1_000
# An engine that stores large values in chunks stores about this much in each.
PIECE_BYTES = 2_000


def find(case: Case) -> list[Finding]:
    """Return a finding if the load generator is saturated, or if the engine waits for it."""
    saturated = saturation(case)
    if saturated is not None and saturated >= SATURATED_SHARE:
        return [_saturated(case, saturated)]
    return _waited(case)


def saturation(case: Case) -> float | None:
    """Return the load generator's share of its available CPU time; None without a load.

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
    claim = (
        f"The load generator is the bottleneck: {used} it could use, so the engine was not "
        "at its limit"
    )
    advice = _fewer(case)
    to_try = f"use fewer --clients, {_pin(case)}, or a second machine for the client"
    if advice is not None:
        to_try += f"; {case.try_words(METHOD, {}, 'runs half as many clients')}"
    evidence = [Evidence(f"{used} it could use", "check:client_saturation")]
    finding = case.finding(
        METHOD, claim, {}, tells="bound", to_try=to_try, evidence=evidence, advice=advice
    )
    return replace(finding, effect_share=min(1.0, share))


def _pin(case: Case) -> str:
    """Return the `--pin` option for the client; without the engine if it runs already."""
    return "--pin client=..." if case.on_running_server else "--pin engine=...,client=..."


def _fewer(case: Case) -> Advice | None:
    """Return the advice to halve the number of clients; None for a single client."""
    clients = 0 if case.load is None else case.load.load.clients
    return Advice("clients", "clients", {"value": str(clients // 2)}) if clients > 1 else None


def _waited(case: Case) -> list[Finding]:
    """Return findings of time spent waiting for the client, a cause if results are large.

    A result of a few rows is sent in a few packets, so there is nothing to leave out.
    """
    case = case.with_measured("client")
    waited = at_least(case.part("client"), NAMED_SHARE)
    rows = {op.name: op.rows or 0 for op in case.operations}
    large = {
        name: share
        for name, share in waited.items()
        if rows[name] / _statements(case, name) >= ROWS_MIN
    }
    if case.of_run(large) >= WAITING_SHARE:
        return [_results_finding(case, large, rows)]
    effect = case.of_run(waited)
    queued = min(effect, case.client_queue_share or 0.0)
    if queued >= WAITING_SHARE and _others_took_its_cpus(case):
        return [_queue_finding(case, waited, queued / effect)]
    if effect < WAITING_SHARE:
        return []
    claim = (
        f"Network and client take {percent_text(effect)} of the time, most in "
        f"{names_text(case.largest_first(waited))}"
    )
    if not _may_send_much(case):
        claim += ": results are small, so round trips are the cause"
    evidence = _rows_evidence(case, waited, rows)
    return [case.finding(METHOD, claim, waited, tells="shape", evidence=evidence).of(NETWORK)]


def _may_send_much(case: Case) -> bool:
    """Return True if few rows may be a large result, by the bytes sent or large values fetched."""
    executions = sum(op.passes for op in case.operations)
    sent = max(case.total(SENT) or 0.0, PIECE_BYTES * (case.total(PIECES) or 0.0))
    return sent >= BYTES_MIN * max(1, executions)


def _statements(case: Case, operation: str) -> float:
    """Return the number of statements per operation, whose results are sent one by one."""
    times = case.statement_times.get(operation)
    counted = 0.0 if times is None else sum(each.per_operation for each in times.statements)
    return max(1.0, counted, len(case.plans.get(operation, ())))


def _others_took_its_cpus(case: Case) -> bool:
    """Return True if processes other than the engine and the run used the client's CPUs.

    A client that shares CPUs with the engine waits while the engine computes.
    """
    return "client" in case.pinned


def _queue_finding(case: Case, waited: Mapping[str, float], part: float) -> Finding:
    """Return a finding that the client waits for a CPU, seen by the server as client wait."""
    fractions = {name: share * part for name, share in waited.items()}
    effect = case.of_run(fractions)
    claim = (
        f"The client waited for a CPU for {percent_text(case.client_queue_share)} of the time, "
        f"and the server waited for the client for {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"the load generator waited for a CPU {percent_text(case.client_queue_share)} of the"
            " time, according to the kernel's scheduler",
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
    to_try = f"give the client separate CPUs ({_pin(case)}), or run it on another host"
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
    to_try = "fetch fewer rows or columns, or run the client on separate CPUs or another host"
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
