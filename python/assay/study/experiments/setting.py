"""Experiment with a setting by its role, such as more memory for sorts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment, value_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    facts = engine.advising()
    changed = facts.all_settings(advice.subject, value_of(advice))
    if request.dsn is not None and not facts.settings[advice.subject].session:
        name = facts.settings[advice.subject].name
        raise CannotError(f"{name} is the whole server's: no session can have its own")
    text = ", ".join(f"{name}={value}" for name, value in changed.items())
    return ChangedRun(text, request.changed(settings={**request.settings, **changed}))


experiment = Experiment(
    kind="setting",
    changes="a setting of the engine; on a running server one that each session can have",
    set_up="the engine is started with the setting, or each session sets it",
    undo="the setting ends with the engine or the session",
    follow=_follow,
)
