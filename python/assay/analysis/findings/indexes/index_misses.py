"""Finds the index with the most cache misses: pages read per row found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.index_work import read_index_work
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.counters.index_work import IndexWork
    from assay.analysis.findings.case import Case

METHOD = "index-misses"
# With fewer pages read, their distribution over indexes is due to chance.
PAGES_MIN = 1_000
# An index with a smaller share of the pages read is not named.
SHARE_MIN = 0.01
# A sequential scan of an index reads about one page for this many rows.
MISSED_MIN = 0.001
NAMED_INDEXES = 3


def find(case: Case) -> list[Finding]:
    """Return findings of the index with the most pages read per row, and in total."""
    work = read_index_work(case.counters)
    pages = sum(index.reads or 0.0 for index in work)
    if pages < PAGES_MIN:
        return []
    relevant = [index for index in work if (index.reads or 0.0) >= SHARE_MIN * pages]
    # An index with more pages read than rows found has rows that were not counted.
    missing = [
        index for index in relevant if index.missed is not None and MISSED_MIN <= index.missed <= 1
    ]
    if not missing:
        return []
    missing.sort(key=lambda index: (-(index.missed or 0.0), index.object))
    worst, most = missing[0], max(relevant, key=lambda index: index.reads or 0.0)
    share = (worst.reads or 0.0) / pages
    claim = (
        f"Index {worst.name} misses the cache most: {_hundred_rows_text(worst)} pages read per "
        f"100 rows found, {percent_text(share)} of all pages read"
    )
    if most is not worst:
        claim += f"; most pages belong to {most.name}, {percent_text((most.reads or 0.0) / pages)}"
    evidence = [
        Evidence(
            f"index {index.name}: {_hundred_rows_text(index)} pages read per 100 rows found",
            "counter:indexes",
        )
        for index in missing[:NAMED_INDEXES]
    ]
    buffer = "" if case.on_running_server else " (--buffer=...)"
    finding = Finding(
        claim=claim,
        effect_share=min(1.0, share),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=f"use a larger cache{buffer}: pages that fit into it are read once",
        tells="shape",
        evidence=tuple(evidence),
    )
    return [finding]


def _hundred_rows_text(index: IndexWork) -> str:
    return f"{100 * (index.missed or 0.0):.3g}"
