"""Finds whether an RDF store reads mainly literals or mainly statements from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.index_work import HOLDS, WORDS, read_index_work, share_of_reads
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "literals"
# With fewer pages read, their distribution over contents is due to chance.
PAGES_MIN = 1_000


def find(case: Case) -> list[Finding]:
    """Return a finding on whether the pages read hold mostly literals or statements."""
    work = read_index_work(case.counters)
    pages = sum(index.reads or 0.0 for index in work if index.holds is not None)
    if pages < PAGES_MIN:
        return []
    shares = {kind: share_of_reads(work, kind) or 0.0 for kind in HOLDS}
    first, *others = sorted(HOLDS, key=lambda kind: (-shares[kind], HOLDS.index(kind)))
    rest = " and ".join(f"{percent_text(shares[kind])} {WORDS[kind]}" for kind in others)
    claim = f"{percent_text(shares[first])} of the pages read hold {WORDS[first]}, {rest}"
    evidence = [
        Evidence(f"{index.name}: {percent_text((index.reads or 0.0) / pages)}", "counter:indexes")
        for index in work
        if index.holds == first and index.reads
    ]
    finding = Finding(
        claim=claim,
        effect_share=min(1.0, shares[first]),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        tells="shape",
        evidence=tuple(evidence),
    )
    return [finding]
