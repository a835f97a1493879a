"""Type of a run's document, which `--json` prints and which terminal and page render."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from assay.model.verdict import VerdictWord
from assay.report.documents.checks import CheckRow
from assay.report.documents.findings import FindingRow
from assay.report.documents.host.accounts import AccountsSection
from assay.report.documents.host.changes import ChangesSection
from assay.report.documents.host.cluster import ClusterSection
from assay.report.documents.host.conditions import ConditionsSection, HostSection
from assay.report.documents.host.engine_counters import EngineCountersSection
from assay.report.documents.host.probes import ProbesSection
from assay.report.documents.host.sessions import SessionsSection
from assay.report.documents.host.state import StateSection
from assay.report.documents.host.storage import StorageSection
from assay.report.documents.load.load import PaceSection, StallsSection
from assay.report.documents.load.metrics import RunMetrics
from assay.report.documents.load.operations import OperationRow, WhereSection
from assay.report.documents.load.sequence import SequenceSection
from assay.report.documents.load.specified import SpecifiedTestSection
from assay.report.documents.load.statements import StatementsSection
from assay.report.documents.load.steady import SteadySection
from assay.report.documents.load.transactions import TransactionsSection
from assay.report.documents.observed import ObservedSection
from assay.report.documents.plans.plan_work import PlanWorkSection
from assay.report.documents.plans.plans import PlanCaptureSection, StatementPlan
from assay.report.documents.profile.profile import ProfileSection
from assay.report.documents.time import TimeSection
from assay.report.documents.what_if import WhatIfSection


class RunDocument(TypedDict):
    """The document of `assay show --json`, also kept in derived/summary.json.

    A figure that was not measured is null, never 0. Units are seconds, bytes and shares from 0 to
    1. Other units end the name of the key.
    """

    schema: Literal[2]
    """Version of the document's schema."""
    assay_version: str
    """Version of Assay that made the document. Another version may have written the record."""
    run: str
    """Id of the run: <utc>-<workload>-<engine>-<six hexadecimal digits>."""
    path: str
    """Directory of the record."""
    status: Literal["running", "complete", "failed", "interrupted"]
    """How the run ended. A killed run keeps the status running."""
    status_reason: str | None
    """Reason why the run failed or ended early, or why no operation succeeded."""
    started_utc: str | None
    """Start of the run, in ISO 8601."""
    workload: str
    """Name of the workload."""
    workload_title: str
    """Title of the workload."""
    engine: str
    """Name of the engine."""
    engine_title: str
    """Title of the engine."""
    engine_version: str | None
    """Version of the engine, as the engine reports it."""
    scale: float
    """Scale of the data, in the unit of the workload."""
    own_tables: NotRequired[bool]
    """Whether the run queried existing tables. For existing tables, the scale does not describe the
    size."""
    scale_name: str
    """The workload's name for its scale, such as SF."""
    conditions: ConditionsSection
    changes: ChangesSection | None
    """Limits of the engine and changes to the host; null without any."""
    state: StateSection | None
    """Content of caches when the timed part began; null if not recorded."""
    host: HostSection
    verdict: VerdictWord
    """The worst verdict of all checks."""
    checks: list[CheckRow]
    """Result of each check, worst first."""
    metrics: RunMetrics
    """Figures of the run as a whole. Totals are null if one operation has no time, and under a
    closed or open load. Figures of a load are null in the power order."""
    operations: list[OperationRow]
    """Operations of the measured part, in the order of the first pass."""
    time: TimeSection
    where: WhereSection | None
    """Split of the time of all operations; null if not measured."""
    pace: PaceSection | None
    """Throughput of a load over time, in at most 60 intervals; null in the power order. `assay
    export` writes one row per second."""
    transactions: TransactionsSection | None
    """The transaction mix of the measured part, as its specification defines it; null for workloads
    without one."""
    sequence: SequenceSection | None
    """Query mixes of clients that each execute a fixed order, as their specification defines them;
    null for other loads, or if no mix was completed."""
    statements: dict[str, StatementsSection]
    """Statements of each operation's successful executions, and the cause of its slowest ones;
    empty if statements were not recorded."""
    stalls: StallsSection | None
    """Times in which a load completed less than half the operations of the median interval; null in
    the power order, or for too few operations."""
    steady: SteadySection | None
    """Steadiness of the mixes of clients that each execute a fixed order; null for other loads."""
    cluster: ClusterSection | None
    """Work of the nodes of a cluster; null if the engine is not a cluster."""
    findings: list[FindingRow]
    """Claims about the run, largest effect first."""
    ruled_out: list[FindingRow]
    """Causes that evidence ruled out."""
    accounts: AccountsSection | None
    """CPU seconds of the measured part; null without samples around it."""
    engine_counters: EngineCountersSection | None
    """Counters of the engine; null if the engine declares none, or they were not read."""
    sessions: SessionsSection | None
    """CPU time of a server by user; null if the engine has no processes of its own, or if the
    sessions of its processes were not recorded."""
    storage: StorageSection | None
    """The data's block device and the host's CPUs, in the terms and units of iostat -x and mpstat;
    null if the data are not on a block device, or it was not observed."""
    profile: ProfileSection | None
    """CPU time of the engine by kind of work, from stack samples. Shares refer to `samples` unless
    stated otherwise; null if the run was not profiled, or nothing was measured."""
    plans: dict[str, list[StatementPlan]]
    """Plans of each operation's statements, from extra executions after the measured part. If there
    are no plans, `plan_capture` has the reason.
    """
    plan_work: PlanWorkSection
    """Thread time of plans by kind of work, from one captured execution of each operation."""
    plan_capture: PlanCaptureSection
    what_if: WhatIfSection | None
    """Sensitivity of the run's metrics, by a model that states its assumptions; null if nothing was
    measured, or if an operation has no time, because then no metric has a value."""
    test: SpecifiedTestSection | None
    """A test of the specification, such as TPC-H's power and throughput test; null without a
    test."""
    observed: ObservedSection | None
    """How a server was observed, with the observed statements as operations; null for runs, which
    send their own operations."""
    probes: ProbesSection
    report: str | None
    """Path of report.html; null if it was not written."""
    legal: str | None
    """Notice that must accompany any result of this workload."""
