"""Plans and the cost of capturing them, in the document of a run."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class CaptureCostRow(TypedDict):
    """The cost of capturing the plans of one operation."""

    operation: str
    capture_s: float
    """Elapsed time of all captures of the operation."""
    watched_s: MeasuredValue
    """Planning and execution time that the engine reported with the plan."""
    timed_s: MeasuredValue
    """Median service time in the measured part."""
    ratio: MeasuredValue
    """Time with capturing divided by the timed service time."""


class MissingPlan(TypedDict):
    """A statement without a plan."""

    operation: str
    statement: int
    """Position of the statement in its operation, from 0."""
    name: str | None
    """Name of the statement; null without one."""
    reason: str
    capture_s: MeasuredValue
    """Elapsed time of the attempt; null without an attempt."""


class PlanCaptureSection(TypedDict):
    """The cost of capturing plans, which is outside of the measured part."""

    capture_s: MeasuredValue
    """Elapsed time of all captures; null without any."""
    reason: str | None
    """Reason why plans are missing; null if plans of all operations were captured."""
    operations: list[CaptureCostRow]
    """Cost of capturing for each operation."""
    missing: list[MissingPlan]
    """Statements without a plan."""


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
    """Source of these counts."""
    index_lookups: MeasuredValue
    """Number of index look-ups."""
    index_rows: MeasuredValue
    """Number of rows or entries that were read from those positions on."""
    scan_rows: MeasuredValue
    """Rows that were read by scans of tables."""


class PlanTable(TypedDict):
    """Columns of a table that a statement reads and names."""

    table: str
    read: list[str] | None
    """Columns that the engine reports as read; null if it does not report them."""
    needed: list[str]
    """Columns that the statement names."""
    unneeded: list[str]
    """Columns that are read and not named by the statement."""
    unneeded_bytes: CountedValue
    """Maximum bytes of those columns in a row, by their types; null if a column has no declared
    width."""


class StatementPlan(TypedDict):
    """The plan of one statement."""

    triggers: NotRequired[list[TriggerRow]]
    """Triggers and checks of constraints that the statement fired."""
    operation: str
    statement: int
    """Position of the statement in its operation, from 0."""
    native: str
    """File with the engine's own plan in raw/plans/."""
    planning_s: MeasuredValue
    """Planning time of the optimiser."""
    execution_s: MeasuredValue
    """Execution time, including the cost of measuring it."""
    compiling_s: MeasuredValue
    """Part of that time that was spent generating code."""
    capture_s: MeasuredValue
    """Elapsed time of the capture."""
    cost: MeasuredValue
    """Cost by the optimiser's estimate, in its own unit; null if it reports none."""
    mode: str | None
    """Kind of plan of a prepared statement: generic or custom; null if it was not prepared, or the
    kind is not reported."""
    planned_each_time: bool | None
    """Whether each timed execution was planned again; null if not known."""
    shapes: int | None
    """Number of different plans over all captures; null if it was captured once."""
    others: list[str]
    """Other plans that were captured, one line each."""
    captures: int | None
    """Number of captures in the state of the timed session."""
    timed: bool
    """False if the engine reported estimates only."""
    reason: str | None
    """Reason why the plan has no times."""
    read_bytes: CountedValue
    """Bytes that all operators read from storage or the kernel's cache."""
    spilled_bytes: CountedValue
    """Bytes that all operators wrote to temporary files."""
    memory_bytes: CountedValue
    """Peak memory of the statement."""
    details: dict[str, Any]
    """Other facts that the engine reports on the whole plan."""
    name: str | None
    """Name of the statement; null without one."""
    text: str | None
    """The statement as it was sent, with $1, ... for bound values; null in older records."""
    reads: PlanReads | None
    """Reads that it requested from storage; null if the engine does not report them."""
    tables: list[PlanTable]
    """Columns of each table that the statement reads and names; empty if the statement cannot be
    parsed or the tables are not known."""
    seconds: MeasuredValue
    """Total thread-seconds of all operators."""
    root: PlanOperator


class OperatorName(TypedDict):
    """An operator as the engine names it."""

    native: str
    object: str | None
    index: str | None


class PlanOperator(TypedDict):
    """One operator of a plan."""

    operator: str
    """Operation in engine-independent terms."""
    native: str
    """Name in the engine's own terms."""
    object: str | None
    """The table that it reads or writes."""
    index: str | None
    """The index that it reads."""
    schema: str | None
    """The schema of the table; null if the engine does not report it."""
    condition: str | None
    """Condition or key of the join, filter, grouping or sort, as the engine writes it."""
    estimated_rows: MeasuredValue
    """Number of rows that the optimiser expected, over all loops."""
    rows: MeasuredValue
    """Number of rows that it returned, over all loops."""
    rows_margin: float
    """Uncertainty of `rows`, because the engine rounds averages."""
    loops: MeasuredValue
    """Number of executions, including those by workers."""
    seconds: MeasuredValue
    """Thread-seconds of the operator, without its inputs."""
    workers: int | None
    """Number of extra processes or threads of an exchange."""
    workers_planned: MeasuredValue
    """Number of workers that the optimiser planned."""
    workers_launched: MeasuredValue
    """Number of planned workers that were started."""
    cut_short: bool
    """Whether the operator was stopped early, for example by a limit. Then fewer rows than
    estimated are no error of the estimate."""
    removed_rows: MeasuredValue
    """Number of rows that it read and its condition removed."""
    read_bytes: CountedValue
    """Bytes read from outside the engine's own cache."""
    cached_bytes: CountedValue
    """Bytes found in the engine's own cache."""
    spilled_bytes: CountedValue
    """Bytes written to temporary files."""
    columns: list[str] | None
    """Columns that a scan reads, if the engine reports them."""
    work: str
    """Kind of work of the operator's own time, in the terms of the CPU profile."""
    details: dict[str, Any]
    """Other facts that the engine reports, with its own keys."""
    share: MeasuredValue
    """The operator's share of the plan's thread-seconds, without its inputs."""
    q_error: MeasuredValue
    """Error factor of the row estimate, at least 1; null if it cannot be judged."""
    worst: bool
    """Whether this is the worst relevant estimate of the plan."""
    children: list[PlanOperator]
    """Inputs of the operator, the outer side first."""
