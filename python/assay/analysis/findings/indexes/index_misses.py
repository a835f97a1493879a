"""Which index has to be read from outside the cache most: pages read on each row found in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.index_work import read_index_work
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.counters.index_work import IndexWork
    from assay.analysis.findings.case import Case

METHOD = "index-misses"
# Of fewer pages, which index they are of is chance.
PAGES_MIN = 1_000
# An index of fewer of the pages read than this is not named.
SHARE_MIN = 0.01
# One page on so many rows is what reading on in an index costs.
MISSED_MIN = 0.001
NAMED_INDEXES = 3


def find(case: Case) -> list[Finding]:
    """The index with most pages on its rows, of those that matter; and whose pages most are."""
    work = read_index_work(case.counters)
    pages = sum(one.reads or 0.0 for one in work)
    if pages < PAGES_MIN:
        return []
    known = [one for one in work if (one.reads or 0.0) >= SHARE_MIN * pages]
    # An index of which more pages than rows are told has rows that nobody counted.
    missing = [one for one in known if one.missed is not None and MISSED_MIN <= one.missed <= 1]
    if not missing:
        return []
    missing.sort(key=lambda one: (-(one.missed or 0.0), one.object))
    worst, most = missing[0], max(known, key=lambda one: one.reads or 0.0)
    share = (worst.reads or 0.0) / pages
    claim = (
        f"{worst.name} misses the cache most: {_hundred(worst)} pages read on 100 rows found,"
        f" {percent_text(share)} of all pages read"
    )
    if most is not worst:
        claim += f"; most pages were of {most.name}, {percent_text((most.reads or 0.0) / pages)}"
    evidence = [
        Evidence(f"{one.name}: {_hundred(one)} pages read on 100 rows found", "counter:indexes")
        for one in missing[:NAMED_INDEXES]
    ]
    found = Finding(
        claim=claim,
        effect_share=min(1.0, share),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try="a larger cache (--buffer=...): what fits it is read once",
        tells="shape",
        evidence=tuple(evidence),
    )
    return [found]


def _hundred(one: IndexWork) -> str:
    return f"{100 * (one.missed or 0.0):.3g}"
