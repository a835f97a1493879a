"""Experiment with a disabled trigger, whose change is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import SET_UP, UNDO, without_existing

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    table = advice.values.get("table", "")
    changed = without_existing(request, engine, "trigger", table, [advice.subject])
    return ChangedRun(f"no trigger {advice.subject}", changed)


experiment = Experiment(
    kind="trigger",
    changes="whether a trigger fires, and therefore the rows of the tables that it writes to",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    gain_means="the gain is an upper limit, because the work of the trigger may be needed",
)
