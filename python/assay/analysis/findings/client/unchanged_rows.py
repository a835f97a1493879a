"""Finds updates of rows that have the new values already.

PostgreSQL and SQLite write such a row again, with its log, and PostgreSQL with its index entries.
MySQL and MariaDB leave it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import WrittenRows
    from assay.model.finding import Finding

METHOD = "unchanged-rows"
EFFECT_MIN = 0.05
# With fewer unchanged rows, the comparison may cost as much as it saves.
UNCHANGED_MIN = 0.5
MODIFY = "modify"
TO_TRY = (
    "add a condition that compares old and new values, such as `a is distinct from new_a or b is "
    "distinct from new_b`, after `where` of the update or of `on conflict do update`"
)
TO_SETTLE = (
    "measure the statement with this condition; executions of a load that repeats its values meet "
    "more unchanged rows than those of an application"
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each statement that mostly updates rows without changing them."""
    findings = [
        _finding(case, written)
        for written in case.written_rows
        if written.operation in case.shares
        and written.rows
        and written.rows - written.changed >= UNCHANGED_MIN * written.rows
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _finding(case: Case, written: WrittenRows) -> Finding:
    operation = written.operation
    unchanged = written.rows - written.changed
    fractions = {operation: _writing(case, written) * unchanged / written.rows}
    effect = case.of_run(fractions)
    claim = (
        f"{operation} updates rows that have the new values already: {count_text(unchanged)} of "
        f"{count_text(written.rows)} rows; writing them took up to {percent_text(effect)} of the "
        "time"
    )
    evidence = [
        Evidence(
            f"a count after the run found {count_text(written.changed)} of "
            f"{count_text(written.rows)} rows to update with other values, apart from the time of "
            "the update",
            f"statement:{operation}",
        )
    ]
    advice = Advice("changed-rows", operation, {}, effect)
    to_try = f"{TO_TRY}; {case.try_words(METHOD, fractions, 'measures it')}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return replace(finding, saved=(0.0, effect))


def _writing(case: Case, written: WrittenRows) -> float:
    """Return the largest share of an operation's time for the statement without its reads."""
    plans = case.plans.get(written.operation, ())
    own = [plan for plan in plans if plan.statement == written.statement]
    seconds = {plan.statement: plan.execution_s or 0.0 for plan in plans}
    whole = sum(seconds.values())
    statement = seconds.get(written.statement, 0.0) / whole if whole else 1.0 / max(1, len(plans))
    read = sum(
        timed.fraction or 0.0
        for timed in timed_nodes(case)
        if timed.operation == written.operation
        and timed.plan in own
        and timed.node.operator != MODIFY
    )
    return max(0.0, statement - read)
