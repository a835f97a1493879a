"""The document of a run: what `--json` prints, and what terminal and page render."""

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

    A figure that was not measured is null, never 0. Seconds, bytes and shares of one throughout;
    names end in their unit where it is not plain.
    """

    schema: Literal[2]
    """Version of this schema."""
    assay_version: str
    """Version of Assay that made this document, which need not be the one that made the record."""
    run: str
    """Id of the run: <utc>-<workload>-<engine>-<six hexadecimal digits>."""
    path: str
    """Directory of the record."""
    status: Literal["running", "complete", "failed", "interrupted"]
    """How the run ended; a killed run stays running."""
    status_reason: str | None
    """Why it failed or ended early, or why no operation succeeded."""
    started_utc: str | None
    """When it began, ISO 8601."""
    workload: str
    """Name of the workload."""
    workload_title: str
    """The workload as people write it."""
    engine: str
    """Name of the engine."""
    engine_title: str
    """The engine as people write it."""
    engine_version: str | None
    """The engine's own version."""
    scale: float
    """Scale of the data in the workload's measure."""
    own_tables: NotRequired[bool]
    """Whether it asked tables that were there, so that the scale says nothing of their size."""
    scale_name: str
    """What the workload calls its scale, such as SF."""
    conditions: ConditionsSection
    changes: ChangesSection | None
    """What the engine was limited to, and what was changed on the host; null: nothing was."""
    state: StateSection | None
    """What was in memory when the timed part began; null in records that tell nothing of it."""
    host: HostSection
    verdict: VerdictWord
    """The worst verdict of all checks."""
    checks: list[CheckRow]
    """One result a check, worst first."""
    metrics: RunMetrics
    """Figures of the run as a whole. Totals are null as soon as one operation has no time, and
    under a closed or an open load; what is said to be of a load is null in the power order."""
    operations: list[OperationRow]
    """One element an operation of the measured part, in the order of the first pass."""
    time: TimeSection
    where: WhereSection | None
    """Where the time of the whole run went; null where it was not measured."""
    pace: PaceSection | None
    """A load over time, in at most 60 intervals; null in the power order. `assay export` writes it
    by the second."""
    transactions: TransactionsSection | None
    """The mix as its workload specifies it, of the measured part; null of workloads that specify
    none."""
    sequence: SequenceSection | None
    """Mixes of clients that play an order by themselves, in the terms of its specification; null of
    other loads, and where no mix came to its end."""
    statements: dict[str, StatementsSection]
    """By operation: its statements, of executions that succeeded, and what makes its tail; empty
    where no statements were noted."""
    stalls: StallsSection | None
    """Times in which a load got less than half of the median interval's operations done; null in
    the power order, and of too few operations."""
    steady: SteadySection | None
    """Mixes of clients that play an order by themselves, and whether they became steady; null of
    other loads."""
    cluster: ClusterSection | None
    """What the nodes of a cluster did. Null: the engine is none."""
    findings: list[FindingRow]
    """Claims about the run, largest effect first."""
    ruled_out: list[FindingRow]
    """Causes that were considered and that a witness contradicts."""
    accounts: AccountsSection | None
    """CPU seconds of the measured part; null without samples around it."""
    engine_counters: EngineCountersSection | None
    """What the engine counted itself, of the figures that it declares. Null: it declares none, or
    they were not read."""
    sessions: SessionsSection | None
    """Who used a server's CPU time. Null: the engine has no processes of its own, or which of them
    served which session was not recorded."""
    storage: StorageSection | None
    """The block device that holds the data and the CPUs of the host, in the words and units of
    iostat -x and mpstat. Null: the data are on no block device, or it was not observed."""
    profile: ProfileSection | None
    """What the engine's CPU time went into, by samples of its stacks. Null: the run was not
    profiled, or nothing was measured. Shares are of `samples`, unless something else is said."""
    plans: dict[str, list[StatementPlan]]
    """How statements were executed when they were asked once more with their plan, by operation:
    one a statement. Empty where there are none; plan_capture says why."""
    plan_work: PlanWorkSection
    """What the thread time of plans went into, in the words of CPU samples: one execution of each
    operation, watched."""
    plan_capture: PlanCaptureSection
    what_if: WhatIfSection | None
    """What the run's metrics depend on, by a model that states what it assumes. Null: nothing was
    measured, or an operation has no time, without which no metric has a value."""
    test: SpecifiedTestSection | None
    """A test of the specification, such as TPC-H's power and throughput test. Null: the run was put
    to none."""
    observed: ObservedSection | None
    """How a server was looked at whose statements are the operations; null of runs, which drive."""
    probes: ProbesSection
    report: str | None
    """Path of report.html; null if it is not kept."""
    legal: str | None
    """What must be said with any result of this workload."""
