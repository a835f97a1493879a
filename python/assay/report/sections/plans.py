"""Makes the document sections `plans` and `plan_capture` of a run.

Terminal and page render these sections and compute nothing.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import polars as pl

from assay.analysis.plans.pruning import columns_of_plan
from assay.analysis.plans.recorded import Captured, captured, shares, worst_estimate
from assay.analysis.plans.work import mixed_work, work_by_operation, work_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.plans.pruning import TableColumns
    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run
    from assay.report.documents.plans.plan_work import (
        MixedWorkRow,
        PlanWorkOperation,
        PlanWorkRow,
        PlanWorkSection,
    )
    from assay.report.documents.plans.plans import (
        CaptureCostRow,
        MissingPlan,
        PlanCaptureSection,
        PlanOperator,
        PlanTable,
        StatementPlan,
    )


@lru_cache(maxsize=2)
def captured_of(run: Run) -> Captured:
    """Return the plans of a run, read once and then cached."""
    return captured(run)


def plans_section(run: Run) -> dict[str, list[StatementPlan]]:
    """Return the plans of each operation's statements with derived numbers.

    A plan also has `seconds` (thread-seconds of all operators together) and `tables` (columns that
    the statement reads and names). A node also has `share` (of the seconds), `q_error` and `worst`.
    """
    captured_plans = captured_of(run)
    return {
        operation: [
            plan_facts(plan, columns_of_plan(plan, captured_plans.tables, captured_plans.grammar))
            for plan in plans
        ]
        for operation, plans in captured_plans.plans.items()
    }


def capture_section(run: Run) -> PlanCaptureSection:
    """Return the time of capturing plans, and statements without a plan with the reason."""
    captured_plans = captured_of(run)
    return {
        "capture_s": captured_plans.capture_s,
        "reason": captured_plans.reason,
        "operations": [cast("CaptureCostRow", asdict(cost)) for cost in captured_plans.costs],
        "missing": [cast("MissingPlan", asdict(missing)) for missing in captured_plans.missing],
    }


def plan_work_section(run: Run) -> PlanWorkSection:
    """Return the thread time of all plans by kind of work.

    Keys: `work` (work, seconds, share; of one execution of each operation, largest first),
        `operations` (operation, work, seconds, share of the operation), `mixed` (time within `work`
        that includes other kinds, which plans do not separate: work, also, seconds).
    """
    plans = captured_of(run).plans
    table = work_by_operation(plans)
    whole = pl.col("seconds").sum()
    by_work = (
        table.group_by("work", maintain_order=True)
        .agg(whole)
        .with_columns((pl.col("seconds") / whole).alias("share"))
        .sort("seconds", "work", descending=[True, False])
    )
    mixed = mixed_work(plan for several in plans.values() for plan in several)
    return {
        "work": cast("list[PlanWorkRow]", by_work.to_dicts()),
        "operations": cast("list[PlanWorkOperation]", table.to_dicts()),
        "mixed": [cast("MixedWorkRow", asdict(work) | {"also": list(work.also)}) for work in mixed],
    }


def plan_facts(plan: Plan, tables: Iterable[TableColumns] = ()) -> StatementPlan:
    """Return a plan as JSON values with shares of time, and its tables' columns."""
    derived = dict(zip(map(id, plan.root.walk()), shares(plan), strict=True))
    worst = worst_estimate(plan)

    def facts(node: PlanNode) -> PlanOperator:
        own = {name: value for name, value in vars(node).items() if name != "children"}
        own["work"] = work_of(node)
        columns = None if node.columns is None else list(node.columns)
        operator = own | {
            "columns": columns,
            "share": derived[id(node)],
            "q_error": node.q_error,
            "worst": node is worst,
            "children": [facts(child) for child in node.children],
        }
        return cast("PlanOperator", operator)

    own = {name: value for name, value in vars(plan).items() if name != "root"}
    values = own | {
        "reads": None if plan.reads is None else asdict(plan.reads),
        "others": list(plan.others),
        "triggers": [asdict(trigger) for trigger in plan.triggers],
        "tables": [_columns(table) for table in tables],
        "seconds": plan.seconds,
        "root": facts(plan.root),
    }
    return cast("StatementPlan", values)


def _columns(table: TableColumns) -> PlanTable:
    return {
        "table": table.table,
        "read": None if table.read is None else list(table.read),
        "needed": list(table.needed),
        "unneeded": list(table.unneeded),
        "unneeded_bytes": table.unneeded_bytes,
    }
