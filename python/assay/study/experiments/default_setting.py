"""Experiment without a setting that the run was given."""

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
    if advice.subject not in request.settings:
        raise CannotError(f"the run was not given the setting {advice.subject} (--set)")
    settings = {name: value for name, value in request.settings.items() if name != advice.subject}
    return ChangedRun(f"{advice.subject} not set", request.changed(settings=settings))


experiment = Experiment(
    kind="default-setting",
    changes="a setting that the run was given, which is left out",
    set_up="the engine is started without the setting, or no session sets it",
    undo="the setting ends with the engine or the session",
    follow=_follow,
)
