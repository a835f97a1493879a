"""Finds time in which garbage collection stopped all threads of a Java server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "garbage-collection"
EFFECT_MIN = 0.05
# Names of counters that the engine declares.
PAUSES, PAUSED, USED, SIZE = (
    "collections",
    "collecting_seconds",
    "heap_after_collection",
    "heap_size",
)
HEAP = "heap"
# A pause stops all threads, so its time is in the largest of these nodes.
PARTS = (
    "computing",
    "waiting/paused",
    "waiting/latch",
    "waiting/lock",
    "waiting/idle",
    "unexplained",
)
# With a large enough heap, at least this share of it is free after a collection.
FULL_SHARE = 0.5
LARGER = 4


def find(case: Case) -> list[Finding]:
    """Return a finding of the share of time in garbage collection pauses."""
    paused_s, pauses = case.total(PAUSED), case.total(PAUSES)
    window_s = case.accounts.window_s if case.accounts is not None else 0.0
    if not paused_s or not pauses or not window_s:
        return []
    share = min(1.0, paused_s / window_s)
    part = max(PARTS, key=lambda path: case.of_run(case.node(path)))
    fractions = {name: min(own, share) for name, own in case.node(part).items()}
    effect = case.of_run(fractions)
    return [_finding(case, part, fractions)] if effect >= EFFECT_MIN else []


def _finding(case: Case, part: str, fractions: dict[str, float]) -> Finding:
    effect, setting = case.of_run(fractions), case.setting(HEAP)
    pauses, paused_s = case.total(PAUSES), case.total(PAUSED)
    used, size = case.last(USED), case.last(SIZE)
    claim = (
        f"Garbage collection stopped the server {count_text(pauses)} times for "
        f"{seconds_text(paused_s)} in total, {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{seconds_text(paused_s)} in {count_text(pauses)} pauses", f"counter:{PAUSED}")
    ]
    heap = None if setting is None or setting.value is None else setting
    if used is not None and size is not None:
        in_use = (
            f"{bytes_text(used)} of {bytes_text(size)} of heap were in use after the last pause"
        )
        claim += f"; {in_use}"
        # A heap that stays full after collections is the reason for frequent collections.
        if heap is not None and used >= FULL_SHARE * size:
            evidence.append(Evidence(f"{heap.text}: {in_use}", f"setting:{heap.name}"))
    advice, to_try = None, "a larger heap"
    if heap is not None and heap.bytes:
        larger = LARGER * heap.bytes
        advice = Advice("setting", HEAP, {"value": str(larger)}, effect)
        to_try = case.try_words(METHOD, fractions, f"sets {heap.name} to {bytes_text(larger)}")
        claim += f", beside {heap.text}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.of(part, saved=(0.0, effect))
