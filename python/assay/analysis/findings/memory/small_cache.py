"""An engine's own cache that is too small, so that pages are read again from the system's cache."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table
from assay.analysis.findings.memory.cache import (
    HITS,
    MISSED_BYTES,
    measured_thread_seconds,
    missed_share,
    storage_bytes,
)
from assay.analysis.findings.shape.work_time import work_fractions
from assay.analysis.time.operation_tree import COMPUTING, EXECUTING, KERNEL, PLANNING
from assay.model.finding import Advice, Evidence, Finding
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.analysis.time.tree import TimeNode

METHOD = "small-cache"
ROLE = "cache"
# Counter of the seconds that the engine waited for page reads.
READ_SECONDS = "block_read_seconds"
BY_KERNEL = "the kernel's, with its wait for a CPU"
KERNEL_READS = ("kernel I/O",)
# A cache with a smaller share of misses is large enough.
MISSED_SHARE_MIN = 0.05
# If storage delivers more than this share of the missed pages, the host's memory is too small.
STORAGE_SHARE_MAX = 0.1
EFFECT_MIN = 0.03
# Minimum effect if neither the engine's clock nor samples separate reads from other kernel work.
KERNEL_EFFECT_MIN = 0.1
# Operators, sessions and the system's own cache need the rest of the host's memory.
HOST_SHARE_MAX = 0.4
# An engine that scans a table in full keeps at most a quarter of the cache for it.
OF_LARGEST_TABLE = 4
STEP_BYTES = 1 << 20
# Factor for what a cache needs in addition to the data.
ROOM = 1.1


def find(case: Case) -> list[Finding]:
    """Return the time spent reading pages that a larger cache would have held."""
    missed, stored = missed_share(case), storage_bytes(case)
    missed_bytes = case.total(MISSED_BYTES)
    if missed is None or missed < MISSED_SHARE_MIN or not missed_bytes:
        return []
    if stored is not None and stored > STORAGE_SHARE_MAX * missed_bytes:
        return []
    fractions, effect, how = _reading(case)
    setting = case.setting(ROLE)
    least = KERNEL_EFFECT_MIN if how.endswith(BY_KERNEL) else EFFECT_MIN
    if effect < least or _holds_it(setting, missed_bytes):
        return []
    beside = f" beside {setting.text}" if setting is not None else ""
    claim = (
        f"The engine's cache had not {percent_text(missed)} of what was asked of it{beside};"
        f" reading {bytes_text(missed_bytes)} that the system had in memory took"
        f" {percent_text(effect)} of the time"
    )
    evidence = [Evidence(how, "profile" if fractions else f"counter:{READ_SECONDS}")]
    evidence.append(Evidence(f"{percent_text(1 - missed)} were found", f"counter:{HITS}"))
    if setting is not None and setting.value is not None:
        evidence.append(Evidence(f"{setting.text}", f"setting:{setting.name}"))
    advice = None
    if setting is not None:
        advice = _advice(case, setting, _needed_bytes(case, setting, missed_bytes), effect)
    to_try = "a larger cache of the engine's own"
    if setting is not None and advice is not None:
        larger = bytes_text(int(advice.values["value"]))
        to_try = case.try_words(METHOD, fractions, f"sets {setting.name} to {larger}")
    finding = Finding(
        claim=claim,
        effect_share=effect,
        interval=case.interval(fractions),
        runs=(case.run_id,),
        method=METHOD,
        to_try=to_try,
        operations=case.largest_first(fractions),
        fractions={name: fractions[name] for name in case.largest_first(fractions)},
        evidence=tuple(evidence),
        advice=advice,
        part="computing",
    )
    return [finding]


def _holds_it(setting: Setting | None, missed_bytes: float) -> bool:
    """Return True if all missed pages fit into the cache: each was read for the first time."""
    return setting is not None and setting.bytes is not None and missed_bytes < setting.bytes


def _reading(case: Case) -> tuple[dict[str, float], float, str]:
    """Return the time for reading pages by operation and in total, and the evidence for it."""
    # The engine's clock covers all sessions and workers together.
    waited_s, whole_s = case.total(READ_SECONDS), measured_thread_seconds(case)
    if waited_s and whole_s > 0:
        share = min(1.0, waited_s / whole_s)
        return {}, share, f"reads took {percent_text(share)} of the time by the engine's clock"
    fractions = work_fractions(case, KERNEL_READS)
    effect = case.of_run(fractions)
    if fractions:
        return (
            fractions,
            effect,
            f"kernel I/O was {percent_text(effect)} of the time by CPU samples",
        )
    fractions = {name: _copying(tree) for name, tree in case.trees.items()}
    effect = case.of_run(fractions)
    sentence = f"{percent_text(effect)} of the time was {BY_KERNEL}"
    return fractions, effect, sentence


def _copying(tree: TimeNode) -> float:
    """Return the share of time in the kernel, which copies read pages, with its waits for a CPU."""
    on_cpu = sum(tree.share_of(f"{COMPUTING}/{name}") for name in (EXECUTING, PLANNING, KERNEL))
    kernel = tree.share_of(f"{COMPUTING}/{KERNEL}")
    return kernel / on_cpu * tree.share_of(COMPUTING) if on_cpu else 0.0


def _needed_bytes(case: Case, setting: Setting, missed_bytes: float) -> float:
    """Return the needed cache size: for the tables, else all data, else the present plus misses."""
    sizes = _table_bytes(case)
    if sizes:
        return max(sum(sizes), OF_LARGEST_TABLE * max(sizes))
    if case.data_bytes is not None:
        return ROOM * case.data_bytes
    return (setting.bytes or 0) + missed_bytes


def _table_bytes(case: Case) -> list[float]:
    """Return the sizes of tables; those that need their schema only if a plan reads them."""
    nodes = [node for plans in case.plans.values() for plan in plans for node in plan.root.walk()]
    read = {known_table(case.tables, node) for node in nodes}
    return [
        facts.bytes
        for name, facts in case.tables.items()
        if facts.bytes and ("." not in name or name in read)
    ]


def _advice(case: Case, setting: Setting, needed_bytes: float, effect: float) -> Advice | None:
    """Return the advice for the needed cache size, within the host's memory; None if not larger."""
    host = case.memory_bytes
    allowed = needed_bytes if host is None else HOST_SHARE_MAX * host
    value = max(1, math.ceil(min(needed_bytes, allowed) / STEP_BYTES)) * STEP_BYTES
    if setting.bytes is not None and value <= setting.bytes:
        return None
    return Advice("setting", ROLE, {"value": str(value)}, effect)
