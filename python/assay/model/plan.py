"""Types for a query plan that do not depend on the engine: operators, estimates, rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

# Names of operators in the field's terms. The engine's own name is in `native`.
OPERATORS = (
    "scan",
    "index scan",
    "bitmap scan",
    "filter",
    "projection",
    "hash join",
    "merge join",
    "nested loop",
    "hash build",
    "aggregate",
    "sort",
    "top-n",
    "limit",
    "window",
    "set operation",
    "exchange",
    "materialize",
    "cte",
    "subquery",
    "values",
    "modify",
    "result",
    "other",
)


# Keys of `PlanNode.details` for a scan that a change of other rows causes: the table to which the
# scanned table's foreign key refers, and the trigger that scans.
KEY_TO, OF_TRIGGER = "foreign key to", "trigger"


@dataclass(frozen=True)
class PlanNode:
    """An operator of a plan. A fact that was not reported is None, never 0.

    Attributes:
        operator: One of `OPERATORS`.
        native: Engine's own name, such as `Parallel Hash Join`.
        object: Table that it reads or writes.
        index: Index that it reads.
        schema: Schema of the table; None if the engine does not report it.
        condition: Condition or key of the join, filter, grouping or sort, as the engine writes it.
        estimated_rows: Number of rows that the optimiser expected, over all loops.
        rows: Number of rows that it returned, over all loops.
        rows_margin: Uncertainty of `rows`, because the engine rounds averages; equal to `rows` if
            they are an average of the column's values, or estimated otherwise.
        loops: Number of executions, including those by workers.
        seconds: Time of the operator without its children; thread-seconds if several threads
            worked.
        workers: Number of extra processes or threads of an exchange.
        workers_planned: Number of workers that the optimiser planned, if the engine reports it.
        workers_launched: Number of planned workers that were started.
        cut_short: Whether the operator was stopped before it returned all rows: by a limit above
            it, the first match of a semi join, or a filter that a join created at run time. Fewer
            rows than estimated are then no error of the estimate.
        removed_rows: Number of rows that it read and its condition removed, over all loops.
        read_bytes: Bytes read from outside the engine's own cache.
        cached_bytes: Bytes found in the engine's own cache.
        spilled_bytes: Bytes written to temporary files, or memory used beyond the operator's limit.
        columns: Columns that a scan reads, if the engine reports them.
        work: Kind of work of its own time, in the terms of CPU samples, if the operator's name does
            not show it. An example is a scan that filters for a join.
        details: Other facts that the engine reports, with its own keys.
        children: Inputs, the outer (probe) side first; then `subquery` and `cte` nodes, which
            compute a value or feed scans elsewhere.
    """

    operator: str
    native: str
    object: str | None = None
    index: str | None = None
    condition: str | None = None
    estimated_rows: float | None = None
    rows: float | None = None
    rows_margin: float = 0.0
    loops: float | None = None
    seconds: float | None = None
    workers: int | None = None
    workers_planned: int | None = None
    workers_launched: int | None = None
    cut_short: bool = False
    removed_rows: float | None = None
    read_bytes: int | None = None
    cached_bytes: int | None = None
    spilled_bytes: int | None = None
    columns: tuple[str, ...] | None = None
    work: str | None = None
    schema: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    children: tuple[PlanNode, ...] = ()

    def walk(self) -> Iterator[PlanNode]:
        """Yield this plan operator and all operators below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def line(self) -> str:
        """Return this plan operator and all below it as one line of text."""
        return " > ".join(
            " ".join(filter(None, (node.native, node.object, node.index))) for node in self.walk()
        )

    @property
    def is_full_scan(self) -> bool:
        """True if the operator reads a whole table or index.

        An index that is read without a condition selects no rows; it only orders them.
        """
        if self.operator != "index scan":
            return self.operator == "scan"
        parts = (self.condition or "").split("; ")
        return bool(self.condition) and all(part.startswith("filter ") for part in parts)

    @property
    def q_error(self) -> float | None:
        """Return the error factor of the row estimate (q-error), at least 1; 0 rows count as 1."""
        if self.estimated_rows is None or self.rows is None:
            return None
        if self.cut_short and self.rows < self.estimated_rows:
            return None
        least, most = self.rows - self.rows_margin, self.rows + self.rows_margin
        nearest = min(max(self.estimated_rows, least), most)
        expected, seen = max(self.estimated_rows, 1.0), max(nearest, 1.0)
        return max(expected / seen, seen / expected)


