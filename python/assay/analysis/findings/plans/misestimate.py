"""A row estimate that was too small, and the operators that it made slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.analysis.findings.plans.estimates import Hurt, hurts
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.plans.stale_statistics import changed_since
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "misestimate"
# A smaller share of the run's time does not justify looking at a plan.
EFFECT_MIN = 0.02


def find(case: Case) -> list[Finding]:
    """Return one finding for each operation, unless outdated statistics explain the estimate."""
    unexplained = [hurt for hurt in hurts(case) if changed_since(case, hurt) is None]
    findings = [_finding(case, hurt) for hurt in unexplained]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _finding(case: Case, hurt: Hurt) -> Finding:
    node, operation = hurt.origin.node, hurt.origin.operation
    fractions = {operation: hurt.fraction}
    victims = ", ".join(dict.fromkeys(victim.node.native for victim in hurt.victims))
    claim = (
        f"{operation}: {operator_words(node)} gave {count_text(node.rows)} rows where"
        f" {count_text(max(1.0, node.estimated_rows or 1.0))} were expected; what was chosen for"
        f" that ({victims}) is {percent_text(hurt.fraction)} of its time"
    )
    table = node.object
    advice, to_try = None, f"assay explain {case.run_id} --operation {operation}"
    if table is not None and node.operator.endswith("scan") and case.can("statistics"):
        gain = case.of_run(scaled(fractions, hurt.excess))
        name = known_table(case.tables, node) or table
        advice = table_advice("statistics", name, node, gain)
        to_try = case.try_words(METHOD, fractions, f"gathers statistics of {name}")
    evidence = [Evidence(_chain(hurt), f"plan:{operation}")]
    return (
        case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)
        .without_interval()
        .of("computing", saved=(0.0, case.of_run(fractions)))
    )


def operator_words(node: PlanNode) -> str:
    """Return an operator with its table, such as `Seq Scan of orders`."""
    return node.native + (f" of {node.object}" if node.object else "")


def _chain(hurt: Hurt) -> str:
    q_error = hurt.origin.node.q_error
    most = max(hurt.victims, key=lambda victim: victim.fraction or 0.0)
    return (
        f"off by a factor of {count_text(q_error)}; {operator_words(most.node)} took"
        f" {percent_text(most.fraction)} of {hurt.origin.operation}"
    )
