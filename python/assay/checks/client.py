"""Checks that the load generator itself was not the bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.fleet import hosts_of, measured_share
from assay.analysis.load_plan import load_of
from assay.analysis.summarise import cpus_allowed, pinned_cpus, window_accounts
from assay.checks.thresholds import CLIENT_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import ACCOUNT_DRIVER

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "client_saturation"


def check(run: Run) -> CheckResult:
    """Return unknown if the load driver was as busy as its CPUs allow."""
    if run.driver_report is not None and run.driver_report["recorder_waits"]:
        reason = (
            "sessions had to wait for Assay's recorder, so their times are too long: use a faster"
            " disk for --runs, or fewer clients"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    if hosts_of(run.facts):
        return _of_fleet(run)
    if run.facts["engine"]["kind"] != "server":
        reason = "client saturation not measured: engine and driver share one process"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    used = window_accounts(run)
    if used is None or ACCOUNT_DRIVER not in used.by_process:
        reason = "client saturation not measured: there are no samples of the driver's process"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    cpus = client_cpus(run, used.cpus)
    share = used.by_process[ACCOUNT_DRIVER] / (used.window_s * cpus)
    could = "the CPU" if cpus == 1 else f"the {cpus} CPUs"
    seen = f"the load generator used {percent_text(share)} of {could} it could use"
    if share > CLIENT_SHARE_MAX:
        reason = (
            f"{seen}, so latency includes the load generator's delay: use fewer clients, or"
            f" a second machine"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=CLIENT_SHARE_MAX)
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=CLIENT_SHARE_MAX)


def _of_fleet(run: Run) -> CheckResult:
    """Return the verdict for several client hosts, from their drivers' CPU use."""
    share = measured_share(run)
    if share is None:
        reason = "client saturation not measured: no host reported its driver's CPU time"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    seen = f"the busiest driver of the fleet used {percent_text(share)} of the CPUs it could use"
    if share > CLIENT_SHARE_MAX:
        reason = (
            f"{seen}, so latency includes the load generator's delay: use fewer clients, or"
            f" one more host"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=CLIENT_SHARE_MAX)
    return CheckResult(NAME, Verdict.VALID, seen, value=share, threshold=CLIENT_SHARE_MAX)


def client_cpus(run: Run, cpus: int) -> int:
    """Return the number of CPUs that the load driver could use: at most one per client.

    Args:
        run: The run.
        cpus: Number of CPUs of the machine, used if nothing else is recorded.
    """
    load = load_of(run.facts)
    may = pinned_cpus(run).get("client") or cpus_allowed(run) or cpus
    return min(may, load.clients if load is not None else 1)
