"""Finds temporary tables without statistics, for which the optimiser reads other tables in full.

No engine gathers the statistics of a table that exists for one transaction only. The optimiser then
assumes a number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assay.analysis.findings.indexes.join_index import (
    join_fraction,
    joined_column,
    rows_read,
    wasteful_joins,
)
from assay.analysis.findings.indexes.missing_index import usable_index
from assay.analysis.findings.operation_shares import statement_shares
from assay.analysis.findings.plans.estimates import Q_ERROR_MIN
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.findings.waiting.transactions import statements_in
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.temporary import created_temporary, filled_at, gathers_statistics
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Index
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "temporary-statistics"
KIND: Final = "temporary-statistics"
EFFECT_MIN = 0.05
ONE_STATEMENT = "write one statement without the temporary table"


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation that scans a table beside a temporary one."""
    nodes = timed_nodes(case)
    findings: dict[str, Finding] = {}
    for join, scan in wasteful_joins(case, nodes):
        temporary = _temporary_input(case, join, scan)
        named = joined_column(join, scan)
        index = None if named is None else usable_index(case, *named, scan.schema)
        if temporary is not None and index is not None:
            finding = _finding(case, join, scan, temporary, index, _share(case, join, nodes, scan))
            others = findings.get(join.operation)
            if others is None or finding.effect_share > others.effect_share:
                findings[join.operation] = finding
    return [finding for finding in findings.values() if finding.effect_share >= EFFECT_MIN]


def unanalyzed(case: Case, operation: str, table: str | None) -> bool:
    """Return True if an operation creates and fills a temporary table without its statistics."""
    if table is None:
        return False
    statements = statements_in(case.statements.get(operation, ""))
    filled = filled_at(table.lower(), statements)
    return filled is not None and not any(
        gathers_statistics(table, statement) for statement in statements[filled:]
    )


def is_temporary(case: Case, operation: str, table: str | None) -> bool:
    """Return True if an operation creates a temporary table of this name."""
    statements = statements_in(case.statements.get(operation, ""))
    return table is not None and table.lower() in map(created_temporary, statements)


def statistics_advice(
    case: Case, operation: str, table: str, gain: float
) -> tuple[Advice | None, str | None]:
    """Return advice on the statistics of a temporary table, and its effect as a clause.

    If the engine has no statement for them that a transaction can contain, the advice is None, and
    the words say what to do by hand. Both are None if the operation gathers the statistics.
    """
    if not unanalyzed(case, operation, table):
        return None, None
    if not case.can(KIND):
        return None, (
            f"gather the statistics of {table} after it is filled (`analyze {table}`), or "
            f"{ONE_STATEMENT}"
        )
    does = f"gathers the statistics of {table} after it is filled; or {ONE_STATEMENT}"
    return Advice(KIND, operation, {"tables": table}, gain), does


def _temporary_input(case: Case, join: Timed, scan: PlanNode) -> PlanNode | None:
    """Return the scan of a temporary table with a wrong estimate beside a scanned table."""
    for side in join.node.children[:2]:
        own = list(side.walk())
        if any(node is scan for node in own):
            continue
        for node in own:
            is_wrong = (node.q_error or 0.0) >= Q_ERROR_MIN and not node.condition
            if is_wrong and unanalyzed(case, join.operation, node.object):
                return node
    return None


def _share(case: Case, join: Timed, nodes: Sequence[Timed], scan: PlanNode) -> float:
    """Return the share of an operation's time for a join, at most that of its statement."""
    most = statement_shares(case, join.operation).get(join.plan.statement, 1.0)
    return min(most, join_fraction(case, join, nodes, scan))


def _finding(
    case: Case, join: Timed, scan: PlanNode, temporary: PlanNode, index: Index, share: float
) -> Finding:
    operation, table = join.operation, str(temporary.object)
    fractions = {operation: share}
    effect = case.of_run(fractions)
    claim = (
        f"Temporary table {table} of {operation} has no statistics: "
        f"{count_text(temporary.estimated_rows)} rows were assumed, and it has "
        f"{count_text(temporary.rows)}. So {scan.object} is read in full "
        f"({count_text(rows_read(scan))} rows for {count_text(join.node.rows)}) instead of by its "
        f"index {index.name}, {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"{temporary.native} of {table}: {count_text(temporary.estimated_rows)} rows "
            f"estimated, {count_text(temporary.rows)} came",
            f"plan:{operation}",
        ),
        Evidence(
            f"{operation} creates and fills {table} and does not gather its statistics",
            f"statement:{operation}",
        ),
        Evidence(
            f"the index {index.text} begins with the joined column", f"catalogue:{scan.object}"
        ),
    ]
    advice, does = statistics_advice(case, operation, table, effect)
    to_try = does if advice is None else case.try_words(METHOD, fractions, does or "")
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    most = statement_shares(case, operation).get(join.plan.statement, case.reached(operation))
    saved = (0.0, max(effect, case.of_run({operation: most})))
    return finding.without_interval().of(COMPUTING, saved=saved)
