"""Finds maintenance that slows the load: vacuums, index builds and backups.

Maintenance is a cause of waits that its CPU time, or its reads and writes, can explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import at_least, names_text
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.time.plan_share import DISK_WAITS
from assay.model.finding import Evidence
from assay.model.other_work import SNAPSHOT
from assay.model.units import bytes_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.other_work import Worker

METHOD = "maintenance"
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
# Maintenance that uses less of a core does not slow the load.
CORES_MIN = 0.1
WORKERS_MAX = 3
STATEMENT_MAX = 100
QUEUE = "computing/queue"


@dataclass(frozen=True)
class Blamed:
    """A kind of wait, and the share of each operation's time that maintenance can have caused."""

    part: str
    fractions: Mapping[str, float]
    says: str


def find(case: Case) -> list[Finding]:
    """Return a finding of the largest wait that maintenance caused, for CPUs or for the disk."""
    busy = _upkeep_sessions(case)
    if not busy or case.accounts is None or not case.accounts.window_s:
        return []
    blamed = [
        cause for cause in (_cpu_blame(case, busy), *_disk_blames(case, busy)) if cause is not None
    ]
    most = max(blamed, key=lambda cause: case.of_run(cause.fractions), default=None)
    if most is None or case.of_run(most.fractions) < EFFECT_MIN:
        return []
    return [_finding(case, busy, most)]


def _upkeep_sessions(case: Case) -> list[Worker]:
    """Return other sessions that do maintenance, each with its most sampled kind of work."""
    upkeep = [worker for worker in case.workers or () if worker.work != SNAPSHOT and not worker.own]
    rarest_first = sorted(upkeep, key=lambda worker: worker.looks)
    return list({worker.session: worker for worker in rarest_first}.values())


def _cpu_blame(case: Case, busy: Sequence[Worker]) -> Blamed | None:
    """Return the CPU waits that maintenance caused; None if it hardly used CPUs."""
    used_s = sum(worker.cpu_s or 0.0 for worker in busy)
    window_s = case.accounts.window_s if case.accounts is not None else 0.0
    if used_s < CORES_MIN * window_s:
        return None
    threads = {op.name: op.threads_at_work or 1.0 for op in case.operations}
    queued = case.node(QUEUE)
    waited_s = window_s * sum(
        part * case.shares.get(name, 0.0) * threads.get(name, 1.0) for name, part in queued.items()
    )
    if waited_s <= 0:
        return None
    fractions = at_least(scaled(queued, min(1.0, used_s / waited_s)), NAMED_SHARE)
    return Blamed(QUEUE, fractions, f"used {percent_text(used_s / window_s)} of a core")


def _disk_blames(case: Case, busy: Sequence[Worker]) -> list[Blamed]:
    """Return the disk waits that maintenance caused, by its share of the bytes moved."""
    moved = sum(worker.moved_bytes or 0.0 for worker in busy)
    share = min(1.0, sum(worker.moved_share or 0.0 for worker in busy))
    if not moved or not share:
        return []
    says = f"moved {bytes_text(moved)}, {percent_text(share)} of what the server read and wrote"
    return [
        Blamed(
            part,
            at_least(
                {name: own * share for name, own in case.node(part).items()},
                NAMED_SHARE,
            ),
            says,
        )
        for part in DISK_WAITS
    ]


def _finding(case: Case, busy: Sequence[Worker], blamed: Blamed) -> Finding:
    first = max(busy, key=lambda worker: (worker.cpu_s or 0.0, worker.moved_bytes or 0.0))
    more = f" and {len(busy) - 1} more" if len(busy) > 1 else ""
    effect = case.of_run(blamed.fractions)
    waits = "a CPU" if blamed.part == QUEUE else "the disk"
    claim = (
        f"{worker_words(first)}{more} {blamed.says}, while operations waited for {waits}; "
        f"{percent_text(effect)} of the time is attributed to it"
    )
    evidence = [
        *(_seen(worker) for worker in busy[:WORKERS_MAX]),
        *(
            Evidence(
                f"{name}: {percent_text(case.trees[name].share_of(blamed.part))} of its time"
                f" waiting for {waits}",
                f"where:{name}",
            )
            for name in blamed.fractions
        ),
    ]
    to_try = f"schedule it for another time: {worker_words(first)}"
    paces = _paces(case, first)
    if paces:
        evidence += [Evidence(pace, f"setting:{name}") for name, pace in paces.items()]
        to_try = f"make {first.work} do less at a time: {', '.join(paces.values())}"
        if first.objects:
            to_try += f"; or disable it for {names_text(first.objects)} during the load"
    finding = case.finding(METHOD, claim, blamed.fractions, to_try=to_try, evidence=evidence)
    return finding.of(blamed.part, saved=(0.0, effect))


def worker_words(worker: Worker) -> str:
    """Return text on a maintenance session: kind of work, tables, session id and client."""
    of = f" of {names_text(worker.objects)}" if worker.objects else ""
    client = f" of {worker.application}" if worker.application else ""
    return f"{worker.work}{of} (session {worker.session}{client})"


def _seen(worker: Worker) -> Evidence:
    facts = [f"seen in {percent_text(worker.share)} of the samples"]
    if worker.cpu_s is not None:
        facts.append(f"{seconds_text(worker.cpu_s)} of CPU time")
    if worker.moved_bytes:
        facts.append(f"{bytes_text(worker.moved_bytes)} read and written")
    if worker.statement:
        facts.append(" ".join(worker.statement.split())[:STATEMENT_MAX])
    return Evidence(f"{worker_words(worker)}: {', '.join(facts)}", f"session:{worker.session}")


def _paces(case: Case, worker: Worker) -> dict[str, str]:
    """Return the settings that throttle a session's kind of maintenance, with their values."""
    names = case.advice.get("upkeep", {}).get(worker.work, ())
    return {name: f"{name} = {case.settings[name]}" for name in names if name in case.settings}
