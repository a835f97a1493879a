"""Finds an engine cache so small that pages are read again from the operating system's cache."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.engine_facts import known_table
from assay.analysis.findings.memory.cache import (
    HITS,
    MISSED_BYTES,
    MISSES,
    measured_thread_seconds,
    missed_share,
    storage_bytes,
)
from assay.analysis.findings.memory.unordered_keys import INSTEAD, unordered_keys
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.shape.work_time import work_fractions
from assay.analysis.time.operation_tree import COMPUTING, KERNEL
from assay.analysis.time.plan_share import with_cpu_waits
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding

METHOD = "small-cache"
ROLE = "cache"
# Counter of the seconds that the engine waited for page reads.
READ_SECONDS = "block_read_seconds"
# Counters of other bytes that the kernel copied.
SPILLED, COPIED = "temporary_bytes", ("wal_bytes", "sent_bytes")
BY_KERNEL = "in the kernel"
KERNEL_READS = ("kernel I/O",)
# A plain read finds a page in the kernel's cache within this time, and copies it at this rate or
# faster. Reads through other threads or queues take longer.
FOUND_S, COPIED_PER_S = 0.5e-6, 2e9
NOT_ALL_READS = (
    "measure with a larger cache: the kernel worked for longer than copies of the missed pages "
    "take, and the engine reads {} without its cache"
)
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
    """Return a finding of the time spent reading pages that a larger cache would have held."""
    missed, stored = missed_share(case), storage_bytes(case)
    missed_bytes = case.total(MISSED_BYTES)
    if missed is None or missed < MISSED_SHARE_MIN or not missed_bytes:
        return []
    if stored is not None and stored > STORAGE_SHARE_MAX * missed_bytes:
        return []
    fractions, effect, how = _reading(case)
    setting, settle = case.setting(ROLE), None
    is_kernel = how.endswith(BY_KERNEL)
    # A busy host's waits for a CPU are no reading, but a part of them may end with it.
    largest = _with_waits(case) if is_kernel else effect
    if is_kernel and setting is not None and setting.passed_by is not None:
        most = _reads_of_kernel(case)
        fractions, effect, largest = scaled(fractions, most), effect * most, largest * most
        settle = NOT_ALL_READS.format(setting.passed_by) if most < 1 else None
    least = KERNEL_EFFECT_MIN if is_kernel else EFFECT_MIN
    if largest < least or _holds_it(setting, missed_bytes):
        return []
    beside = f" with {setting.text}" if setting is not None else ""
    claim = (
        f"The engine's cache missed {percent_text(missed)} of its page requests{beside}; "
        f"reading {bytes_text(missed_bytes)} from the page cache took {percent_text(effect)} of "
        "the time"
    )
    evidence = [Evidence(how, "profile" if fractions else f"counter:{READ_SECONDS}")]
    evidence.append(Evidence(f"{percent_text(1 - missed)} were found", f"counter:{HITS}"))
    if setting is not None and setting.value is not None:
        evidence.append(Evidence(f"{setting.text}", f"setting:{setting.name}"))
    advice = larger_cache(case, effect)
    to_try = "use a larger buffer pool"
    if setting is not None and advice is not None:
        larger = bytes_text(int(advice.values["value"]))
        to_try = case.try_words(METHOD, fractions, f"sets {setting.name} to {larger}")
    keys = unordered_keys(case)
    if keys is not None:
        claim, to_try = f"{claim}; {keys}", f"{INSTEAD}; {to_try}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    saved = (effect, largest) if largest > effect else None
    return [replace(finding, effect_share=effect, settle=settle).of("computing", saved=saved)]


def larger_cache(case: Case, effect: float) -> Advice | None:
    """Return the advice to enlarge the cache to the size of the data; None if it is not settable.

    Args:
        case: The run.
        effect: Share of the run's time that a larger cache saves.
    """
    setting, missed_bytes = case.setting(ROLE), case.total(MISSED_BYTES)
    if setting is None or not missed_bytes:
        return None
    return _advice(case, setting, _needed_bytes(case, setting, missed_bytes), effect)


def _reads_of_kernel(case: Case) -> float:
    """Return the largest share of the kernel's CPU time that copies of missed pages can take.

    The share is 1 if the kernel's time is not known.
    """
    kernel_s = measured_thread_seconds(case) * case.of_run(case.part("cpu_system"))
    missed_bytes = case.total(MISSED_BYTES) or 0.0
    most_s = (case.total(MISSES) or 0.0) * FOUND_S + missed_bytes / COPIED_PER_S
    return min(1.0, most_s / kernel_s) if kernel_s > 0 else 1.0


def _holds_it(setting: Setting | None, missed_bytes: float) -> bool:
    """Return True if all missed pages fit into the cache, so each was read for the first time."""
    return setting is not None and setting.bytes is not None and missed_bytes < setting.bytes


def _reading(case: Case) -> tuple[dict[str, float], float, str]:
    """Return the time for reading pages by operation and in total, and the evidence for it."""
    # The engine's clock covers all sessions and workers together.
    waited_s, whole_s = case.total(READ_SECONDS), measured_thread_seconds(case)
    if waited_s and whole_s > 0:
        share = min(1.0, waited_s / whole_s)
        return (
            {},
            share,
            (f"reads took {percent_text(share)} of the time according to the engine's own timing"),
        )
    fractions = work_fractions(case, KERNEL_READS)
    effect = case.of_run(fractions)
    if fractions:
        return (
            fractions,
            effect,
            f"kernel I/O was {percent_text(effect)} of the time according to CPU samples",
        )
    part = _part_of_copies(case)
    kernel = f"{COMPUTING}/{KERNEL}"
    fractions = {name: part * tree.share_of(kernel) for name, tree in case.trees.items()}
    effect = case.of_run(fractions)
    sentence = f"{percent_text(effect)} of the time was {BY_KERNEL}"
    return fractions, effect, sentence


def _with_waits(case: Case) -> float:
    """Return the share of copies by the kernel with their portion of the waits for a CPU."""
    part = _part_of_copies(case)
    return case.of_run(
        {name: part * with_cpu_waits(tree, KERNEL) for name, tree in case.trees.items()}
    )


def _part_of_copies(case: Case) -> float:
    """Return the missed pages' share of all bytes that the kernel is known to have copied.

    Temporary files are written and read.
    """
    missed = case.total(MISSED_BYTES) or 0.0
    others = 2 * (case.total(SPILLED) or 0.0) + sum(case.total(name) or 0.0 for name in COPIED)
    return missed / (missed + others) if missed else 0.0


def _needed_bytes(case: Case, setting: Setting, missed_bytes: float) -> float:
    """Return the needed cache size in bytes: the tables, else all data, else a sum."""
    sizes = _table_bytes(case)
    if sizes:
        return max(sum(sizes), OF_LARGEST_TABLE * max(sizes))
    if case.data_bytes is not None:
        return ROOM * case.data_bytes
    return (setting.bytes or 0) + missed_bytes


def _table_bytes(case: Case) -> list[float]:
    """Return the sizes in bytes of the tables that the cache has to hold."""
    nodes = [node for plans in case.plans.values() for plan in plans for node in plan.root.walk()]
    read = {known_table(case.tables, node) for node in nodes}
    return [
        facts.bytes
        for name, facts in case.tables.items()
        if facts.bytes and ("." not in name or name in read)
    ]


def _advice(case: Case, setting: Setting, needed_bytes: float, effect: float) -> Advice | None:
    """Return the advice to enlarge the cache to the needed size, within the host's memory."""
    host = case.memory_bytes
    allowed = needed_bytes if host is None else HOST_SHARE_MAX * host
    value = max(1, math.ceil(min(needed_bytes, allowed) / STEP_BYTES)) * STEP_BYTES
    if setting.bytes is not None and value <= setting.bytes:
        return None
    return Advice("setting", ROLE, {"value": str(value)}, effect)
