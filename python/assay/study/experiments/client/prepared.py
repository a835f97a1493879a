"""Experiment with statements that are prepared once per session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.running.asked.parsing import PREPARED
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del advice
    if not engine.facts.prepares:
        raise CannotError("its session sends statements in one way")
    if request.test is not None:
        raise CannotError("a test sends statements as its specification has it")
    return ChangedRun("statements prepared", request.changed(statements=PREPARED))


experiment = Experiment(
    kind="prepared",
    changes="how the client sends statements: prepared instead of as text",
    set_up="each session prepares its statements once, before anything is timed",
    undo="nothing stays",
    follow=_follow,
)
