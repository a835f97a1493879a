"""Types for a run's summary: results of the whole run and of each operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.cluster.told import Cluster
    from assay.analysis.host.accounts import Accounts
    from assay.analysis.load.latency import Distribution
    from assay.analysis.load.mixes import Mixes
    from assay.analysis.load.sequences import Sequence
    from assay.analysis.load.stalls import Stalls
    from assay.analysis.load.summary import LoadSummary
    from assay.analysis.load.transactions import Transactions
    from assay.analysis.load.wasted_work import Work
    from assay.analysis.time.statement_times import OperationStatements
    from assay.analysis.time.tree import TimeNode
    from assay.analysis.time.where import Where
    from assay.model.finding import Finding
    from assay.model.observed import Observed


@dataclass(frozen=True)
class OperationSummary:
    """Times, counts and resource use of one operation in the measured phase.

    Attributes:
        name, title: Name and title in the workload.
        seconds: Median service time over the passes; None if no pass succeeded. For an observed
            statement the mean, because the server counts only sums.
        seconds_min, seconds_max: Fastest and slowest pass.
        share: Share of the sum of all medians, or of all service time under a load, 0 to 1.
        outcome: `ok` if every pass succeeded, otherwise `failed` or `skipped`.
        error: Class of the first error.
        passes: Number of times that the operation was scheduled.
        rows: Number of rows that it returned.
        where: Shares of its time by cause, which add up to 1; None if it was not measured.
        coverage: Share of thread time with a known cause, before scaling.
        parallelism: CPU seconds per second.
        threads_at_work: Mean number of engine threads at work.
        memory_peak_bytes: Highest resident memory of the engine during the operation; memory
            shared by its processes counts once. Measured by the kernel's peak mark, for a server
            by samples.
        memory_growth_bytes: This peak minus the resident memory before the operation.
        memory_peak_pss_bytes: Highest sampled sum of its processes' proportional set sizes
            (PSS).
        engine_memory_bytes: Memory that the engine reported with the operation's plan.
        read_bytes, write_bytes: Storage bytes of one execution, the median.
        minor_faults: Page faults of one execution, the median.
        disk_method: Method by which waits for the disk were measured.
        failed, skipped, retries: Counts over the measured part.
        retries_by_class: Retries under a load, by class of the error.
        throughput_per_s, latency, service: Figures of a closed or open load; None without a
            load.
    """

    name: str
    title: str
    seconds: float | None
    seconds_min: float | None
    seconds_max: float | None
    share: float | None
    outcome: str
    error: str | None
    passes: int
    rows: int | None
    where: dict[str, float | None]
    coverage: float | None
    parallelism: float | None
    threads_at_work: float | None
    memory_peak_bytes: int | None
    memory_growth_bytes: int | None
    read_bytes: float | None
    write_bytes: float | None
    minor_faults: float | None
    disk_method: str
    failed: int = 0
    skipped: int = 0
    retries: int = 0
    retries_by_class: dict[str, int] = field(default_factory=dict)
    memory_peak_pss_bytes: int | None = None
    engine_memory_bytes: int | None = None
    throughput_per_s: float | None = None
    latency: Distribution | None = None
    service: Distribution | None = None


@dataclass(frozen=True)
class Summary:
    """The results of one run: its operations, metrics, findings and resource use.

    Attributes:
        operations: Operations in the order of the first pass.
        metrics: Metrics by name, which ends with the unit; None if not measured.
        findings: Findings in the order of the report.
        accounts: CPU seconds of the measured window; None without system samples.
        probe_core_share: CPU time of all probes as a share of one core; None without probes.
        load: Figures of a closed or open load; None without a load.
        engine_counters: The engine's counters, from `analysis.engine_counters`.
        sessions: CPU time of a server by user, from `analysis.sessions`.
        where: Split of the whole run's time; None if not measured.
        statements: Times of statements by operation, if statements were recorded.
        stalls: Times of low throughput in a load; None if not known.
        transactions: Results of a workload that specifies a mix; None for other workloads.
        work: Work of sessions under a load; None without a load.
        sequence: Mixes of clients that execute a fixed order, by their specification; None for
            others.
        mixes: Steadiness of mixes of clients that each execute a fixed order; None for others.
        cluster: Work of the nodes; None if the engine is not a cluster.
        silenced: Causes that a witness contradicts.
        time: Tree of the run's wall time; None if it was not split.
        trees: Trees of the operations' wall time, by name, without operations that were not
            split.
        unsplit: Why threads cannot be assigned to sessions; None if they can be.
        observed: Facts of an observation; None if the record is a run.
    """

    operations: tuple[OperationSummary, ...]
    metrics: dict[str, float | None]
    findings: tuple[Finding, ...]
    accounts: Accounts | None
    probe_core_share: float | None
    load: LoadSummary | None = None
    engine_counters: dict[str, Any] | None = None
    sessions: dict[str, Any] | None = None
    where: Where | None = None
    statements: dict[str, OperationStatements] = field(default_factory=dict)
    stalls: Stalls | None = None
    transactions: Transactions | None = None
    work: Work | None = None
    sequence: Sequence | None = None
    mixes: Mixes | None = None
    cluster: Cluster | None = None
    silenced: tuple[Finding, ...] = ()
    time: TimeNode | None = None
    trees: Mapping[str, TimeNode] = field(default_factory=dict)
    unsplit: str | None = None
    observed: Observed | None = None
