"""Types of a run's document on plans and the cost of capturing them."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import CountedValue, MeasuredValue


class CaptureCostRow(TypedDict):
    """The time that capturing the plans of one operation took."""

    operation: str
    capture_s: float
    """Elapsed seconds of all captures of the operation."""
    watched_s: MeasuredValue
    """Planning and execution seconds that the engine reported with the plan."""
    timed_s: MeasuredValue
    """Median service time of the operation in the measured part, in seconds."""
    ratio: MeasuredValue
    """Time of the operation with capturing, divided by the timed service time."""


class MissingPlan(TypedDict):
    """A statement without a captured plan, and the reason."""

    operation: str
    statement: int
    """Position of the statement in its operation, from 0."""
    name: str | None
    """Name of the statement; null if it has none."""
    reason: str
    capture_s: MeasuredValue
    """Elapsed seconds of the attempt to capture the plan; null without an attempt."""


class PlanCaptureSection(TypedDict):
    """The time that capturing plans took, which happens after the measured part."""

    capture_s: MeasuredValue
    """Elapsed seconds of all captures; null without any."""
    reason: str | None
    """Reason why plans are missing; null if plans of all operations were captured."""
    operations: list[CaptureCostRow]
    """Cost of capturing for each operation."""
    missing: list[MissingPlan]
    """Statements without a plan."""


class TriggerRow(TypedDict):
    """A trigger or a check of a constraint that a statement fired."""

    name: str
    table: str
    seconds: float
    calls: float
    constraint: str | None


class PlanReads(TypedDict):
    """Reads from storage that a statement requested."""

    source: str
    """Source of the read counts."""
    index_lookups: MeasuredValue
    """Number of index look-ups by the statement."""
    index_rows: MeasuredValue
    """Number of rows or index entries that were read after index look-ups."""
    scan_rows: MeasuredValue
    """Number of rows that scans of tables read."""


class PlanTable(TypedDict):
    """The columns of a table that a statement reads, and those that it names."""

    table: str
    read: list[str] | None
    """Columns that the engine reports as read; null if it does not report them."""
    needed: list[str]
    """Columns of the table that the statement names."""
    unneeded: list[str]
    """Columns of the table that the statement reads but does not name."""
    unneeded_bytes: CountedValue
    """Maximum bytes of the unneeded columns in a row, by their types; null if a column has no
    declared width."""


class StatementPlan(TypedDict):
    """The plan of one statement."""

    triggers: NotRequired[list[TriggerRow]]
    """Triggers and checks of constraints that the statement fired."""
    operation: str
    statement: int
    """Position of the statement in its operation, from 0."""
    native: str
    """Name of the file in raw/plans/ with the engine's own plan."""
    planning_s: MeasuredValue
    """Planning seconds of the optimiser."""
    execution_s: MeasuredValue
    """Execution seconds of the statement, including the cost of measuring them."""
    compiling_s: MeasuredValue
    """Part of the execution seconds that was spent generating code."""
    capture_s: MeasuredValue
    """Elapsed seconds of the plan's capture."""
    cost: MeasuredValue
    """Cost by the optimiser's estimate, in its own unit; null if the engine reports none."""
    mode: str | None
    """Kind of plan of a prepared statement: generic or custom; null if the statement was not
    prepared, or the kind is not reported."""
    planned_each_time: bool | None
    """Whether each timed execution included planning; null if not known."""
    shapes: int | None
    """Number of different plans over all captures; null if the plan was captured once."""
    others: list[str]
    """Other plans of the statement that were captured, one line each."""
    captures: int | None
    """Number of captures of the plan in the state of the timed session."""
    timed: bool
    """Whether the plan has times. If false, the engine reported estimates only."""
    reason: str | None
    """Reason why the plan has no times; null if it has."""
    read_bytes: CountedValue
    """Bytes that all operators read from storage or the kernel's cache."""
    spilled_bytes: CountedValue
    """Bytes that all operators wrote to temporary files."""
    memory_bytes: CountedValue
    """Peak memory of the statement."""
    details: dict[str, Any]
    """Other facts that the engine reports about the whole plan."""
    name: str | None
    """Name of the statement; null if it has none."""
    text: str | None
    """The statement as it was sent, with $1, ... for bound values; null in older records."""
    reads: PlanReads | None
    """Reads that the statement requested from storage; null if the engine does not report them."""
    tables: list[PlanTable]
    """Columns of each table that the statement reads and names; empty if the statement cannot be
    parsed or the tables are not known."""
    seconds: MeasuredValue
    """Thread-seconds of all operators of the plan together."""
    root: PlanOperator


class OperatorName(TypedDict):
    """The engine's own name of a plan operator."""

    native: str
    object: str | None
    index: str | None


class PlanOperator(TypedDict):
    """One operator of a query plan, with its times and rows."""

    operator: str
    """Name of the operator in engine-independent terms."""
    native: str
    """Name of the operator in the engine's own terms."""
    object: str | None
    """The table that the operator reads or writes; null without one."""
    index: str | None
    """The index that the operator reads; null without one."""
    schema: str | None
    """Name of the table's schema; null if the engine does not report it."""
    condition: str | None
    """Condition or key of the operator's join, filter, grouping or sort, as the engine writes
    it."""
    estimated_rows: MeasuredValue
    """Number of rows that the optimiser expected from the operator, over all loops."""
    rows: MeasuredValue
    """Number of rows that the operator returned, over all loops."""
    rows_margin: float
    """Uncertainty of `rows`, which comes from the engine's rounding of averages."""
    loops: MeasuredValue
    """Number of executions of the operator, including those by workers."""
    seconds: MeasuredValue
    """Thread-seconds of the operator, without its inputs."""
    workers: int | None
    """Number of extra processes or threads of an exchange; null for other operators."""
    workers_planned: MeasuredValue
    """Number of parallel workers that the optimiser planned."""
    workers_launched: MeasuredValue
    """Number of the planned parallel workers that were started."""
    cut_short: bool
    """Whether the operator was stopped early, for example by a limit. Then the operator returns
    fewer rows than estimated although the estimate is right.
    """
    removed_rows: MeasuredValue
    """Number of rows that the operator read and its condition removed."""
    read_bytes: CountedValue
    """Bytes that the operator read from outside the engine's own cache."""
    cached_bytes: CountedValue
    """Bytes that the operator found in the engine's own cache."""
    spilled_bytes: CountedValue
    """Bytes that the operator wrote to temporary files."""
    columns: list[str] | None
    """Columns that a scan reads, if the engine reports them."""
    work: str
    """Kind of work of the operator's own time, in the terms of the CPU profile."""
    details: dict[str, Any]
    """Other facts about the operator, with the engine's own keys."""
    share: MeasuredValue
    """The operator's share of the plan's thread-seconds, without its inputs."""
    q_error: MeasuredValue
    """Error factor of the operator's row estimate, at least 1; null if it cannot be judged."""
    worst: bool
    """Whether the operator has the plan's worst relevant row estimate."""
    children: list[PlanOperator]
    """Inputs of the operator, the outer side first."""
