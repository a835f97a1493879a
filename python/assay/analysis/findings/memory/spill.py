"""Finds operators that exceeded their memory and wrote temporary files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import power_of_two, waited_for_disk
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.estimates import HOLDERS
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, reach_of, timed_nodes
from assay.analysis.time.plan_share import DISK
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "spill"
ROLE = "work_memory"
# Counter of bytes written to temporary files.
SPILLED = "temporary_bytes"
# Fewer bytes are written and read back within a millisecond.
SPILLED_BYTES_MIN = 1 << 20
# Operators with a smaller share of the run's time do not justify a change of memory.
EFFECT_MIN = 0.01
NAMED_OPERATIONS = 3
# Rows in memory have headers and pointers that rows in a temporary file do not have.
IN_MEMORY_FACTOR = 4
# Each operator of each session may use this memory, so one may have only this share of the host's.
HOST_SHARE_MAX = 1 / 8
# Spilled data are written and read back. Both are copies by the kernel at about this rate if the
# page cache holds the file. Waits for a slower disk are counted separately.
COPIED_BYTES_PER_S = 1e9
# A hash that spilled so many times its memory is read and written in many batches.
HASHES, BATCHES_MIN = ("hash build", "hash join"), 8
IN_MEMORY = (
    "measure the same operations with more memory: they hardly waited for the disk, and sorting or "
    "hashing the rows in memory takes time, too"
)


def find(case: Case) -> list[Finding]:
    """Return a finding of all operators that spilled to temporary files."""
    spilled = [
        timed for timed in timed_nodes(case) if timed.fraction is not None and _may_spill(timed)
    ]
    if not _wrote(spilled):
        return _counter_findings(case)
    spilled = [timed for timed in spilled if not _is_slight(case, timed)]
    wrote = _wrote(spilled)
    if not wrote:
        return []
    spilled = [timed for timed in spilled if timed.operation in wrote]
    fractions = fraction_of(spilled)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    setting = case.setting(ROLE)
    advice = _advice(case, setting, spilled, wrote) if setting else None
    operators = names_text(sorted({timed.node.operator for timed in spilled}))
    claim = (
        f"{_spilled_text(wrote, names)}{_beside(setting)}; {operators} that spilled took "
        f"{percent_text(effect)} of the time"
    )
    evidence = (
        *_plan_evidence(spilled, names),
        *_counter_evidence(case),
        *_setting_evidence(setting),
    )
    to_try = _to_try(case, setting, advice, fractions)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    is_sure = waited_for_disk(case, wrote) or any(
        _has_many_batches(setting, timed) for timed in spilled
    )
    finding = replace(finding.without_interval(), settle=None if is_sure else IN_MEMORY)
    return [finding.of("computing", saved=(0.0, case.of_run(reach_of(spilled))))]


def _may_spill(timed: Timed) -> bool:
    """Return True if a plan operator spilled, or may have if only the plan's total is known."""
    if timed.node.spilled_bytes is None and not _has_spills_by_node(timed.plan):
        return timed.node.operator in HOLDERS and bool(timed.plan.spilled_bytes)
    return _spilled_bytes(timed) >= SPILLED_BYTES_MIN


def _is_slight(case: Case, timed: Timed) -> bool:
    """Return True if an operator spilled less than its memory and did not wait for a disk.

    Then the spill costs one pass over the written data, which is a copy by the kernel. The operator
    needs the same time for its work on rows in memory.
    """
    setting = case.setting(ROLE)
    if setting is None or not setting.is_of_each or setting.bytes is None:
        return False
    waits = case.part(*DISK).get(timed.operation, 0.0) >= EFFECT_MIN
    return not waits and 0 < _spilled_bytes(timed) <= setting.bytes


def _has_many_batches(setting: Setting | None, timed: Timed) -> bool:
    """Return True if a hash spilled many times its memory, in as many small batches.

    A sort merges many small pieces about as fast as few large ones.
    """
    if setting is None or not setting.is_of_each or not setting.bytes:
        return False
    return timed.node.operator in HASHES and _spilled_bytes(timed) >= BATCHES_MIN * setting.bytes


def _has_spills_by_node(plan: Plan) -> bool:
    return any(node.spilled_bytes for node in plan.root.walk())


def _spilled_bytes(timed: Timed) -> int:
    return timed.node.spilled_bytes or 0


def _wrote(spilled: Sequence[Timed]) -> dict[str, float]:
    """Return the bytes that each operation spilled, without negligible amounts."""
    wrote: dict[str, float] = {}
    for timed in spilled:
        wrote[timed.operation] = wrote.get(timed.operation, 0.0) + _spilled_bytes(timed)
    for plan in {id(timed.plan): timed.plan for timed in spilled}.values():
        if not _has_spills_by_node(plan):
            wrote[plan.operation] += plan.spilled_bytes or 0
    return {name: written for name, written in wrote.items() if written >= SPILLED_BYTES_MIN}


