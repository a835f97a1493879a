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
    from collections.abc import Iterator, Mapping, Sequence

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
OF_INDEX_SCANS = "measure the same operation after a vacuum: an index scan need not read dead rows"
# Time to find that a row is dead, and the rate at which pages are read from memory. Both are on the
# slow side, so that dead rows take less.
PASSED_S = 0.1e-6
READ_BYTES_PER_S = 2e9
# If dead rows can take less than this part of what their number suggests, the scan does other work.
SURE_SHARE = 0.9
OF_FILTERS = (
    "measure the same operation after a vacuum: the scan's filter may take most of its time"
)
# Counts of live rows that are so much smaller than what a scan finds are of another time.
OUTDATED_FACTOR = 2.0
OUTDATED = "gather the table's statistics again: its counts of rows do not fit what a scan finds"
SCANS = ("scan", "index scan", "bitmap scan")


def find(case: Case) -> list[Finding]:
    """Return a finding for each table with many dead rows."""
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
    found = _found_rows(scans)
    is_outdated = found > OUTDATED_FACTOR * max(1.0, facts.rows or 0.0)
    if is_outdated:
        dead = (facts.dead_rows or 0.0) / (found + (facts.dead_rows or 0.0))
    fractions = _passed_fractions(scans, facts, dead)
    effect = case.of_run(fractions)
    size = f", in {bytes_text(facts.bytes)}" if facts.bytes is not None else ""
    claim = (
        f"{percent_text(dead)} of the rows of {table} are dead"
        f" ({count_text(facts.dead_rows)} beside {count_text(facts.rows)} live ones{size}); reading"
        f" past them took {percent_text(effect)} of the time"
    )
    if is_outdated:
        claim = (
            f"{table} has pages for {count_text(found + (facts.dead_rows or 0.0))} rows{size}, and "
            f"a scan finds {count_text(found)}: the others are dead or already removed. Reading "
            f"past them took {percent_text(effect)} of the time"
        )
    advice, to_try = None, f"vacuum {table} to remove its dead rows"
    if case.can("vacuum") and scans:
        advice = table_advice("vacuum", table, scans[0].node, effect)
        does = f"vacuums {table} to remove its dead rows{case.beside('vacuum')}"
        to_try = case.try_words(METHOD, fractions, does)
    keeper = holder(case)
    if keeper is not None:
        claim += f". A vacuum cannot remove these rows: {holder_words(keeper)}"
        advice, to_try = (
            None,
            (f"{end_words(keeper)}; then a vacuum can remove the dead rows of {table}"),
        )
    evidence = [
        Evidence(
            f"{table} has {count_text(facts.dead_rows)} dead rows according to the engine's "
            "statistics",
            f"catalogue:{table}",
        )
    ]
    evidence += _scan_evidence(table, scans)
    if keeper is not None:
        evidence.append(holder_evidence(keeper))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    settle = _to_settle(scans, fractions, dead, is_kept=keeper is not None)
    settle = OUTDATED if is_outdated else settle
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of("computing", saved=(0.0, case.of_run(scaled(reach_of(scans), dead))))


def _found_rows(scans: Sequence[Timed]) -> float:
    """Return the number of rows that one full scan of the table finds; 0 if there is none."""
    full = (scan.node for scan in scans if scan.node.operator == "scan")
    read = (((node.rows or 0.0) + (node.removed_rows or 0.0)) / (node.loops or 1) for node in full)
    return max(read, default=0.0)


def _passed_fractions(scans: Sequence[Timed], facts: TableFacts, dead: float) -> dict[str, float]:
    """Return the share of each operation's time that reading past dead rows can have taken."""
    fractions: dict[str, float] = {}
    for scan in scans:
        part = (scan.fraction or 0.0) * min(dead, _most(scan, facts))
        fractions[scan.operation] = fractions.get(scan.operation, 0.0) + part
    return {operation: min(1.0, fraction) for operation, fraction in fractions.items()}


def _most(scan: Timed, facts: TableFacts) -> float:
    """Return the largest share of a full scan's time that passing the table's dead rows can take.

    A scan's filter is evaluated for live rows only, so it may take longer than all dead rows. The
    number of dead rows that an index leads to is unknown.
    """
    seconds, read = scan.node.seconds, (scan.node.rows or 0.0) + (scan.node.removed_rows or 0.0)
    is_filtered = scan.node.operator == "scan" and scan.node.condition is not None
    if not is_filtered or not seconds or not facts.rows or not facts.bytes:
        return 1.0
    dead = facts.dead_rows or 0.0
    row_bytes = facts.bytes / (facts.rows + dead)
    times = max(1.0, read / facts.rows)
    return times * dead * (PASSED_S + row_bytes / READ_BYTES_PER_S) / seconds


def _to_settle(
    scans: Sequence[Timed], fractions: Mapping[str, float], dead: float, *, is_kept: bool
) -> str | None:
    """Return the doubt that a vacuum would save this time; None if scans read past dead rows."""
    whole = sum(scaled(fraction_of(scans), dead).values())
    if sum(fractions.values()) < SURE_SHARE * whole:
        return OF_FILTERS
    # Index scans do not remove dead rows that an old snapshot may need, either.
    by_index = all(scan.node.operator == "index scan" for scan in scans)
    return OF_INDEX_SCANS if by_index and not is_kept else None


def _scan_evidence(table: str, scans: Sequence[Timed]) -> Iterator[Evidence]:
    """Yield evidence of dead rows for each kind of scan of an operation."""
    fractions: dict[tuple[str, str], list[float]] = {}
    for scan in scans:
        fractions.setdefault((scan.operation, scan.node.native), []).append(scan.fraction or 0.0)
    for (operation, native), of_scans in fractions.items():
        count = f", {len(of_scans)} scans" if len(of_scans) > 1 else ""
        share = percent_text(sum(of_scans))
        yield Evidence(
            f"{native} of {table} took {share} of the time of {operation}{count}",
            f"plan:{operation}",
        )
