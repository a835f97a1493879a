"""Experiment with faster but less durable commits, whose change is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.engines.durability import FULL
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("a running server has its owner's durability")
    levels = {str(name): level for name, level in engine.facts.durability.items()}
    if request.durability not in {FULL, None} or advice.subject not in levels:
        raise CannotError(f"the run is not at the level {FULL}, or there is no other")
    of_level = levels[advice.subject].settings
    kept = request.settings
    if request.durability is None:
        # Settings of the run belong to no level together: one of them makes commits wait.
        kept = {name: value for name, value in kept.items() if name not in of_level}
    settings = {name: value for name, value in of_level.items() if name not in kept}
    changed = request.changed(
        settings=kept, durability=advice.subject, durability_settings=settings
    )
    return ChangedRun(f"durability {advice.subject}", changed)


experiment = Experiment(
    kind="durability",
    changes="how much of what was committed survives a crash",
    set_up="the engine is started with other settings",
    undo="the settings end with the engine",
    follow=_follow,
    gain_means="the gain is an upper limit for changes after which commits still survive a crash",
)
