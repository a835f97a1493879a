"""Experiment with statements that are sent before the answers to earlier ones have arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del advice
    if not engine.facts.pipelines:
        raise CannotError("a connection waits for each answer, and Assay cannot merge statements")
    if request.clients is None:
        raise CannotError("statements are only pipelined in a mix of operations (--clients)")
    return ChangedRun("statements pipelined", request.changed(pipeline=True))


experiment = Experiment(
    kind="pipeline",
    changes="when the client sends statements: before the answers to earlier ones",
    set_up="each client sends a statement without waiting for answers that it does not need",
    undo="nothing stays",
    follow=_follow,
)
