"""A query's plan in words that are no engine's: a tree of operators with estimates and actuals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

# The field's words for what an operator does. An engine's own word stands in `native`.
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


@dataclass(frozen=True)
class PlanNode:
    """An operator of a plan; None where a fact was not reported, never 0.

    Attributes:
        operator: One of `OPERATORS`.
        native: The engine's own word, such as `Parallel Hash Join`.
        object: The table that it reads or writes.
        index: The index that it reads.
        schema: The schema of the table; None: the engine does not say.
        condition: What it joins, filters, groups or sorts by, in the engine's words.
        estimated_rows: Rows that the optimiser expected it to give, over all loops.
        rows: Rows that it gave, over all loops.
        rows_margin: So many more or fewer it may have given, where the engine rounds averages.
        loops: How often it was executed, workers included.
        seconds: Time in itself, without its children; thread-seconds where several worked.
        workers: Processes or threads beside the first that an exchange was given.
        workers_planned: Workers that the optimiser counted on, where the engine tells them apart.
        workers_launched: Those of them that came.
        cut_short: Whether something kept it from giving all its rows: a limit above it, the first
            match of a semi join, a filter that a join made while it ran. Then fewer rows than
            estimated are no error of the estimate.
        removed_rows: Rows that it read and that its condition removed, over all loops.
        read_bytes: Read from outside the engine's own cache.
        cached_bytes: Found in the engine's own cache.
        spilled_bytes: Written to temporary files, or more memory than it was given.
        columns: Columns that a scan reads, where the engine tells.
        work: What its own time goes into, in the words that CPU samples have, where the operator
            does not say it: a scan that is a filter for a join, for example.
        details: What else the engine tells, its words as keys.
        children: Inputs, the outer (probe) side first; then `subquery` and `cte`, which hold what
            is computed for a value or for scans elsewhere.
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
        """Yield this operator and all operators below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def line(self) -> str:
        """Return this operator and all below it in one line: names, tables and indexes."""
        return " > ".join(
            " ".join(filter(None, (node.native, node.object, node.index))) for node in self.walk()
        )

    @property
    def is_full_scan(self) -> bool:
        """Return whether it reads a whole table: row by row, or in the order of an index.

        An index that is read without a condition of its own finds no rows, it only orders them.
        """
        if self.operator != "index scan":
            return self.operator == "scan"
        parts = (self.condition or "").split("; ")
        return bool(self.condition) and all(part.startswith("filter ") for part in parts)

    @property
    def q_error(self) -> float | None:
        """The q-error: the estimate's factor of error, at least 1. Rows below one count as one."""
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
    """The reads that a statement requested from storage; None where the engine does not count them.

    Attributes:
        index_lookups: Places of indexes that were looked up.
        index_rows: Rows or entries that were read from there on.
        scan_rows: Rows that were read by scans of tables.
        source: Who says so, in words: counters of the session, or what the plan's operators say.
    """

    source: str
    index_lookups: float | None = None
    index_rows: float | None = None
    scan_rows: float | None = None


@dataclass(frozen=True)
class Trigger:
    """A trigger, or a check of a constraint, that a statement fired.

    Attributes:
        name: Its name.
        table: The table whose change fired it.
        seconds: Time in it, all calls together.
        calls: How often it was called.
        constraint: The constraint that it checks; None: it is a trigger of its own.
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
        operation: The operation.
        statement: Which of its statements, from 0.
        native: File of the engine's own words in `raw/plans/`.
        root: The tree.
        planning_s: Time that the optimiser took, parsing included where it is not told apart.
        execution_s: Time that execution took, with the cost of watching it.
        compiling_s: Time of that which went into generating code (JIT).
        capture_s: Wall time of asking for the plan: what it cost, apart from the timed part.
        cost: What the optimiser expects it to cost, in its own unit; None: it does not say.
        timed: False where the engine told estimates only.
        reason: Why it is not timed.
        read_bytes: Read from storage or the kernel's cache by all operators together.
        spilled_bytes: Written to temporary files by all operators together.
        memory_bytes: The most memory that was held at once.
        details: What else the engine tells of the whole, its words as keys.
        name: What the statement is called; None: it has no name.
        text: As it was sent, with `$1`, ... for bound values; None: the record is older than that.
        reads: What it asked storage for; None: the engine does not tell.
        mode: Which plan of a prepared statement it is, `generic` or `custom`; None: the statement
            is not prepared, or the engine does not tell.
        planned_each_time: Whether the timed executions were planned anew each; None: not known.
        shapes: How many different plans were seen in `captures`; None: it was captured once.
        captures: How often it was captured in the state of the timed session.
        others: Of the other plans that were seen in these captures, one line each.
        triggers: That the statement fired, with their time.
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
        """Return the plan in one line: its operators, the root first, with tables and indexes."""
        return self.root.line

    @property
    def seconds(self) -> float | None:
        """Thread-seconds of all operators together; None where none was timed."""
        seconds = [node.seconds for node in self.root.walk() if node.seconds is not None]
        return sum(seconds) if seconds else None

    def facts(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Plan:
        """The plan that `facts` was made from."""
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
