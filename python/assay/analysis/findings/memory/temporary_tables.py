"""Groups and sorts that an engine stores in temporary tables on disk."""

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
# Counter of temporary tables on disk.
ON_DISK = "temporary_disk_tables"
# Counter of rows written into temporary tables, if the engine has it, and the largest size of a
# row. A table has at most this many rows; they may be read repeatedly.
ROWS, ROW_BYTES = "rows_temporary", 1 << 10
ROLE = "temporary_memory"
WORD = "temporary"
# Assay's own sampling of the server creates some tables, so each execution has to create one.
PER_EXECUTION_MIN = 1.0
EFFECT_MIN = 0.05
# Operators that store rows in a table. Other operators take the same time with a table in memory.
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
    """Return True if an execution's rows fit into memory: disk tables are from Assay's sampling."""
    rows = case.total(ROWS)
    if rows is None or setting is None or setting.bytes is None:
        return False
    return rows / executions * ROW_BYTES < setting.bytes


def _has_table(timed: Timed) -> bool:
    return timed.node.operator in OPERATORS and WORD in timed.node.native.lower()
