"""Finds a pool of threads with too few groups, in which statements wait although a CPU is free.

Each group of such a pool executes one statement at a time; the statements of its other connections
wait in its queue. The engine's threads have no sessions then, so the time of this wait is not
measured; the witness is how many of its threads ran or waited for a CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.host.processes import cores_of, cpus_text
from assay.model.finding import Evidence
from assay.model.units import percent_text
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Finding

METHOD = "thread-pool"
ROLE = "pool_groups"
# Each group has one thread at work. With fewer of them the groups are not what statements wait for.
# The pool adds a thread to a group whose statement has not ended for long.
BUSY_MIN, BUSY_MAX = 0.85, 2.0
# If more of the clients have a thread at work, few of them wait for a group.
AT_WORK_MAX = 0.75
# A CPU limit that held the engine back for longer explains a low use, too.
THROTTLED_MAX = 0.05
EFFECT_MIN = 0.1
TO_SETTLE = "measure with more groups: the time in the queue of the pool was not measured"


def find(case: Case) -> list[Finding]:
    """Return a finding of a closed load whose clients queue for the groups of a thread pool."""
    setting, clients = case.setting(ROLE), _clients(case)
    groups = _count(setting)
    cores, used, busy = case.engine_cores, _used_cores(case), case.runnable_threads
    if setting is None or clients is None or not groups or not cores:
        return []
    if used is None or busy is None:
        return []
    if (case.throttled_share or 0.0) > THROTTLED_MAX:
        return []
    at_once = min(clients, cores)
    effect = 1 - groups / at_once
    is_full = BUSY_MIN * groups <= busy <= BUSY_MAX * groups and busy <= AT_WORK_MAX * clients
    if not is_full or effect < EFFECT_MIN:
        return []
    fractions = dict.fromkeys(case.shares, effect)
    claim = (
        f"{setting.text}: {clients} clients share a pool of threads that executes "
        f"{_statements(groups)} at a time, so the engine used {used:.2g} of {cpus_text(cores)} and "
        f"short statements wait for long ones; with {cores} groups, up to "
        f"{percent_text(effect)} of the time would be saved"
    )
    evidence = [
        Evidence(f"{clients} clients send statements without a pause", "timeline"),
        Evidence(
            f"{busy:.1f} threads of the engine ran or waited for a CPU on average", "timeline"
        ),
        Evidence(setting.text, f"setting:{setting.name}"),
    ]
    to_try = case.try_words(METHOD, fractions, f"sets {setting.name} to {cores}")
    advice = named_setting_advice(setting.name, str(cores), effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    ).without_interval()
    return [replace(finding, settle=TO_SETTLE, saved=(0.0, finding.effect_share))]


def _statements(groups: int) -> str:
    return "one statement" if groups == 1 else f"{groups} statements"


def _count(setting: Setting | None) -> int:
    """Return the number of a setting's value; 0 if it is not known."""
    value = "" if setting is None else setting.value or ""
    return int(value) if value.isdecimal() else 0


def _clients(case: Case) -> int | None:
    """Return the number of clients of a closed load without pauses; None for other runs."""
    load = None if case.load is None else case.load.load
    if load is None or load.rate_per_s is not None or case.request.get("think_time"):
        return None
    return load.clients


def _used_cores(case: Case) -> float | None:
    """Return the mean number of CPUs that the engine used; None if not measured."""
    if case.accounts is None:
        return None
    known = [cores_of(case.accounts, name) for name in ENGINE_ACCOUNTS]
    measured = [cores for cores in known if cores is not None]
    return sum(measured) if measured else None
