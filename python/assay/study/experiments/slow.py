"""Experiment that slows a resource, to measure how much of the time depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment, value_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    if request.slow or request.limits:
        raise CannotError("the run already slows or limits a resource")
    factor = float(value_of(advice))
    text = f"{advice.subject} slowed by the factor {factor:g}"
    return ChangedRun(text, request.changed(slow={advice.subject: factor}))


experiment = Experiment(
    kind="slow",
    changes="the speed of a resource for the engine, which becomes slower",
    set_up="the engine is stopped for as long as it has used the resource",
    undo="the engine is no longer stopped after the run",
    follow=_follow,
    gain_means="nothing is gained, because the resource is slower",
)
