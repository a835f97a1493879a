"""Experiment that switches a planner technique off, such as nested loops; it is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment, always

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    facts = engine.techniques()
    names = facts.techniques_of(advice.subject)
    if not names:
        raise CannotError(f"it has no setting that switches the operator {advice.subject!r} off")
    off = facts.settings_without(names)
    if taken := sorted(off.keys() & request.settings.keys()):
        raise CannotError(f"the run sets {taken[0]} itself")
    says = " and ".join(facts.techniques[name].says for name in names)
    changed = request.changed(settings=request.settings | off, without=[*request.without, *names])
    return ChangedRun(f"without {says}", changed)


experiment = Experiment(
    kind="technique",
    changes="which operators the optimiser may choose, for every statement",
    set_up="the engine is started with settings that switch an operator off, or each session sets"
    " them",
    undo="the settings end with the engine or the session",
    follow=_follow,
    by_plan=always,
    gain_means="another plan may gain more or less",
)
