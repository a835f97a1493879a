"""Finds waits for the log, and throughput dips while a checkpoint is in progress."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.memory.cache import measured_thread_seconds
from assay.analysis.findings.waiting.waits import (
    LOCKS,
    LOG_BYTES,
    locks_wait_for_log,
    log_parts,
    waited,
    waiting_evidence,
)
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding, Tells

METHOD = "stalls"
# Every engine that commits has a smaller share of log waits.
LOG_MIN = 0.05
# A durable commit has to wait for the disk. Log waits are a cause worth a change of settings only
# from this share of the time on.
LOG_CAUSE_MIN = 0.1
# An interval with less than this share of the median interval's operations is a dip.
DIP_SHARE = 0.7
# Missing operations in dips as a share of all. A smaller share is noise of counting by second.
DIPS_MIN = 0.03
# With fewer intervals, dips are not searched.
INTERVALS_MIN = 10
# A checkpoint causes dips if it is under way in this share of dips, but not nearly always.
BLAMED_SHARE = 0.8
ALWAYS_SHARE = 0.6
LOG_SIZE = "log_size"
LOG_MODE = "log_mode"
# Settings that make commits wait: the mode of the log, and which logs are synced.
COMMIT_ROLES = (LOG_MODE, "commit_sync", "second_log_sync")
LARGER = 4

CHECKPOINT_FIGURE = "checkpoint_pages"
# Counter of the time of commits in checkpoints, and the share of log waits from which on they are
# most of these waits.
CHECKPOINT_S, CHECKPOINTS_SHARE_MIN = "checkpoint_seconds", 0.5
CHECKPOINTS_STAY = (
    "measure with relaxed durability: checkpoints took {} of the commits' time, and they write the "
    "same pages without syncs of commits"
)
WRITE_LESS = "change fewer pages per commit (fewer indexes, rows in the order of their keys)"


def find(case: Case) -> list[Finding]:
    """Return findings of log waits, and of a load's throughput dips during checkpoints."""
    return [*_log(case), *_checkpoints(case)]


def _log(case: Case) -> list[Finding]:
    parts, part = log_parts(case)
    case = case.with_measured(*parts)
    fractions = waited(case, *parts)
    effect = case.of_run(fractions)
    logged = case.total(LOG_BYTES)
    settings = _commit_settings(case)
    # If the engine does not count log writes, a setting that makes commits wait is the evidence.
    is_log_wait = any(setting.cheaper for setting in settings) if logged is None else logged > 0
    if effect < LOG_MIN or not is_log_wait:
        return []
    claim = f"{percent_text(effect)} of the time was waiting for writes and syncs"
    evidence = waiting_evidence(case, fractions, parts)
    if logged:
        claim += f", while {bytes_text(logged)} were written to the log"
        evidence.append(Evidence(f"{bytes_text(logged)} of log", f"counter:{LOG_BYTES}"))
    else:
        claim += f" of commits with {' and '.join(setting.text for setting in settings)}"
    to_try = "use a faster disk for the log, more operations per commit, or asynchronous commits"
    for setting in settings:
        sentence = f"{setting.text}: commits wait until the log is on the disk"
        evidence.append(Evidence(sentence, f"setting:{setting.name}"))
    if settings:
        to_try += f" ({', '.join(map(_change_words, settings))})"
    checkpoints_s = _checkpoint_seconds(case, effect) if logged is None else None
    settle = None
    if checkpoints_s is not None:
        settle = CHECKPOINTS_STAY.format(seconds_text(checkpoints_s))
        to_try = f"{WRITE_LESS}; otherwise {to_try}"
    # Another log mode costs less with the same safety; a sync is the price of durability.
    is_dear = any(setting.role == LOG_MODE for setting in settings)
    is_cause = is_dear or (effect >= LOG_CAUSE_MIN and _commits_wait(case, settings))
    tells: Tells = "cause" if is_cause else "shape"
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        tells=tells,
        to_try=to_try,
        evidence=evidence,
        advice=_cheaper(settings, effect),
    )
    # Sessions that wait for a lock of a session in its commit wait for the log, too.
    induced = case.of_run(case.part(*LOCKS)) if locks_wait_for_log(case) else 0.0
    finding = replace(finding, settle=settle)
    return [finding.of(part, saved=(0.0, min(1.0, effect + induced)))]


