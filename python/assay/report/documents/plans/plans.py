"""Plans and the cost of capturing them, in the document of a run."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class CaptureCostRow(TypedDict):
    """The cost of asking one operation for its plans."""

    operation: str
    capture_s: float
    """Wall time of all that was asked for it."""
    watched_s: MeasuredValue
    """Planning and execution as the engine told them while it was watched."""
    timed_s: MeasuredValue
    """Median service time in the measured part."""
    ratio: MeasuredValue
    """How many times as long it took when it was watched."""


class MissingPlan(TypedDict):
    """A statement without a plan."""

    operation: str
    statement: int
    """Which of the operation's, from 0."""
    name: str | None
    """What it is called; null: it has no name."""
    reason: str
    capture_s: MeasuredValue
    """Wall time of asking; null: it was not asked."""


class PlanCaptureSection(TypedDict):
    """The cost of asking for plans, apart from the measured part."""

    capture_s: MeasuredValue
    """Wall time of all asking; null: nothing was asked."""
    reason: str | None
    """Why there are none, or not all; null: all operations were asked."""
    operations: list[CaptureCostRow]
    """What asking each operation cost."""
    missing: list[MissingPlan]
    """Statements of which there is no plan."""


class TriggerRow(TypedDict):
    """A trigger or a check of a constraint."""

    name: str
    table: str
    seconds: float
    calls: float
    constraint: str | None


class PlanReads(TypedDict):
    """The reads that a statement requested from storage."""

    source: str
    """Who says so."""
    index_lookups: MeasuredValue
    """Places of indexes that were looked up."""
    index_rows: MeasuredValue
    """Rows or entries that were read from there on."""
    scan_rows: MeasuredValue
    """Rows that were read by scans of tables."""


class PlanTable(TypedDict):
    """Columns of a table that a statement reads and names."""

    table: str
    read: list[str] | None
    """Columns that the engine says it reads; null: it does not say."""
    needed: list[str]
    """Columns that the statement names."""
    unneeded: list[str]
    """Those that are read and not named."""
    unneeded_bytes: CountedValue
    """How wide those may be in a row at most, by their types; null: one has no declared width."""


class StatementPlan(TypedDict):
    """The plan of one statement."""

    triggers: NotRequired[list[TriggerRow]]
    """Triggers and checks of constraints that the statement fired."""
    operation: str
    statement: int
    """Which of the operation's statements, from 0."""
    native: str
    """File of the engine's own words in raw/plans/."""
    planning_s: MeasuredValue
    """Time that the optimiser took."""
    execution_s: MeasuredValue
    """Time of execution, with the cost of watching it."""
    compiling_s: MeasuredValue
    """Of that, time of generating code."""
    capture_s: MeasuredValue
    """Wall time of asking."""
    cost: MeasuredValue
    """What the optimiser expects it to cost, in its own unit; null: it does not say."""
    mode: str | None
    """Which plan of a prepared statement it is, generic or custom; null: not prepared, or
    not told."""
    planned_each_time: bool | None
    """Whether the timed executions were planned anew each; null: not known."""
    shapes: int | None
    """How many different plans were seen in all captures; null: it was captured once."""
    others: list[str]
    """Plans of other shapes that captures saw, a line each."""
    captures: int | None
    """How often it was captured in the state of the timed session."""
    timed: bool
    """False: the engine told estimates only."""
    reason: str | None
    """Why it is not timed."""
    read_bytes: CountedValue
    """Read from storage or the kernel's cache by all operators."""
    spilled_bytes: CountedValue
    """Written to temporary files by all operators."""
    memory_bytes: CountedValue
    """The most memory that was held at once."""
    details: dict[str, Any]
    """What else the engine tells of the whole."""
    name: str | None
    """What the statement is called; null: it has no name."""
    text: str | None
    """The statement as it was sent, with $1, ... for bound values; null: the record is older than
    that."""
    reads: PlanReads | None
    """What it asked storage for; null: the engine does not tell."""
    tables: list[PlanTable]
    """Columns of each table that the statement reads and names; empty where its grammar or the
    tables are not known."""
    seconds: MeasuredValue
    """Thread-seconds of all operators together."""
    root: PlanOperator


class OperatorName(TypedDict):
    """An operator as the engine names it."""

    native: str
    object: str | None
    index: str | None


class PlanOperator(TypedDict):
    """One operator of a plan."""

    operator: str
    """What it does, in the field's words."""
    native: str
    """The engine's own word."""
    object: str | None
    """The table that it reads or writes."""
    index: str | None
    """The index that it reads."""
    schema: str | None
    """The schema of the table; null: the engine does not say."""
    condition: str | None
    """What it joins, filters, groups or sorts by, in the engine's words."""
    estimated_rows: MeasuredValue
    """Rows that the optimiser expected, over all loops."""
    rows: MeasuredValue
    """Rows that it gave, over all loops."""
    rows_margin: float
    """So many more or fewer it may have given, where the engine rounds averages."""
    loops: MeasuredValue
    """How often it was executed, workers included."""
    seconds: MeasuredValue
    """Thread-seconds in itself, without its inputs."""
    workers: int | None
    """Processes or threads beside the first that an exchange was given."""
    workers_planned: MeasuredValue
    """Workers that the optimiser counted on."""
    workers_launched: MeasuredValue
    """Those of them that came."""
    cut_short: bool
    """Whether something kept it from giving all its rows, so that fewer than estimated are no
    error."""
    removed_rows: MeasuredValue
    """Rows that it read and its condition removed."""
    read_bytes: CountedValue
    """Read from outside the engine's own cache."""
    cached_bytes: CountedValue
    """Found in the engine's own cache."""
    spilled_bytes: CountedValue
    """Written to temporary files."""
    columns: list[str] | None
    """Columns that a scan reads, where the engine tells."""
    work: str
    """What its own time went into, in the words of CPU samples."""
    details: dict[str, Any]
    """What else the engine tells, its words as keys."""
    share: MeasuredValue
    """Share of the plan's thread-seconds that it spent itself."""
    q_error: MeasuredValue
    """By which factor the estimate is off, at least 1; null: it cannot be judged."""
    worst: bool
    """Whether this is the plan's worst estimate that matters."""
    children: list[PlanOperator]
    """Inputs, the outer side first."""
