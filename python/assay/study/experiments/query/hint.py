"""Experiment that removes planner hints from a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.study.experiments.contract import ChangedRun, Experiment, shown_by_plans
from assay.study.experiments.query.ablation import removable
from assay.workloads.rewriting.pieces import HINTS

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    (operation,) = removable(request, engine, [advice.subject], HINTS)
    removed = [*request.remove, f"{operation}/{HINTS}"]
    return ChangedRun(f"{operation} without hints", request.changed(remove=removed))


experiment = Experiment(
    kind="hint",
    changes="the text of a query, whose answer stays the same",
    set_up="the query is sent without its hints",
    undo="nothing stays",
    follow=_follow,
    by_plan=shown_by_plans,
)
