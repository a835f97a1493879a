"""Finds repeated reads of data because a memory limit keeps only some of it in the page cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import evicts, saved_by_cache, unnamed_reads
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Advice, Evidence
from assay.model.limit import MEMORY
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "memory-limit"
EFFECT_MIN = 0.05


def find(case: Case) -> list[Finding]:
    """Return a finding of the time spent reading data that the memory limit had evicted."""
    limit = case.memory_limit
    if limit is None or not evicts(case):
        return []
    parts = ("disk_read", *unnamed_reads(case))
    case = case.with_measured(*parts)
    fractions = waited(case, *parts)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    size, saved = bytes_text(limit.asked), saved_by_cache(case, fractions)
    claim = (
        f"The memory limit of {size} (--limit memory) keeps data from staying in memory: it was"
        f" met {count_text(limit.felt)} times, and waiting for reads from storage took"
        f" {percent_text(effect)} of the time{and_more(effect, saved)}"
    )
    evidence = waiting_evidence(case, fractions, ("disk_read", "disk"))
    sentence = f"the engine needed more memory than the limit {count_text(limit.felt)} times"
    evidence.append(Evidence(sentence, "timeline"))
    evidence.append(Evidence(f"the run had --limit memory={size}", f"setting:{MEMORY}"))
    if case.data_bytes is not None:
        evidence.append(Evidence(f"{bytes_text(case.data_bytes)} of data", "timeline"))
    to_try = case.try_words(METHOD, fractions, "runs without the limit")
    advice = Advice("limit", MEMORY, {}, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return [finding.of("waiting" if "disk" in parts else "waiting/disk_read", saved)]


def and_more(effect: float, saved: tuple[float, float]) -> str:
    """Return text on the work beside the waiting that data in memory would save; else empty."""
    beside = saved[1] - effect
    if beside < EFFECT_MIN:
        return ""
    return (
        f"; the kernel's work for these reads, and waits for a CPU after them, took at most "
        f"{percent_text(beside)} more"
    )
