"""Experiment without some indexes of a table, whose change is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import SET_UP, UNDO, without_existing

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    names = advice.values["indexes"].split(",")
    changed = without_existing(request, engine, "dropped-index", advice.subject, names)
    return ChangedRun(f"{advice.subject} without {', '.join(names)}", changed)


experiment = Experiment(
    kind="dropped-index",
    changes="the indexes of a table",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    gain_means="the gain is an upper limit, because other statements may need these indexes",
)