def _checkpoint_seconds(case: Case, effect: float) -> float | None:
    """Return the seconds of commits in checkpoints if these are most of the log waits; else None.

    The engine must count them. A checkpoint writes pages to the database's file.
    """
    checkpoints_s, waited_s = case.total(CHECKPOINT_S), effect * measured_thread_seconds(case)
    if not checkpoints_s or checkpoints_s < CHECKPOINTS_SHARE_MIN * waited_s:
        return None
    return checkpoints_s


def _commit_settings(case: Case) -> list[Setting]:
    """Return the settings that make commits wait for the log's write or flush."""
    settings = [case.setting(role) for role in COMMIT_ROLES]
    return [
        setting
        for setting in settings
        if setting is not None
        and setting.value is not None
        and setting.value.lower() not in (setting.cheaper, *setting.alike)
    ]


def _commits_wait(case: Case, settings: Sequence[Setting]) -> bool:
    """Return True if the engine's settings make commits wait for the disk."""
    has_settings = any(setting and setting.value for setting in map(case.setting, COMMIT_ROLES))
    return bool(settings) or not has_settings


def _cheaper(settings: Sequence[Setting], effect: float) -> Advice | None:
    """Return the advice that shortens commit waits, preferably without less durability."""
    for setting in settings:
        if setting.role == LOG_MODE and setting.cheaper is not None:
            return named_setting_advice(setting.name, setting.cheaper, effect)
    return Advice("durability", "relaxed", {}, effect) if settings else None


def _change_words(setting: Setting) -> str:
    if setting.cheaper is None:
        return setting.name
    but = f": {setting.but}" if setting.but else ""
    return f"{setting.name} = {setting.cheaper}{but}"


def _checkpoints(case: Case) -> list[Finding]:
    rates = () if case.load is None else case.load.pace.throughput_per_s
    usual = median(rates) if len(rates) >= INTERVALS_MIN else 0.0
    dips = {number for number, rate in enumerate(rates) if rate < DIP_SHARE * usual}
    missing = sum(usual - rates[number] for number in dips) / (usual * len(rates)) if usual else 0
    if case.load is None or missing < DIPS_MIN:
        return []
    under_way = _under_way(case, case.load.pace.interval_s, len(rates))
    if len(dips & under_way) < BLAMED_SHARE * len(dips):
        return []
    if len(under_way) > ALWAYS_SHARE * len(rates):
        return []
    return [_dips(case, dips, missing)]


def _dips(case: Case, dips: set[int], missing: float) -> Finding:
    setting = case.setting(LOG_SIZE)
    size = setting.bytes if setting is not None else None
    advice, to_try = None, "make checkpoints less frequent, or spread them over more time"
    if setting is not None and size:
        value = LARGER * size
        advice = Advice("setting", LOG_SIZE, {"value": str(value)}, missing * (1 - 1 / LARGER))
        does = f"sets {setting.name} to {bytes_text(value)}: checkpoints are then less frequent"
        to_try = case.try_words(METHOD, {}, does)
    evidence = [
        Evidence(f"throughput dipped {len(dips)} times while pages were written", "timeline")
    ]
    figure = case.total(CHECKPOINT_FIGURE)
    if figure:
        sentence = f"checkpoints wrote {count_text(figure)} pages"
        evidence.append(Evidence(sentence, f"counter:{CHECKPOINT_FIGURE}"))
    if setting is not None and setting.value is not None:
        evidence.append(Evidence(f"{setting.text}", f"setting:{setting.name}"))
    claim = (
        f"Checkpoints slow the load: throughput dipped {len(dips)} times during "
        f"checkpoints, which cost {percent_text(missing)} of the operations"
    )
    finding = case.finding(METHOD, claim, {}, to_try=to_try, evidence=evidence, advice=advice)
    return replace(finding, effect_share=missing)


def _under_way(case: Case, interval_s: float, intervals: int) -> set[int]:
    """Return the numbers of the load's intervals during which a checkpoint wrote pages."""
    all_series = (case.counters or {}).get("series", ())
    series = next((series for series in all_series if series["name"] == CHECKPOINT_FIGURE), None)
    if series is None or interval_s <= 0:
        return set()
    writing: set[int] = set()
    times: Sequence[float] = series["time_s"]
    for (begin_s, end_s), rate in zip(pairwise(times), series["values"][1:], strict=False):
        if rate:
            first, last = int(begin_s // interval_s), int(end_s // interval_s)
            writing |= set(range(max(0, first), min(intervals, last + 1)))
    return writing
