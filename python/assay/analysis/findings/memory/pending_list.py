"""Finds searches of GIN indexes that read a long list of pending entries.

With `fastupdate`, which is the default, new rows go to a list without an order, and a vacuum moves
them into the index. Each search reads the whole list. Its length is not recorded; the witness is a
search that reads more pages than all rows of its words can have in the index.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import table_advice
from assay.analysis.findings.plans.plan_time import fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.catalogue import Index
    from assay.model.finding import Finding

METHOD = "pending-list"
PENDING = "gin"
SCANS = ("index scan", "bitmap scan")
EFFECT_MIN = 0.05
# Entries of a word are compressed lists of row numbers, with at most so many bytes for each row.
ENTRY_BYTES_MAX = 4
# Pages on the way from the root of the index to the rows of one word, and its metadata.
PATH_BYTES = 10 << 13
# A string of the condition, with doubled quotes inside.
STRING = re.compile(r"'((?:[^']|'')*)'(?:::(\w+))?")
WORD = re.compile(r"\w+")
# Operators that compare parts of texts; each of their characters begins a key of the index.
OF_CHARACTERS = re.compile(r"~|%|<->")
# Conditions that read many keys or the whole index: prefixes, negations, and unknown values.
UNBOUNDED = re.compile(r":\w*\*|!|\$\d")
# Type of a constant that names the dictionary, not a word.
DICTIONARY = "regconfig"
TO_SETTLE = (
    "measure again after a vacuum, or count the pending pages with `pgstatginindex` (extension "
    "pgstattuple): the length of the list was not measured"
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each search of a GIN index that reads more than its rows' entries."""
    findings = [
        _finding(case, scan, table, index, most)
        for scan in timed_nodes(case)
        if (found := _index(case, scan)) is not None
        for table, index in [found]
        if (most := _entry_bytes(case, scan, table, index)) is not None and _read_bytes(scan) > most
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _index(case: Case, scan: Timed) -> tuple[str, Index] | None:
    """Return the table and the index of a search, if new rows of such an index may be pending."""
    node = scan.node
    if node.operator not in SCANS or node.index is None:
        return None
    schemas = {part.schema for part in (node, *scan.above[-1:]) if part.schema is not None}
    for table, indexes in (case.indexes or {}).items():
        for index in indexes:
            is_here = not schemas or index.schema in (None, *schemas)
            if index.name == node.index and index.method == PENDING and is_here:
                return table, index
    return None


def _read_bytes(scan: Timed) -> float:
    return (scan.node.cached_bytes or 0) + (scan.node.read_bytes or 0)


def _entry_bytes(case: Case, scan: Timed, table: str, index: Index) -> float | None:
    """Return the most bytes that the entries of a search can have; None if they are not bounded."""
    facts = case.tables.get(table) or case.tables.get(f"{index.schema}.{table}")
    keys = _keys(scan.node.condition or "")
    rows = None if facts is None else max(facts.rows or 0.0, facts.estimated_rows or 0.0)
    if facts is None or not rows or not keys:
        return None
    every = rows + (facts.dead_rows or 0.0)
    return (scan.node.loops or 1) * keys * (ENTRY_BYTES_MAX * every + PATH_BYTES)


def _keys(condition: str) -> int:
    """Return the most keys of the index that a condition names; 0 if there is no limit."""
    if UNBOUNDED.search(condition):
        return 0
    strings = [text for text, kind in STRING.findall(condition) if kind != DICTIONARY]
    if OF_CHARACTERS.search(STRING.sub("", condition)):
        return sum(len(text) for text in strings)
    return sum(len(WORD.findall(text)) for text in strings)


def _rows_text(rows: float | None) -> str:
    return "1 row" if rows == 1 else f"{count_text(rows)} rows"


def _finding(case: Case, scan: Timed, table: str, index: Index, most: float) -> Finding:
    node, operation = scan.node, scan.operation
    fractions = fraction_of([scan])
    effect, read = case.of_run(fractions), _read_bytes(scan)
    claim = (
        f"{operation} reads {bytes_text(read)} of the GIN index {index.name} to find "
        f"{_rows_text(node.rows)}, but the entries of its words have at most "
        f"{bytes_text(most)}: each search reads the list of rows that were inserted since the last "
        f"vacuum. The search took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{node.native} by {index.name} reads {bytes_text(read)}", f"plan:{operation}"),
        Evidence(f"{index.name} of {table} is a GIN index", f"catalogue:{table}"),
    ]
    to_try, advice = f"vacuum {table}", None
    instead = (
        f"`select gin_clean_pending_list('{index.name}')` empties the list, and a smaller "
        "gin_pending_list_limit or `fastupdate = off` of the index keeps it short"
    )
    above = next((part for part in reversed(scan.above) if part.object == table), None)
    if case.can("vacuum") and above is not None:
        advice = table_advice("vacuum", table, above, effect)
        does = f"vacuums {table}{case.beside('vacuum')}"
        to_try = case.try_words(METHOD, fractions, does)
    to_try = f"{instead}; {to_try}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
