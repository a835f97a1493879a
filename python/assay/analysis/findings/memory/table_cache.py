"""Finds a cache of open tables that is too small, so statements open their tables again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import power_of_two
from assay.analysis.operations import is_measured
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding

METHOD = "table-cache"
ROLE = "table_cache"
HITS, MISSES, OVERFLOWS = "table_cache_hits", "table_cache_misses", "table_cache_overflows"
# State of a session that takes a table from the cache or opens it, in lower case.
OPENING = "opening tables"
# A cache with a smaller share of misses is large enough.
MISSED_SHARE_MIN = 0.05
# If fewer misses closed another table, tables were opened for the first time, not again.
EVICTED_SHARE_MIN = 0.5
EFFECT_MIN = 0.05
# Fewer samples of sessions do not show how long they opened tables.
SAMPLES_MIN = 30
# Room for tables that a session keeps open beside those of its statement.
ROOM = 2


def find(case: Case) -> list[Finding]:
    """Return a finding of the time in which sessions opened tables that the cache had closed."""
    hits, misses = case.total(HITS), case.total(MISSES)
    overflows = case.total(OVERFLOWS)
    if hits is None or not misses or overflows is None:
        return []
    missed = misses / (hits + misses)
    if missed < MISSED_SHARE_MIN or overflows < EVICTED_SHARE_MIN * misses:
        return []
    samples = sum(case.session_states.values())
    opening = case.session_states.get(OPENING, 0)
    if samples < SAMPLES_MIN or opening < EFFECT_MIN * samples:
        return []
    share, setting = opening / samples, case.setting(ROLE)
    fractions = dict.fromkeys(case.shares, share)
    beside = f" with {setting.text}" if setting is not None else ""
    claim = (
        f"The cache of open tables missed {percent_text(missed)} of its requests{beside}, so "
        f"{count_text(misses)} tables were opened again; sessions opened tables "
        f"{percent_text(share)} of the time"
    )
    evidence = [
        Evidence(
            f"{count_text(overflows)} open tables were closed for others", f"counter:{OVERFLOWS}"
        ),
        Evidence(f"{opening} of {samples} samples of sessions opened tables", "session:load"),
    ]
    to_try = "use a larger cache of open tables"
    advice = _advice(case, setting, hits + misses)
    if setting is not None:
        evidence.append(Evidence(setting.text, f"setting:{setting.name}"))
        to_try = f"use a larger {setting.name}"
    if setting is not None and advice is not None:
        does = f"sets {setting.name} to {advice.values['value']}"
        to_try = case.try_words(METHOD, fractions, does)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    ).without_interval()
    return [replace(finding, saved=(0.0, finding.effect_share))]


def _advice(case: Case, setting: Setting | None, requests: float) -> Advice | None:
    """Return the advice of a cache for the tables of all sessions' executions at once."""
    measured = case.executions.filter(is_measured(case.executions)).height
    if setting is None or not measured or not (setting.value or "").isdecimal():
        return None
    sessions = case.request.get("clients") or 1
    value = power_of_two(max(1.0, ROOM * sessions * requests / measured), None)
    now = int(setting.value or 0)
    return Advice("setting", ROLE, {"value": str(max(value, ROOM * now))})
