"""Slows the resource that takes most of a run's time, if no cause of the time can be removed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.diagnose.way import Untried
from assay.analysis.time.operation_tree import (
    COMPUTING,
    EXECUTING,
    FOR_CPU,
    KERNEL,
    PLANNING,
    WAITING,
)
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.running.asked.asking import considered
from assay.running.host.slowing import CPU, DISK
from assay.study.diagnosing.candidates import Candidate, Slowing
from assay.study.experiments.discovery import experiments
from assay.study.experiments.following import followed

if TYPE_CHECKING:
    from assay.analysis.summary import Summary
    from assay.analysis.time.tree import TimeNode
    from assay.running.asked.request import RunRequest

FACTOR = 2.0
# A resource with a smaller share of the time is not worth slowing.
SHARE_MIN = 0.2
# Parts of the time in which an operation uses each resource.
USES = {
    CPU: tuple(f"{COMPUTING}/{part}" for part in (EXECUTING, PLANNING, KERNEL)),
    DISK: tuple(f"{WAITING}/{part}" for part in ("disk_read", "disk_write", "disk")),
}


def slowed_candidate(summary: Summary, base: RunRequest) -> Candidate | Untried | None:
    """Return the run with its most used resource slowed, or the reason why this is not possible.

    The result is None if the run's time was not split, or no resource has a large share of it.

    Args:
        summary: Results of the run.
        base: Request of the run.
    """
    bound = next((finding for finding in summary.findings if finding.tells == "bound"), None)
    resource = None if summary.time is None else _most_used(summary.time)
    if bound is None or resource is None:
        return None
    advice = Advice("slow", resource, {"value": f"{FACTOR:g}"})
    cause = replace(bound, advice=advice, operations=(), fractions={})
    try:
        changed = followed(base, advice, find_engine(base.engine))
        considered(changed.request)
    except (UsageError, EngineError) as why:
        return Untried(cause, str(why))
    before = base.changed(slow={resource: 1.0})
    slowing = Slowing(FACTOR, f"{resource} measured, not slowed", before)
    stays = experiments()[advice.kind].stays
    return Candidate(
        cause,
        changed.text,
        advice.kind,
        changed.request,
        by_plan=False,
        stays=stays,
        expected=0.0,
        slowing=slowing,
    )


def _most_used(tree: TimeNode) -> str | None:
    """Return the resource with the largest share of a run's time; None if all are small."""
    shares = {name: sum(map(tree.share_of, paths)) for name, paths in USES.items()}
    most = max(shares, key=lambda name: shares[name])
    # Time in which a busy host kept the engine from a CPU is of no resource.
    others = sum(tree.share_of(f"{COMPUTING}/{part}") for part in FOR_CPU.values())
    return most if shares[most] >= SHARE_MIN * (1 - others) else None
