"""Experiment without a resource limit that the run had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    if advice.subject not in request.limits:
        raise CannotError(f"the run was given no limit of {advice.subject} (--limit)")
    limits = {name: most for name, most in request.limits.items() if name != advice.subject}
    return ChangedRun(f"no limit of {advice.subject}", request.changed(limits=limits))


experiment = Experiment(
    kind="limit",
    changes="a resource limit of the engine, which is removed",
    set_up="the engine is started without the limit",
    undo="limits end with each run",
    follow=_follow,
)
