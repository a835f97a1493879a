"""Finds tables whose scans read mostly dead row versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.analysis.findings.plans.plan_time import fraction_of, reach_of, scaled, timed_nodes
from assay.analysis.findings.waiting.old_snapshot import (
    end_words,
    holder,
    holder_evidence,
    holder_words,
)
from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import TableFacts
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.finding import Finding

METHOD = "dead-rows"
# Engines leave up to a fifth of a table as dead rows before they clean up by themselves.
DEAD_SHARE_MIN = 0.2
EFFECT_MIN = 0.03
# Minimum size of a row on disk. Counts that do not fit into the table's size are outdated: they are
# from before the table was rewritten.
ROW_BYTES_MIN = 8
# A smaller table has few pages, which are read at once whether or not they hold dead rows.
TABLE_BYTES_MIN = 256 << 10
# An index leads to some versions of a row only, and index scans may remove dead entries.
OF_INDEX_SCANS = "the same operation after a vacuum: an index scan need not read dead rows"
SCANS = ("scan", "index scan", "bitmap scan")


def find(case: Case) -> list[Finding]:
    """Return one finding for each table with many dead rows."""
    findings = []
    for table, facts in sorted(case.tables.items()):
        dead = dead_share(facts)
        if dead is not None and dead >= DEAD_SHARE_MIN:
            findings.append(_finding(case, table, facts, dead))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def dead_share(facts: TableFacts) -> float | None:
    """Return the share of a table's rows that are dead; None if empty or unknown."""
    if facts.rows is None or facts.dead_rows is None:
        return None
    every = facts.rows + facts.dead_rows
    if facts.bytes is not None and facts.bytes < TABLE_BYTES_MIN:
        return None
    if facts.bytes is not None and facts.bytes < ROW_BYTES_MIN * every:
        return None
    return facts.dead_rows / every if every > 0 else None


def _finding(case: Case, table: str, facts: TableFacts, dead: float) -> Finding:
    scans = [
        timed
        for timed in timed_nodes(case)
        if timed.node.operator in SCANS and known_table(case.tables, timed.node) == table
    ]
    fractions = scaled(fraction_of(scans), dead)
    effect = case.of_run(fractions)
    size = f", in {bytes_text(facts.bytes)}" if facts.bytes is not None else ""
    claim = (
        f"{percent_text(dead)} of the rows of {table} are dead"
        f" ({count_text(facts.dead_rows)} beside {count_text(facts.rows)} live ones{size}); reading"
        f" past them took {percent_text(effect)} of the time"
    )
    advice, to_try = None, f"clean {table} of its dead rows"
    if case.can("vacuum") and scans:
        advice = table_advice("vacuum", table, scans[0].node, effect)
        does = f"cleans {table} of its dead rows{case.beside('vacuum')}"
        to_try = case.try_words(METHOD, fractions, does)
    keeper = holder(case)
    if keeper is not None:
        claim += f". They cannot be removed: {holder_words(keeper)}"
        advice, to_try = None, f"{end_words(keeper)}; then {table} can be cleaned of its dead rows"
    evidence = [
        Evidence(
            f"{count_text(facts.dead_rows)} dead rows of {table} by the engine's statistics",
            f"catalogue:{table}",
        )
    ]
    evidence += _scan_evidence(table, scans)
    if keeper is not None:
        evidence.append(holder_evidence(keeper))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    by_index = all(scan.node.operator == "index scan" for scan in scans)
    # Index scans do not remove dead rows that an old snapshot may need, either.
    may_drop = by_index and keeper is None
    finding = replace(finding.without_interval(), settle=OF_INDEX_SCANS if may_drop else None)
    return finding.of("computing", saved=(0.0, case.of_run(scaled(reach_of(scans), dead))))


def _scan_evidence(table: str, scans: Sequence[Timed]) -> Iterator[Evidence]:
    """Yield one piece of evidence for each kind of scan of an operation."""
    fractions: dict[tuple[str, str], list[float]] = {}
    for scan in scans:
        fractions.setdefault((scan.operation, scan.node.native), []).append(scan.fraction or 0.0)
    for (operation, native), of_scans in fractions.items():
        count = f", {len(of_scans)} scans" if len(of_scans) > 1 else ""
        share = percent_text(sum(of_scans))
        yield Evidence(
            f"{native} of {table} took {share} of {operation}{count}", f"plan:{operation}"
        )
