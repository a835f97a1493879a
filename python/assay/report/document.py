"""The document of a run, which `--json` prints and which page and terminal render.

The types of the document are in `documents/`. `document.schema.json` beside this file is generated
from these types. A figure that was not measured is null. A run that failed, was stopped or was
killed has a document too, with fewer figures and a verdict that is at best unknown.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, cast

from assay.analysis.answers.durability import level_of
from assay.analysis.cluster.fleet import clock_uncertainty_s, hosts_of, lost_hosts
from assay.analysis.load.metrics import no_load_metrics
from assay.analysis.load_plan import load_of, measured_phase
from assay.analysis.server.chosen import chosen_servers
from assay.analysis.summarise import summarise
from assay.analysis.summary import Summary
from assay.checks.judge import judge
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import CheckResult, worst
from assay.record.layout import PHASE_WARMUP
from assay.report.kept import DOCUMENT_SCHEMA, REPORT_FILE
from assay.report.sections.changes import changes_section
from assay.report.sections.checks import check_row
from assay.report.sections.failure import status_reason
from assay.report.sections.plans import capture_section, plan_work_section, plans_section
from assay.report.sections.profile import profile_of, section
from assay.report.sections.specified import section_of_test
from assay.report.sections.state import state_section
from assay.report.sections.storage import storage_section
from assay.report.sections.time import time_section
from assay.report.sections.what_if import judged_of, what_if
from assay.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from assay.analysis.host.accounts import Accounts
    from assay.analysis.load.summary import Pace
    from assay.record.reader import Run
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.host.accounts import AccountsSection
    from assay.report.documents.host.cluster import ClusterSection
    from assay.report.documents.host.conditions import (
        ChosenServerRow,
        ConditionsSection,
        DurabilityLevel,
        FleetSection,
        HostSection,
        WritesSection,
    )
    from assay.report.documents.host.engine_counters import EngineCountersSection
    from assay.report.documents.host.probes import ProbeCost, ProbesSection
    from assay.report.documents.host.sessions import SessionsSection
    from assay.report.documents.host.state import StateSection
    from assay.report.documents.load.load import PaceSection, StallsSection
    from assay.report.documents.load.metrics import RunMetrics
    from assay.report.documents.load.operations import OperationRow, WhereSection
    from assay.report.documents.load.sequence import SequenceSection
    from assay.report.documents.load.specified import SpecifiedTestSection
    from assay.report.documents.load.statements import StatementsSection
    from assay.report.documents.load.steady import SteadySection
    from assay.report.documents.load.transactions import TransactionsSection
    from assay.report.documents.observed import ObservedSection
    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument
    from assay.report.documents.what_if import WhatIfSection

log = logging.getLogger(__name__)

# A run that ended early lacks streams, and its record has the reason.
ENDED_EARLY = ("failed", "interrupted")
NOTHING_MEASURED = Summary(
    operations=(),
    metrics={
        "total_seconds": None,
        "geometric_mean_seconds": None,
        "passes": None,
        "measured_seconds": None,
        "memory_peak_bytes": None,
        "memory_peak_pss_bytes": None,
        "engine_memory_bytes": None,
        **no_load_metrics(),
    },
    findings=(),
    accounts=None,
    probe_core_share=None,
)


def document(run: Run, path: Path) -> RunDocument:
    """Return the document of a run whose directory is `path`."""
    facts = run.facts
    checks = judge(run)
    summary = _summary(run)
    state = state_section(run, checks)
    page = run.derived / REPORT_FILE
    return {
        "schema": DOCUMENT_SCHEMA,
        "assay_version": VERSION,
        "run": run.id,
        "path": str(path),
        "status": facts["status"],
        "status_reason": status_reason(run),
        "started_utc": facts.get("started_utc"),
        "workload": facts["workload"]["name"],
        "workload_title": facts["workload"]["title"],
        "engine": facts["engine"]["name"],
        "engine_title": facts["engine"]["title"],
        "engine_version": facts["engine"]["version"],
        "scale": facts["request"]["scale"],
        "own_tables": bool((facts.get("workload") or {}).get("own_tables")),
        "scale_name": facts["workload"]["scale_name"],
        "conditions": _conditions(run, state),
        "state": state,
        "changes": changes_section(run),
        "host": _host(run),
        "verdict": worst(checks).word,
        "checks": [check_row(result) for result in checks],
        "metrics": cast("RunMetrics", dict(summary.metrics)),
        "operations": [cast("OperationRow", asdict(row)) for row in summary.operations],
        "time": time_section(summary),
        "where": cast("WhereSection | None", _facts(summary.where)),
        "pace": None if summary.load is None else _pace(summary.load.pace),
        "transactions": cast("TransactionsSection | None", _facts(summary.transactions)),
        "sequence": cast("SequenceSection | None", _facts(summary.sequence)),
        "statements": {
            name: cast("StatementsSection", _facts(statements))
            for name, statements in summary.statements.items()
        },
        "stalls": cast("StallsSection | None", _facts(summary.stalls)),
        "steady": cast("SteadySection | None", _facts(summary.mixes)),
        "cluster": cast("ClusterSection | None", _facts(summary.cluster)),
        "findings": [cast("FindingRow", finding.facts()) for finding in summary.findings],
        "ruled_out": [cast("FindingRow", finding.facts()) for finding in summary.silenced],
        "accounts": None if summary.accounts is None else _accounts(summary.accounts),
        "engine_counters": cast("EngineCountersSection | None", summary.engine_counters),
        "sessions": cast("SessionsSection | None", summary.sessions),
        "storage": storage_section(run),
        "profile": _profile(run),
        "plans": plans_section(run),
        "plan_work": plan_work_section(run),
        "plan_capture": capture_section(run),
        "what_if": _what_if(run, summary, checks),
        "test": _test(run, summary, checks),
        "observed": cast("ObservedSection | None", _facts(summary.observed)),
        "probes": _probes(facts, summary),
        "report": str(page) if page.is_file() else None,
        "legal": facts["workload"]["legal"],
    }


class HasFacts(Protocol):
    """Interface of run summary sections that can be converted to JSON values."""

    def facts(self) -> dict[str, Any]:
        """Return this section of a run's summary as JSON values."""


