"""Reads the recorded plans of a run, the time of their capture, and their worst estimates."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.plans.difference import Pair, PlanChange, PlanComparison, compare_plans
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
from assay.model.plan import OPERATORS, Plan, PlanNode
from assay.record.layout import PLANS_DIR, PLANS_FILE, RAW_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.record.reader import Run

__all__ = [
    "Captured",
    "Missing",
    "OperationCost",
    "Pair",
    "PlanChange",
    "PlanComparison",
    "captured",
    "compare_plans",
    "read_plans",
    "shares",
    "worst_estimate",
]

log = logging.getLogger(__name__)

# An estimate within this factor counts as good.
Q_ERROR_MIN = 2.0
# An operator is relevant if it, or its parent, took this share of the plan's time.
HURT_SHARE_MIN = 0.05
NUMBERS = ("estimated_rows", "rows", "rows_margin", "loops", "seconds", "removed_rows")
BYTES = ("read_bytes", "cached_bytes", "spilled_bytes")
PLAN_NUMBERS = ("planning_s", "execution_s", "compiling_s", "capture_s")


@dataclass(frozen=True)
class OperationCost:
    """The time that capturing the plans of an operation took.

    Attributes:
        operation: Name of the operation.
        capture_s: Elapsed seconds of all captures of the operation.
        watched_s: Seconds of planning and execution by the engine's own count; None unless
            reported for all statements.
        timed_s: Median service time in the measured part.
        ratio: Time with capturing divided by the timed service time.
    """

    operation: str
    capture_s: float
    watched_s: float | None
    timed_s: float | None
    ratio: float | None


@dataclass(frozen=True)
class Missing:
    """A statement without a plan, and the reason."""

    operation: str
    statement: int
    reason: str
    capture_s: float | None
    name: str | None = None


@dataclass(frozen=True)
class Captured:
    """The recorded plans of a run.

    Attributes:
        plans: Plans by operation, one for each statement, without statements that have none.
        missing: Statements without a plan.
        costs: Cost of capturing each operation.
        capture_s: Elapsed time of all captures; None means no capture.
        reason: Reason why plans are missing; None if all operations were captured.
        grammar: SQL dialect of the statements, by its name in sqlglot; None for the syntax that
            all dialects share.
        tables: Declared types of columns, by table; empty in older records.
        with_views: Texts of statements that use views, with the queries of the views in the place
            of their names, by operation and position of the statement.
        indexes: Indexes by table; None if the engine does not report them.
        foreign_keys: Foreign keys of all tables; None if the engine does not report them.
        trigger_texts: Definitions of triggers; empty if the engine does not report them.
        changed_settings: Optimiser settings that differ from the default; None if the engine
            does not report them.
        extensions: Extensions of the server, and whether the database has them; empty if the
            engine does not report them.
        alternatives: Plans that the optimiser would choose after one change, such as an index.
        kept_rows: Rows that parts of scans' conditions keep; empty in older records.
        written_rows: Rows that updates write and change; empty in older records.
        collations: Collations of text columns by table, with names in lower case; empty if the
            engine does not report them.
        partition_keys: Columns of the partition key of each partitioned table; None if the engine
            does not report them.
        notifiers: Functions and triggers that send notifications; empty in older records.
        statistics: Statistics objects of all tables; None if the engine does not report them.
    """

    plans: dict[str, tuple[Plan, ...]] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    costs: tuple[OperationCost, ...] = ()
    capture_s: float | None = None
    reason: str | None = None
    grammar: str | None = None
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    indexes: dict[str, tuple[Index, ...]] | None = None
    foreign_keys: tuple[ForeignKey, ...] | None = None
    changed_settings: tuple[ChangedSetting, ...] | None = None
    extensions: dict[str, bool] = field(default_factory=dict)
    alternatives: tuple[Alternative, ...] = ()
    kept_rows: tuple[KeptRows, ...] = ()
    partition_keys: dict[str, tuple[str, ...]] | None = None
    statistics: tuple[Statistics, ...] | None = None
    with_views: dict[tuple[str, int], str] = field(default_factory=dict)
    notifiers: tuple[Notifier, ...] = ()
    trigger_texts: tuple[TriggerText, ...] = ()
    written_rows: tuple[WrittenRows, ...] = ()
    collations: dict[str, dict[str, Collation]] = field(default_factory=dict)

    @property
    def table_names(self) -> set[str]:
        """Return the names of all tables with known columns or indexes."""
        return {*self.tables, *(self.indexes or {})}

    @property
    def expanded(self) -> dict[str, tuple[Plan, ...]]:
        """Return the plans, with the queries of views in the texts of their statements."""
        return {
            operation: tuple(
                replace(plan, text=self.with_views.get((operation, plan.statement), plan.text))
                for plan in own_plans
            )
            for operation, own_plans in self.plans.items()
        }


def read_plans(run: Run) -> dict[str, tuple[Plan, ...]]:
    """Return the plans of a run by operation, one for each statement; empty without plans."""
    return captured(run).plans


def captured(run: Run) -> Captured:
    """Return the plans of a run by operation, with the time of their capture.

    If files are missing or damaged, the result contains the reason.
    """
    path = run.dir / RAW_DIR / PLANS_DIR / PLANS_FILE
    if not path.is_file():
        return Captured(reason=_missing_reason(run))
    try:
        return _read(json.loads(path.read_text(encoding="utf-8")), _capture_error(run))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged"
        log.warning("the plans of run %s cannot be read: %s", run.id, reason)
        return Captured(reason=reason)


def _missing_reason(run: Run) -> str:
    if error := _capture_error(run):
        return error
    request = run.facts.get("request", {})
    if request.get("plans") is False:
        return "the run was asked for none (--no-plans)"
    if "plans" not in request:
        return "the record is older than plans are"
    if "plans" not in run.facts and run.complete:
        return "this engine tells none"
    return "the run ended before they were asked for"


def _capture_error(run: Run) -> str | None:
    error: str | None = (run.facts.get("plans") or {}).get("error")
    return error


def _read(document: dict[str, Any], error: str | None) -> Captured:
    plans: dict[str, tuple[Plan, ...]] = {}
    for facts in document["plans"]:
        plan = _checked(Plan.read(facts))
        plans[plan.operation] = (*plans.get(plan.operation, ()), plan)
    schema = document.get("schema", {})
    return Captured(
        plans,
        tuple(Missing(**facts) for facts in document["missing"]),
        tuple(OperationCost(**facts) for facts in document["operations"]),
        float(document["capture_s"]),
        error,
        schema.get("grammar"),
        {str(table): dict(columns) for table, columns in schema.get("tables", {}).items()},
        _indexes(document.get("catalogue") or {}),
        _foreign_keys(document.get("catalogue") or {}),
        _changed_settings(document.get("catalogue") or {}),
        _extensions(document.get("catalogue") or {}),
        tuple(Alternative.read(facts) for facts in document.get("alternatives", ())),
        tuple(KeptRows.read(facts) for facts in document.get("kept_rows", ())),
        _partition_keys(document.get("catalogue") or {}),
        _statistics(document.get("catalogue") or {}),
        {
            (str(facts["operation"]), int(facts["statement"])): str(facts["text"])
            for facts in schema.get("with_views", ())
        },
        _notifiers(document.get("catalogue") or {}),
        _trigger_texts(document.get("catalogue") or {}),
        tuple(WrittenRows.read(facts) for facts in document.get("written_rows", ())),
        _collations(document.get("catalogue") or {}),
    )


def _indexes(catalogue: dict[str, Any]) -> dict[str, tuple[Index, ...]] | None:
    if catalogue.get("indexes") is None:
        return None
    by_table: dict[str, tuple[Index, ...]] = {}
    for facts in catalogue["indexes"]:
        index = Index.read(facts)
        by_table[index.table] = (*by_table.get(index.table, ()), index)
    return by_table


def _foreign_keys(catalogue: dict[str, Any]) -> tuple[ForeignKey, ...] | None:
    keys = catalogue.get("foreign_keys")
    return None if keys is None else tuple(ForeignKey.read(facts) for facts in keys)


def _trigger_texts(catalogue: dict[str, Any]) -> tuple[TriggerText, ...]:
    return tuple(TriggerText(**facts) for facts in catalogue.get("triggers") or ())


def _partition_keys(catalogue: dict[str, Any]) -> dict[str, tuple[str, ...]] | None:
    keys = catalogue.get("partition_keys")
    return None if keys is None else {table: tuple(columns) for table, columns in keys.items()}


def _notifiers(catalogue: dict[str, Any]) -> tuple[Notifier, ...]:
    return tuple(Notifier(**facts) for facts in catalogue.get("notifiers") or ())


def _statistics(catalogue: dict[str, Any]) -> tuple[Statistics, ...] | None:
    objects = catalogue.get("statistics")
    return None if objects is None else tuple(Statistics.read(facts) for facts in objects)


def _collations(catalogue: dict[str, Any]) -> dict[str, dict[str, Collation]]:
    return {
        table.lower(): {name.lower(): Collation(**facts) for name, facts in columns.items()}
        for table, columns in (catalogue.get("collations") or {}).items()
    }


def _changed_settings(catalogue: dict[str, Any]) -> tuple[ChangedSetting, ...] | None:
    changed = catalogue.get("changed_settings")
    return None if changed is None else tuple(ChangedSetting(**facts) for facts in changed)


def _extensions(catalogue: dict[str, Any]) -> dict[str, bool]:
    extensions = catalogue.get("extensions") or {}
    return {str(name): bool(is_there) for name, is_there in extensions.items()}


def _checked(plan: Plan) -> Plan:
    """Return the plan if its values are valid; raise `ValueError` otherwise."""
    _check_numbers(plan, PLAN_NUMBERS)
    _check_numbers(plan, BYTES[:1] + BYTES[2:])
    if not isinstance(plan.operation, str) or not isinstance(plan.statement, int):
        raise ValueError("the plan does not name its operation")  # noqa: TRY004 - damage
    for node in plan.root.walk():
        _check_numbers(node, NUMBERS + BYTES)
        named = (node.object, node.index, node.schema, node.condition)
        texts = [node.native, *(text or "" for text in named)]
        if node.operator not in OPERATORS or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"the plan contains {node.operator!r}, which is not an operator")
    return plan


def _check_numbers(of: Plan | PlanNode, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(of, name)
        if value is not None and not (isinstance(value, int | float) and 0 <= value < math.inf):
            raise ValueError(f"{name} is {value!r}")


def shares(plan: Plan) -> tuple[float | None, ...]:
    """Return each operator's share of the plan's thread-seconds, in the order of `walk`."""
    whole = plan.seconds
    return tuple(
        None if not whole or node.seconds is None else node.seconds / whole
        for node in plan.root.walk()
    )


def worst_estimate(plan: Plan) -> PlanNode | None:
    """Return the relevant plan operator with the largest row misestimate; None without one.

    An operator is relevant if it took much of the time, or if its parent did, whose method was
    chosen for the expected rows. Operators above inherit an estimate's error, so the result is
    the lowest operator at which the error begins.
    """
    whole = plan.seconds
    if not whole:
        return None
    off = [
        node
        for node, above in _with_above(plan.root)
        if _error(node) >= Q_ERROR_MIN and _hurt_s(node, above) >= HURT_SHARE_MIN * whole
    ]
    if not off:
        return None
    bodies = [node for node in plan.root.walk() if node.operator == "cte" and node.children]
    return _origin(max(off, key=_error), bodies)


def _error(node: PlanNode) -> float:
    return node.q_error or 0.0


def _origin(node: PlanNode, bodies: Sequence[PlanNode]) -> PlanNode:
    """Return the plan node in which most of a row estimate's error arises.

    Errors multiply, so most of an error is inherited if an input has half of its orders of
    magnitude. A recursive common table expression reads itself, so each is followed once.
    """
    left = list(bodies)
    while True:
        inputs = node.children
        if not inputs:
            followed = _defined(node, left)
            left = [body for body in left if body is not followed]
            inputs = () if followed is None else followed.children[-1:]
        if not inputs:
            return node
        below = max(inputs, key=_error)
        if _error(below) < math.sqrt(_error(node)) or _error(below) < Q_ERROR_MIN:
            return node
        node = below


def _defined(scan: PlanNode, bodies: Sequence[PlanNode]) -> PlanNode | None:
    """Return the common table expression that a scan reads, if its plan is known."""
    named = [body for body in bodies if scan.operator == "cte" and body.object == scan.object]
    return named[0] if len(named) == 1 else None


def _hurt_s(node: PlanNode, above: PlanNode | None) -> float:
    return max(node.seconds or 0.0, 0.0 if above is None else above.seconds or 0.0)


def _with_above(
    node: PlanNode, above: PlanNode | None = None
) -> Iterator[tuple[PlanNode, PlanNode | None]]:
    yield node, above
    for child in node.children:
        yield from _with_above(child, node)
