"""Cases whose truth is known: operations, passes and plans of which every number is given."""

from __future__ import annotations

from typing import Any

import polars as pl

from assay.analysis.causes import PARTS, UNCOVERED
from assay.analysis.findings.case import Case
from assay.analysis.host.task_counters import EXECUTIONS
from assay.analysis.summary import OperationSummary
from assay.model.plan import Plan, PlanNode

RUN = "a-run"
CORES = 4
# The words of an engine whose settings have all roles.
ADVICE = {
    "settings": {
        "work_memory": {"name": "work_mem", "values": "bytes"},
        "cache": {"name": "shared_buffers", "values": "bytes"},
        "jit": {"name": "jit", "off": "off"},
        "parallel_workers": {"name": "max_parallel_workers_per_gather", "values": "count"},
    },
    "statements": {"index": "index.sql", "statistics": "statistics.sql", "vacuum": "vacuum.sql"},
}
SETTINGS = {
    "work_mem": "4MB",
    "shared_buffers": "128MB",
    "jit": "on",
    "max_parallel_workers_per_gather": "2",
}
HOST = {"host": {"memory_bytes": 16 << 30}}


def operation(
    name: str = "q1",
    share: float | None = 1.0,
    parallelism: float | None = 1.0,
    overrides: dict[str, Any] | None = None,
    **where: float,
) -> OperationSummary:
    """An operation whose time went where it is said, and the rest of it to nothing known.

    Where nothing is said, it computed.
    """
    where = where or {"cpu_user": 1.0}
    parts: dict[str, float | None] = dict.fromkeys(PARTS, 0.0) | where
    parts[UNCOVERED] = 1.0 - sum(where.values())
    facts: dict[str, Any] = {
        "name": name,
        "title": "",
        "seconds": share,
        "seconds_min": share,
        "seconds_max": share,
        "share": share,
        "outcome": "ok",
        "error": None,
        "passes": 1,
        "rows": 1,
        "where": parts,
        "coverage": 1.0,
        "parallelism": parallelism,
        "threads_at_work": 1.0,
        "memory_peak_bytes": 0,
        "memory_growth_bytes": 0,
        "read_bytes": 0.0,
        "write_bytes": 0.0,
        "minor_faults": 1234.0,
        "disk_method": "",
    }
    return OperationSummary(**facts | (overrides or {}))


def even(count: int, **where: float) -> tuple[OperationSummary, ...]:
    """Operations q1 to qn, each with the same share of the run's time."""
    return tuple(operation(f"q{n}", share=1 / count, **where) for n in range(1, count + 1))


def case(*operations: OperationSummary, **fields: Any) -> Case:
    """A run on four cores of an engine whose settings have all roles."""
    facts: dict[str, Any] = {
        "cores": CORES,
        "settings": SETTINGS,
        "advice": ADVICE,
        "environment": HOST,
    }
    return Case(RUN, operations, **facts | fields)


def node(operator: str = "scan", *children: PlanNode, **facts: Any) -> PlanNode:
    """An operator, its engine's word for it made up."""
    return PlanNode(operator, operator.title(), children=children, **facts)


def plan(root: PlanNode, operation: str = "q1", **facts: Any) -> Plan:
    """A plan that was executed for as long as its operators took together, unless told."""
    took = {"execution_s": sum(plan_node.seconds or 0.0 for plan_node in root.walk())}
    return Plan(operation, 0, f"{operation}-0.json", root, **took | facts)


def plans(*all_plans: Plan) -> dict[str, tuple[Plan, ...]]:
    """Plans by operation, as a case has them."""
    by_operation: dict[str, tuple[Plan, ...]] = {}
    for captured in all_plans:
        by_operation[captured.operation] = (*by_operation.get(captured.operation, ()), captured)
    return by_operation


def executions(*rows: dict[str, Any]) -> pl.DataFrame:
    """Executions of which every row is given; what a row does not say is null."""
    return pl.DataFrame([dict.fromkeys(EXECUTIONS) | row for row in rows], schema=EXECUTIONS)


def passes(seconds: dict[str, list[float]]) -> pl.DataFrame:
    """Measured executions: of each operation its seconds pass by pass."""
    rows = [
        {"phase": "measured", "pass": number, "operation": name, "seconds": time_s}
        for name, times in seconds.items()
        for number, time_s in enumerate(times)
    ]
    return executions(*rows)
