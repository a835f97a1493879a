"""Groups and sorts that an engine collects in temporary tables on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import fraction_of, reach_of, timed_nodes
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.finding import Finding

METHOD = "temporary-tables"
# The figure of an engine's counters.
ON_DISK = "temporary_disk_tables"
# Rows written into temporary tables, where the engine counts them, and what one takes at most. A
# table holds no more of them; it may be read from again and again.
ROWS, ROW_BYTES = "rows_temporary", 1 << 10
ROLE = "temporary_memory"
WORD = "temporary"
# Our own looks at the server make some, so there has to be one an execution.
PER_EXECUTION_MIN = 1.0
EFFECT_MIN = 0.05
# Rows that are held in memory need the other operators' time all the same.
OPERATORS = ("aggregate", "sort", "set operation", "materialize", "window", "other")


def find(case: Case) -> list[Finding]:
    """Return the time of operators with a temporary table, if such tables were written to disk."""
    made = case.total(ON_DISK)
    nodes = [timed for timed in timed_nodes(case) if _has_table(timed)]
    nodes = [timed for timed in nodes if _went_to_disk(case, timed.operation)]
    executions = sum(op.passes for op in case.operations if op.name in {n.operation for n in nodes})
    if not made or not executions or made < PER_EXECUTION_MIN * executions:
        return []
    fractions = fraction_of(nodes)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    setting = case.setting(ROLE)
    if _fits(case, setting, executions):
        return []
    beside = f" beside {setting.text}" if setting is not None else ""
    names = case.largest_first(fractions)
    claim = (
        f"{count_text(made)} temporary tables were written to disk{beside}; operators that collect"
        f" rows in one took {percent_text(effect)} of the time, most in {names[0]}"
    )
    evidence = [
        Evidence(f"{count_text(made)} temporary tables on disk", f"counter:{ON_DISK}"),
        *(
            Evidence(
                f"{timed.node.native} of {timed.operation}: {percent_text(timed.fraction)} of its"
                " time",
                f"plan:{timed.operation}",
            )
            for timed in nodes
        ),
    ]
    to_try = "more memory for temporary tables"
    if setting is not None:
        evidence.append(Evidence(setting.text, f"setting:{setting.name}"))
        to_try = f"a larger {setting.name}"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    best = case.of_run(reach_of(nodes))
    return [finding.without_interval().of("computing", saved=(0.0, best))]


def _went_to_disk(case: Case, operation: str) -> bool:
    """Return True if each execution had a table on disk, or executions were not counted."""
    counted = (case.figure(ON_DISK) or {}).get("operations") or {}
    return not counted or counted.get(operation, 0.0) >= PER_EXECUTION_MIN


def _fits(case: Case, setting: Setting | None, executions: float) -> bool:
    """Return True if an execution's rows fit into memory: the disk tables are from our samples."""
    rows = case.total(ROWS)
    if rows is None or setting is None or setting.bytes is None:
        return False
    return rows / executions * ROW_BYTES < setting.bytes


def _has_table(timed: Timed) -> bool:
    return timed.node.operator in OPERATORS and WORD in timed.node.native.lower()
