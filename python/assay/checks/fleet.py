"""Checks that all client hosts finished their load, and how exactly their clocks agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.cluster.fleet import clock_uncertainty_s, hosts_of, lost_hosts
from assay.checks.thresholds import CLOCK_UNCERTAINTY_S_MAX
from assay.model.units import seconds_text
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import FLEET_DIR, RAW_DIR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run

NAME = "fleet"


def check(run: Run) -> CheckResult:
    """Return invalid if a client host was lost, because the load was then incomplete."""
    hosts = hosts_of(run.facts)
    if not hosts:
        return CheckResult(NAME, Verdict.VALID, "one host drove", measured=False)
    if any((run.dir / RAW_DIR / FLEET_DIR).glob("*")):
        return CheckResult(
            NAME,
            Verdict.UNKNOWN,
            "the run was killed or is still running, so the data of its hosts are not merged; "
            f"{RAW_DIR}/{FLEET_DIR} has a folder for each host, with times of its own clock",
        )
    lost = lost_hosts(hosts)
    if lost:
        return CheckResult(NAME, Verdict.INVALID, _lost(hosts, lost), value=float(len(lost)))
    unsure_s = clock_uncertainty_s(hosts)
    counts = ", ".join(f"{host['name']} {host['sessions']}" for host in hosts)
    seen = f"{len(hosts)} host{'s' * (len(hosts) > 1)} generated the load (clients: {counts})"
    if unsure_s is None:
        reason = (
            f"{seen}, and their clocks were not measured: times of different hosts cannot be "
            "compared"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    clock = "on one clock" if unsure_s == 0 else f"clocks known to {seconds_text(unsure_s)}"
    if unsure_s > CLOCK_UNCERTAINTY_S_MAX:
        reason = (
            f"{seen}, {clock} only: figures of single seconds mix different times; use a "
            "network with lower latency"
        )
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=unsure_s, threshold=CLOCK_UNCERTAINTY_S_MAX
        )
    return CheckResult(
        NAME, Verdict.VALID, f"{seen}, {clock}", value=unsure_s, threshold=CLOCK_UNCERTAINTY_S_MAX
    )


def _lost(hosts: Sequence[dict[str, Any]], lost: Sequence[dict[str, Any]]) -> str:
    first = lost[0]["ended"]
    clients = sum(host["sessions"] for host in lost)
    names = ", ".join(host["name"] for host in lost)
    recorded = sum(host["ended"].get("recorded_operations", 0) for host in lost)
    unheard = sum(host["ended"].get("lost_operations", 0) for host in lost)
    under_way = sum(host["ended"].get("under_way_max", 0) for host in lost)
    return (
        f"{len(lost)} of {len(hosts)} hosts ({names}) ended early, in phase {first['phase']}"
        f" ({first['words']}): {clients} of {sum(host['sessions'] for host in hosts)} clients "
        f"stopped then. {recorded:,} of their operations are recorded, at least {unheard:,} "
        f"more had ended without a record, and at most {under_way:,} were in progress with an "
        "unknown outcome. Repeat the run with all hosts"
    )
