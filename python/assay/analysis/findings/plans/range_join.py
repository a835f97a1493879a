"""Finds hash joins that compare many pairs of rows, because their equality leaves many."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "range-join"
# With fewer rows, the fixed cost of a join makes its rows look slow.
ROWS_MIN = 10_000
# A hash join looks a row up in a fraction of this time, even if its table misses the CPU's caches.
ROW_S_MIN = 1e-6
EFFECT_MIN = 0.25
_INEQUALITY = re.compile(r"<>|!=|<=|>=|<|>")
_EQUALITY = re.compile(r"(?<![<>!])=")
PAIRS = "count the pairs of rows that satisfy the equality alone (select count(*) of the join)"


def find(case: Case) -> list[Finding]:
    """Return a finding of hash joins that are slow for their rows and also compare a range."""
    joins = [timed for timed in timed_nodes(case) if _is_slow_range_join(timed)]
    fractions = fraction_of(joins)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    first = max(joins, key=lambda timed: timed.fraction or 0.0)
    claim = (
        f"{first.node.native} of {first.operation} took {seconds_text(_row_seconds(first))} for "
        f"each of its {count_text(_rows(first))} rows: rows that are equal by {_equal(first)} are "
        f"compared one by one by {_ranges(first)}, {percent_text(effect)} of the time in total"
    )
    evidence = [
        Evidence(
            f"{timed.node.native} of {timed.operation}: {seconds_text(_row_seconds(timed))} a row",
            f"plan:{timed.operation}",
        )
        for timed in joins
    ]
    to_try = (
        "add an equality that leaves fewer pairs (such as the day of both), or join by the nearest "
        "value if each row has one match (`asof join`, if the engine has it)"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=PAIRS)
    return [finding.of("computing", saved=(0.0, effect))]


def _is_slow_range_join(timed: Timed) -> bool:
    node = timed.node
    if node.operator != "hash join" or node.spilled_bytes or not node.condition:
        return False
    if not _equal(timed) or not _ranges(timed) or _rows(timed) < ROWS_MIN:
        return False
    return _row_seconds(timed) >= ROW_S_MIN


def _rows(timed: Timed) -> float:
    """Return the rows that a join reads from its inputs and returns."""
    return (timed.node.rows or 0.0) + sum(child.rows or 0.0 for child in timed.node.children)


def _row_seconds(timed: Timed) -> float:
    return (timed.node.seconds or 0.0) / max(1.0, _rows(timed))


def _equal(timed: Timed) -> str:
    parts = [part for part in conjuncts(timed.node.condition) if not _INEQUALITY.search(part)]
    return " and ".join(part.strip(" ()") for part in parts if _EQUALITY.search(part))


def _ranges(timed: Timed) -> str:
    parts = [part for part in conjuncts(timed.node.condition) if _INEQUALITY.search(part)]
    return " and ".join(part.strip(" ()") for part in parts)
