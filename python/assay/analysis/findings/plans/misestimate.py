"""Finds a row estimate that was too small, and the operators that it made slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.analysis.findings.lacking_histogram import histogram
from assay.analysis.findings.plans.estimates import LOOP, Hurt, hurts, reader_of
from assay.analysis.findings.plans.lacking_statistics import (
    effect_words,
    existing_statistics,
    extended_statistics,
    in_vain_words,
    read_condition,
    statistics_words,
)
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.plans.stale_statistics import changed_since
from assay.analysis.findings.plans.temporary_statistics import (
    is_temporary,
    statistics_advice,
)
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "misestimate"
# A smaller share of the run's time does not justify looking at a plan.
EFFECT_MIN = 0.02
# If a smaller share of the rows changed, new statistics are like the present ones.
FRESH_SHARE = 0.01


def find(case: Case) -> list[Finding]:
    """Return a finding per row misestimate that outdated statistics do not explain."""
    unexplained = [hurt for hurt in hurts(case) if changed_since(case, hurt) is None]
    findings = [_finding(case, hurt) for hurt in unexplained]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _finding(case: Case, hurt: Hurt) -> Finding:
    node, operation = hurt.origin.node, hurt.origin.operation
    fractions = {operation: hurt.fraction}
    victims = ", ".join(dict.fromkeys(victim.node.native for victim in hurt.victims))
    claim = (
        f"{operation}: {operator_words(node)} returned {count_text(node.rows)} rows where "
        f"{count_text(max(1.0, node.estimated_rows or 1.0))} were estimated; the operators "
        f"chosen for that estimate ({victims}) took {percent_text(hurt.fraction)} of its time"
    )
    advice, to_try = None, f"assay explain {case.run_id} --operation {operation}"
    reader = reader_of(hurt.origin)
    if reader is not None and node.operator.endswith("scan"):
        gain = case.of_run(scaled(fractions, hurt.excess))
        advice, does = _statistics(case, hurt, reader, gain)
        if does is not None:
            to_try = does if advice is None else case.try_words(METHOD, fractions, does)
    if advice is None and _is_of_loop(hurt) and case.can_switch_off(LOOP):
        advice = Advice("technique", LOOP)
        to_try += f"; {case.try_words(METHOD, fractions, 'measures it without nested loops')}"
    says = [_chain(hurt), *(_other(partner.node) for partner in hurt.partners)]
    evidence = [Evidence(sentence, f"plan:{operation}") for sentence in says]
    return (
        case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)
        .without_interval()
        .of("computing", saved=(0.0, case.of_run(fractions)))
    )


def _statistics(
    case: Case, hurt: Hurt, reader: PlanNode, gain: float
) -> tuple[Advice | None, str | None]:
    """Return the advice about statistics, and its effect; without advice, what to do by hand.

    If both inputs of a join are estimated wrong, statistics of one table leave the plan as it is.
    """
    operation = hurt.origin.operation
    if is_temporary(case, operation, reader.object):
        return statistics_advice(case, operation, str(reader.object), gain)
    scans = [each for each in hurt.partners if each.node.operator.endswith("scan")]
    partners = [partner for each in scans if (partner := reader_of(each)) is not None]
    readers, condition = (reader, *partners), read_condition(reader)
    name = known_table(case.tables, reader) or str(reader.object)
    lacking = extended_statistics(case, readers, gain) or histogram(case, reader, condition, gain)
    if lacking:
        return lacking, effect_words(lacking)
    existing, are_gathered = existing_statistics(case, readers) or (None, False)
    if existing is not None and are_gathered:
        return None, in_vain_words(existing)
    if existing is None and _is_fresh(case, reader):
        return None, statistics_words(reader.object, condition)
    if not case.can("statistics"):
        return None, None
    return table_advice("statistics", name, reader, gain), f"gathers statistics of {name}"


def _is_of_loop(hurt: Hurt) -> bool:
    """Return True if a nested loop was chosen for the wrong estimate."""
    return any(victim.node.operator == LOOP for victim in hurt.victims)


def _is_fresh(case: Case, node: PlanNode) -> bool:
    """Return True if the engine says that hardly any row changed since statistics were gathered."""
    facts = case.tables.get(known_table(case.tables, node) or "")
    if facts is None or facts.changed_rows is None or not facts.rows:
        return False
    return facts.analyzed is not False and facts.changed_rows < FRESH_SHARE * facts.rows


def operator_words(node: PlanNode) -> str:
    """Return text with a plan operator and its table, such as `Seq Scan of orders`."""
    return node.native + (f" of {node.object}" if node.object else "")


def _other(node: PlanNode) -> str:
    return (
        f"the other input of the join is estimated wrong, too: {operator_words(node)} by a factor "
        f"of {count_text(node.q_error)}"
    )


def _chain(hurt: Hurt) -> str:
    q_error = hurt.origin.node.q_error
    most = max(hurt.victims, key=lambda victim: victim.fraction or 0.0)
    return (
        f"the estimate is wrong by a factor of {count_text(q_error)}; "
        f"{operator_words(most.node)} took {percent_text(most.fraction)} of the time of "
        f"{hurt.origin.operation}"
    )