def _facts(part: HasFacts | None) -> dict[str, Any] | None:
    return None if part is None else part.facts()


def _summary(run: Run) -> Summary:
    try:
        return summarise(run)
    except RecordUnreadableError as error:
        level = logging.INFO if run.facts["status"] in ENDED_EARLY else logging.WARNING
        log.log(level, "the figures of run %s cannot be computed: %s", run.id, error)
        return NOTHING_MEASURED


def _profile(run: Run) -> ProfileSection | None:
    profile = profile_of(run)
    return None if profile is None else section(run, profile)


def _what_if(run: Run, summary: Summary, checks: list[CheckResult]) -> WhatIfSection | None:
    if not summary.operations or summary.observed is not None:
        return None
    return what_if(judged_of(run, summary, checks))


def _test(run: Run, summary: Summary, checks: list[CheckResult]) -> SpecifiedTestSection | None:
    try:
        return section_of_test(run, summary, checks)
    except RecordUnreadableError as error:
        log.warning("the test figures of run %s cannot be computed: %s", run.id, error)
        return None


def _conditions(run: Run, state: StateSection | None) -> ConditionsSection:
    """Return the cache state and the load under which a run was measured."""
    facts = run.facts
    servers = chosen_servers(run)
    request, order = facts["request"], facts.get("order") or {}
    phases = {phase["name"] for phase in facts["plan"]["phases"]}
    load = load_of(facts)
    arrival = measured_phase(facts).get("arrival", {}).get("shape")
    return {
        "arrival": arrival,
        "clients": load.clients if load else None,
        "rate_per_s": load.rate_per_s if load else None,
        "time_s": load.time_s if load else None,
        "killed": facts.get("fault") is not None,
        # Older records do not name the state. An untimed pass before the timed passes means `hot`.
        "state": state["words"] if state else "hot" if PHASE_WARMUP in phases else None,
        "parameters": request["parameters"],
        "seed": request["seed"],
        "min_time_s": request["min_time_s"],
        "probe_interval_s": request["probe_interval_s"],
        "sorted_by": order.get("sorted_by", {}),
        "load_order": order.get("load_order", []),
        "order_note": order.get("note"),
        "prepare": list(request.get("prepare", {})),
        "operations": list(request.get("operations", [])),
        "remove": list(request.get("remove", [])),
        "without": list(request.get("without", [])),
        "durability": cast("DurabilityLevel | None", level_of(facts)),
        "think_time": request.get("think_time", False),
        "foreign_keys": request.get("foreign_keys", False),
        "pipeline": request.get("pipeline", False),
        "writes": _writes(facts),
        "pooled": facts.get("pooled", False),
        "as_recorded": request.get("speed", 1.0) if request.get("as_recorded", False) else None,
        "fleet": _fleet(facts),
        "servers": None
        if servers is None
        else [cast("ChosenServerRow", asdict(server)) for server in servers],
    }


def _writes(facts: dict[str, Any]) -> WritesSection | None:
    writes = facts.get("writes")
    if writes is None:
        return None
    kept = [f"{entry['operation']}: {entry['reason']}" for entry in writes["kept"]]
    return {
        "leave": writes["leave"],
        "server_told": writes["server_told"],
        "by_transaction": writes.get("by_transaction", False),
        "kept": kept,
    }


def _fleet(facts: dict[str, Any]) -> FleetSection | None:
    """Return the client hosts that drove the load together; None for a single host."""
    hosts = hosts_of(facts)
    if not hosts:
        return None
    return {
        "hosts": len(hosts),
        "lost": len(lost_hosts(hosts)),
        "clock_uncertainty_s": clock_uncertainty_s(hosts),
        "engine_host": (facts.get("engine_host") or {}).get("name"),
    }


def _host(run: Run) -> HostSection:
    host = run.environment.get("host", {})
    cpu = host.get("cpu", {})
    allowed = cpu.get("allowed")
    return {
        "cpus": len(allowed) if allowed else None,
        "cpu_model": cpu.get("model"),
        "virtual": cpu.get("virtual"),
        "memory_bytes": host.get("memory_bytes"),
        "kernel": host.get("kernel"),
        "filesystem": (host.get("data_filesystem") or {}).get("type"),
    }


def _pace(pace: Pace) -> PaceSection:
    return {
        "interval_s": pace.interval_s,
        "throughput_per_s": list(pace.throughput_per_s),
        "waiting": None if pace.waiting is None else list(pace.waiting),
    }


def _accounts(used: Accounts) -> AccountsSection:
    return {
        "window_s": used.window_s,
        "cpus": used.cpus,
        "capacity_s": used.capacity_s,
        "by_account_s": dict(used.by_process),
        "background_s": used.background_s,
        "busy_s": used.busy_s,
        "idle_s": used.idle_s,
        "steal_s": used.steal_s,
    }


def _probes(facts: dict[str, Any], summary: Summary) -> ProbesSection:
    costs: dict[str, ProbeCost] = {
        name: {
            "cost": probe["cost"],
            "error": probe["error"],
            "samples": probe.get("samples"),
            "cpu_ns": probe.get("cpu_ns"),
            "longest_ns": probe.get("longest_ns"),
        }
        for name, probe in facts.get("probes", {}).items()
    }
    return {"core_share": summary.probe_core_share, "each": costs}
