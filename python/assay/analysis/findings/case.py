"""The `Case` of a run: all data that its findings are made from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.findings.advising import ServerLimits, for_server, try_command
from assay.analysis.findings.changing import change_of
from assay.analysis.findings.engine_facts import Setting, TableFacts
from assay.analysis.findings.existing_index import against_existing
from assay.analysis.findings.intervals import share_interval
from assay.analysis.host.task_counters import EXECUTIONS
from assay.analysis.operations import is_measured
from assay.analysis.time.computing import computing_by_operation
from assay.analysis.time.operation_tree import operation_tree
from assay.analysis.time.plan_share import computing_share, plan_share
from assay.analysis.time.run_tree import run_tree
from assay.analysis.time.split import COVERAGE_MAX
from assay.model.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.cluster.told import Cluster
    from assay.analysis.composite.played import Played
    from assay.analysis.host.accounts import Accounts
    from assay.analysis.host.disk_use import DiskUse
    from assay.analysis.host.limits import LimitUse
    from assay.analysis.load.attempts import FailedAttempts
    from assay.analysis.load.mixes import Mixes
    from assay.analysis.load.stalls import Stalls
    from assay.analysis.load.summary import LoadSummary
    from assay.analysis.profile.profile import Profile
    from assay.analysis.summary import OperationSummary
    from assay.analysis.time.statement_times import OperationStatements
    from assay.analysis.time.tree import TimeNode
    from assay.model.blocker import Blocker
    from assay.model.catalogue import (
        Alternative,
        ChangedSetting,
        Collation,
        ForeignKey,
        Index,
        KeptRows,
        Notifier,
        Statistics,
        TriggerText,
        WrittenRows,
    )
    from assay.model.finding import Advice, Evidence, Tells
    from assay.model.neighbour import Neighbour
    from assay.model.other_work import Worker
    from assay.model.plan import Plan


# Findings require that this share of the run's time is measured.
KNOWN_SHARE = 0.5
# Changes of a table that only its owner may make.
OWNERS_ONLY = ("index", "extended-statistics")
NOT_ALTERABLE = "the role of this run may not make it, but the owner of the table may"
# Parts of an operation's time that are waits for storage.


@dataclass(frozen=True)
class Case:
    """One run as input of the findings. Data that were not measured are empty or None.

    Attributes:
        run_id: Id of the run.
        operations: Operations of the measured part.
        cores: CPUs that the run may use.
        accounts: CPU seconds of the measured part, by account.
        load: Figures of a closed or an open load; None in the power order.
        pinned: Number of CPUs that `engine` and `client` were pinned to, if any.
        counters: The engine's counters, from `analysis.engine_counters`.
        settings: The engine's effective settings.
        advice: `engine.advice` of the record: the engine's setting names, and its statements for
            changes.
        plans: Plans by operation, one for each statement.
        profile: CPU samples.
        statements: Text of each operation as it was sent, without the drawn parameter values.
        results: Columns that each operation returned, if its rows were stored.
        tables: Facts of tables by name.
        data_bytes: Size of the data on disk; None if not known.
        executions: One row for each successful execution, including the warm-up, with the columns
            `EXECUTIONS`.
        where: Split of the time of all operations together; empty if not known.
        throttled_share: Share of the measured part during which a CPU limit held the engine back.
        memory_limit: The run's limit of memory, with its use; None without one.
        environment: Facts of the host and the engine's product.
        state: State of caches at the start: `hot`, `cold`, `os-warm` or `loaded`. None means
            unknown.
        test: The specification's test, as the run executed it; None without a test.
        statement_times: Statement times by operation, if statements were recorded.
        stalls: Times of low throughput in a load; None if not known.
        mixes: Figures of clients that each execute a fixed order; None for other loads.
        cluster: Work of the nodes; None if the engine is not a cluster.
        knobs: `engine.knobs` of the record: settings that may be varied, by name.
        request: The run's request.
        prepared: Whether statements were prepared, and planned, once per session. Otherwise each
            execution includes planning.
        can_prepare: Whether statements were sent as text although they could have been prepared.
        can_pipeline: Whether clients could have sent statements before earlier answers arrived.
        replans: Whether the engine plans a prepared statement anew at each execution.
        indexes: Indexes by table, from the engine's catalogue; None if the engine does not report
            them.
        trigger_texts: Definitions of triggers from the catalogue; empty if none, or not reported.
        foreign_keys: Foreign keys from the engine's catalogue; empty if none, or not reported.
        partition_keys: Columns of the partition key of each partitioned table; None if the engine
            does not report them.
        notifiers: Functions and triggers that send notifications, from the engine's catalogue.
        statistics: Statistics objects from the engine's catalogue, in the same way.
        column_types: Declared types of columns by table, with names in lower case; empty if not
            known.
        collations: Collations of text columns by table, with names in lower case; empty if unknown.
        grammar: SQL dialect of the statements, by its name in sqlglot.
        counted_apart: Counters that exclude what Assay's own sampling of the server causes.
        changed_settings: Settings of the optimiser that differ from the default; None if the engine
            does not report them.
        extensions: Extensions of the server, and whether the database has them; empty if the engine
            does not report them.
        alternatives: Plans that the optimiser chooses after one change, by operation.
        kept_rows: Rows that parts of scans' conditions keep, as counted after the run.
        written_rows: Rows that updates write and change, as counted after the run.
        attempts: Failed attempts, by operation and class of the error; empty without any.
        blockers: Sessions that blocked others, the longest waits first; None if the engine does not
            report them.
        workers: Maintenance of the server and old snapshots besides the load; None if the engine
            does not report them.
        neighbours: Other programs on the same host; None if not sampled.
        disk: Traffic of the disk that holds the data; None if not sampled.
        functions: Calls and seconds of functions that the engine counts, in the measured part.
        triggers: Calls and time of triggers, if plans do not have them.
        session_states: Samples of the load's sessions by the engine's name of their state; empty if
            the engine reports no states.
        unsplit: Why threads cannot be assigned to sessions; None if they can be.
        other_clients: CPU seconds of sessions of other clients, by their application.
        runnable_threads: Mean number of engine threads that ran or waited for a CPU.
        client_queue_share: Time that the load generator waited for a CPU, as a share of service
            time; None if not known.
        look_interval_s: Seconds between two samples of the engine's threads; None if not sampled.
        fleet_share: Highest CPU utilisation of a driver in a fleet; None for a single driver, or if
            no host reported it.
        own_tables: Whether the run queried existing tables, which Assay did not create.
        counted_scans: Sentence on the server's row counters for observed statements that consist of
            one scan.
        is_observed: Whether the record is an observation of a server that other clients drove.
        is_pooled: Whether a connection pooler drops the settings of sessions.
    """

    run_id: str
    operations: tuple[OperationSummary, ...]
    cores: int | None = None
    accounts: Accounts | None = None
    load: LoadSummary | None = None
    pinned: Mapping[str, int] = field(default_factory=dict)
    counters: Mapping[str, Any] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, Any] = field(default_factory=dict)
    plans: Mapping[str, tuple[Plan, ...]] = field(default_factory=dict)
    profile: Profile | None = None
    statements: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, TableFacts] = field(default_factory=dict)
    executions: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EXECUTIONS))
    where: Mapping[str, float | None] = field(default_factory=dict)
    throttled_share: float | None = None
    memory_limit: LimitUse | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    state: str | None = None
    test: Played | None = None
    statement_times: Mapping[str, OperationStatements] = field(default_factory=dict)
    stalls: Stalls | None = None
    mixes: Mixes | None = None
    cluster: Cluster | None = None
    knobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    prepared: bool = False
    can_prepare: bool = False
    can_pipeline: bool = False
    replans: bool = False
    indexes: Mapping[str, tuple[Index, ...]] | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()
    trigger_texts: tuple[TriggerText, ...] = ()
    partition_keys: Mapping[str, tuple[str, ...]] | None = None
    notifiers: tuple[Notifier, ...] = ()
    statistics: tuple[Statistics, ...] = ()
    column_types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    collations: Mapping[str, Mapping[str, Collation]] = field(default_factory=dict)
    grammar: str | None = None
    counted_apart: frozenset[str] = frozenset()
    changed_settings: tuple[ChangedSetting, ...] | None = None
    extensions: Mapping[str, bool] = field(default_factory=dict)
    alternatives: Mapping[str, tuple[Alternative, ...]] = field(default_factory=dict)
    kept_rows: tuple[KeptRows, ...] = ()
    written_rows: tuple[WrittenRows, ...] = ()
    attempts: Mapping[str, Mapping[str, FailedAttempts]] = field(default_factory=dict)
    blockers: tuple[Blocker, ...] | None = None
    other_clients: Mapping[str, float] = field(default_factory=dict)
    session_states: Mapping[str, int] = field(default_factory=dict)
    unsplit: str | None = None
    workers: tuple[Worker, ...] | None = None
    neighbours: tuple[Neighbour, ...] | None = None
    disk: DiskUse | None = None
    functions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    triggers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    runnable_threads: float | None = None
    client_queue_share: float | None = None
    look_interval_s: float | None = None
    fleet_share: float | None = None
    own_tables: bool = False
    data_bytes: float | None = None
    counted_scans: Mapping[str, str] = field(default_factory=dict)
    is_observed: bool = False
    is_pooled: bool = False

    @cached_property
    def trees(self) -> dict[str, TimeNode]:
        """The time of each operation split into a tree of causes, by operation name."""
        computing = computing_by_operation(self.profile, self.plans, prepared=self.prepared)
        return {
            op.name: tree
            for op in self.operations
            if (tree := operation_tree(op.where, computing.get(op.name))) is not None
        }

    @cached_property
    def time(self) -> TimeNode | None:
        """The time of the whole run as a tree of causes; None if no time was split."""
        return run_tree(self.shares, self.trees, self.where)

    @property
    def asked_to_read(self) -> bool:
        """True if the run was requested to start with an empty cache."""
        return self.state not in {None, "hot", "loaded"}

    @property
    def shares(self) -> dict[str, float]:
        """Return each operation's share of the run's time, for operations with a known share."""
        return {op.name: op.share for op in self.operations if op.share is not None}

    @property
    def engine_cores(self) -> int | None:
        """The number of CPUs that the engine may use: those it is pinned to, else the run's."""
        return self.pinned.get("engine", self.cores)

    @property
    def seconds(self) -> dict[str, float]:
        """Return the median service time in seconds of each operation with a known time."""
        return {op.name: op.seconds for op in self.operations if op.seconds is not None}

    @property
    def memory_bytes(self) -> int | None:
        """Return the memory that the engine may use, in bytes: its limit, else the host's memory.

        None if not known.
        """
        if self.memory_limit is not None:
            return int(self.memory_limit.asked)
        memory_bytes = self.environment.get("host", {}).get("memory_bytes")
        return memory_bytes if isinstance(memory_bytes, int) else None

    def computing(self, operation: str) -> float:
        """Return the share of an operation's time in which its plans compute; 1 if not known."""
        tree = self.trees.get(operation)
        return 1.0 if tree is None else computing_share(tree)

    def reached(self, operation: str) -> float:
        """Return the largest share of an operation's time for its plans; 1 if not split."""
        tree = self.trees.get(operation)
        return 1.0 if tree is None else plan_share(tree)

    def worked(self, operation: str) -> float:
        """Return the share of an operation's time for plans that wait for no CPU; 1 if not split.

        A plan that is captured alone waits for no CPU.
        """
        tree = self.trees.get(operation)
        return 1.0 if tree is None else plan_share(tree, with_cpu_waits=False)

    def part(self, *names: str) -> dict[str, float]:
        """Return the share of each operation's own time that the named causes have together.

        The result leaves out operations in which these parts were not measured.
        """
        fractions = {}
        for op in self.operations:
            parts = [op.where.get(name) for name in names]
            measured = [value for value in parts if value is not None]
            if measured and op.share is not None:
                fractions[op.name] = sum(measured)
        return fractions

    @property
    def believable(self) -> tuple[OperationSummary, ...]:
        """Return the operations whose time was split by a plausible measurement."""
        return tuple(op for op in self.operations if self._is_believable(op))

    def _is_believable(self, op: OperationSummary) -> bool:
        if op.share is None or op.coverage is None or op.parallelism is None:
            return False
        if all(share is None for share in op.where.values()):
            return False
        return self.cores is None or op.parallelism <= self.cores * COVERAGE_MAX

    def with_measured(self, *names: str) -> Case:
        """Return the case reduced to operations for which one of the named causes was measured.

        Operations whose time was not split may have waited, too. So claims about waiting refer only
        to the time of operations that were split.
        """
        return self.only(self.part(*names))

    def only(self, names: Iterable[str]) -> Case:
        """Return the case reduced to the named operations, with shares of their total time.

        The case is empty if these operations have less than `KNOWN_SHARE` of the run's time.
        """
        chosen, shares = set(names), self.shares
        together = math.fsum(shares.get(name, 0.0) for name in chosen)
        if round(together, 9) < KNOWN_SHARE:
            return replace(self, operations=())
        operations = tuple(
            replace(op, share=op.share / together)
            for op in self.operations
            if op.name in chosen and op.share is not None
        )
        theirs = self.executions.filter(pl.col("operation").is_in(sorted(chosen)))
        return replace(self, operations=operations, executions=theirs)

    def of_run(self, fractions: Mapping[str, float]) -> float:
        """Return the share of the run's time, 0 to 1, from shares of each operation's time."""
        shares = self.shares
        whole = math.fsum(part * shares.get(name, 0.0) for name, part in fractions.items())
        return min(1.0, max(0.0, whole))

    def interval(self, fractions: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the 95 % interval of a time share, from its variation between executions."""
        if self.load is not None:
            return None
        measured = self.executions.filter(is_measured(self.executions))
        return share_interval(measured, fractions, self._looks(measured))

    def _looks(self, measured: pl.DataFrame) -> dict[str, float]:
        """Return the number of samples of each operation's threads; empty without sampling."""
        if not self.look_interval_s:
            return {}
        seconds = measured.group_by("operation").agg(pl.col("seconds").sum()).iter_rows()
        threads = {op.name: max(1.0, op.threads_at_work or 1.0) for op in self.operations}
        interval_s = self.look_interval_s
        return {name: spent / interval_s * threads.get(name, 1.0) for name, spent in seconds}

    def finding(
        self,
        method: str,
        claim: str,
        fractions: Mapping[str, float],
        *,
        tells: Tells = "cause",
        to_try: str | None = None,
        evidence: Sequence[Evidence] = (),
        advice: Advice | None = None,
    ) -> Finding:
        """Return a finding with its claim, evidence, and the share of each operation's time.

        Args:
            method: Heading of the method in docs/numbers/findings.
            claim: The claim, with its numbers.
            fractions: Share of each operation's own time that the finding concerns, 0 to 1.
            tells: Kind of claim, as in `Finding`. The following arguments are attributes of
                `Finding`, too.
            to_try: Next step for the user.
            evidence: Evidence for and against the claim.
            advice: Change that can be carried out.
        """
        names = self.largest_first(fractions)
        ruled_out = against_existing(advice, self.indexes or {})
        change = None
        if advice is not None and self.on_running_server:
            alterable = self._is_alterable(advice)
            change = change_of(advice, self.advice)
            if change is not None and not alterable:
                change = change.with_cost(NOT_ALTERABLE)
            limits = ServerLimits(self.own_tables, alterable, self.is_pooled)
            advice, to_try = for_server(advice, change, to_try, self.advice, limits)
        return Finding(
            claim=claim,
            effect_share=self.of_run(fractions),
            interval=self.interval(fractions),
            runs=(self.run_id,),
            method=method,
            to_try=to_try,
            tells=tells,
            operations=names,
            fractions={name: min(1.0, max(0.0, fractions[name])) for name in names},
            evidence=(*evidence, *ruled_out),
            advice=advice,
            change=change,
        )

    def _is_alterable(self, advice: Advice) -> bool:
        """Return False if the run's role is known not to own a table that the advice changes."""
        if advice.kind not in OWNERS_ONLY:
            return True
        keys = [
            (f"{part.values.get('schema')}.{table}", table)
            for part in advice.parts
            for table in part.tables
        ]
        known = [self.tables.get(long) or self.tables.get(short) for long, short in keys]
        return all(facts is None or facts.alterable is not False for facts in known)

    @property
    def on_running_server(self) -> bool:
        """Return True if the run used a server that Assay did not start."""
        return self.request.get("dsn") is not None

    def largest_first(self, fractions: Mapping[str, float]) -> tuple[str, ...]:
        """Return names of operations, sorted by their share of the run's time, largest first."""
        shares = self.shares
        return tuple(
            sorted(fractions, key=lambda name: (-fractions[name] * shares.get(name, 0.0), name))
        )

    def node(self, path: str) -> dict[str, float]:
        """Return the time share of one cause in each operation, from the time trees."""
        return {name: tree.share_of(path) for name, tree in self.trees.items()}

    def readings(self, name: str) -> list[float]:
        """Return the values of a counter over time; empty if the engine does not declare it."""
        series = (self.counters or {}).get("series", ())
        figure = next((figure for figure in series if figure["name"] == name), {"values": ()})
        return [value for value in figure["values"] if value is not None]

    def figure(self, name: str) -> Mapping[str, Any] | None:
        """Return a declared counter by its name; None if the engine does not report it."""
        figures = (self.counters or {}).get("counters", ())
        return next((figure for figure in figures if figure["name"] == name), None)

    def total(self, name: str) -> float | None:
        """Return the growth of a counter in the measured part; None if not known."""
        figure = self.figure(name)
        value = None if figure is None else figure.get("total")
        return None if value is None else float(value)

    def last(self, name: str) -> float | None:
        """Return the value of a gauge at the end of the measured part."""
        value = (self.figure(name) or {}).get("last")
        return None if value is None else float(value)

    def setting(self, role: str) -> Setting | None:
        """Return the engine setting of a role, such as `cache`; None if it has no effect."""
        declared = self.advice.get("settings", {}).get(role, {})
        name = declared.get("name")
        needs = declared.get("needs") or {}
        if name is None or any(
            (self.settings.get(other) or "").lower() not in values
            for other, values in needs.items()
        ):
            return None
        cheaper = declared.get("cheaper") or {}
        return Setting(
            role,
            name,
            self.settings.get(name, self.settings.get(declared.get("effective") or name)),
            declared.get("limits"),
            cheaper.get("value"),
            cheaper.get("but"),
            tuple(cheaper.get("alike", ())),
            declared.get("passed_by"),
        )

    def indexes_of(self, table: str | None, schema: str | None) -> tuple[Index, ...]:
        """Return the indexes of a table, restricted to its schema if schemas are known."""
        indexes = (self.indexes or {}).get(table or "", ())
        return tuple(index for index in indexes if schema is None or index.schema in (None, schema))

    def can(self, statement: str) -> bool:
        """True if the engine declares a statement for an index, statistics or a vacuum."""
        return statement in self.advice.get("statements", {})

    def can_switch_off(self, operator: str) -> bool:
        """True if the engine has a setting that keeps an operator out of plans."""
        return operator in self.advice.get("operators", ())

    def beside(self, statement: str) -> str:
        """Return text on a statement's side effect, to append to advice; empty without one."""
        does = self.advice.get("beside", {}).get(statement)
        return f", which {does}" if does else ""

    def try_words(self, method: str, fractions: Mapping[str, float], does: str) -> str:
        """Return a text with the `assay try` command for a finding's advice, and its effect."""
        names = self.largest_first(fractions)
        key = f"{method}:{names[0]}" if names else method
        return f"`{try_command(self.run_id, key, self.request)}` {does}"