@dataclass(frozen=True)
class Reads:
    """Reads that a statement requested from storage; None if not counted.

    Attributes:
        index_lookups: Number of index look-ups.
        index_rows: Number of rows or entries read from the index after look-ups.
        scan_rows: Number of rows that table scans read.
        source: Source of the counts, in words: counters of the session, or the plan's operators.
    """

    source: str
    index_lookups: float | None = None
    index_rows: float | None = None
    scan_rows: float | None = None


@dataclass(frozen=True)
class Trigger:
    """A trigger, or a check of a constraint, that a statement fired.

    Attributes:
        name: Name of the trigger.
        table: Table whose change fired it.
        seconds: Total time of all calls.
        calls: Number of calls.
        constraint: Constraint that the trigger checks; None means that it checks no constraint.
    """

    name: str
    table: str
    seconds: float
    calls: float
    constraint: str | None = None


@dataclass(frozen=True)
class Plan:
    """The plan with which one statement of an operation was executed.

    Attributes:
        operation: Operation of the plan.
        statement: Position of the statement in the operation, from 0.
        native: File with the engine's own plan in `raw/plans/`.
        root: The root operator.
        planning_s: Planning time, including parsing if the engine does not separate it.
        execution_s: Execution time, including the cost of measuring it.
        compiling_s: Part of the execution time that was spent generating code (JIT).
        capture_s: Elapsed time of the capture, which is outside the timed part.
        cost: The optimiser's cost estimate, in its own unit; None if it reports none.
        timed: False if the engine reported estimates only.
        reason: Reason why the plan has no times.
        read_bytes: Bytes that all operators read from storage or the kernel's cache.
        spilled_bytes: Bytes that all operators wrote to temporary files.
        memory_bytes: Peak memory of the statement.
        details: Other facts that the engine reports on the whole plan, with its own keys.
        name: Name of the statement; None if it has no name.
        text: Statement as it was sent, with `$1`, ... for bound values; None occurs in older
            records.
        reads: Reads that it requested from storage; None if the engine does not report them.
        mode: Kind of plan of a prepared statement, `generic` or `custom`; None if the statement is
            not prepared, or the engine does not report the kind.
        planned_each_time: Whether each timed execution was planned again; None if not known.
        shapes: Number of different plans over all captures; None if it was captured once.
        captures: Number of captures in the state of the timed session.
        others: The other plans of these captures, one line each.
        triggers: Triggers that the statement fired, with their time.
    """

    operation: str
    statement: int
    native: str
    root: PlanNode
    planning_s: float | None = None
    execution_s: float | None = None
    compiling_s: float | None = None
    capture_s: float | None = None
    timed: bool = True
    reason: str | None = None
    read_bytes: int | None = None
    spilled_bytes: int | None = None
    memory_bytes: int | None = None
    cost: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    name: str | None = None
    text: str | None = None
    reads: Reads | None = None
    mode: str | None = None
    planned_each_time: bool | None = None
    shapes: int | None = None
    captures: int | None = None
    others: tuple[str, ...] = ()
    triggers: tuple[Trigger, ...] = ()

    @property
    def line(self) -> str:
        """Return the plan as one line of text, the root operator first."""
        return self.root.line

    @property
    def seconds(self) -> float | None:
        """Return total thread-seconds of all operators; None if none was timed."""
        seconds = [node.seconds for node in self.root.walk() if node.seconds is not None]
        return sum(seconds) if seconds else None

    def facts(self) -> dict[str, Any]:
        """Return the query plan as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Plan:
        """Return the plan from the JSON values of `facts`."""
        reads = facts.get("reads")
        parts = {
            "root": _node(facts["root"]),
            "reads": None if reads is None else Reads(**reads),
            "others": tuple(facts.get("others", ())),
            "triggers": tuple(Trigger(**trigger) for trigger in facts.get("triggers", ())),
        }
        return cls(**{**facts, **parts})


def _node(facts: dict[str, Any]) -> PlanNode:
    columns = facts["columns"]
    return PlanNode(
        **{
            **facts,
            "columns": None if columns is None else tuple(columns),
            "children": tuple(_node(child) for child in facts["children"]),
        }
    )
