"""Finds waits for latches and pages of an engine's cache that is too small for its data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import HITS, missed_share
from assay.analysis.findings.memory.small_cache import MISSED_SHARE_MIN, ROLE, larger_cache
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "page-waits"
LATCH = "latch"
EFFECT_MIN = 0.05
# Counter of the waits for a free page; an engine with it reports latches apart from locks.
FREE_WAITS = "free_page_waits"
SETTLE = "measure with a larger cache: the threads may wait for latches that protect other things"


def find(case: Case) -> list[Finding]:
    """Return a finding of the time that threads waited for latches and pages of a small cache."""
    case = case.with_measured(LATCH)
    if not waits_for_pages(case):
        return []
    fractions, missed = waited(case, LATCH), missed_share(case)
    if missed is None:
        return []
    setting = case.setting(ROLE)
    beside = f" with {setting.text}" if setting is not None else ""
    claim = (
        f"{percent_text(case.of_run(fractions))} of the time was spent waiting for latches of the "
        "engine's cache, for free pages, or for pages that other threads read or write, while the "
        f"cache missed {percent_text(missed)} of its page requests{beside}"
    )
    evidence = waiting_evidence(case, fractions, (LATCH,))
    evidence.append(Evidence(f"{percent_text(1 - missed)} were found", f"counter:{HITS}"))
    free = case.total(FREE_WAITS)
    if free:
        evidence.append(
            Evidence(f"{count_text(free)} waits for a free page", f"counter:{FREE_WAITS}")
        )
    advice = larger_cache(case, case.of_run(fractions))
    to_try = "use a larger buffer pool"
    if setting is not None and advice is not None:
        larger = bytes_text(int(advice.values["value"]))
        to_try = case.try_words(METHOD, fractions, f"sets {setting.name} to {larger}")
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    ).of(f"waiting/{LATCH}", saved=(0.0, case.of_run(fractions)))
    return [replace(finding, settle=SETTLE)]


def waits_for_pages(case: Case) -> bool:
    """Return True if latch waits are relevant and the engine's cache misses many requests.

    False for an engine that does not count waits for free pages.
    """
    missed = missed_share(case)
    if case.total(FREE_WAITS) is None or missed is None or missed < MISSED_SHARE_MIN:
        return False
    return case.of_run(waited(case, LATCH)) >= EFFECT_MIN