def _counter_findings(case: Case) -> list[Finding]:
    """Return the finding of spilled bytes by the engine's counters, if no plan reports them."""
    figure = case.figure(SPILLED)
    shares = case.shares
    wrote = {
        name: written
        for name, written in (figure or {"operations": {}})["operations"].items()
        if written >= SPILLED_BYTES_MIN and name in shares
    }
    if not wrote or figure is None:
        return []
    names = tuple(sorted(wrote, key=lambda name: -wrote[name]))
    whole = dict.fromkeys(names, 1.0)
    copied = _copied(case, wrote, whole)
    if case.of_run(copied) < EFFECT_MIN:
        return []
    setting = case.setting(ROLE)
    claim = (
        f"{_spilled_text(wrote, names)}{_beside(setting)}, by the engine's own count; to write and "
        f"read this takes about {percent_text(case.of_run(copied))} of the time"
    )
    evidence = (*_counter_evidence(case), *_setting_evidence(setting))
    finding = case.finding(METHOD, claim, copied, to_try=figure["to_try"], evidence=evidence)
    finding = replace(
        finding.without_interval(), settle=None if waited_for_disk(case, wrote) else IN_MEMORY
    )
    return [finding.of("computing", saved=(0.0, case.of_run(whole)))]


def _copied(case: Case, wrote: Mapping[str, float], most: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each operation's time in which spilled data are written and read.

    This is the larger one of the kernel's copies and the waits for the disk, at most `most`.
    """
    waited, seconds = case.part(*DISK), case.seconds
    copied = {}
    for name, written in wrote.items():
        share = 2 * written / COPIED_BYTES_PER_S / seconds[name] if seconds.get(name) else 0.0
        copied[name] = min(most[name], max(share, waited.get(name, 0.0)))
    return copied


def _spilled_text(wrote: Mapping[str, float], names: Sequence[str]) -> str:
    """Return text with the operations that spilled and their number of bytes."""
    first, *others = [(name, bytes_text(wrote[name])) for name in names[:NAMED_OPERATIONS]]
    sentence = f"{first[0]} spilled {first[1]} to temporary files"
    sentence += "".join(f", {name} {written}" for name, written in others)
    left = len(names) - NAMED_OPERATIONS
    return sentence + (f", and {left} more operations spilled" if left > 0 else "")


def _beside(setting: Setting | None) -> str:
    return f" with {setting.text}" if setting and setting.value is not None else ""


def _advice(
    case: Case, setting: Setting, spilled: Sequence[Timed], wrote: Mapping[str, float]
) -> Advice | None:
    """Return the advice of the memory that the largest spilling operator needs."""
    sizes = [_spilled_bytes(timed) for timed in spilled if _spilled_bytes(timed)]
    needed = (setting.bytes or 0) + IN_MEMORY_FACTOR * int(max(sizes or wrote.values()))
    most = None if case.memory_bytes is None else case.memory_bytes * HOST_SHARE_MAX
    value = power_of_two(needed, most)
    if setting.bytes is not None and value <= setting.bytes:
        return None
    saved = _copied(case, wrote, fraction_of(spilled))
    return Advice("setting", ROLE, {"value": str(value)}, case.of_run(saved))


def _to_try(
    case: Case, setting: Setting | None, advice: Advice | None, fractions: Mapping[str, float]
) -> str | None:
    if setting is None or advice is None:
        figure = case.figure(SPILLED)
        return None if figure is None else figure["to_try"]
    larger = bytes_text(int(advice.values["value"]))
    return case.try_words(METHOD, fractions, f"sets {setting.name} to {larger}")


def _plan_evidence(spilled: Sequence[Timed], names: Sequence[str]) -> list[Evidence]:
    most = sorted(spilled, key=lambda timed: (names.index(timed.operation), -_spilled_bytes(timed)))
    return [
        Evidence(
            f"{timed.node.native} of {timed.operation} {_wrote_words(timed)} and took"
            f" {percent_text(timed.fraction)} of its time",
            f"plan:{timed.operation}",
        )
        for timed in most[:NAMED_OPERATIONS]
    ]


def _wrote_words(timed: Timed) -> str:
    if timed.node.spilled_bytes is None:
        return "may have spilled"
    return f"wrote {bytes_text(timed.node.spilled_bytes)}"


def _counter_evidence(case: Case) -> list[Evidence]:
    total = case.total(SPILLED)
    if not total:
        return []
    return [
        Evidence(
            f"{bytes_text(total)} of temporary files according to the engine's counter",
            f"counter:{SPILLED}",
        )
    ]


def _setting_evidence(setting: Setting | None) -> list[Evidence]:
    if setting is None or setting.value is None:
        return []
    limits = f" limits {setting.limits}" if setting.limits else ""
    return [Evidence(f"{setting.text}{limits}", f"setting:{setting.name}")]
