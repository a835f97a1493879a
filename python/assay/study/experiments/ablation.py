"""An experiment that removes a function from a query: a probe, because the answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    # The engine may report the name with its schema.
    part = f"function:{advice.subject.rpartition('.')[2].lower()}"
    named = [name.strip() for name in advice.values.get("operations", "").split(",")]
    operations = [name for name in named if part in _parts(request, engine, name)]
    if not operations:
        raise CannotError(
            f"no operation shows {advice.subject} of its rows in a query whose whole text is known"
        )
    removed = [*request.remove, *(f"{name}/{part}" for name in operations)]
    return ChangedRun(f"without {advice.subject}", request.changed(remove=removed))


def _parts(request: RunRequest, engine: EngineFolder, operation: str) -> set[str]:
    """Return parts of an operation; empty if it is not a query that can be rewritten."""
    try:
        workload = find_workload(request.workload).only([operation])
        text_parts = workload.parts(operation, engine.facts.dialects, request.scale)
    except UsageError:
        return set()
    return {part.name for part in text_parts}


experiment = Experiment(
    kind="ablation",
    changes="what a query computes, and so its answer, which is not verified",
    set_up="the query is sent without the call",
    undo="nothing stays",
    follow=_follow,
    stays=False,
)
