"""Finds joins by alternatives (`a.x = b.x or a.y = b.y`) that compare all pairs of rows.

A hash table or an index finds rows by one comparison. For rows that fulfil one of several
comparisons, the engine compares each row of one side with each row of the other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.indexes.join_index import (
    MATCHED_SHARE_MAX,
    NESTED_LOOP,
    join_fraction,
    scanned_whole,
)
from assay.analysis.findings.plans.plan_time import Timed, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "either-join"
EFFECT_MIN = 0.05
# Fewer pairs are compared faster than two joins are begun.
PAIRS_MIN = 100_000
_TEXT = re.compile(r"'(?:[^']|'')*'")
_CAST = re.compile(r"::[\w ]+(?:\(\d+(?:,\d+)?\))?")
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
# An equality of two columns, and not of a column and a value.
_EQUAL = re.compile(r"[\s(]*[A-Za-z_][\w.\"`]*[\s)]*=[\s(]*[A-Za-z_][\w.\"`]*[\s)]*")
TO_SETTLE = "measure the statement as a `union all` of one join for each comparison"


def find(case: Case) -> list[Finding]:
    """Return a finding for each join by alternatives whose pairs are compared one by one."""
    nodes = timed_nodes(case)
    findings = [
        _finding(case, join, pairs, either, nodes)
        for join in nodes
        if (either := _either(join.node)) is not None
        and (pairs := _pairs(join.node)) >= PAIRS_MIN
        and (join.node.rows or 0.0) <= MATCHED_SHARE_MAX * pairs
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _either(join: PlanNode) -> str | None:
    """Return the alternatives of a nested loop, each an equality of columns; None without them.

    The comparisons that all pairs have to fulfil must contain no equality of columns, which would
    find the rows.
    """
    if join.operator != NESTED_LOOP or len(join.children) != 2:  # noqa: PLR2004 - sides
        return None
    either = None
    for part in conjuncts(_CAST.sub("", _TEXT.sub("''", join.condition or ""))):
        alternatives = _EITHER.split(part)
        if not all(map(_EQUAL.fullmatch, alternatives)):
            continue
        if len(alternatives) == 1:
            return None
        either = " ".join(part.split())
    return either


def _pairs(join: PlanNode) -> float:
    """Return the number of pairs that a nested loop compares; 0 if an index finds the rows."""
    outer, inner = join.children
    scan = scanned_whole(inner)
    if scan is None or join.rows is None or outer.rows is None:
        return 0.0
    return (scan.rows or 0.0) * max(1.0, outer.rows / max(1.0, scan.loops or 1.0))


def _finding(case: Case, join: Timed, pairs: float, either: str, nodes: Sequence[Timed]) -> Finding:
    operation, node = join.operation, join.node
    fractions = {operation: join_fraction(case, join, nodes)}
    effect = case.of_run(fractions)
    claim = (
        f"{operation} joins by alternatives, {either}: {node.native} compares "
        f"{count_text(pairs)} pairs of rows to find {count_text(node.rows)}, which took "
        f"{percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{node.native} returned {count_text(node.rows)} rows", f"plan:{operation}"),
    ]
    advice = Advice("union-of-joins", operation, {}, effect)
    to_try = (
        "write a `union all` of joins, one for each comparison: each finds its rows by a hash "
        "table or an index, and leaves out the rows of the earlier ones; "
        f"{case.try_words(METHOD, fractions, 'measures it')}"
    )
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
