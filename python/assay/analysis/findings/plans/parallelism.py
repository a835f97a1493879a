"""Finds operations that used fewer cores than were available."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.changing import CHANGES
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.optimiser import planning_share
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.finding import Advice, Evidence
from assay.model.sql import without_remarks
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.analysis.summary import OperationSummary
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "parallelism"
ROLE = "parallel_workers"
# An operation that uses at most this many cores counts as running on one core.
ONE_CORE = 1.2
# An operation that is mostly not on a CPU gains nothing from more cores.
ON_CPU_MIN = 0.5
# Starting workers takes milliseconds, so shorter operations gain nothing from workers.
SECONDS_MIN = 0.02
# With this value or less, the setting allows no worker, or one that is not used.
FEW_WORKERS = 1
EFFECT_MIN = 0.05
# A choice of the optimiser is reported if it concerns at least a quarter of the run.
CHOSEN_MIN = 0.25
NAMED_OPERATIONS = 3
_TEXTS = re.compile(r"'(?:[^']|'')*'")
ONE_PROCESS = (
    "measure the same operations with more workers: some engines execute a statement that changes "
    "rows in one thread, whatever the setting"
)


def find(case: Case) -> list[Finding]:
    """Return the cause of missing parallelism: workers not started, a setting, or the optimiser."""
    if case.load is not None or (case.engine_cores or 1) < 2:  # noqa: PLR2004 - one is all there is
        return []
    if ROLE in case.advice.get("without", {}):
        # The engine executes a statement in one thread, whatever is changed.
        return []
    short = _short_of_workers(case)
    if short:
        return short
    serial = [op for op in case.operations if _is_serial(op) and not _has_to_be(case, op.name)]
    if _setting_that_prevents(case) is None:
        # Other processes leave an engine that may use all cores only the rest of them.
        cores = _free_cores(case)
    else:
        cores = float(case.engine_cores or 1)
    idle = {
        op.name: (1 - min(1.0, max(1.0, _wanted(op)) / cores)) * (1 - _planning(case, op.name))
        for op in serial
    }
    effect = case.of_run(idle)
    return _on_one_core(case, idle, effect) if effect >= EFFECT_MIN else []


def _free_cores(case: Case) -> float:
    """Return the mean number of cores that other processes left to the engine, at least 1."""
    cores, used = float(case.engine_cores or 1), case.accounts
    if used is None or not used.knows_engine or not used.window_s:
        return cores
    return max(1.0, min(cores, used.cpus - used.background_s / used.window_s))


def _wanted(op: OperationSummary) -> float:
    """Return the mean number of cores that an operation's threads used or waited for."""
    on_cpu, queued = _on_cpu(op), op.where.get("run_queue") or 0.0
    return (op.parallelism or 1.0) * (1 + queued / on_cpu if on_cpu else 1.0)


def _on_cpu(op: OperationSummary) -> float:
    return (op.where.get("cpu_user") or 0.0) + (op.where.get("cpu_system") or 0.0)


def _planning(case: Case, operation: str) -> float:
    """Return the share of an operation's time in which it is planned, by one thread."""
    tree = case.trees.get(operation)
    return 0.0 if tree is None else planning_share(tree)


def _is_serial(op: OperationSummary) -> bool:
    if op.parallelism is None or op.seconds is None or op.seconds < SECONDS_MIN:
        return False
    return _wanted(op) <= ONE_CORE and _on_cpu(op) >= ON_CPU_MIN


def _has_to_be(case: Case, operation: str) -> bool:
    """Return True if the engine never executes an operation's longest statement in parallel."""
    pattern = case.advice.get("serial_statements")
    longest = max(case.plans.get(operation, ()), key=_seconds, default=None)
    text = (longest.text if longest is not None else None) or case.statements.get(operation, "")
    bare = _TEXTS.sub("''", without_remarks(text))
    return pattern is not None and re.search(pattern, bare, re.IGNORECASE) is not None


def _seconds(plan: Plan) -> float:
    return plan.execution_s or plan.seconds or 0.0


def _on_one_core(case: Case, idle: dict[str, float], effect: float) -> list[Finding]:
    names, setting = case.largest_first(idle), _setting_that_prevents(case)
    whole = case.of_run(dict.fromkeys(idle, 1.0))
    claim = (
        f"{names_text(names)} ran on one of {case.engine_cores} cores for {percent_text(whole)} "
        f"of the time; using all cores would save {percent_text(effect)} at best"
    )
    evidence = [
        Evidence(f"{op.name}: {op.parallelism:.2g} cores busy", f"where:{op.name}")
        for op in case.operations
        if op.name in names[:NAMED_OPERATIONS]
    ]
    if setting is not None:
        claim += f"; {setting.text} prevents parallel execution"
        evidence.append(Evidence(f"{setting.text}", f"setting:{setting.name}"))
        advice = Advice("setting", ROLE, {"value": str(case.engine_cores)}, effect)
        does = f"sets {setting.name} to {case.engine_cores}"
        to_try = case.try_words(METHOD, idle, does)
        finding = case.finding(METHOD, claim, idle, to_try=to_try, evidence=evidence, advice=advice)
        finding = replace(finding, settle=ONE_PROCESS if _changes(case, names) else None)
        return [finding.of("computing", saved=(0.0, effect))]
    if effect < CHOSEN_MIN:
        return []
    to_try = f"assay explain {case.run_id} --operation {names[0]}"
    return [case.finding(METHOD, claim, idle, tells="shape", to_try=to_try, evidence=evidence)]


def _setting_that_prevents(case: Case) -> Setting | None:
    """Return the engine's setting of workers if it allows none; None otherwise."""
    setting = case.setting(ROLE)
    value = None if setting is None else setting.value
    is_low = value is not None and value.isdigit() and int(value) <= FEW_WORKERS
    return setting if is_low else None


def _changes(case: Case, operations: Iterable[str]) -> bool:
    """Return True if one of the operations has a statement that changes rows."""
    return any(CHANGES.search(case.statements.get(name, "")) for name in operations)


def _short_of_workers(case: Case) -> list[Finding]:
    missing: dict[str, float] = {}
    evidence = []
    for timed in timed_nodes(case):
        planned, launched = timed.node.workers_planned, timed.node.workers_launched
        if planned is None or launched is None or launched >= planned:
            continue
        fraction = 1 - (launched + 1) / (planned + 1)
        missing[timed.operation] = max(fraction, missing.get(timed.operation, 0.0))
        sentence = (
            f"{timed.node.native} of {timed.operation} got {launched} of {planned} planned workers"
        )
        evidence.append(Evidence(sentence, f"plan:{timed.operation}"))
    effect = case.of_run(missing)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(missing)
    claim = (
        f"{names_text(names)} had fewer parallel workers than planned; all planned workers "
        f"would save {percent_text(effect)} of the time at best"
    )
    to_try = "allow more workers for the whole engine, or run fewer sessions that use workers"
    return [
        case.finding(METHOD, claim, missing, to_try=to_try, evidence=evidence).without_interval()
    ]
